// SPDX-License-Identifier: Apache-2.0
// penstock bench: what this machine reaches, as one table.
#include "app/bench.h"
#include "app/app.h"

#include "kernels/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A fresh folder, or with --keep the one of a fixed name, which the next bench uses again.
static bool make_folder(const char *parent, bool keep, char *folder, size_t size,
                        struct ps_error *error)
{
    if (!keep) {
        int length = snprintf(folder, size, "%s/penstock-bench-XXXXXX", parent);
        if (length < 0 || (size_t)length >= size)
            return ps_fail(error, PS_USAGE, "--dir: the path is too long");
        return mkdtemp(folder) != NULL ||
               ps_fail_errno(error, PS_OUTPUT, "cannot make a folder in %s", parent);
    }
    int length = snprintf(folder, size, "%s/penstock-bench", parent);
    if (length < 0 || (size_t)length >= size)
        return ps_fail(error, PS_USAGE, "--dir: the path is too long");
    return mkdir(folder, 0777) == 0 || errno == EEXIST ||
           ps_fail_errno(error, PS_OUTPUT, "cannot make %s", folder);
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"x.h5", "stats.csv", "make.yaml", "stream.yaml"};
    char path[4200];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static enum ps_status stream_on(struct bench_stream *stream, bool cpu_only, const char *missing)
{
    char size[32];
    app_print("\nstreamed job: y = sqrt(abs(2*x + 1)); mean, std, min, max of each of %d columns; "
              "%s float32, contiguous HDF5\n",
              BENCH_COLUMNS, ps_size_text(stream->bytes, size, sizeof size));
    app_print("  %-8s %10s %10s %12s  %s\n", "backend", "ms", "GB/s", "rows/s", "");
    enum ps_status status = bench_stream_make(stream);
    if (status == PS_OK)
        status = bench_stream_run(stream, "cpu");
    if (status == PS_OK && !cpu_only && missing == NULL)
        status = bench_stream_run(stream, "cuda");
    return status;
}

enum ps_status app_bench(const struct app_args *args)
{
    struct ps_error error = {0};
    struct bench_stream stream = {.bytes = 8000000000u};
    bool cpu_only = app_args_has(args, "--cpu"), keep = app_args_has(args, "--keep");
    const char *bytes = app_args_value(args, "--bytes"), *parent = app_args_value(args, "--dir");
    char folder[4096], missing_text[512];
    stream.verbose = app_args_has(args, "--verbose");
    app_log_to_stderr(!stream.verbose);
    if (bytes != NULL && (!ps_size_parse(bytes, &stream.bytes) || stream.bytes < 1 << 20))
        return app_usage("--bytes %s: expected a size of at least 1 MiB, as in 8GB", bytes);
    if (parent == NULL && ((parent = getenv("TMPDIR")) == NULL || parent[0] == '\0'))
        parent = "/tmp";
    if (!make_folder(parent, keep, folder, sizeof folder, &error))
        return app_fail(&error);
    stream.folder = folder;

    const char *missing = cpu_only ? NULL : ps_cuda_missing(missing_text, sizeof missing_text);
    if (missing != NULL)
        app_print("GPU not measured: %s\n", missing);
    enum ps_status status = PS_OK;
    if (!cpu_only && missing == NULL)
        status = bench_gpu();
    if (status == PS_OK)
        status = stream_on(&stream, cpu_only, missing);
    if (keep)
        app_print("kept: %s/x.h5 (/x) and stats.csv\n", folder);
    else
        remove_folder(folder);
    return status;
}
