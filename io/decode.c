// SPDX-License-Identifier: Apache-2.0
#include "io/decode.h"

#include "base/clock.h"
#include "io/format.h"

double ps_decode(enum ps_dtype dtype, bool swapped, void *data, size_t count)
{
    if (dtype != PS_BOOL && !swapped)
        return 0;
    double start = ps_clock_ms();
    if (dtype == PS_BOOL) {
        unsigned char *bytes = data;
        for (size_t i = 0; i < count; i++)
            bytes[i] = bytes[i] != 0;
    } else {
        ps_byte_swap(data, ps_dtype_bytes(dtype), count);
    }
    return ps_clock_ms() - start;
}
