// SPDX-License-Identifier: Apache-2.0
// The CSV reader in any dialect, and the guess of one. Two bytes of options, then the file.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const separators[] = {",", ";", "tab", "blanks"};
    static const char *const dtypes[] = {"auto", "f32", "i64",  "time_ns",
                                         "u8",   "f16", "bool", "time_s"};
    static const char *const headers[] = {"true", "false", "2", "true"};
    struct ps_values values = {0};
    struct ps_error error = {0};
    if (size < 2 || !ps_values_default(&values, ps_format_csv.read_options, &error))
        return 0;
    unsigned bits = data[0] | (unsigned)data[1] << 8;
    fuzz_set(&values, "separator", separators[bits & 3], false);
    fuzz_set(&values, "dtype", dtypes[bits >> 2 & 7], false);
    fuzz_set(&values, "header", headers[bits >> 5 & 3], false);
    fuzz_set(&values, "decimal", (bits >> 7 & 1) != 0 ? "," : NULL, true);
    fuzz_set(&values, "thousands", (bits >> 8 & 1) != 0 ? "." : NULL, true);
    fuzz_set(&values, "escape", (bits >> 9 & 1) != 0 ? "\\" : NULL, true);
    fuzz_set(&values, "quote", (bits >> 10 & 1) != 0 ? "none" : NULL, true);
    fuzz_set(&values, "comment", (bits >> 11 & 1) != 0 ? "#" : NULL, true);
    fuzz_set(&values, "ragged", (bits >> 12 & 1) != 0 ? "pad" : NULL, true);
    fuzz_set(&values, "columns", (bits >> 13 & 1) != 0 ? "a*" : NULL, false);
    fuzz_set(&values, "missing", (bits >> 14 & 1) != 0 ? "NA" : NULL, true);
    const char *path = fuzz_file(data + 2, size - 2);
    fuzz_read(&ps_format_csv, path, &values, (bits & 1) != 0 ? 1 : 97);
    if ((bits >> 15 & 1) != 0)
        fuzz_inspect(&ps_format_csv, path);
    ps_values_free(&values);
    return 0;
}
