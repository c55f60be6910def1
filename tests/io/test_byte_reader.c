// SPDX-License-Identifier: Apache-2.0
// Files packed by Python's gzip (tests/data/make_gzip.py made tests/data/gzip), read in pieces of
// every size; the same files cut at every byte and with every byte changed must give an error or,
// where the byte means nothing (time, name, flags of the system), the same data.
#include "io_help.h"

#include "io/byte_reader.h"

#define DATA PS_TEST_DATA "/gzip/"

// All bytes in reads of `step` (malloc'ed), NUL added. NULL: error says why.
static char *read_all(struct ps_byte_reader *reader, size_t step, size_t *bytes_out,
                      struct ps_error *error)
{
    size_t room = 1u << 20, got = step;
    char *data = calloc(1, room + step + 1);
    *bytes_out = 0;
    while (data != NULL && got == step && *bytes_out < room) {
        if (!ps_byte_reader_read(reader, data + *bytes_out, step, &got, error)) {
            free(data);
            return NULL;
        }
        *bytes_out += got;
    }
    return data;
}

static char *read_file(const char *path, enum ps_packing packing, size_t step, size_t *bytes_out,
                       struct ps_error *error)
{
    struct ps_byte_reader *reader = ps_byte_reader_open(path, packing, error);
    char *data = reader != NULL ? read_all(reader, step, bytes_out, error) : NULL;
    ps_byte_reader_close(reader);
    return data;
}

static void reads_members(void)
{
    static const char *const files[] = {"one.gz", "three_members.gz", "zero_padded.gz",
                                        "empty_members.gz", "plain"};
    static const size_t steps[] = {1, 2, 7, 100, 65536, 300000};
    size_t wanted_bytes = 0;
    char *wanted = help_slurp(DATA "plain", &wanted_bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wanted);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            char path[300];
            struct ps_error error = {0};
            size_t bytes = 0;
            snprintf(path, sizeof path, DATA "%s", files[f]);
            char *data = read_file(path, PS_PACKING_AUTO, steps[s], &bytes, &error);
            CU_ASSERT(data != NULL && bytes == wanted_bytes &&
                      memcmp(data, wanted, wanted_bytes) == 0);
            free(data);
        }
    }
    free(wanted);
}

