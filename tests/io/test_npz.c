// SPDX-License-Identifier: Apache-2.0
// Archives of NumPy and of Python's zipfile against the same arrays as .npy files; damaged and
// misleading ones.
#include "io_help.h"

#include "io/checksum.h"
#include "io/random.h"

#include <zlib.h>

static const char *data_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, PS_TEST_DATA "/npz/%s", name);
    return path;
}

static bool open_member(struct help_input *input, const char *path, const char *member)
{
    const char *pairs[] = {"member", member, NULL};
    return help_open(input, &ps_format_npz, path, member != NULL ? pairs : NULL);
}

static void *whole_npy(const char *name, size_t *bytes_out)
{
    struct help_input input;
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, data_path(name), NULL));
    void *data = help_read_all(&input, INT64_MAX);
    CU_ASSERT_FATAL(data != NULL && ps_array_bytes(&input.reader.array, bytes_out));
    help_close(&input);
    return data;
}

static void check_same(const char *archive, const char *member, const char *npy, unsigned flags)
{
    struct help_input input;
    size_t bytes, got;
    char *right = whole_npy(npy, &bytes);
    bool fine = open_member(&input, data_path(archive), member);
    if (!fine)
        fprintf(stderr, "\n  %s\n", input.error.text);
    CU_ASSERT_FATAL(fine);
    CU_ASSERT_EQUAL(input.reader.flags, flags);
    CU_ASSERT(ps_array_bytes(&input.reader.array, &got) && got == bytes);
    for (int64_t step = 1; step < 1000; step = step * 5 + 1) { // a pass each
        char *data = help_read_all(&input, step);
        if (data == NULL)
            fprintf(stderr, "\n  %s\n", input.error.text);
        CU_ASSERT_FATAL(data != NULL);
        CU_ASSERT_EQUAL(memcmp(data, right, bytes), 0);
        free(data);
    }
    free(right);
    help_close(&input);
}

static void as_numpy(void)
{
    check_same("stored.npz", "x", "x.npy", PS_READ_ANYWHERE);
    check_same("stored.npz", "y.npy", "y.npy", PS_READ_ANYWHERE);
    check_same("stored.npz", "r", "r.npy", PS_READ_ANYWHERE);
    check_same("deflated.npz", "x", "x.npy", PS_READ_IN_ORDER);
    check_same("deflated.npz", "y", "y.npy", PS_READ_LOCKED); // Fortran order
    check_same("deflated.npz", "r", "r.npy", PS_READ_IN_ORDER);
    check_same("one.npz", NULL, "x.npy", PS_READ_IN_ORDER);
    check_same("stream_stored.npz", "x", "x.npy", PS_READ_ANYWHERE);
    check_same("stream_deflated.npz", "y", "y.npy", PS_READ_IN_ORDER);
    check_same("zip64_stored.npz", "y", "y.npy", PS_READ_ANYWHERE);
    check_same("zip64_deflated.npz", "x", "x.npy", PS_READ_IN_ORDER);
    check_same("odd.npz", "group/größe", "x.npy", PS_READ_IN_ORDER);
    help_clear();
    check_same("two_in_one.npz", NULL, "x.npy", PS_READ_IN_ORDER);
    CHECK_TEXT(help_warnings, "two_in_one.npz, member 'x.npy': 368 bytes after the array");
}

// Any order of rows is right, it only takes longer.
static void rows_backwards(void)
{
    struct help_input input;
    size_t bytes;
    char *right = whole_npy("x.npy", &bytes), row[24];
    CU_ASSERT_FATAL(open_member(&input, data_path("one.npz"), NULL));
    for (int64_t r = 399; r >= 0; r -= 57) {
        CU_ASSERT(help_read(&input, r, 1, row));
        CU_ASSERT_EQUAL(memcmp(row, right + r * 24, 24), 0);
    }
    free(right);
    help_close(&input);
}

