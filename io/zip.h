// SPDX-License-Identifier: Apache-2.0
// Members of zip archives (PKWARE's APPNOTE, with zip64): the directory, checked against the file,
// and a member's bytes, stored or deflated. Knows nothing of what the bytes mean.
#ifndef PS_IO_ZIP_H
#define PS_IO_ZIP_H

#include "io/bytes.h"

#include <stdbool.h>

#define PS_ZIP_NAME_MAX 4096 // bytes

struct ps_zip_member {
    char *name;             // as in the archive; owned
    unsigned flags, method; // 0 stored, 8 deflated
    uint32_t crc;
    uint64_t packed, size;  // bytes in the archive and unpacked
    uint64_t header_offset; // of the local header
};

struct ps_zip {
    const char *path;
    int file;
    uint64_t file_bytes;
    uint64_t directory_offset;
    int count;
    struct ps_zip_member *members; // in the directory's order, without folders
};

// file is open and stays the caller's. Reads the central directory; members whose places lie
// outside the file or over each other are errors. To be freed also after a failure.
bool ps_zip_read(struct ps_zip *zip, int file, const char *path, uint64_t file_bytes,
                 struct ps_error *error);
void ps_zip_free(struct ps_zip *zip);

// The member's bytes, as ps_bytes gives them: a stored one at any place from many threads, a
// deflated one cheaply in order only (going back unpacks from its start again). The checksum of a
// deflated member is checked when its last byte is given, that of a stored one when every byte has
// been, once and in any order.
struct ps_zip_bytes; // opaque
// label names archive and member in messages; borrowed. Encrypted members, other methods and sizes
// that cannot be true are refused. NULL on failure.
struct ps_zip_bytes *ps_zip_open(const struct ps_zip *zip, const struct ps_zip_member *member,
                                 const char *label, struct ps_bytes *bytes_out,
                                 struct ps_error *error);
// Bytes of the archive that have been read so far.
uint64_t ps_zip_bytes_taken(const struct ps_zip_bytes *bytes);
void ps_zip_bytes_close(struct ps_zip_bytes *bytes); // NULL is fine

const char *ps_zip_method_name(unsigned method);

#endif
