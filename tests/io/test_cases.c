// SPDX-License-Identifier: Apache-2.0
// Hard files of other writers (tests/data/cases): every one is read right or refused for the right
// reason. The numbers are those that NumPy gives.
#include "io_help.h"

#include "base/text.h"

struct good_case {
    const char *file, *array, *warning;
    const char *options[9];
    int count;
    double values[24];
};

struct bad_case {
    const char *file;
    enum ps_status status;
    const char *says[2];
    const char *options[9];
};

#define TO_5                                                                                       \
    6,                                                                                             \
    {                                                                                              \
        0, 1, 2, 3, 4, 5                                                                           \
    }
#define TO_23                                                                                      \
    24,                                                                                            \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23       \
    }
#define TO_11                                                                                      \
    12,                                                                                            \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11                                                       \
    }

static const struct good_case good[] = {
    {"npy/fortran.npy", "f64[2, 3]", NULL, {NULL}, TO_5},
    {"npy/fortran_3d.npy", "i32[2, 3, 4]", NULL, {NULL}, TO_23},
    {"npy/big_endian.npy", "f32[4]", NULL, {NULL}, 4, {0, 1, -2.5, 3}},
    {"npy/version3_plain.npy", "f64[2, 3]", NULL, {NULL}, TO_5},
    {"npy/types_i1.npy", "i8[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_i2.npy", "i16[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_i4.npy", "i32[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_i8.npy", "i64[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_u1.npy", "u8[4]", NULL, {NULL}, 4, {0, 1, 2, 100}},
    {"npy/types_u2.npy", "u16[4]", NULL, {NULL}, 4, {0, 1, 2, 100}},
    {"npy/types_u4.npy", "u32[4]", NULL, {NULL}, 4, {0, 1, 2, 100}},
    {"npy/types_u8.npy", "u64[4]", NULL, {NULL}, 4, {0, 1, 2, 100}},
    {"npy/types_f2.npy", "f16[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_f4.npy", "f32[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_f8.npy", "f64[4]", NULL, {NULL}, 4, {0, -1, 2, 100}},
    {"npy/types_b1.npy", "bool[3]", NULL, {NULL}, 3, {1, 0, 1}},
    {"npy/descr_native_eq.npy", "f64[2, 3]", NULL, {NULL}, TO_5},
    {"npy/zero_rows.npy", "f64[0, 3]", NULL, {NULL}, 0, {0}},
    {"npy/unaligned_header.npy", "f64[2, 3]", NULL, {NULL}, TO_5},
    {"npy/header_other_order.npy", "f64[2, 3]", NULL, {NULL}, TO_5},
    {"npy/two_arrays.npy", "f64[2, 3]", "176 bytes after the array", {NULL}, TO_5},
    {"raw/ok_f4_3x4.bin", "f32[3, 4]", NULL, {"dtype", "f4", "shape", "[3, 4]"}, TO_11},
    {"raw/ok_f4_3x4.bin", "f32[3, 4]", NULL, {"dtype", "f4", "shape", "[-1, 4]"}, TO_11},
    {"raw/ok_f4_3x4.bin", "f32[12]", NULL, {"dtype", "f32"}, TO_11},
    {"raw/partial_last_frame.bin",
     "f32[3, 4]",
     "8 bytes after f32[3, 4]",
     {"dtype", "f32", "shape", "[3, 4]"},
     TO_11},
    {"raw/header_37_bytes.bin",
     "f32[3, 4]",
     NULL,
     {"dtype", "f32", "shape", "[-1, 4]", "offset", "37"},
     TO_11},
    {"raw/gap_between_frames.bin", "f32[3, 6]", NULL, {"dtype", "f32", "shape", "[-1, 6]"}, 0, {0}},
    {"raw/zero_bytes.bin", "f32[0, 4]", NULL, {"dtype", "f32", "shape", "[-1, 4]"}, 0, {0}},
};

