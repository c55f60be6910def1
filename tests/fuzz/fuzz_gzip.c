// SPDX-License-Identifier: Apache-2.0
// Unpacking of gzip data, in reads of any size: what comes must not depend on them. One byte for
// the size, then the file.
#include "fuzz.h"

#include "io/byte_reader.h"

#define UNPACKED_MAX (8u << 20)

// Bytes that could be read, and a hash of them.
static size_t read_all(const char *path, size_t step, uint32_t *hash_out, bool *fine_out)
{
    struct ps_error error = {0};
    struct ps_byte_reader *reader = ps_byte_reader_open(path, PS_PACKING_AUTO, &error);
    unsigned char buffer[1024];
    size_t all = 0, got = step;
    *hash_out = 0;
    *fine_out = reader != NULL;
    while (*fine_out && got == step && all < UNPACKED_MAX) {
        *fine_out = ps_byte_reader_read(reader, buffer, step, &got, &error);
        all += got;
        for (size_t i = 0; i < got; i++)
            *hash_out = *hash_out * 31 + buffer[i];
    }
    if (!*fine_out && (error.status == PS_BUG || error.text[0] == '\0'))
        abort();
    ps_byte_reader_close(reader);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t one, other;
    bool one_fine, other_fine;
    if (size < 1)
        return 0;
    const char *path = fuzz_file(data + 1, size - 1);
    size_t a = read_all(path, 1024, &one, &one_fine);
    size_t b = read_all(path, data[0] % 64 + 1u, &other, &other_fine);
    bool whole = a < UNPACKED_MAX && b < UNPACKED_MAX;
    if (whole && (one_fine != other_fine || a != b || one != other))
        abort();
    return 0;
}
