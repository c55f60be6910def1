// SPDX-License-Identifier: Apache-2.0
// Whole jobs in a temporary folder: a config, a raw input of small integers in any dtype, outputs
// read back and compared.
#ifndef PS_TESTS_STAGE_JOB_H
#define PS_TESTS_STAGE_JOB_H

#include "base/dtype.h"
#include "check.h"
#include "pipeline/penstock.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROW 6 // elements of a row
#define ROWS_MAX 1001

static char folder[64];

static const char *const blocks[] = {"run.block=1 rows", "run.block=7 rows", "run.block=2000 rows"};
static const char *const slots[] = {"run.slots=1", "run.slots=2", "run.slots=3"};

static inline FILE *open_file(const char *name, const char *mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    return file;
}

static inline void write_config(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void write_config(const char *format, ...)
{
    FILE *file = open_file("job.yaml", "w");
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

// Runs job.yaml; a failure is told with its message and with what was being tried.
static inline bool run_job(const char *const *sets, size_t set_count, const char *what)
{
    char path[128];
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    struct ps_job *job = ps_job_load(path, sets, set_count, &problems);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    bool fine = problems.error_count == 0 && ps_job_plan(job, &problems, &error) &&
                ps_job_run(job, NULL, &error);
    if (!fine)
        printf("\n    %s: %s\n", what,
               problems.error_count > 0 ? problems.list[0].text : error.text);
    ps_job_free(job);
    ps_problems_free(&problems);
    return fine;
}

static inline size_t read_output(const char *name, void *out, size_t size)
{
    FILE *file = open_file(name, "rb");
    size_t got = fread(out, 1, size, file);
    fclose(file);
    return got;
}

static inline void remove_files(void)
{
    char path[400];
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(path);
    }
    closedir(directory);
}

// ---- Input ----

static inline bool is_signed(enum ps_dtype dtype)
{
    return dtype == PS_F16 || dtype == PS_F32 || dtype == PS_F64 || dtype == PS_I8 ||
           dtype == PS_I16 || dtype == PS_I32 || dtype == PS_I64;
}

static inline int value(enum ps_dtype dtype, int element)
{
    if (dtype == PS_BOOL)
        return element % 3 == 0;
    return (element * 7 + element / 11) % 13 - (is_signed(dtype) ? 6 : 0);
}

// The bits of a small integer as a half: exact.
static inline uint16_t half_bits(int number)
{
    unsigned magnitude = (unsigned)(number < 0 ? -number : number), exponent = 0;
    if (magnitude == 0)
        return 0;
    while (magnitude >> (exponent + 1) != 0)
        exponent++;
    return (uint16_t)((number < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                      ((magnitude << (10 - exponent)) & 0x3ff));
}

static inline void put(enum ps_dtype dtype, void *out, int number)
{
    size_t bytes = ps_dtype_bytes(dtype);
    int64_t whole = number;
    float f32 = (float)number;
    double f64 = number;
    uint16_t f16 = half_bits(number);
    memcpy(out,
           dtype == PS_F16   ? (const void *)&f16
           : dtype == PS_F32 ? (const void *)&f32
           : dtype == PS_F64 ? (const void *)&f64
                             : (const void *)&whole, // little-endian machines only
           bytes);
}

static unsigned char input[ROWS_MAX * ROW * 8];

static inline size_t make_input(enum ps_dtype dtype, int rows)
{
    size_t bytes = ps_dtype_bytes(dtype);
    for (int e = 0; e < rows * ROW; e++)
        put(dtype, input + (size_t)e * bytes, value(dtype, e));
    FILE *file = open_file("x.bin", "wb");
    CU_ASSERT_EQUAL(fwrite(input, bytes, (size_t)(rows * ROW), file), (size_t)(rows * ROW));
    fclose(file);
    return (size_t)(rows * ROW) * bytes;
}

// ---- Results ----

static double got[ROWS_MAX * ROW * 2];
static int bad;

static inline void same(double a, double b)
{
    bad += !(a == b || (isnan(a) && isnan(b)));
}

static inline void check_size(size_t is, size_t wanted)
{
    bad += is != wanted;
}

static inline int stage_main(const char *name, const struct check_test *tests)
{
    // Thousands of small outputs, each synced to disk: in memory where the system has such a place.
    snprintf(folder, sizeof folder, "/dev/shm/ps_stages_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        snprintf(folder, sizeof folder, "/tmp/ps_stages_XXXXXX");
        if (mkdtemp(folder) == NULL)
            return EXIT_FAILURE;
    }
    int result = check_main(name, tests);
    remove_files();
    rmdir(folder);
    return result;
}

#endif