static const struct bad_case bad[] = {
    {"npy/version9.npy", PS_INPUT, {"version 9.0 is not supported"}, {NULL}},
    {"npy/complex128.npy", PS_INPUT, {"complex numbers", "`complex:` parts"}, {NULL}},
    {"npy/object.npy",
     PS_INPUT,
     {"Python objects (a pickle, which is never unpacked)", "|O"},
     {NULL}},
    {"npy/unicode.npy", PS_INPUT, {"text, not numbers", "<U3"}, {NULL}},
    {"npy/datetime64.npy", PS_INPUT, {"datetime64", "<M8[D]"}, {NULL}},
    {"npy/void.npy", PS_INPUT, {"void", "|V3"}, {NULL}},
    {"npy/shape_not_tuple.npy", PS_INPUT, {"shape (3) is not a tuple"}, {NULL}},
    {"npy/shape_np_int64.npy", PS_INPUT, {"before 'np.int64(1)"}, {NULL}},
    {"npy/header_extra_key.npy", PS_INPUT, {"unknown key 'x'"}, {NULL}},
    {"npy/truncated.npy", PS_INPUT, {"holds 7900 of 8000 data bytes", "truncated"}, {NULL}},
    {"npy/header_len_beyond.npy", PS_INPUT, {"2147483647 bytes exceeds the file"}, {NULL}},
    {"npy/shape_overflow.npy", PS_INPUT, {"more than 2^63 bytes", "holds 48 data bytes"}, {NULL}},
    {"npy/shape_huge.npy", PS_INPUT, {"holds 48 of 8000000000000 data bytes"}, {NULL}},
    {"npy/bad_magic.npy", PS_INPUT, {"is not a .npy file"}, {NULL}},
    {"npy/empty.npy", PS_INPUT, {"is empty"}, {NULL}},
    {"raw/not_multiple.bin",
     PS_INPUT,
     {"46 bytes is not a multiple of the 16-byte row", "2 rows and 14 bytes more"},
     {"dtype", "f32", "shape", "[-1, 4]"}},
    {"raw/not_multiple.bin",
     PS_INPUT,
     {"46 bytes is not a multiple of the 4-byte row"},
     {"dtype", "f32"}},
    {"raw/partial_last_frame.bin",
     PS_INPUT,
     {"3 rows and 8 bytes more", "give their number"},
     {"dtype", "f32", "shape", "[-1, 4]"}},
    {"raw/zero_bytes.bin",
     PS_INPUT,
     {"f32[3, 4] needs 48 bytes, but the file holds 0"},
     {"dtype", "f32", "shape", "[3, 4]"}},
    {"raw", PS_INPUT, {"is a directory"}, {"dtype", "f32"}},
    {"raw/none.bin", PS_INPUT, {"none.bin: No such file"}, {"dtype", "f32"}},
    {"raw/ok_f4_3x4.bin",
     PS_INPUT,
     {"the offset of 49 bytes is behind the end"},
     {"dtype", "u8", "offset", "49"}},
    {"raw/ok_f4_3x4.bin",
     PS_USAGE,
     {"only the first size may be -1"},
     {"dtype", "u8", "shape", "[3, -1]"}},
    {"raw/ok_f4_3x4.bin", PS_USAGE, {"rows of 0 bytes"}, {"dtype", "u8", "shape", "[-1, 0]"}},
    {"raw/ok_f4_3x4.bin",
     PS_INPUT,
     {"more than 2^63"},
     {"dtype", "f64", "shape", "[4294967296, 4294967296, 16]"}},
};

static const struct ps_format *format_of(const char *file)
{
    return ps_format_find(strncmp(file, "npy", 3) == 0 ? "npy" : "raw");
}

static double as_double(enum ps_dtype dtype, const void *data, size_t at)
{
    double value = -12345;
    size_t refused;
    uint64_t changed = 0;
    CU_ASSERT(ps_convert(PS_F64, &value, dtype, (const char *)data + at * ps_dtype_bytes(dtype), 1,
                         PS_CAST_ERROR, &refused, &changed));
    return value;
}

static void check_values(struct help_input *input, const struct good_case *c)
{
    for (int64_t step = 1; step <= 3; step++) {
        void *data = help_read_all(input, step);
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        for (int i = 0; i < c->count; i++)
            CU_ASSERT_EQUAL(as_double(input->reader.array.dtype, data, (size_t)i), c->values[i]);
        free(data);
    }
}

static void reads_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct good_case *c = &good[i];
        struct help_input input;
        char path[512], text[PS_ARRAY_TEXT];
        snprintf(path, sizeof path, PS_TEST_DATA "/cases/%s", c->file);
        help_clear();
        bool opened = help_open(&input, format_of(c->file), path, c->options);
        if (!opened)
            fprintf(stderr, "\n  %s: %s\n", c->file, input.error.text);
        CU_ASSERT(opened);
        if (opened) {
            CU_ASSERT_STRING_EQUAL(ps_array_text(&input.reader.array, text), c->array);
            CHECK_TEXT(help_warnings, c->warning != NULL ? c->warning : "");
            CU_ASSERT_EQUAL(help_warnings[0] != '\0', c->warning != NULL);
            check_values(&input, c);
        }
        help_close(&input);
    }
}

