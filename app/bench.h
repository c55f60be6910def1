// SPDX-License-Identifier: Apache-2.0
// What the parts of `penstock bench` share.
#ifndef PS_APP_BENCH_H
#define PS_APP_BENCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_COLUMNS 256

struct bench_stream {
    const char *folder; // where x.h5 and stats.csv are
    uint64_t bytes;     // of the file's data
    bool verbose;
};

// Makes folder/x.h5: float32 [bytes / 1024, 256], one contiguous dataset /x.
enum ps_status bench_stream_make(const struct bench_stream *stream);
// Runs the job a few times on one backend and prints the best run as a row of the table.
enum ps_status bench_stream_run(const struct bench_stream *stream, const char *backend);

// Copies and kernels on the GPU (app/bench_gpu.c); only called where CUDA can start.
enum ps_status bench_gpu(void);

#endif
