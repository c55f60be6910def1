// SPDX-License-Identifier: Apache-2.0
// Conversion of every dtype into every other by the three cast rules, against a table made with
// exact fractions; long arrays against the same table; byte swapping.
#include "io_help.h"

struct row {
    enum ps_dtype from, to;
    uint64_t bits, want[3];
    bool refused[3], changed[3];
};

static struct row *rows;
static size_t row_count;

static void parse_result(const char *text, struct row *row, int cast)
{
    row->refused[cast] = text[0] == '-';
    row->changed[cast] = strchr(text, '*') != NULL;
    row->want[cast] = row->refused[cast] ? 0 : strtoull(text, NULL, 16);
}

static void load_table(void)
{
    size_t bytes = 0, room = 0;
    char *text = help_slurp(PS_TEST_DATA "/numbers/convert.txt", &bytes), *rest = text;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        char from[8], to[8], results[3][24];
        struct row row = {0};
        CU_ASSERT_EQUAL_FATAL(sscanf(line, "%7s %7s %lx %23s %23s %23s", from, to, &row.bits,
                                     results[0], results[1], results[2]),
                              6);
        CU_ASSERT_FATAL(ps_dtype_parse(from, &row.from) && ps_dtype_parse(to, &row.to));
        for (int cast = 0; cast < 3; cast++)
            parse_result(results[cast], &row, cast);
        if (row_count == room)
            rows = realloc(rows, (room = 2 * room + 256) * sizeof *rows);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
        rows[row_count++] = row;
    }
    free(text);
    CU_ASSERT(row_count > 4000);
}

static bool is_nan(enum ps_dtype dtype, uint64_t bits)
{
    return (dtype == PS_F16 && (bits & 0x7fff) > 0x7c00) ||
           (dtype == PS_F32 && (bits & 0x7fffffff) > 0x7f800000) ||
           (dtype == PS_F64 && (bits & INT64_MAX) > 0x7ff0000000000000);
}

static uint64_t stored(enum ps_dtype dtype, const void *data, size_t at)
{
    uint64_t bits = 0; // this machine is little-endian, as the table's hex is not
    memcpy(&bits, (const char *)data + at * ps_dtype_bytes(dtype), ps_dtype_bytes(dtype));
    return bits;
}

static void report(const struct row *row, int cast, const char *what, uint64_t got)
{
    fprintf(stderr, "\n  %s -> %s, bits %lx, cast %d: %s, got %lx, wanted %lx\n",
            ps_dtype_name(row->from), ps_dtype_name(row->to), row->bits, cast, what, got,
            row->want[cast]);
    CU_FAIL("conversion");
}

static void single_values(void)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        for (int cast = 0; cast < 3; cast++) {
            uint64_t target = 0xaaaaaaaaaaaaaaaau, changed = 7;
            size_t refused = 99;
            bool fine = ps_convert(row->to, &target, row->from, &row->bits, 1, (enum ps_cast)cast,
                                   &refused, &changed);
            uint64_t got = stored(row->to, &target, 0);
            if (fine == row->refused[cast] || (!fine && refused != 0))
                report(row, cast, fine ? "not refused" : "refused", got);
            else if (fine && got != row->want[cast] &&
                     !(is_nan(row->to, got) && is_nan(row->to, row->want[cast])))
                report(row, cast, "wrong", got);
            else if (fine && changed != 7u + row->changed[cast])
                report(row, cast, "change not counted right", changed);
        }
    }
    CU_PASS("table done");
}

// The rows of one pair of dtypes under one cast, as one array, repeated to 3001 elements.
#define LONG 3001

