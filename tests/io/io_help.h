// SPDX-License-Identifier: Apache-2.0
// What the tests of formats share: options from pairs of text, whole arrays read and written,
// warnings caught.
#ifndef PS_TESTS_IO_HELP_H
#define PS_TESTS_IO_HELP_H

#include "base/log.h"
#include "io/formats.h"

#include "check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char help_warnings[4096]; // every warning since help_clear

static void help_sink(void *context, enum ps_log_level level, const char *text)
{
    (void)context;
    if (level == PS_LOG_WARNING)
        snprintf(help_warnings + strlen(help_warnings),
                 sizeof help_warnings - strlen(help_warnings), "%s\n", text);
}

static inline void help_clear(void)
{
    help_warnings[0] = '\0';
    ps_log_set(help_sink, NULL);
}

// "dtype=f32 shape=[-1, 4]" written as pairs; pairs ends with NULL. A list is "a,b" after '[', words
// after '@' are in quotes, a mapping is "a=i64,b=f32" after '{'.
static inline bool help_options(struct ps_values *values, const struct ps_option *options,
                                const char *const *pairs)
{
    struct ps_error error = {0};
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    bool fine = ps_values_default(values, options, &error);
    for (; fine && pairs != NULL && pairs[0] != NULL; pairs += 2) {
        struct ps_value *value = (struct ps_value *)ps_values_get(values, pairs[0]);
        if (pairs[1][0] == '{') {
            char pair[128];
            snprintf(pair, sizeof pair, "%s", pairs[1] + 1);
            char *left = pair;
            ps_value_begin_list(value, place);
            for (char *key; fine && (key = strsep(&left, ",}")) != NULL;)
                if (*key != '\0') {
                    char *word = strchr(key, '=');
                    *word++ = '\0';
                    fine = ps_value_add_type(value, key, false, place, word, place, &problems);
                }
            continue;
        }
        if (pairs[1][0] != '[') {
            fine = ps_value_from_scalar(value, pairs[1], false, place, &problems);
            continue;
        }
        char copy[512];
        snprintf(copy, sizeof copy, "%s", pairs[1] + 1);
        char *rest = copy;
        ps_value_begin_list(value, place);
        for (char *word; fine && (word = strsep(&rest, ", ]")) != NULL;)
            if (*word != '\0')
                fine = ps_value_add_element(value, word + (*word == '@'), *word == '@', place,
                                            &problems);
    }
    ps_problems_free(&problems);
    return fine;
}

struct help_input {
    struct ps_values options;
    struct ps_reader reader;
    struct ps_error error;
};

static inline bool help_open(struct help_input *input, const struct ps_format *format,
                             const char *path, const char *const *pairs)
{
    *input = (struct help_input){0};
    if (!help_options(&input->options, format->read_options, pairs)) {
        ps_fail(&input->error, PS_BUG, "options of the test");
        return false;
    }
    input->reader =
        (struct ps_reader){.format = format, .name = "x", .path = path, .options = &input->options};
    return ps_reader_open(&input->reader, &input->error);
}

static inline bool help_read(struct help_input *input, int64_t first, int64_t rows, void *data)
{
    struct ps_read_result result;
    return ps_reader_read(&input->reader, first, rows, data, &result, &input->error);
}

static inline void help_close(struct help_input *input)
{
    if (input->error.status == PS_OK || input->reader.lock != NULL)
        ps_reader_close(&input->reader);
    ps_values_free(&input->options);
}

// All rows of an opened input, `step` rows at a time (malloc'ed).
static inline void *help_read_all(struct help_input *input, int64_t step)
{
    size_t bytes, row = ps_array_row_bytes(&input->reader.array);
    int64_t rows = ps_array_rows(&input->reader.array);
    if (!ps_array_bytes(&input->reader.array, &bytes))
        return NULL;
    char *data = malloc(bytes + 1);
    for (int64_t r = 0; data != NULL && r < rows; r += step) {
        int64_t part = rows - r < step ? rows - r : step;
        if (!help_read(input, r, part, data + (size_t)r * row)) {
            free(data);
            return NULL;
        }
    }
    return data;
}

// A fresh folder for the test's files; every call returns the same.
static inline const char *help_folder(void)
{
    static char folder[] = "/tmp/ps_test_io.XXXXXX";
    static bool made;
    if (!made && mkdtemp(folder) == NULL)
        abort();
    made = true;
    return folder;
}

static inline const char *help_path(const char *name)
{
    static char paths[8][PATH_MAX];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_MAX, "%s/%s", help_folder(), name);
    return path;
}

static inline int help_finish(int code)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", help_folder());
    return system(command) == 0 ? code : EXIT_FAILURE;
}

static inline bool help_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    bool fine = file != NULL && fwrite(data, 1, bytes, file) == bytes;
    return file != NULL && fclose(file) == 0 && fine;
}

// The whole file, NUL added (malloc'ed); NULL when there is none.
static inline char *help_slurp(const char *path, size_t *bytes_out)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    struct stat status;
    if (file != NULL && fstat(fileno(file), &status) == 0 &&
        (data = calloc(1, (size_t)status.st_size + 1)) != NULL)
        *bytes_out = fread(data, 1, (size_t)status.st_size, file);
    if (file != NULL)
        fclose(file);
    return data;
}

#define CHECK_TEXT(haystack, needle)                                                               \
    do {                                                                                           \
        if (strstr(haystack, needle) == NULL)                                                      \
            fprintf(stderr, "\n  '%s' lacks '%s'\n", haystack, needle);                            \
        CU_ASSERT_PTR_NOT_NULL(strstr(haystack, needle));                                          \
    } while (0)

#endif
