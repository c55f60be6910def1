// SPDX-License-Identifier: Apache-2.0
// Every format in whole jobs: one array copied to all of them and read back zipped by row, in every
// dtype, block and slot; columns of text by name.
#include "stage_job.h"

static uint32_t crc32_of(const unsigned char *bytes, size_t count)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

// raw -> npy, hdf5 (contiguous, compressed), csv, raw the other way round -> zipped by row -> raw.
static void check_formats(enum ps_dtype dtype, int rows, const char *const *sets, const char *what)
{
    static unsigned char copy[sizeof input];
    static const char *const copies[] = {"n.out", "h.out", "z.out", "c.out", "b.out"};
    size_t bytes = make_input(dtype, rows);
    const char *name = ps_dtype_name(dtype);
    char line[256] = "", wanted[64], text[64];
    write_config("version: 1\n"
                 "inputs: {x: {path: x.bin, format: raw, dtype: %s, shape: [-1, %d]}}\n"
                 "outputs:\n"
                 "  n: {path: x.npy, array: x}\n"
                 "  h: {path: x.h5, array: x, dataset: /deep/er}\n"
                 "  z: {path: z.h5, array: x, compression: gzip-1}\n"
                 "  c: {path: x.csv, array: x}\n"
                 "  b: {path: b.bin, array: x, format: raw, byte_order: big}\n"
                 "  d: {path: x.txt, array: x, format: digest}\n"
                 "  nothing: {array: x, format: 'null'}\n",
                 name, ROW);
    CU_ASSERT(run_job(sets, 2, what));
    CU_ASSERT(read_output("x.txt", line, sizeof line - 1) > 0);
    snprintf(wanted, sizeof wanted, "crc32=%08x", (unsigned)crc32_of(input, bytes));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, wanted));
    // Text is read as numbers only, and bool is written as words.
    snprintf(text, sizeof text, "path: x.csv, header: false, dtype: %s", name);
    if (dtype == PS_BOOL)
        snprintf(text, sizeof text, "path: x.npy");
    write_config("version: 1\n"
                 "inputs:\n"
                 "  n: {path: x.npy}\n"
                 "  h: {path: x.h5, dataset: /deep/er}\n"
                 "  z: {path: z.h5}\n"
                 "  c: {%s}\n"
                 "  b: {path: b.bin, format: raw, byte_order: big, dtype: %s, shape: [-1, %d]}\n"
                 "  whole: {path: x.npy, load: whole}\n"
                 "stages:\n"
                 "  - {name: sum, op: map, expr: f64(n) + h + z + c + b}\n"
                 "  - {name: count, op: reduce, in: whole, of: count, axis: all}\n"
                 "outputs:\n"
                 "  n: {path: n.out, format: raw}\n"
                 "  h: {path: h.out, format: raw}\n"
                 "  z: {path: z.out, format: raw}\n"
                 "  c: {path: c.out, format: raw}\n"
                 "  b: {path: b.out, format: raw}\n"
                 "  sum: {path: sum.out, format: raw}\n"
                 "  count: {path: count.out, format: raw}\n",
                 text, name, ROW);
    CU_ASSERT_FATAL(run_job(sets, 2, what));
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(read_output(copies[i], copy, sizeof copy), bytes);
        CU_ASSERT_EQUAL(memcmp(copy, input, bytes), 0);
    }
    bad = 0;
    check_size(read_output("sum.out", got, sizeof got), (size_t)(rows * ROW) * 8);
    for (int e = 0; e < rows * ROW; e++)
        same(got[e], 5.0 * value(dtype, e));
    int64_t count = -1;
    check_size(read_output("count.out", &count, sizeof count), sizeof count);
    bad += count != rows * ROW;
    CU_ASSERT_EQUAL(bad, 0);
    remove_files();
}

static void test_formats(void)
{
    static const int rows[] = {1, 33, 200};
    char what[96];
    for (int d = 0; d < PS_DTYPE_COUNT; d++)
        for (int r = 0; r < 3; r++)
            for (int i = 0; i < 3; i++) {
                const char *const sets[] = {blocks[i], slots[(i + r) % 3]};
                snprintf(what, sizeof what, "formats, %s, %d rows, %s, %s",
                         ps_dtype_name((enum ps_dtype)d), rows[r], sets[0], sets[1]);
                check_formats((enum ps_dtype)d, rows[r], sets, what);
            }
}

// Columns by name out of text, with blocks that cut the file anywhere.
static void test_columns(void)
{
    FILE *file = open_file("t.csv", "w");
    fprintf(file, "time,temp,\"flow, kg/s\"\n");
    for (int r = 0; r < 300; r++)
        fprintf(file, "%d,%d,%d\n", r, r % 17 - 8, r * r);
    fclose(file);
    write_config("version: 1\n"
                 "inputs: {t: {path: t.csv, columns: [temp, time]}}\n"
                 "stages:\n"
                 "  - {name: temp, op: map, expr: t.temp * 1}\n"
                 "  - {name: m, op: reduce, of: [max, sum]}\n"
                 "  - {name: v, op: map, expr: t.time * 100 + t.temp - m.max}\n"
                 "outputs: {v: {path: v.out, format: raw, overwrite: true}}\n");
    for (int i = 0; i < 9; i++) {
        const char *const sets[] = {blocks[i / 3], slots[i % 3]};
        bad = !run_job(sets, 2, "columns");
        check_size(read_output("v.out", got, sizeof got), 300 * 8);
        for (int r = 0; r < 300; r++)
            same(got[r], r * 100.0 + (r % 17 - 8) - 8);
        CU_ASSERT_EQUAL(bad, 0);
    }
    remove_files();
}

int main(void)
{
    static const struct check_test tests[] = {
        {"formats", test_formats},
        {"columns", test_columns},
        {NULL, NULL},
    };
    return stage_main("formats", tests);
}