static void long_array(const struct row *first, size_t count, int cast)
{
    enum ps_dtype from = first->from, to = first->to;
    static char source[LONG * 8], target[LONG * 8];
    const struct row *list[128];
    size_t used = 0, refused = 0;
    uint64_t changed = 0, wanted = 0;
    for (size_t i = 0; i < count && used < 128; i++)
        if (!first[i].refused[cast])
            list[used++] = &first[i];
    for (size_t i = 0; used > 0 && i < LONG; i++) {
        // Long stretches of one plain value between the hard ones, so that both ways are gone.
        const struct row *row = i / 500 % 2 == 0 ? list[0] : list[i % used];
        memcpy(source + i * ps_dtype_bytes(from), &row->bits, ps_dtype_bytes(from));
        wanted += row->changed[cast];
    }
    if (used == 0)
        return;
    CU_ASSERT(ps_convert(to, target, from, source, LONG, (enum ps_cast)cast, &refused, &changed));
    CU_ASSERT_EQUAL(changed, wanted);
    for (size_t i = 0; i < LONG; i++) {
        const struct row *row = i / 500 % 2 == 0 ? list[0] : list[i % used];
        uint64_t got = stored(to, target, i);
        if (got != row->want[cast] && !(is_nan(to, got) && is_nan(to, row->want[cast])))
            report(row, cast, "wrong in an array", got);
    }
}

static int by_pair(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int pair = ((int)x->from - (int)y->from) * 16 + ((int)x->to - (int)y->to);
    return pair != 0 ? pair : x->bits < y->bits ? -1 : x->bits > y->bits;
}

static void long_arrays(void)
{
    int pairs = 0;
    qsort(rows, row_count, sizeof *rows, by_pair);
    for (size_t i = 0, n; i < row_count; i += n, pairs++) {
        for (n = 1;
             i + n < row_count && rows[i + n].from == rows[i].from && rows[i + n].to == rows[i].to;)
            n++;
        for (int cast = 0; cast < 3; cast++)
            long_array(&rows[i], n, cast);
    }
    CU_ASSERT_EQUAL(pairs, PS_DTYPE_COUNT * (PS_DTYPE_COUNT - 1));
}

static void tells_where(void)
{
    static float source[5000];
    static int16_t target[5000];
    size_t refused = 0;
    uint64_t changed = 0;
    source[4321] = 32768;
    source[4900] = 1e9f;
    CU_ASSERT_FALSE(
        ps_convert(PS_I16, target, PS_F32, source, 5000, PS_CAST_ERROR, &refused, &changed));
    CU_ASSERT_EQUAL(refused, 4321);
    CU_ASSERT(
        ps_convert(PS_I16, target, PS_F32, source, 5000, PS_CAST_SATURATE, &refused, &changed));
    CU_ASSERT_EQUAL(changed, 2);
    CU_ASSERT(target[4321] == 32767 && target[4900] == 32767 && target[4320] == 0);
    CU_ASSERT(ps_convert(PS_I16, target, PS_F32, source, 0, PS_CAST_ERROR, &refused, &changed));
}

static void same_dtype_is_copied(void)
{
    uint64_t nans[3] = {0x7ff0000000000001, 0xfff8000000000123, 0x7fffffffffffffff}, out[3];
    size_t refused;
    uint64_t changed = 0;
    CU_ASSERT(ps_convert(PS_F64, out, PS_F64, nans, 3, PS_CAST_ERROR, &refused, &changed));
    CU_ASSERT_EQUAL(memcmp(out, nans, sizeof nans), 0);
}

static void swaps_bytes(void)
{
    for (size_t size = 1; size <= 8; size *= 2) {
        unsigned char data[8 * 37], want[8 * 37];
        for (size_t i = 0; i < size * 37; i++) {
            data[i] = (unsigned char)(i * 7 + 3);
            want[i / size * size + size - 1 - i % size] = data[i];
        }
        ps_byte_swap(data, size, 37);
        CU_ASSERT_EQUAL(memcmp(data, want, size * 37), 0);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"table", load_table},
        {"single values", single_values},
        {"long arrays", long_arrays},
        {"the first refused element", tells_where},
        {"same dtype", same_dtype_is_copied},
        {"byte swap", swaps_bytes},
        {NULL, NULL},
    };
    int code = check_main("convert", tests);
    free(rows);
    return help_finish(code);
}
