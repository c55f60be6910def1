// SPDX-License-Identifier: Apache-2.0
// Structured .npy files and other dtypes against what NumPy reads out of the same files
// (data/npy/make_npy.py), in blocks of every size.
#include "io_help.h"

struct wanted {
    const char *file, *columns, *dtype;
    const char *expected;     // the .npy file that NumPy made
    const char *names;        // of the columns, joined by '|', or NULL
    const char *more, *value; // one more option
};

static const struct wanted reads[] = {
    {"mixed", NULL, NULL, "mixed.all", "id|x|y|ok", NULL, NULL},
    {"mixed", "[y x]", NULL, "mixed.yx", "y|x", NULL, NULL},
    {"mixed", "[2 1]", NULL, "mixed.yx", "y|x", NULL, NULL},
    {"mixed", "[id]", NULL, "mixed.id", NULL, NULL, NULL},
    {"mixed", "[id:ok]", NULL, "mixed.all", "id|x|y|ok", NULL, NULL},
    {"mixed", "[0:2 y ok:]", NULL, "mixed.all", "id|x|y|ok", NULL, NULL},
    {"mixed", "[i* ? ok:ok]", NULL, "mixed.all", "id|x|y|ok", NULL, NULL},
    {"mixed", "[:1 *]", NULL, "mixed.all", "id|x|y|ok", NULL, NULL},
    {"mixed", "[id]", "i32", "mixed.id32", NULL, NULL, NULL},
    {"large_id", "[id]", NULL, "large_id.id", NULL, NULL, NULL},
    {"aligned", NULL, NULL, "aligned.all",
     "c|v[0,0]|v[0,1]|v[0,2]|v[1,0]|v[1,1]|v[1,2]|d|w[0]|w[1]|w[2]|e", NULL, NULL},
    {"aligned", "[v]", NULL, "aligned.v", NULL, NULL, NULL},
    {"aligned", "[w]", NULL, "aligned.w", "w[0]|w[1]|w[2]", NULL, NULL},
    {"nested", NULL, NULL, "nested.all", NULL, NULL, NULL},
    {"nested", "[pos]", NULL, "nested.pos", "pos.lat|pos.lon", NULL, NULL},
    {"nested", "[deep]", NULL, "nested.deep", "deep.deeper.x[0]|deep.deeper.x[1]", NULL, NULL},
    {"offsets", NULL, NULL, "offsets.all", "b|a", NULL, NULL},
    {"titles", NULL, NULL, "titles.all", "a|b", NULL, NULL},
    {"latin1", NULL, NULL, "latin1.all", "größe|it's \\ \"it\"|b\n", NULL, NULL},
    {"unicode", NULL, NULL, "unicode.all", "温度|größe", NULL, NULL},
    {"unicode", "[größe]", NULL, "unicode.second", NULL, NULL, NULL},
    {"version2", NULL, NULL, "version2.b", NULL, NULL, NULL},
    {"texts", "[n x]", NULL, "texts.nx", "n|x", NULL, NULL},
    {"two_axes", NULL, NULL, "two_axes.all", "a|b", NULL, NULL},
    {"two_axes", "[b]", NULL, "two_axes.b", NULL, NULL, NULL},
    {"two_axes_fortran", NULL, NULL, "two_axes.all", "a|b", NULL, NULL},
    {"two_axes_fortran", "[b]", NULL, "two_axes.b", NULL, NULL, NULL},
    {"no_rows", NULL, NULL, "no_rows.all", "a|b", NULL, NULL},
    {"one_record", NULL, NULL, "one_record.all", "a|b", NULL, NULL},
    {"complex", NULL, NULL, "complex.parts", "re|im", "complex", "parts"},
    {"complex", NULL, NULL, "complex.re", NULL, "complex", "real"},
    {"complex", NULL, NULL, "complex.im", NULL, "complex", "imag"},
    {"complex", NULL, NULL, "complex.magnitude", NULL, "complex", "magnitude"},
    {"complex", NULL, NULL, "complex.phase", NULL, "complex", "phase"},
    {"complex", NULL, NULL, "complex.polar", "magnitude|phase", "complex", "polar"},
    {"complex64", NULL, NULL, "complex64.parts", "re|im", "complex", "parts"},
    {"complex64", NULL, NULL, "complex64.im", NULL, "complex", "imag"},
    {"complex64", NULL, "f64", "complex64.im8", NULL, "complex", "imag"},
    {"complex64", NULL, "f64", "complex64.magnitude8", NULL, "complex", "magnitude"},
    {"texts", "[x z]", NULL, "texts.xz", "x|z.re|z.im", "complex", "parts"},
    {"texts", "[z.im]", NULL, "texts.zim", NULL, "complex", "parts"},
    {"times", NULL, NULL, "times.s", NULL, "dates", "time_s"},
    {"near", NULL, NULL, "near.ns", NULL, "dates", "time_ns"},
    {"delta", NULL, NULL, "delta.s", NULL, "dates", "time_s"},
    {"timed", NULL, NULL, "timed.s", "t|x", "dates", "time_s"},
    {"plain", NULL, "f64", "plain.f8", NULL, NULL, NULL},
    {"plain", NULL, "u8", "plain.u1", NULL, NULL, NULL},
    {"plain", NULL, "i32", "plain", NULL, NULL, NULL},
    {"plain_fortran", NULL, "f64", "plain_fortran.f8", NULL, NULL, NULL},
};

