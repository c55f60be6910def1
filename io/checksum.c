// SPDX-License-Identifier: Apache-2.0
// Neighbouring pieces are joined by crc32_combine, so that only pieces with gaps between them are
// kept: as many as there are threads, when they read from the start to the end together.
#include "io/checksum.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIECES_MAX 4096

bool ps_checksum_init(struct ps_checksum *checksum, uint64_t size)
{
    *checksum = (struct ps_checksum){.size = size};
    checksum->pieces = malloc(PIECES_MAX * sizeof *checksum->pieces);
    pthread_mutex_init(&checksum->lock, NULL);
    return checksum->pieces != NULL;
}

void ps_checksum_free(struct ps_checksum *checksum)
{
    free(checksum->pieces);
    pthread_mutex_destroy(&checksum->lock);
}

// The first piece that ends at or behind `at`.
static int find(const struct ps_checksum *checksum, uint64_t at)
{
    int low = 0, high = checksum->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (checksum->pieces[middle].end < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void join(struct ps_checksum_piece *piece, const struct ps_checksum_piece *next)
{
    piece->crc = (uint32_t)crc32_combine(piece->crc, next->crc, (z_off_t)(next->end - next->start));
    piece->end = next->end;
}

static void drop(struct ps_checksum *checksum, int i)
{
    checksum->count--;
    memmove(checksum->pieces + i, checksum->pieces + i + 1,
            (size_t)(checksum->count - i) * sizeof *checksum->pieces);
}

static void insert(struct ps_checksum *checksum, int i, struct ps_checksum_piece piece)
{
    memmove(checksum->pieces + i + 1, checksum->pieces + i,
            (size_t)(checksum->count - i) * sizeof *checksum->pieces);
    checksum->pieces[i] = piece;
    checksum->count++;
}

// piece touches or lies in a gap; `i` is the first one that ends at or behind its start.
static void add(struct ps_checksum *checksum, int i, struct ps_checksum_piece piece)
{
    struct ps_checksum_piece *at = checksum->pieces + i;
    if (i < checksum->count && at->end == piece.start)
        join(at, &piece);
    else if (checksum->count < PIECES_MAX)
        insert(checksum, i, piece);
    else
        checksum->given_up = true;
    if (i + 1 < checksum->count && checksum->pieces[i].end == checksum->pieces[i + 1].start) {
        join(&checksum->pieces[i], &checksum->pieces[i + 1]);
        drop(checksum, i + 1);
    }
}

// The parts of [at, end) that have not been seen.
static void add_unseen(struct ps_checksum *checksum, uint64_t at, uint64_t end,
                       const unsigned char *data)
{
    uint64_t start = at;
    while (at < end && !checksum->given_up) {
        int i = find(checksum, at);
        const struct ps_checksum_piece *piece = checksum->pieces + i;
        const struct ps_checksum_piece *stop = checksum->pieces + checksum->count;
        if (piece < stop && piece->start <= at && at < piece->end) {
            at = piece->end;
            continue;
        }
        const struct ps_checksum_piece *next = piece + (piece < stop && piece->end == at);
        uint64_t until = next < stop && next->start < end ? next->start : end;
        if (until > at) {
            uint32_t crc = libdeflate_crc32(0, data + (at - start), (size_t)(until - at));
            add(checksum, i, (struct ps_checksum_piece){at, until, crc});
        }
        at = until;
    }
}

bool ps_checksum_add(struct ps_checksum *checksum, uint64_t at, const void *data, size_t count,
                     uint32_t *crc_out)
{
    bool complete = false;
    pthread_mutex_lock(&checksum->lock);
    if (!checksum->done && !checksum->given_up) {
        add_unseen(checksum, at, at + count, data);
        complete = checksum->count == 1 && checksum->pieces[0].start == 0 &&
                   checksum->pieces[0].end == checksum->size && !checksum->given_up;
        checksum->done = complete;
        if (complete)
            *crc_out = checksum->pieces[0].crc;
    }
    pthread_mutex_unlock(&checksum->lock);
    return complete;
}
