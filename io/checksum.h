// SPDX-License-Identifier: Apache-2.0
// The CRC-32 of bytes that are read in pieces, in any order, by several threads.
#ifndef PS_IO_CHECKSUM_H
#define PS_IO_CHECKSUM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_checksum_piece {
    uint64_t start, end;
    uint32_t crc;
};

struct ps_checksum {
    pthread_mutex_t lock;
    uint64_t size;
    bool done, given_up; // every byte has been seen; too many pieces
    int count;
    struct ps_checksum_piece *pieces; // sorted, none touches the next
};

bool ps_checksum_init(struct ps_checksum *checksum, uint64_t size); // false: out of memory
void ps_checksum_free(struct ps_checksum *checksum);
// One more piece, read from `at` on; what has been seen already is passed over. True once: when
// every byte has been seen, and then *crc_out is the checksum of all. What comes in more than 4096
// pieces with gaps between them is never complete.
bool ps_checksum_add(struct ps_checksum *checksum, uint64_t at, const void *data, size_t count,
                     uint32_t *crc_out);

#endif