static void refused(void)
{
    static const struct {
        const char *archive, *member, *says;
    } cases[] = {
        {"stored.npz", NULL, "holds 4 arrays: choose one by `member:` (members: x, y, r, number)"},
        {"stored.npz", "z", "no member 'z' in"},
        {"stored.npz", "numbr", "did you mean 'number'?"},
        {"none.npz", NULL, "holds no arrays"},
        {"bzip2.npz", NULL, "bzip2.npz, member 'x.npy' is packed by bzip2 (method 12)"},
        {"lzma.npz", NULL, "is packed by LZMA (method 14)"},
        {"odd.npz", "README", "odd.npz, member 'README' is not a .npy file"},
        {"odd.npz", "objects", "member 'objects.npy' holds Python objects"},
        {"x.npy", NULL, "no directory of a zip archive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct help_input input;
        CU_ASSERT_FALSE(open_member(&input, data_path(cases[i].archive), cases[i].member));
        CHECK_TEXT(input.error.text, cases[i].says);
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        help_close(&input);
    }
    CU_ASSERT_PTR_EQUAL(ps_format_guess("a.npz", true), &ps_format_npz); // which has no writer
}

// ---- Damage ----

// Opens and reads all; the error's text when either fails, "" when all is well.
static const char *outcome(const char *path, const char *member)
{
    static char text[1536];
    struct help_input input;
    text[0] = '\0';
    if (open_member(&input, path, member))
        free(help_read_all(&input, 50));
    snprintf(text, sizeof text, "%s", input.error.text);
    CU_ASSERT(input.error.status == PS_OK || input.error.status == PS_INPUT);
    help_close(&input);
    return text;
}

static unsigned char *find(unsigned char *file, size_t bytes, const char *mark, int which)
{
    for (size_t i = 0; i + 4 <= bytes; i++)
        if (memcmp(file + i, mark, 4) == 0 && which-- == 0)
            return file + i;
    return NULL;
}

static void patch(const char *archive, const char *mark, int which, size_t at, const char *bytes,
                  size_t count, const char *member, const char *says)
{
    size_t size = 0;
    unsigned char *file = (unsigned char *)help_slurp(data_path(archive), &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    unsigned char *place = find(file, size, mark, which);
    CU_ASSERT_PTR_NOT_NULL_FATAL(place);
    memcpy(place + at, bytes, count);
    const char *path = help_path("patched.npz");
    CU_ASSERT_FATAL(help_file(path, file, size));
    CHECK_TEXT(outcome(path, member), says);
    free(file);
}

#define DIRECTORY "PK\1\2"
#define LOCAL "PK\3\4"
#define END "PK\5\6"

static void damaged(void)
{
    // A byte of the data: stored and deflated.
    patch("stored.npz", "\x93NUM", 0, 4000, "\x55\xaa", 2, "x", "checksum of its data is");
    patch("deflated.npz", LOCAL, 0, 900, "\x55\xaa", 2, "x", "damaged");
    // The checksum itself.
    patch("stream_deflated.npz", DIRECTORY, 0, 16, "abcd", 4, "x", "but the archive says 64636261");
    patch("stream_stored.npz", DIRECTORY, 0, 16, "abcd", 4, "x", "but the archive says 64636261");
    patch("stored.npz", DIRECTORY, 0, 16, "abcd", 4, "x",
          "does not agree with the archive's directory");
    // Encrypted; a method that is none.
    patch("stored.npz", DIRECTORY, 1, 8, "\1", 1, "y", "member 'y.npy' is encrypted");
    patch("stored.npz", DIRECTORY, 1, 10, "\x63", 1, "y", "packed by AES encryption");
    patch("stored.npz", DIRECTORY, 1, 10, "\x40", 1, "y", "packed by unknown (method 64)");
    // Sizes: unpacked ones that cannot be, are too large, are too small.
    patch("stream_deflated.npz", DIRECTORY, 0, 24, "\xff\xff\xff\x7f", 4, "x",
          "2147483647 bytes cannot be held by 2743 deflate ones");
    patch("stream_deflated.npz", DIRECTORY, 0, 24, "\x00\x50\x00\x00", 4, "x", "");
    patch("stream_deflated.npz", DIRECTORY, 0, 24, "\x00\x20\x00\x00", 4, "x", "(truncated)");
    patch("stream_stored.npz", DIRECTORY, 0, 24, "\x00\x50\x00\x00", 4, "x",
          "20480 bytes cannot be held by 9728 stored ones");
    patch("stored.npz", DIRECTORY, 0, 20, "\x00\x50\x00\x00\x00\x50\x00\x00", 8, "x",
          "over what follows it");
    patch("stored.npz", DIRECTORY, 3, 20, "\x00\x00\x00\x70\x00\x00\x00\x70", 8, "number",
          "over what follows it");
    // Two members at one place; one outside.
    patch("stored.npz", DIRECTORY, 1, 42, "\x00\x00\x00\x00", 4, "y", "over what follows it");
    patch("stored.npz", DIRECTORY, 1, 42, "\x00\x00\x00\x7f", 4, "y", "over what follows it");
    patch("stored.npz", DIRECTORY, 1, 42, "\x01\x00\x00\x00", 4, "y", "over what follows it");
    // Names that differ; no header where one should be.
    patch("stored.npz", LOCAL, 0, 30, "q", 1, "x", "does not agree");
    patch("stored.npz", LOCAL, 0, 0, "PK\3\5", 4, "x", "does not agree");
    // The directory: its place, size, count and entries.
    patch("stored.npz", END, 0, 16, "\x01", 1, "x", "which does not end at byte");
    patch("stored.npz", END, 0, 12, "\xff\xff\xff\xfe", 4, "x", "which does not end at byte");
    patch("stored.npz", END, 0, 10, "\xff\xfe", 2, "x", "65279 members in a zip directory of");
    patch("stored.npz", END, 0, 10, "\x05", 1, "x", "5 members in a zip directory of 209 bytes");
    patch("stored.npz", END, 0, 10, "\x03", 1, "x", "entry 4 of its zip directory is not counted");
    patch("stored.npz", END, 0, 4, "\x02", 1, "x", "one part of a zip archive in several files");
    patch("stored.npz", DIRECTORY, 3, 28, "\xff\xff", 2, "x",
          "entry 4 of its zip directory reaches beyond its end");
    patch("stored.npz", DIRECTORY, 1, 28, "\x00\x00", 2, "x", "has no proper name");
    patch("stored.npz", DIRECTORY, 1, 46, "\x00", 1, "x", "has no proper name");
    patch("zip64_stored.npz", "PK\6\7", 0, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "x",
          "outside the file");
    patch("zip64_stored.npz", "PK\6\7", 0, 8, "\x00\x00", 2, "x",
          "no zip64 end of the directory at byte 0");
    patch("zip64_stored.npz", "PK\6\6", 0, 32, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "x",
          "members in a zip directory");
    patch("zip64_stored.npz", "PK\6\6", 0, 40, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "x",
          "which does not end");
    patch("stored.npz", END, 0, 8, "\x04", 1, "x", ""); // unharmed
}

// Cut anywhere, an archive has no directory; behind it, a few bytes more are told.
static void cut_and_grown(void)
{
    size_t bytes = 0;
    char *file = help_slurp(data_path("deflated.npz"), &bytes);
    const char *path = help_path("cut.npz");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (size_t length = 0; length < bytes; length += length + 200 < bytes ? 37 : 1) {
        CU_ASSERT_FATAL(help_file(path, file, length));
        CU_ASSERT_STRING_NOT_EQUAL(outcome(path, "x"), "");
    }
    CU_ASSERT_FATAL(help_file(path, file, bytes + 1)); // a NUL, from help_slurp
    help_clear();
    CU_ASSERT_STRING_EQUAL(outcome(path, "x"), "");
    CHECK_TEXT(help_warnings, "1 bytes behind the archive are ignored");
    free(file);
}

// Whatever bytes change, a wrong value is never read: all or nothing.
static void changed(void)
{
    static const char *const archives[] = {"deflated.npz", "zip64_deflated.npz",
                                           "stream_stored.npz"};
    size_t wanted;
    char *right = whole_npy("x.npy", &wanted);
    const char *path = help_path("changed.npz");
    uint64_t position = 0;
    int accepted = 0, refusals = 0;
    for (int round = 0; round < 1500; round++) {
        size_t bytes = 0;
        char *file = help_slurp(data_path(archives[round % 3]), &bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        for (uint64_t n = 1 + ps_random_at(1, position) % 2; n > 0; n--, position++) {
            // The directory as often as the data.
            size_t from = ps_random_at(4, position) % 2 ? bytes - 300 : 0;
            file[from + ps_random_at(2, position) % (bytes - from)] =
                (char)ps_random_at(3, position);
        }
        CU_ASSERT_FATAL(help_file(path, file, bytes));
        free(file);
        struct help_input input;
        char *data = open_member(&input, path, "x") ? help_read_all(&input, 64) : NULL;
        CU_ASSERT(data != NULL || input.error.status == PS_INPUT);
        if (data != NULL)
            CU_ASSERT_EQUAL(memcmp(data, right, wanted), 0);
        *(data != NULL ? &accepted : &refusals) += 1;
        free(data);
        help_close(&input);
    }
    CU_ASSERT(accepted > 50 && refusals > 500);
    free(right);
}

// ---- Checksums of pieces ----

static void pieces_in_any_order(void)
{
    unsigned char data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i);
    uint32_t right = (uint32_t)crc32(0, data, sizeof data), crc = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct ps_checksum checksum;
        int order[40], complete = 0;
        CU_ASSERT_FATAL(ps_checksum_init(&checksum, sizeof data));
        for (int i = 0; i < 40; i++)
            order[i] = i;
        for (int i = 39; i > 0; i--) {
            int j = (int)(ps_random_at(seed, (uint64_t)i) % (uint64_t)(i + 1)), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (int i = 0; i < 40; i++) {
            complete +=
                ps_checksum_add(&checksum, (uint64_t)order[i] * 25, data + order[i] * 25, 25, &crc);
            size_t at = ps_random_at(seed + 1000, (uint64_t)i) % 900;
            if (i % 3 == 0) // over pieces that have been seen and others
                complete += ps_checksum_add(&checksum, at, data + at, 100, &crc);
        }
        CU_ASSERT(complete == 1 && crc == right);
        ps_checksum_free(&checksum);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"arrays as NumPy reads them", as_numpy},
        {"rows backwards", rows_backwards},
        {"refused archives", refused},
        {"damaged archives", damaged},
        {"archives cut and grown", cut_and_grown},
        {"archives with changed bytes", changed},
        {"checksums of pieces in any order", pieces_in_any_order},
        {NULL, NULL},
    };
    return help_finish(check_main("npz", tests));
}