static void refuses_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct bad_case *c = &bad[i];
        struct help_input input;
        char path[512];
        snprintf(path, sizeof path, PS_TEST_DATA "/cases/%s", c->file);
        bool opened = help_open(&input, format_of(c->file), path, c->options);
        CU_ASSERT_FALSE(opened);
        CU_ASSERT_EQUAL(input.error.status, c->status);
        for (int s = 0; s < 2 && c->says[s] != NULL; s++)
            CHECK_TEXT(input.error.text, c->says[s]);
        if (c->status == PS_INPUT && c->options[2] == NULL)
            CHECK_TEXT(input.error.text, c->file);
        if (!opened)
            CU_ASSERT_PTR_NULL(input.reader.lock);
        help_close(&input);
    }
}

// Signalling, quiet and negative NaNs come through bit by bit.
static void keeps_nan_bits(void)
{
    struct help_input input;
    size_t bytes = 0;
    const char *path = PS_TEST_DATA "/cases/npy/nan_payloads.npy";
    CU_ASSERT_FATAL(help_open(&input, ps_format_find("npy"), path, NULL));
    uint64_t *data = help_read_all(&input, 2);
    char *file = help_slurp(path, &bytes);
    CU_ASSERT_FATAL(data != NULL && file != NULL && bytes == 152);
    CU_ASSERT_EQUAL(memcmp(data, file + 128, 24), 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT((data[i] & 0x7fffffffffffffffu) > 0x7ff0000000000000u);
    free(data);
    free(file);
    help_close(&input);
}

static void finds_formats(void)
{
    CU_ASSERT_STRING_EQUAL(ps_format_guess(PS_TEST_DATA "/cases/npy/fortran.npy", false)->name,
                           "npy");
    CU_ASSERT_STRING_EQUAL(ps_format_guess("OUT.NPY", true)->name, "npy");
    CU_ASSERT_STRING_EQUAL(ps_format_guess("a/b.bin", true)->name, "raw");
    CU_ASSERT_PTR_NULL(ps_format_guess("no_suffix", true));
    CU_ASSERT_PTR_NULL(ps_format_guess("npy", true));
    CU_ASSERT_PTR_NULL(ps_format_find("numpy"));
    // Without its suffix, by its first bytes.
    size_t bytes = 0;
    char *file = help_slurp(PS_TEST_DATA "/cases/npy/fortran.npy", &bytes);
    CU_ASSERT_FATAL(file != NULL && help_file(help_path("renamed"), file, bytes));
    const struct ps_format *found = ps_format_guess(help_path("renamed"), false);
    CU_ASSERT(found != NULL && strcmp(found->name, "npy") == 0);
    CU_ASSERT(help_file(help_path("other"), "hello", 5));
    CU_ASSERT_PTR_NULL(ps_format_guess(help_path("other"), false));
    free(file);
}

static void inspects(void)
{
    struct ps_text text = {0};
    struct ps_error error = {0};
    CU_ASSERT(
        ps_format_find("npy")->inspect(PS_TEST_DATA "/cases/npy/fortran_3d.npy", &text, &error));
    CHECK_TEXT(text.data, "i32[2, 3, 4]");
    CHECK_TEXT(text.data, "Fortran order");
    CHECK_TEXT(text.data, "size: 224 bytes");
    CHECK_TEXT(text.data, "inputs:\n  fortran_3d: {path: ");
    ps_text_free(&text);
    CU_ASSERT(ps_format_find("raw")->inspect(PS_TEST_DATA "/cases/raw/partial_last_frame.bin",
                                             &text, &error));
    CHECK_TEXT(text.data, "1 byte (56), 2 bytes (28), 4 bytes (14), 8 bytes (7)\n");
    CHECK_TEXT(text.data, "format: raw, dtype: f32, shape: [-1]}");
    ps_text_free(&text);
    CU_ASSERT_FALSE(
        ps_format_find("npy")->inspect(PS_TEST_DATA "/cases/npy/object.npy", &text, &error));
    CHECK_TEXT(error.text, "Python objects");
    ps_text_free(&text);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"good files are read", reads_good},
        {"bad files are refused", refuses_bad},
        {"NaN bits", keeps_nan_bits},
        {"formats are found", finds_formats},
        {"inspect", inspects},
        {NULL, NULL},
    };
    return help_finish(check_main("cases", tests));
}
