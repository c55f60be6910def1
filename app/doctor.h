// SPDX-License-Identifier: Apache-2.0
// doctor's checks as rows of a table.
#ifndef PS_APP_DOCTOR_H
#define PS_APP_DOCTOR_H

#include "base/text.h"
#include "io/hdf5_info.h"
#include "kernels/device_info.h"

enum check_result { CHECK_OK, CHECK_WARN, CHECK_FAIL, CHECK_SKIP };

struct checkup {
    struct ps_hdf5_info hdf5;
    struct ps_cuda_info cuda;
    int gpu; // the one being checked
    struct ps_gpu_info gpu_info;
    bool gpu_known;
    char remedy[512]; // set by a check that knows more than its row does
};

struct check {
    const char *name; // NULL ends a table
    // Writes what was found, one line, into found.
    enum check_result (*run)(struct checkup *checkup, struct ps_text *found);
    const char *remedy; // what to do when it is not ok
};

extern const struct check cpu_checks[];  // app/doctor_cpu.c
extern const struct check cuda_checks[]; // app/doctor_cuda.c
extern const struct check gpu_checks[];  // once per GPU

#endif
