// SPDX-License-Identifier: Apache-2.0
// Files whose rows are known are read at any place, each by its own reader; readers are closed when
// too many are open, and opened again when they are needed. With one file whose rows are not known
// (CSV) all are read one after the other.
#include "io/many.h"

#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPEN_MAX 8 // each may hold caches (16 MiB of HDF5's)

struct file {
    const char *path;
    int64_t first_row, rows;  // rows may be PS_ROWS_UNKNOWN; then first_row means nothing
    struct ps_reader *reader; // while it is open
    int users;                // reads under way
    uint64_t used;            // when it was taken last
    bool seen;                // it was opened before
};

struct many {
    size_t count;
    struct file *files;
    pthread_mutex_t lock; // of what follows, and of the files' readers and users
    size_t open_count;
    uint64_t clock;
    // one after the other, where rows are not known
    size_t current;
    int64_t current_row, next_row;
    char *way;
};

// ---- Opening and closing files ----

static void close_file(struct many *many, struct file *file)
{
    if (file->reader == NULL)
        return;
    ps_reader_close(file->reader);
    free(file->reader);
    file->reader = NULL;
    many->open_count--;
}

static bool open_file(struct many *many, const struct ps_reader *whole, struct file *file,
                      struct ps_error *error)
{
    struct ps_reader *reader = malloc(sizeof *reader);
    if (reader == NULL)
        return ps_fail_memory(error, sizeof *reader, "a reader");
    *reader = (struct ps_reader){.format = whole->format,
                                 .name = whole->name,
                                 .path = file->path,
                                 .options = whole->options,
                                 .told = whole->way != NULL, // by the first file
                                 .seen = file->seen};
    if (!ps_reader_open(reader, error)) {
        free(reader);
        return false;
    }
    file->reader = reader;
    file->seen = true;
    many->open_count++;
    return true;
}

// The one that has not been used for longest. False: all are being read.
static bool close_oldest(struct many *many)
{
    struct file *oldest = NULL;
    for (size_t i = 0; i < many->count; i++) {
        struct file *file = &many->files[i];
        if (file->reader != NULL && file->users == 0 &&
            (oldest == NULL || file->used < oldest->used))
            oldest = file;
    }
    if (oldest != NULL)
        close_file(many, oldest);
    return oldest != NULL;
}