static const char *data_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, PS_TEST_DATA "/npy/%s.npy", name);
    return path;
}

static bool open_one(struct help_input *input, const struct wanted *w, const char *path)
{
    const char *pairs[10] = {0};
    int used = 0;
    if (w->columns != NULL) {
        pairs[used++] = "columns";
        pairs[used++] = w->columns;
    }
    if (w->dtype != NULL) {
        pairs[used++] = "dtype";
        pairs[used++] = w->dtype;
    }
    if (w->more != NULL) {
        pairs[used++] = w->more;
        pairs[used++] = w->value;
    }
    return help_open(input, &ps_format_npy, path, pairs);
}

static void check_names(const struct ps_array *array, const char *names)
{
    struct ps_text joined = {0};
    if (names == NULL)
        return;
    for (int i = 0; i < array->column_count; i++)
        ps_text_printf(&joined, "%s%s", i > 0 ? "|" : "", array->columns[i]);
    CU_ASSERT_STRING_EQUAL_FATAL(joined.data, names);
    ps_text_free(&joined);
}

static void check_read(const struct wanted *w)
{
    struct help_input expected, input;
    char shape[PS_ARRAY_TEXT], wanted[PS_ARRAY_TEXT];
    size_t bytes;
    CU_ASSERT_FATAL(help_open(&expected, &ps_format_npy, data_path(w->expected), NULL));
    char *right = help_read_all(&expected, INT64_MAX);
    bool opened = open_one(&input, w, data_path(w->file));
    if (!opened)
        fprintf(stderr, "\n  %s\n", input.error.text);
    CU_ASSERT_FATAL(opened && right != NULL);
    CU_ASSERT_STRING_EQUAL(ps_array_text(&input.reader.array, shape),
                           ps_array_text(&expected.reader.array, wanted));
    CU_ASSERT_FATAL(ps_array_bytes(&expected.reader.array, &bytes));
    check_names(&input.reader.array, w->names);
    for (int64_t step = 1; step <= 8; step++) {
        char *data = help_read_all(&input, step);
        if (data == NULL || memcmp(data, right, bytes) != 0)
            fprintf(stderr, "\n  %s differs from %s\n", w->file, w->expected);
        CU_ASSERT_FATAL(data != NULL);
        CU_ASSERT_EQUAL(memcmp(data, right, bytes), 0);
        free(data);
    }
    free(right);
    help_close(&expected);
    help_close(&input);
}

static void as_numpy(void)
{
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        check_read(&reads[i]);
}

