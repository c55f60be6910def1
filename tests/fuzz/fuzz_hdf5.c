// SPDX-License-Identifier: Apache-2.0
// HDF5 files: the tree, and a dataset with any options. Two bytes of options, then the file. The
// library itself crashes on some files; penstock opens them in a child process first.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const forms[] = {NULL, "parts", "polar", "real"};
    static const char *const sets[] = {NULL, "/d", "/x", "/a"};
    struct ps_values values = {0};
    struct ps_error error = {0};
    if (size < 2 || !ps_values_default(&values, ps_format_hdf5.read_options, &error))
        return 0;
    unsigned bits = data[0];
    fuzz_set(&values, "dataset", sets[bits & 3], false);
    fuzz_set(&values, "complex", forms[bits >> 2 & 3], false);
    fuzz_set(&values, "cf", (bits >> 4 & 1) != 0 ? "true" : NULL, false);
    fuzz_set(&values, "axis", (bits >> 5 & 1) != 0 ? "1" : NULL, false);
    fuzz_set(&values, "swmr", (bits >> 6 & 1) != 0 ? "true" : NULL, false);
    const char *path = fuzz_file(data + 2, size - 2);
    fuzz_read(&ps_format_hdf5, path, &values, data[1] % 7 + 1);
    if ((bits >> 7 & 1) != 0)
        fuzz_inspect(&ps_format_hdf5, path);
    ps_values_free(&values);
    return 0;
}
