// SPDX-License-Identifier: Apache-2.0
#include "io/bytes.h"

#include "io/file.h"

bool ps_bytes_read(const struct ps_bytes *bytes, uint64_t at, void *data, size_t count,
                   struct ps_error *error)
{
    if (bytes->give != NULL)
        return bytes->give(bytes->context, at, data, count, error);
    return ps_file_read(bytes->file, bytes->path, bytes->offset + at, data, count, error);
}