// An index with a comma needs a list of one word, which a test's options cannot say.
static void one_element(void)
{
    struct help_input input = {0};
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    CU_ASSERT_FATAL(help_options(&input.options, ps_format_npy.read_options, NULL));
    struct ps_value *columns = (struct ps_value *)ps_values_get(&input.options, "columns");
    CU_ASSERT(ps_value_from_scalar(columns, "track[1,0].lon", false, place, &problems));
    input.reader = (struct ps_reader){.format = &ps_format_npy,
                                      .name = "x",
                                      .path = data_path("nested"),
                                      .options = &input.options};
    CU_ASSERT_FATAL(ps_reader_open(&input.reader, &input.error));
    float *lon = help_read_all(&input, 3);
    struct help_input expected;
    CU_ASSERT_FATAL(help_open(&expected, &ps_format_npy, data_path("nested.lon"), NULL));
    float *right = help_read_all(&expected, 7);
    CU_ASSERT(lon != NULL && right != NULL && memcmp(lon, right, 7 * sizeof *lon) == 0);
    free(lon);
    free(right);
    help_close(&input);
    help_close(&expected);
}

static void refused(void)
{
    static const struct {
        struct wanted wanted;
        const char *says;
    } cases[] = {
        {{"texts", NULL, NULL, NULL, NULL, NULL, NULL},
         "texts.npy: column 'name' holds text, not numbers"},
        {{"texts", "[z]", NULL, NULL, NULL, NULL, NULL},
         "column 'z.re' holds complex numbers, to be read by `complex: parts`"},
        {{"complex", NULL, NULL, NULL, NULL, NULL, NULL},
         "complex.npy holds complex numbers: say what they are read as by `complex:` parts"},
        {{"texts", "[t]", NULL, NULL, NULL, NULL, NULL},
         "column 't' holds dates or time differences, to be read by `dates:`"},
        {{"texts", "[d]", NULL, NULL, NULL, "dates", "time_s"},
         "column 'd' holds time differences (timedelta64) without a unit"},
        {{"delta", NULL, NULL, NULL, NULL, NULL, NULL},
         "delta.npy holds dates or time differences ('<m8[m]'): say"},
        {{"plain", NULL, NULL, NULL, NULL, "dates", "time_s"}, "plain.npy holds no dates"},
        {{"texts", "[g]", NULL, NULL, NULL, NULL, NULL}, "column 'g' holds long doubles"},
        {{"texts", "[raw]", NULL, NULL, NULL, NULL, NULL}, "column 'raw' holds raw bytes"},
        {{"objects", "[n]", NULL, NULL, NULL, NULL, NULL},
         "Python objects (a pickle, which is never unpacked)"},
        {{"mixed", "[Id]", NULL, NULL, NULL, NULL, NULL}, "no column 'Id'"},
        {{"complex64", NULL, "i32", NULL, NULL, "complex", "polar"},
         "i32 cannot hold magnitudes and phases"},
        {{"texts", "[z]", NULL, NULL, NULL, "complex", "polar"},
         "complex: polar of members cannot be read"},
        {{"plain", NULL, NULL, NULL, NULL, "complex", "parts"},
         "plain.npy holds no complex numbers"},
        {{"mixed", "[2:2]", NULL, NULL, NULL, NULL, NULL}, "the range '2:2' is empty"},
        {{"mixed", "[2:9]", NULL, NULL, NULL, NULL, NULL}, "no column '2:9'"},
        {{"mixed", "[id:z]", NULL, NULL, NULL, NULL, NULL}, "no column 'id:z'"},
        {{"mixed", "[z*]", NULL, NULL, NULL, NULL, NULL}, "no column's name is like 'z*'"},
        {{"mixed", "[id:y x]", NULL, NULL, NULL, NULL, NULL}, "'x' of"},
        {{"plain", "[Id]", NULL, NULL, NULL, NULL, NULL}, "holds plain numbers ('<i4')"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct help_input input;
        CU_ASSERT_FALSE(open_one(&input, &cases[i].wanted, data_path(cases[i].wanted.file)));
        CHECK_TEXT(input.error.text, cases[i].says);
        help_close(&input);
    }
}

// Values that the dtype cannot hold: told when they are read, with their row.
static void too_large(void)
{
    static const struct {
        struct wanted wanted;
        const char *says;
    } cases[] = {
        {{"large_id", NULL, NULL, NULL, NULL, NULL, NULL},
         "large_id.npy, row 4, column 'id': 9007199254740993 cannot be held by f64; read this "
         "column as an input of its own (`columns: [id]`)"},
        {{"floats", NULL, "i32", NULL, NULL, NULL, NULL},
         "floats.npy, row 0: 1.5 cannot be held by i32"},
        {{"floats", NULL, "f32", NULL, NULL, NULL, NULL}, "row 2: 1e+300 cannot be held by f32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct help_input input;
        CU_ASSERT_FATAL(open_one(&input, &cases[i].wanted, data_path(cases[i].wanted.file)));
        CU_ASSERT_PTR_NULL(help_read_all(&input, 1));
        CHECK_TEXT(input.error.text, cases[i].says);
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        help_close(&input);
    }
}

// Cut anywhere, a file is refused when it is opened.
static void cut(void)
{
    size_t bytes = 0;
    char *file = help_slurp(data_path("nested"), &bytes);
    const char *path = help_path("cut.npy");
    CU_ASSERT_FATAL(file != NULL && bytes > 300);
    for (size_t length = 0; length < bytes; length++) {
        struct help_input input;
        CU_ASSERT_FATAL(help_file(path, file, length));
        CU_ASSERT_FALSE(help_open(&input, &ps_format_npy, path, NULL));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        help_close(&input);
    }
    free(file);
}

// More members than a version 1 header has room for, and records larger than the buffer.
static void large_records(void)
{
    struct ps_text text = {0};
    const char *path = help_path("large.npy");
    int64_t rows = 3, columns = 6000;
    ps_text_append(&text, "\x93NUMPY\x02\x00LLLL", 12);
    ps_text_add(&text, "{'descr': [('v', '<u1', (1500000,)), ");
    for (int64_t c = 0; c < columns; c++)
        ps_text_printf(&text, "('c%lld', '<u2'), ", (long long)c);
    ps_text_printf(&text, "], 'fortran_order': False, 'shape': (%lld,)}\n", (long long)rows);
    for (int i = 0; i < 4; i++)
        text.data[8 + i] = (char)((text.length - 12) >> (8 * i) & 255);
    CU_ASSERT(text.length > 100000);
    for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < 1500000; i++)
            ps_text_append(&text, &(char){(char)((i * 7 + r) & 255)}, 1);
        for (int64_t c = 0; c < columns; c++)
            ps_text_append(&text, (char[]){(char)(c & 255), (char)(c >> 8)}, 2);
    }
    CU_ASSERT_FATAL(!text.failed && help_file(path, text.data, text.length));
    ps_text_free(&text);
    struct help_input input;
    CU_ASSERT_FATAL(
        help_open(&input, &ps_format_npy, path, (const char *[]){"columns", "[v]", NULL}));
    unsigned char *v = help_read_all(&input, 2);
    bool same = v != NULL;
    for (int64_t i = 0; same && i < 3 * 1500000; i++)
        same = v[i] == ((i % 1500000 * 7 + i / 1500000) & 255);
    CU_ASSERT(same && input.reader.array.dims[1] == 1500000);
    free(v);
    help_close(&input);
    CU_ASSERT_FATAL(
        help_open(&input, &ps_format_npy, path, (const char *[]){"columns", "[c5999 c1]", NULL}));
    uint16_t *pair = help_read_all(&input, 2);
    CU_ASSERT(pair != NULL && pair[4] == 5999 && pair[5] == 1);
    free(pair);
    help_close(&input);
    CU_ASSERT_FALSE(help_open(&input, &ps_format_npy, path, NULL));
    CHECK_TEXT(input.error.text, "1506000 columns, but at most 65536");
    help_close(&input);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"structured arrays and dtypes as NumPy reads them", as_numpy},
        {"one element of a member", one_element},
        {"refused members", refused},
        {"values that do not fit", too_large},
        {"files cut anywhere", cut},
        {"large records", large_records},
        {NULL, NULL},
    };
    return help_finish(check_main("npy", tests));
}