static bool is_unchanged(const struct ps_reader *whole, const struct file *file)
{
    const struct ps_array *a = &whole->array, *b = &file->reader->array;
    bool same = a->rank == b->rank && a->dtype == b->dtype && b->dims[0] == file->rows;
    for (int i = 1; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

// Opened again, a file has warned already.
static bool reopen(struct many *many, const struct ps_reader *whole, struct file *file,
                   struct ps_error *error)
{
    while (many->open_count >= OPEN_MAX && close_oldest(many))
        continue;
    ps_log_mute(true);
    bool fine = open_file(many, whole, file, error);
    ps_log_mute(false);
    if (!fine || is_unchanged(whole, file))
        return fine;
    close_file(many, file);
    return ps_fail(error, PS_INPUT, "%s changed its shape or dtype while the job ran", file->path);
}

static struct ps_reader *acquire(struct many *many, const struct ps_reader *whole,
                                 struct file *file, struct ps_error *error)
{
    pthread_mutex_lock(&many->lock);
    bool fine = file->reader != NULL || reopen(many, whole, file, error);
    file->users += fine;
    file->used = ++many->clock;
    struct ps_reader *reader = fine ? file->reader : NULL;
    pthread_mutex_unlock(&many->lock);
    return reader;
}

static void release(struct many *many, struct file *file, bool finished)
{
    pthread_mutex_lock(&many->lock);
    file->users--;
    if (finished && file->users == 0)
        close_file(many, file);
    pthread_mutex_unlock(&many->lock);
}

// ---- The wrapper's functions ----

static bool add_rows(struct ps_reader *whole, struct file *file, struct ps_error *error)
{
    int64_t *rows = &whole->array.dims[0];
    file->first_row = *rows;
    if (*rows == PS_ROWS_UNKNOWN || file->rows == PS_ROWS_UNKNOWN) {
        *rows = PS_ROWS_UNKNOWN;
        return true;
    }
    return !__builtin_add_overflow(*rows, file->rows, rows) ||
           ps_fail(error, PS_INPUT, "%s and the files before have more than 2^63 rows", file->path);
}

static unsigned common_flags(unsigned a, unsigned b)
{
    unsigned both = a | b;
    return both & PS_READ_IN_ORDER ? PS_READ_IN_ORDER
           : both & PS_READ_LOCKED ? PS_READ_LOCKED
                                   : PS_READ_ANYWHERE;
}

// What can be read only once would have lost its first rows when it is opened again.
static bool check_kind(const struct file *file, struct ps_error *error)
{
    struct stat status;
    bool stream = strcmp(file->path, "-") == 0;
    if (!stream && stat(file->path, &status) != 0)
        return ps_fail_errno(error, PS_INPUT, "cannot open %s", file->path);
    return (!stream && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) ||
           ps_fail(error, PS_INPUT,
                   "%s cannot be one of several files: it is %s, and files are "
                   "opened more than once",
                   file->path, stream ? "standard input" : "a pipe or device");
}

static bool add_file(struct ps_reader *whole, struct many *many, size_t i, struct ps_error *error)
{
    struct file *file = &many->files[i];
    if (!check_kind(file, error) || !open_file(many, whole, file, error))
        return false;
    const struct ps_reader *reader = file->reader;
    if (i == 0 && !ps_array_copy(&whole->array, &reader->array, error))
        return false;
    if (i == 0 && whole->array.rank > 0)
        whole->array.dims[0] = 0;
    file->rows = reader->array.rank > 0 ? reader->array.dims[0] : 1;
    struct ps_array first = whole->array; // its rows count all files so far
    if (first.rank > 0)
        first.dims[0] = many->files[0].rows;
    if (!ps_many_compare(many->files[0].path, &first, file->path, &reader->array, whole->options,
                         error))
        return false;
    whole->flags = i == 0 ? reader->flags : common_flags(whole->flags, reader->flags);
    whole->way = i == 0 ? reader->way : whole->way;
    whole->file_bytes += reader->file_bytes;
    if (reader->row_group > whole->row_group)
        whole->row_group = reader->row_group;
    if (!add_rows(whole, file, error))
        return false;
    if (many->open_count >= OPEN_MAX || file->rows == PS_ROWS_UNKNOWN)
        close_file(many, file);
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool describe(struct ps_reader *whole, struct many *many, struct ps_error *error)
{
    struct ps_text text = {0};
    char first[100], last[100];
    const char *p = last_part(many->files[0].path),
               *q = last_part(many->files[many->count - 1].path);
    ps_text_printf(&text, "%s, %zu files (%s to %s)", whole->way, many->count,
                   ps_escape(p, strlen(p), first, sizeof first),
                   ps_escape(q, strlen(q), last, sizeof last));
    many->way = text.data;
    whole->way = text.data;
    return !text.failed || ps_fail_memory(error, 300, "the names of files");
}

bool ps_many_open(struct ps_reader *whole, struct ps_error *error)
{
    struct many *many = calloc(1, sizeof *many);
    struct file *files = calloc(whole->path_count, sizeof *files);
    if (many == NULL || files == NULL) {
        free(many);
        free(files);
        return ps_fail_memory(error, whole->path_count * sizeof *files, "a list of files");
    }
    whole->many = many;
    many->files = files;
    many->count = whole->path_count;
    pthread_mutex_init(&many->lock, NULL);
    for (size_t i = 0; i < many->count; i++)
        files[i].path = whole->paths[i];
    for (size_t i = 0; i < many->count; i++)
        if (!add_file(whole, many, i, error))
            return false;
    if (whole->array.dims[0] == PS_ROWS_UNKNOWN)
        whole->flags = PS_READ_IN_ORDER;
    return describe(whole, many, error);
}

void ps_many_close(struct ps_reader *whole)
{
    struct many *many = whole->many;
    if (many == NULL)
        return;
    for (size_t i = 0; i < many->count; i++)
        close_file(many, &many->files[i]);
    pthread_mutex_destroy(&many->lock);
    free(many->files);
    free(many->way);
    free(many);
    whole->many = NULL;
}

// ---- Reading ----

// The file that has the row; empty files have none.
static size_t find_file(const struct many *many, int64_t row)
{
    size_t low = 0, high = many->count - 1;
    while (low < high) { // the last one that begins at or before the row
        size_t middle = low + (high - low + 1) / 2;
        if (many->files[middle].first_row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// rows of one file from its own first_row on. *got_out: rows delivered.
static bool read_part(struct ps_reader *whole, struct file *file, int64_t first_row, int64_t rows,
                      void *data, int64_t *got_out, struct ps_read_result *result,
                      struct ps_error *error)
{
    struct many *many = whole->many;
    struct ps_read_result part = {0};
    struct ps_reader *reader = acquire(many, whole, file, error);
    if (reader == NULL)
        return false;
    bool fine = ps_reader_read(reader, first_row, rows, data, &part, error);
    *got_out = part.rows;
    release(many, file, file->rows == PS_ROWS_UNKNOWN && (!fine || part.rows < rows));
    result->rows += part.rows;
    result->bytes += part.bytes;
    result->decode_ms += part.decode_ms;
    return fine;
}

static bool read_known(struct ps_reader *whole, int64_t first_row, int64_t rows, char *data,
                       struct ps_read_result *result, struct ps_error *error)
{
    struct many *many = whole->many;
    size_t row_bytes = ps_array_row_bytes(&whole->array);
    for (size_t i = rows > 0 ? find_file(many, first_row) : 0; result->rows < rows; i++) {
        struct file *file = &many->files[i];
        int64_t at = first_row + result->rows - file->first_row, left = file->rows - at;
        int64_t part = rows - result->rows < left ? rows - result->rows : left, got;
        if (part > 0 && !read_part(whole, file, at, part, data + (size_t)result->rows * row_bytes,
                                   &got, result, error))
            return false;
    }
    return true;
}

static bool read_next(struct ps_reader *whole, int64_t first_row, int64_t rows, char *data,
                      struct ps_read_result *result, struct ps_error *error)
{
    struct many *many = whole->many;
    size_t row_bytes = ps_array_row_bytes(&whole->array);
    if (first_row == 0)
        many->current = 0, many->current_row = many->next_row = 0;
    if (first_row != many->next_row)
        return ps_fail(error, PS_BUG, "%s: row %lld asked for after row %lld", whole->path,
                       (long long)first_row, (long long)many->next_row);
    while (result->rows < rows && many->current < many->count) {
        struct file *file = &many->files[many->current];
        int64_t wanted = rows - result->rows, left = file->rows - many->current_row, got;
        if (file->rows != PS_ROWS_UNKNOWN && left < wanted)
            wanted = left;
        if (!read_part(whole, file, many->current_row, wanted,
                       data + (size_t)result->rows * row_bytes, &got, result, error))
            return false;
        bool ended = file->rows == PS_ROWS_UNKNOWN ? got < wanted : got == left;
        many->current += ended;
        many->current_row = ended ? 0 : many->current_row + got;
    }
    many->next_row += result->rows;
    return true;
}

bool ps_many_read(struct ps_reader *whole, int64_t first_row, int64_t rows, void *data,
                  struct ps_read_result *result, struct ps_error *error)
{
    return whole->array.dims[0] == PS_ROWS_UNKNOWN
               ? read_next(whole, first_row, rows, data, result, error)
               : read_known(whole, first_row, rows, data, result, error);
}
