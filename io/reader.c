// SPDX-License-Identifier: Apache-2.0
// Finding formats, and the checks and locks around every reader.
#include "io/file.h"
#include "io/formats.h"
#include "io/many.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct ps_format *ps_format_find(const char *name)
{
    for (int i = 0; ps_formats[i] != NULL; i++)
        if (strcmp(ps_formats[i]->name, name) == 0)
            return ps_formats[i];
    return NULL;
}

static bool has_suffix(const char *path, size_t length, const char *suffixes)
{
    for (const char *p = suffixes; p != NULL && *p != '\0';) {
        size_t n = strcspn(p, "|");
        if (length > n && strncasecmp(path + length - n, p, n) == 0)
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

static const struct ps_format *recognise(const char *path)
{
    unsigned char head[4096];
    struct stat status;
    // Only regular files: looking into a pipe would take its first bytes away.
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? pread(file, head, sizeof head, 0) : -1;
    if (file >= 0)
        close(file);
    for (int i = 0; got > 0 && ps_formats[i] != NULL; i++)
        if (ps_formats[i]->recognise != NULL && ps_formats[i]->recognise(head, (size_t)got))
            return ps_formats[i];
    return NULL;
}

const struct ps_format *ps_format_guess(const char *path, bool for_writing)
{
    const struct ps_format *unable = NULL; // its suffix fits: the caller tells what it cannot do
    for (int i = 0; ps_formats[i] != NULL; i++) {
        bool able = for_writing ? ps_formats[i]->writer != NULL : ps_formats[i]->read != NULL;
        bool packed = (ps_formats[i]->flags & PS_GZIP) != 0;
        size_t length = packed ? ps_path_bare_length(path) : strlen(path);
        if (!has_suffix(path, length, ps_formats[i]->suffixes))
            continue;
        if (able)
            return ps_formats[i];
        unable = ps_formats[i];
    }
    return unable != NULL || for_writing ? unable : recognise(path);
}

static bool check_file(const struct ps_reader *reader, struct ps_error *error)
{
    struct stat status;
    if (reader->path == NULL)
        return (reader->format->flags & PS_NO_PATH) ||
               ps_fail(error, PS_INPUT, "format %s needs a path", reader->format->name);
    if (strcmp(reader->path, "-") == 0)
        return true;
    if (stat(reader->path, &status) != 0)
        return ps_fail_errno(error, PS_INPUT, "cannot open %s", reader->path);
    if (S_ISDIR(status.st_mode))
        return ps_fail(error, PS_INPUT, "%s is a directory, not a file", reader->path);
    return true;
}

bool ps_reader_open(struct ps_reader *reader, struct ps_error *error)
{
    pthread_mutex_t *lock = malloc(sizeof *lock);
    if (lock == NULL)
        return ps_fail_memory(error, sizeof *lock, "a reader");
    pthread_mutex_init(lock, NULL);
    reader->lock = lock;
    reader->flags = reader->format->flags;
    if ((reader->path_count > 1 ? ps_many_open(reader, error)
                                : check_file(reader, error) && reader->format->open(reader, error)) &&
        ps_array_check(&reader->array, reader->path ? reader->path : reader->name, error))
        return true;
    ps_reader_close(reader);
    return false;
}

static bool clip_rows(const struct ps_reader *reader, int64_t first, int64_t rows,
                      struct ps_error *error)
{
    int64_t all = ps_array_rows(&reader->array);
    if (first < 0 || rows < 0 || (all >= 0 && (first > all || rows > all - first)))
        return ps_fail(error, PS_BUG, "%lld rows from row %lld on of an array of %lld",
                       (long long)rows, (long long)first, (long long)all);
    return true;
}

bool ps_reader_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                    struct ps_read_result *result, struct ps_error *error)
{
    *result = (struct ps_read_result){0};
    if (!clip_rows(reader, first_row, rows, error))
        return false;
    bool locked = !(reader->flags & PS_READ_ANYWHERE);
    if (locked)
        pthread_mutex_lock(reader->lock);
    bool fine = (reader->many != NULL ? ps_many_read : reader->format->read)(
        reader, first_row, rows, data, result, error);
    if (locked)
        pthread_mutex_unlock(reader->lock);
    if (!fine)
        return false;
    if (ps_array_rows(&reader->array) != PS_ROWS_UNKNOWN && result->rows != rows)
        return ps_fail(error, PS_INPUT,
                       "%s: only %lld of %lld rows could be read from row %lld on: the file shrank "
                       "while it was read", reader->path ? reader->path : reader->name,
                       (long long)result->rows, (long long)rows, (long long)first_row);
    return true;
}

void ps_reader_close(struct ps_reader *reader)
{
    if (reader->format != NULL && reader->state != NULL)
        reader->format->close(reader);
    reader->state = NULL;
    ps_many_close(reader);
    ps_array_free(&reader->array);
    if (reader->lock != NULL) {
        pthread_mutex_destroy(reader->lock);
        free(reader->lock);
        reader->lock = NULL;
    }
}
