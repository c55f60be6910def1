// SPDX-License-Identifier: Apache-2.0
// A list of reads under way; threads take the next piece of the oldest one.
#include "pipeline/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Measured: pieces of 4 MiB keep the copies in the last-level cache and the calls few.
#define PIECE_BYTES (4u << 20)

struct job {
    struct ps_reader *reader;
    int64_t first_row, rows, piece_rows;
    char *data;
    int64_t next;   // row within the job that is taken next
    int pending;    // pieces being read
    struct ps_read_result result;
    struct ps_error error;
    struct job *after;
};

struct ps_readers {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool closing;
    struct job *jobs; // with pieces left, oldest first
    int thread_count;
    pthread_t *threads;
};

static void unlink_job(struct ps_readers *readers, struct job *job)
{
    for (struct job **p = &readers->jobs; *p != NULL; p = &(*p)->after) {
        if (*p == job) {
            *p = job->after;
            return;
        }
    }
}

// Reads one piece of the job; called and left with the lock held.
static void read_piece(struct ps_readers *readers, struct job *job)
{
    int64_t first = job->next;
    int64_t rows = job->rows - first < job->piece_rows ? job->rows - first : job->piece_rows;
    job->next += rows;
    job->pending++;
    if (job->next >= job->rows)
        unlink_job(readers, job);
    pthread_mutex_unlock(&readers->lock);
    struct ps_read_result result = {0};
    struct ps_error error = {0};
    bool fine = ps_reader_read(job->reader, job->first_row + first, rows,
                               job->data + (size_t)first * ps_array_row_bytes(&job->reader->array),
                               &result, &error);
    pthread_mutex_lock(&readers->lock);
    job->result.rows += result.rows;
    job->result.bytes += result.bytes;
    job->result.decode_ms += result.decode_ms;
    if (!fine && job->error.status == PS_OK)
        job->error = error;
    if (!fine && job->next < job->rows) {
        job->next = job->rows; // no further pieces
        unlink_job(readers, job);
    }
    if (--job->pending == 0 && job->next >= job->rows)
        pthread_cond_broadcast(&readers->done);
}

static void *reader_main(void *argument)
{
    struct ps_readers *readers = argument;
    pthread_mutex_lock(&readers->lock);
    while (!readers->closing) {
        if (readers->jobs != NULL)
            read_piece(readers, readers->jobs);
        else
            pthread_cond_wait(&readers->work, &readers->lock);
    }
    pthread_mutex_unlock(&readers->lock);
    return NULL;
}

struct ps_readers *ps_readers_open(int threads, struct ps_error *error)
{
    struct ps_readers *readers = calloc(1, sizeof *readers);
    pthread_t *list = calloc((size_t)threads, sizeof *list);
    if (readers == NULL || list == NULL) {
        free(readers);
        free(list);
        ps_fail_memory(error, sizeof *readers, "reader threads");
        return NULL;
    }
    readers->threads = list;
    pthread_mutex_init(&readers->lock, NULL);
    pthread_cond_init(&readers->work, NULL);
    pthread_cond_init(&readers->done, NULL);
    for (; readers->thread_count < threads; readers->thread_count++) {
        int failure = pthread_create(&list[readers->thread_count], NULL, reader_main, readers);
        if (failure != 0) {
            ps_fail(error, PS_DEVICE, "cannot start reader thread %d: %s", readers->thread_count,
                    strerror(failure));
            ps_readers_close(readers);
            return NULL;
        }
    }
    return readers;
}

void ps_readers_close(struct ps_readers *readers)
{
    if (readers == NULL)
        return;
    pthread_mutex_lock(&readers->lock);
    readers->closing = true;
    pthread_cond_broadcast(&readers->work);
    pthread_mutex_unlock(&readers->lock);
    for (int i = 0; i < readers->thread_count; i++)
        pthread_join(readers->threads[i], NULL);
    pthread_cond_destroy(&readers->done);
    pthread_cond_destroy(&readers->work);
    pthread_mutex_destroy(&readers->lock);
    free(readers->threads);
    free(readers);
}

bool ps_readers_read(struct ps_readers *readers, struct ps_reader *reader, int64_t first_row,
                     int64_t rows, void *data, struct ps_read_result *result_out,
                     struct ps_error *error)
{
    size_t row_bytes = ps_array_row_bytes(&reader->array);
    int64_t piece_rows = row_bytes > 0 ? (int64_t)(PIECE_BYTES / row_bytes) : rows;
    piece_rows = piece_rows > 0 ? piece_rows : 1;
    if (rows <= piece_rows)
        return ps_reader_read(reader, first_row, rows, data, result_out, error);
    struct job job = {.reader = reader, .first_row = first_row, .rows = rows,
                      .piece_rows = piece_rows, .data = data};
    pthread_mutex_lock(&readers->lock);
    struct job **end = &readers->jobs;
    while (*end != NULL)
        end = &(*end)->after;
    *end = &job;
    pthread_cond_broadcast(&readers->work);
    while (job.next < job.rows)
        read_piece(readers, &job);
    while (job.pending > 0)
        pthread_cond_wait(&readers->done, &readers->lock);
    pthread_mutex_unlock(&readers->lock);
    *result_out = job.result;
    // Pieces are decoded at the same time by this thread and the readers; their sum is spread.
    int64_t pieces = rows / piece_rows + (rows % piece_rows != 0);
    int64_t hands = readers->thread_count + 1;
    result_out->decode_ms /= (double)(pieces < hands ? pieces : hands);
    if (job.error.status != PS_OK) {
        *error = job.error;
        return false;
    }
    return true;
}
