// SPDX-License-Identifier: Apache-2.0
// Bytes to be read at places: a part of an open file, or what something else gives (a member of
// an archive as it unpacks).
#ifndef PS_IO_BYTES_H
#define PS_IO_BYTES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PS_BYTES_UNKNOWN ((uint64_t)INT64_MAX) // of a stream: as large as a size can be

struct ps_bytes {
    const char *path; // for messages; names a member of an archive as well
    uint64_t size;
    int file; // of the part that begins at offset, or
    uint64_t offset;
    // when not NULL, what is called instead; it may want places in order
    bool (*give)(void *context, uint64_t at, void *data, size_t count, struct ps_error *error);
    void *context;
};

// Exactly count bytes from `at` on.
bool ps_bytes_read(const struct ps_bytes *bytes, uint64_t at, void *data, size_t count,
                   struct ps_error *error);

#endif
