// SPDX-License-Identifier: Apache-2.0
// .npy and .npz, plain and packed by gzip. One byte of options, then the file.
#include "fuzz.h"

static void read_as(const struct ps_format *format, const char *path, unsigned bits)
{
    static const char *const forms[] = {NULL, "parts", "polar", "imag"};
    static const char *const dtypes[] = {NULL, "f64", "u8", "f32"};
    struct ps_values values = {0};
    struct ps_error error = {0};
    if (!ps_values_default(&values, format->read_options, &error))
        abort();
    fuzz_set(&values, "complex", forms[bits & 3], false);
    fuzz_set(&values, "dtype", dtypes[bits >> 2 & 3], false);
    fuzz_set(&values, "columns", (bits >> 4 & 1) != 0 ? "a*" : NULL, false);
    fuzz_set(&values, "dates", (bits >> 5 & 1) != 0 ? "time_ns" : NULL, false);
    fuzz_read(format, path, &values, (bits >> 6 & 1) != 0 ? 1 : 97);
    if ((bits >> 7 & 1) != 0)
        fuzz_inspect(format, path);
    ps_values_free(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *path = fuzz_file(data + 1, size - 1);
    bool zip = size > 3 && data[1] == 'P' && data[2] == 'K';
    read_as(zip ? &ps_format_npz : &ps_format_npy, path, data[0]);
    return 0;
}
