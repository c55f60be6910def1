// SPDX-License-Identifier: Apache-2.0
// Raw files under any description. Eight bytes of options, then the file.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ps_values values = {0};
    struct ps_error error = {0};
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    char text[32];
    if (size < 8 || !ps_values_default(&values, ps_format_raw.read_options, &error))
        return 0;
    fuzz_set(&values, "dtype", ps_dtype_name((enum ps_dtype)(data[0] % PS_DTYPE_COUNT)), false);
    struct ps_value *shape = (struct ps_value *)ps_values_get(&values, "shape");
    ps_value_begin_list(shape, place);
    for (int i = 0; i < data[1] % 5; i++) {
        snprintf(text, sizeof text, "%lld",
                 i == 0 && data[2] > 127 ? -1LL : 1LL << (data[2 + i % 3] % 63) >> (data[3] % 3));
        ps_value_add_element(shape, text, false, place, &problems);
    }
    snprintf(text, sizeof text, "%d", data[5]);
    fuzz_set(&values, "offset", data[5] < 40 ? text : NULL, false);
    snprintf(text, sizeof text, "%d", data[6]);
    fuzz_set(&values, "stride", data[6] < 100 ? text : NULL, false);
    fuzz_set(&values, "byte_order", (data[7] & 1) != 0 ? "big" : NULL, false);
    fuzz_read(&ps_format_raw, fuzz_file(data + 8, size - 8), &values, data[7] % 7 + 1);
    ps_problems_free(&problems);
    ps_values_free(&values);
    return 0;
}