static void rewinds(void)
{
    struct ps_error error = {0};
    struct ps_byte_reader *reader =
        ps_byte_reader_open(DATA "three_members.gz", PS_PACKING_AUTO, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    CU_ASSERT(ps_byte_reader_is_gzip(reader));
    char part[10];
    size_t got, first_bytes = 0, bytes = 0;
    CU_ASSERT(ps_byte_reader_read(reader, part, sizeof part, &got, &error) && got == sizeof part);
    CU_ASSERT(ps_byte_reader_rewind(reader, &error));
    char *first = read_all(reader, 1000, &first_bytes, &error);
    CU_ASSERT(ps_byte_reader_rewind(reader, &error));
    char *second = read_all(reader, 13, &bytes, &error);
    CU_ASSERT(first != NULL && second != NULL && bytes == first_bytes &&
              memcmp(first, second, bytes) == 0);
    struct stat status;
    CU_ASSERT_EQUAL(stat(DATA "three_members.gz", &status), 0);
    CU_ASSERT(ps_byte_reader_taken(reader) >= 2 * (uint64_t)status.st_size);
    free(first);
    free(second);
    ps_byte_reader_close(reader);
}

static bool is_known_text(const char *data, size_t bytes, const char *wanted, size_t wanted_bytes)
{
    return bytes == wanted_bytes && memcmp(data, wanted, bytes) == 0;
}

// Never a part of the data without an error.
static void check_damaged(const char *packed, size_t packed_bytes, const char *wanted,
                          size_t wanted_bytes, bool may_be_whole)
{
    struct ps_error error = {0};
    size_t bytes = 0;
    const char *path = help_path("damaged.gz");
    CU_ASSERT_FATAL(help_file(path, packed, packed_bytes));
    char *data = read_file(path, PS_PACKING_GZIP, 50, &bytes, &error);
    if (data != NULL)
        CU_ASSERT(may_be_whole && is_known_text(data, bytes, wanted, wanted_bytes));
    if (data == NULL) {
        CU_ASSERT_EQUAL(error.status, PS_INPUT);
        CHECK_TEXT(error.text, "damaged.gz");
    }
    free(data);
}

static void notices_damage(void)
{
    size_t packed_bytes = 0, wanted_bytes = 0;
    char *packed = help_slurp(DATA "small_members.gz", &packed_bytes);
    char *wanted = help_slurp(DATA "small", &wanted_bytes);
    CU_ASSERT_FATAL(packed != NULL && wanted != NULL);
    help_clear();
    for (size_t i = 1; i < packed_bytes; i++) {
        // Cut between members it is a whole file with less in it: that cannot be seen.
        bool between = (unsigned char)packed[i] == 0x1f && (unsigned char)packed[i + 1] == 0x8b;
        if (!between)
            check_damaged(packed, i, wanted, wanted_bytes, false);
        packed[i] ^= 0x41;
        check_damaged(packed, packed_bytes, wanted, wanted_bytes, true);
        packed[i] ^= 0x41;
    }
    free(packed);
    free(wanted);
}

static void tells_what_is_wrong(void)
{
    static const struct {
        const char *file, *says[2];
        enum ps_packing packing;
    } cases[] = {
        {"garbage_behind.gz", {"behind member 1, from byte"}, PS_PACKING_AUTO},
        {"zeros_then_garbage.gz", {"behind member 1, from byte"}, PS_PACKING_AUTO},
        {"second_truncated.gz", {"gzip member 2", "truncated"}, PS_PACKING_AUTO},
        {"bad_crc.gz", {"gzip member 1 is damaged", "incorrect data check"}, PS_PACKING_AUTO},
        {"bad_length.gz", {"gzip member 1 is damaged", "incorrect length check"}, PS_PACKING_AUTO},
        {"plain", {"not gzip data"}, PS_PACKING_GZIP},
        {"none.gz", {"none.gz: No such file"}, PS_PACKING_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[300];
        struct ps_error error = {0};
        size_t bytes;
        snprintf(path, sizeof path, DATA "%s", cases[i].file);
        char *data = read_file(path, cases[i].packing, 4096, &bytes, &error);
        CU_ASSERT_PTR_NULL(data);
        CU_ASSERT_EQUAL(error.status, PS_INPUT);
        for (int n = 0; n < 2 && cases[i].says[n] != NULL; n++)
            CHECK_TEXT(error.text, cases[i].says[n]);
        free(data);
    }
}

static void takes_files_as_they_are(void)
{
    size_t bytes = 0, wanted_bytes = 0;
    struct ps_error error = {0};
    char *wanted = help_slurp(DATA "one.gz", &wanted_bytes);
    char *data = read_file(DATA "one.gz", PS_PACKING_NONE, 100, &bytes, &error);
    CU_ASSERT(data != NULL && wanted != NULL && is_known_text(data, bytes, wanted, wanted_bytes));
    free(data);
    free(wanted);
    help_clear();
    CU_ASSERT(help_file(help_path("text.gz"), "a,b\n", 4));
    data = read_file(help_path("text.gz"), PS_PACKING_AUTO, 100, &bytes, &error);
    CU_ASSERT(data != NULL && is_known_text(data, bytes, "a,b\n", 4));
    CHECK_TEXT(help_warnings, "text.gz is not gzip data, although its name says so");
    free(data);
}

static void reads_standard_input_once(void)
{
    struct ps_error error = {0};
    size_t packed_bytes = 0, wanted_bytes = 0, bytes = 0;
    char *packed = help_slurp(DATA "small_members.gz", &packed_bytes);
    char *wanted = help_slurp(DATA "small", &wanted_bytes);
    int ends[2];
    CU_ASSERT_FATAL(packed != NULL && wanted != NULL && pipe(ends) == 0);
    CU_ASSERT_FATAL(write(ends[1], packed, packed_bytes) == (ssize_t)packed_bytes);
    close(ends[1]);
    CU_ASSERT_FATAL(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    struct ps_byte_reader *reader = ps_byte_reader_open("-", PS_PACKING_AUTO, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    char *data = read_all(reader, 11, &bytes, &error);
    CU_ASSERT(data != NULL && is_known_text(data, bytes, wanted, wanted_bytes));
    CU_ASSERT_FALSE(ps_byte_reader_rewind(reader, &error));
    CHECK_TEXT(error.text, "standard input cannot be read twice");
    ps_byte_reader_close(reader);
    free(data);
    free(packed);
    free(wanted);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"members", reads_members},
        {"again from the start", rewinds},
        {"damage", notices_damage},
        {"what is wrong", tells_what_is_wrong},
        {"not packed", takes_files_as_they_are},
        {"standard input", reads_standard_input_once},
        {NULL, NULL},
    };
    return help_finish(check_main("byte_reader", tests));
}
