// SPDX-License-Identifier: Apache-2.0
// What planning a map makes of expressions: faults with their place in the config, dtypes, shapes,
// columns.
#include "map_job.h"

#include "base/text.h"
#include "kernels/map/map_shape.h"

// A job with one array of every sort.
static void make_ports(struct map_job *job)
{
    static const char *const columns[] = {"temp", "rain", "odd name"};
    *job = (struct map_job){0};
    mj_port(job, "x", PS_F32, true, "", 2, 10, 4);
    mj_port(job, "t", PS_F64, true, "", 2, 10, 3);
    mj_columns(job, 3, columns);
    mj_port(job, "s", PS_I32, true, "", 1, 10);
    mj_port(job, "row", PS_F32, false, "", 1, 4);
    mj_port(job, "one", PS_F64, false, "", 0);
    mj_port(job, "full", PS_F32, false, "", 2, 10, 4);
    mj_port(job, "table", PS_F32, false, "", 2, 3, 4);
    mj_port(job, "u8", PS_U8, true, "", 2, 10, 4);
    mj_port(job, "h", PS_F16, true, "", 2, 10, 4);
    mj_port(job, "image", PS_I16, true, "", 3, 10, 3, 4);
    mj_port(job, "short", PS_F32, true, "", 2, 9, 4);
    mj_port(job, "long", PS_F32, false, "", 1, 10);
    mj_port(job, "q", PS_U64, true, "", 2, 10, 4);
    mj_port(job, "ok", PS_BOOL, true, "", 2, 10, 4);
}

struct fault {
    const char *expr;
    int start, length; // characters of expr that are pointed at
    const char *says;  // part of the message
};

static const struct fault faults[] = {
    {"x +", 3, 1, "the expression ends here"},
    {"", 0, 1, "the expression ends here"},
    {"x + * 2", 4, 1, "unexpected '*'"},
    {"(x", 2, 1, "expected ')'"},
    {"x)", 1, 1, "unexpected ')'"},
    {"x = 2", 2, 1, "equality is =="},
    {"x ^ 2", 0, 5, "this is f32; a power is **"},
    {"s + (x & 1)", 5, 5, "this is f32; logic is and, or, not"},
    {"s & 1.5", 0, 7, "this is f64"},
    {"~x", 0, 2, "this is f32"},
    {"s + (1 & 2.5)", 5, 7, "bits of integers only"},
    {"s && x", 3, 1, "logic is and, or, not"},
    {"s ! x", 2, 1, "logic is and, or, not"},
    {"s & q", 0, 5, "i32 and u64 have no integer dtype in common"},
    {"s << -1", 0, 7, "shift the other way"},
    {"s + (1 << 64)", 5, 7, "does not fit 64 bits"},
    {"bit_count(x)", 0, 12, "this is f32"},
    {"u8 & 300", 0, 8, "300 does not fit u8"},
    {"nextafter(h, 1)", 0, 15, "nextafter in f16"},
    {"nan_to_num()", 0, 12, "takes 1 to 4 arguments, got 0"},
    {"poly(x)", 0, 7, "at least 2 coefficients"},
    {"fma(x, 2)", 0, 9, "fma takes 3 arguments, got 2"},
    {"x + cpysign(x, 1)", 4, 7, "did you mean 'copysign'"},
    {"x $ 2", 2, 1, "unexpected '$'"},
    {"x \xc3\xa4 2", 2, 1, "unexpected '\xc3\xa4'"},
    {"\"\xc3\xa4\xc3\xb6\" + x", 0, 4, "unexpected"},
    {"x + t['\xc3\xa4'] + z", 4, 6, "no column '\xc3\xa4'"},
    {"x if s", 6, 1, "expected `else`"},
    {"x if s, 2", 6, 1, "expected `else`"},
    {"x if", 4, 1, "the expression ends here"},
    {"x if s else", 11, 1, "the expression ends here"},
    {"x else s", 2, 4, "unexpected 'else'"},
    {"if x else s", 0, 2, "unexpected 'if'"},
    {"1 < x <", 7, 1, "the expression ends here"},
    {"1 < x < u8 + 300", 8, 8, "300 does not fit u8"},
    {"t[\"temp]", 2, 6, "never closed"},
    {"x + spectre", 4, 7, "no array or param 'spectre'"},
    {"x + tabel", 4, 5, "did you mean 'table'"},
    {"sqr(x)", 0, 3, "no function 'sqr', did you mean 'sqrt'"},
    {"x + sqrt", 4, 4, "write sqrt(...)"},
    {"sqrt(x, 2)", 0, 10, "sqrt takes 1 argument, got 2"},
    {"sqrt()", 0, 6, "sqrt takes 1 argument, got 0"},
    {"min(x)", 0, 6, "at least 2 arguments, got 1"},
    {"clip(x, 1)", 0, 10, "clip takes 3 arguments, got 2"},
    {"where(x, 1)", 0, 11, "where takes 3 arguments, got 2"},
    {"cast(x, f33)", 8, 3, "a dtype such as f32"},
    {"cast(x)", 6, 1, "',' and a dtype"},
    {"x + t.tmp", 4, 5, "did you mean 'temp'"},
    {"t.rein", 0, 6, "it has: temp, rain, odd name"},
    {"x.temp", 0, 6, "its columns have no names"},
    {"x + t[3]", 4, 4, "last axis has 3 elements"},
    {"t[-1]", 2, 1, "the number of a column"},
    {"t[1.5]", 2, 3, "the number of a column"},
    {"s[0]", 0, 4, "has no columns"},
    {"one.temp", 0, 8, "has no columns"},
    {"pi.temp", 0, 7, "no array or param 'pi'"},
    {"x + full", 4, 4, "remove its `load: whole`"},
    {"s + long", 4, 4, "remove its `load: whole`"},
    {"full - x", 0, 4, "remove its `load: whole`"},
    {"x + table", 4, 5, "does not fit the row shape [4]"},
    {"table + image + x", 0, 0, NULL}, // fits: [3, 4]
    {"x + short", 4, 5, "'short' has 9 rows, the others 10"},
    {"1 + 2", 0, 5, "reads no array"},
    {"true", 0, 4, "reads no array"},
    {"u8 + 300", 0, 8, "300 does not fit u8"},
    {"u8 - -1", 0, 7, "-1 does not fit u8"},
    {"x * 1e300", 0, 9, "does not fit f32"},
    {"h + 70000", 0, 9, "does not fit f16"},
    {"s + 9223372036854775808", 4, 19, "an integer above 9223372036854775807"},
    {"s + 010", 4, 3, "leading zeros"},
    {"s ** -2", 0, 7, "write the exponent as -2.0"},
    {"s + 1 // 0", 4, 6, "division of a constant by zero"},
    {"s + 2 ** 63", 4, 7, "does not fit 64 bits"},
    {"x + 1..2", 6, 2, ""},
    {"x not 2", 2, 3, "unexpected 'not'"},
    {"x and", 5, 1, "the expression ends here"},
    {"and x", 0, 3, "unexpected 'and'"},
    {"x,x", 1, 1, "unexpected ','"},
    {"x(2)", 0, 1, "no function 'x'"},
};

static void faults_point_into_the_expression(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *f = &faults[i];
        struct map_job job;
        int size = 0;
        make_ports(&job);
        struct ps_stage *stage = mj_stage(&job, "y", f->expr);
        for (const char *p = f->expr; *p != '\0'; p++)
            size += (*p & 0xc0) != 0x80;
        if (f->says == NULL) {
            CU_ASSERT_PTR_NOT_NULL(stage);
        } else if (stage != NULL || job.problems.count != 1) {
            printf("\n  '%s' should fail once", f->expr);
            CU_FAIL("no fault");
        } else {
            const struct ps_problem *p = &job.problems.list[0];
            // The place is in characters; a value given in bytes of UTF-8 has the same length.
            bool exact = size == (int)strlen(f->expr);
            bool fine =
                strstr(p->text, f->says) != NULL && p->place.line == 7 &&
                (!exact || (p->place.column == 10 + f->start && p->place.length == f->length));
            if (!fine)
                printf("\n  '%s': column %d length %d: %s", f->expr, p->place.column - 10,
                       p->place.length, p->text);
            CU_ASSERT_TRUE(fine);
        }
        mj_free(&job);
    }
}

// Where a fault at characters 4 and 5 is shown for a value of that text and length.
static struct ps_place shown(const char *text, int length, const char *source)
{
    struct ps_map_part part = {.text = text, .place = {.line = 3, .column = 5, .length = length}};
    struct ps_problems problems = {0};
    ps_map_part_fault(&part, 4, 2, "fault", &problems);
    struct ps_place place = problems.list[0].place;
    if (source != NULL) {
        struct ps_source all = {"job.yaml", source, strlen(source)};
        place = ps_place_inside(&all, place, problems.list[0].inside);
    }
    ps_problems_free(&problems);
    return place;
}

// The place for the value as libfyaml gives it: in characters, without quotes.
static void places_allow_for_escapes_and_utf8(void)
{
    CU_ASSERT_EQUAL(shown("\xc3\xa4 + xx", 6, NULL).column, 9);
    struct ps_place place = shown("\xc3\xa4 + xx", 8, "\n\n   \"\\xe4 + xx\"\n"); // escaped
    CU_ASSERT_EQUAL(place.column, 12);
    CU_ASSERT_EQUAL(place.length, 2);
    place = shown("\xc3\xa4 + xx", 20, NULL); // over lines, without the source: the whole value
    CU_ASSERT_EQUAL(place.column, 5);
    CU_ASSERT_EQUAL(place.length, 20);
    place = shown("\xc3\xa4 + xx", 3, "\n\n    \xc3\xa4 +\n\n      xx\n");
    CU_ASSERT_EQUAL(place.line, 5);
    CU_ASSERT_EQUAL(place.column, 7);
    CU_ASSERT_EQUAL(place.length, 2);
}

struct good {
    const char *expr, *array; // "f32[10, 4]"
};

static const struct good goods[] = {
    {"x * 2", "f32[10, 4]"},
    {"x * 2.5", "f32[10, 4]"},
    {"u8 + 200", "u8[10, 4]"},
    {"u8 + 0.5", "f64[10, 4]"},
    {"u8 / u8", "f64[10, 4]"},
    {"u8 + s", "i32[10, 4]"}, // one number per row goes over the row
    {"s + q", "f64[10, 4]"},
    {"x + s", "f64[10, 4]"},
    {"x + h", "f32[10, 4]"},
    {"h * 2.5", "f16[10, 4]"},
    {"h + u8", "f16[10, 4]"},
    {"h + image", "f32[10, 3, 4]"},
    {"sqrt(u8)", "f16[10, 4]"},
    {"sqrt(image)", "f32[10, 3, 4]"},
    {"sqrt(s)", "f64[10]"},
    {"x < 1", "bool[10, 4]"},
    {"not x", "bool[10, 4]"},
    {"ok + ok", "i8[10, 4]"},
    {"ok + 1", "i64[10, 4]"},
    {"max(ok, ok)", "bool[10, 4]"},
    {"where(ok, 1, 0)", "i64[10, 4]"},
    {"1 if ok else 0", "i64[10, 4]"},
    {"ok & ok", "bool[10, 4]"},
    {"ok ^ ok | ~ok", "bool[10, 4]"},
    {"ok & 1", "i64[10, 4]"},
    {"ok << ok", "i8[10, 4]"},
    {"u8 & s", "i32[10, 4]"},
    {"u8 << 300", "u8[10, 4]"},
    {"1 << u8", "u8[10, 4]"},
    {"bit_count(s)", "u8[10]"},
    {"fma(x, 2, 1)", "f32[10, 4]"},
    {"fma(2, 1, s)", "f64[10]"},
    {"fma(u8, h, 1.5)", "f16[10, 4]"},
    {"erf(u8)", "f16[10, 4]"},
    {"nan_to_num(s)", "i32[10]"},
    {"nan_to_num(x)", "f32[10, 4]"},
    {"nan_to_num(2, x)", "f64[10, 4]"},
    {"poly(x, 1, 2, t.temp)", "f64[10, 4]"},
    {"poly(s, 1, 2)", "i32[10]"},
    {"u8 if s else nan", "f64[10, 4]"},
    {"0 < x <= t.temp", "bool[10, 4]"},
    {"where(ok, x, nan)", "f32[10, 4]"},
    {"where(ok, u8, nan)", "f64[10, 4]"},
    {"floor(u8)", "u8[10, 4]"},
    {"floor(x)", "f32[10, 4]"},
    {"x + row", "f32[10, 4]"},
    {"x + one", "f64[10, 4]"},
    {"s + row", "f64[10, 4]"}, // rows of one number are widened by a whole row
    {"t.temp", "f64[10]"},
    {"t.temp + x", "f64[10, 4]"},
    {"t[\"odd name\"] - t[0]", "f64[10]"},
    {"image + table", "f32[10, 3, 4]"},
    {"image * row", "f32[10, 3, 4]"},
    {"row + 1", "f32[4]"},
    {"row[2] + x", "f32[10, 4]"},
    {"table + row", "f32[3, 4]"},
    {"one + 1", "f64[]"},
    {"table[1] + x", NULL}, // [3] with [4]
    {"f64(x)", "f64[10, 4]"},
    {"cast(x, int8)", "i8[10, 4]"},
    {"f16(t)", "f16[10, 3]"},
    {"x*pi + e", "f32[10, 4]"},
    {"min(x, 1, row)", "f32[10, 4]"},
    {"clip(u8, 1, 20)", "u8[10, 4]"},
    {"- x ** 2", "f32[10, 4]"},
    {"x ** -1", "f32[10, 4]"},
    {"+x", "f32[10, 4]"},
    {"x\n + \t1", "f32[10, 4]"},
    {"(x)", "f32[10, 4]"},
    {"x + .5 + 5. + 1e3", "f32[10, 4]"},
};

static void dtypes_and_shapes(void)
{
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        struct map_job job;
        char text[PS_ARRAY_TEXT];
        make_ports(&job);
        struct ps_stage *stage = mj_stage(&job, "y", goods[i].expr);
        CU_ASSERT_EQUAL(stage != NULL, goods[i].array != NULL);
        if (stage == NULL && goods[i].array != NULL)
            printf("\n  %s: %s", goods[i].expr, job.problems.list[0].text);
        if (stage != NULL && goods[i].array != NULL) {
            bool same = strcmp(ps_array_text(&stage->output, text), goods[i].array) == 0;
            if (!same)
                printf("\n  %s: %s, not %s", goods[i].expr, text, goods[i].array);
            CU_ASSERT_TRUE(same);
        }
        mj_free(&job);
    }
}

static void precedence_is_pythons(void)
{
    // Constant arithmetic shows how an expression was read: s * (expression) of 3 rows of 1.
    static const struct {
        const char *expr;
        double value;
    } cases[] = {
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"2 ** 3 ** 2", 512},
        {"-2 ** 2", -4},
        {"2 ** -1", 0.5},
        {"7 // 2 * 2", 6},
        {"-7 // 2", -4},
        {"-7 % 3", 2},
        {"7 % -3", -2},
        {"1 - 2 - 3", -4},
        {"8 / 4 / 2", 1},
        {"2 * 3 % 4", 2},
        {"1 < 2 and 2 < 1", 0},
        {"1 < 2 or 2 < 1", 1},
        {"not 1 == 2", 1},
        {"not 0 and 0", 0},
        {"1 or 0 and 0", 1},
        {"1 + 1 == 2", 1},
        {"min(3, 1, 2)", 1},
        {"max(3, 1, 2)", 3},
        {"abs(-3)", 3},
        {"round(2.5)", 2},
        {"round(3.5)", 4},
        {"trunc(-2.5)", -2},
        {"floor(-2.5)", -3},
        {"ceil(-2.5)", -2},
        {"clip(5, 0, 3)", 3},
        {"where(0, 1, 2)", 2},
        {"hypot(3, 4)", 5},
        {"0 ** 0", 1},
        {"sign(-2.5)", -1},
        {"- - 3", 3},
        {"1e3", 1000},
        {"3 > 2", 1},
        {"3 >= 4", 0},
        {"2 != 2", 0},
        {"isnan(nan)", 1},
        {"isinf(-inf)", 1},
        {"isfinite(inf)", 0},
        {"-1.5 % 1", 0.5},
        {"-1.5 // 1", -2},
        {"pow(2, 10)", 1024},
        {"5 & 3", 1},
        {"5 | 3", 7},
        {"5 ^ 3", 6},
        {"~5", -6},
        {"1 << 3 + 1", 16},
        {"-16 >> 2", -4},
        {"6 & 3 == 2", 1},
        {"1 | 2 ^ 3 & 1", 3},
        {"4 >> 1 << 2", 8},
        {"-1 >> 100", -1},
        {"0 << 100", 0},
        {"-~5", 6},
        {"bit_count(-7)", 3},
        {"fmod(-7, 3)", -1},
        {"fma(2, 3, 4)", 10},
        {"~2 ** 2", -5},
        {"copysign(3, -0.0)", -3},
        {"deg(pi)", 180},
        {"nan_to_num(nan)", 0},
        {"nan_to_num(inf, 1, 2, 3)", 2},
        {"nan_to_num(-inf, 1, 2, 3)", 3},
        {"nan_to_num(7)", 7},
        {"poly(2, 1, 2, 3)", 17},
        {"gamma(5)", 24},
        {"lgamma(1)", 0},
        {"cbrt(-1)", -1},
        {"exp2(-1)", 0.5},
        {"nextafter(0, 1) > 0", 1},
        {"erf(0)", 0},
        {"1 < 2 < 3", 1},
        {"1 < 3 < 2", 0},
        {"3 > 2 >= 2 == 2", 1},
        {"1 < 2 == 2", 1},
        {"(3 > 2) == 1", 1},
        {"3 > 2 == 1", 0},
        {"1 if 1 else 2", 1},
        {"1 if 0 else 2", 2},
        {"1 if 0 else 2 if 0 else 3", 3},
        {"1 if 1 else 2 if 0 else 3", 1},
        {"(1 if 0 else 2) + 5", 7},
        {"1 + 1 if 0 or 1 else 2", 2},
        {"1 if 1 < 2 < 3 else 4", 1},
        {"max(1 if 0 else 2, 1)", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct map_job job = {0};
        double ones[1] = {1};
        char expr[80];
        snprintf(expr, sizeof expr, "a * (%s)", cases[i].expr);
        mj_port(&job, "a", PS_F64, true, ones, 1, 1);
        bool fine = mj_stage(&job, "y", expr) != NULL && mj_run(&job, 1) &&
                    *(double *)job.results[0] == cases[i].value;
        if (!fine)
            printf("\n  %s is not %g", cases[i].expr, cases[i].value);
        CU_ASSERT_TRUE(fine);
        mj_free(&job);
    }
}

static void params_hide_constants_and_stay_weak(void)
{
    struct map_job job;
    make_ports(&job);
    const char *const params[] = {"gain=1.5", "k=3", "pi=3", NULL};
    struct ps_stage *y = mj_stage_with(&job, "y", "x * gain", NULL, params);
    struct ps_stage *z = mj_stage_with(&job, "z", "u8 * k + pi", NULL, params);
    struct ps_stage *w = mj_stage_with(&job, "w", "u8 * gain", NULL, params);
    CU_ASSERT_TRUE_FATAL(y && z && w);
    CU_ASSERT_EQUAL(y->output.dtype, PS_F32);
    CU_ASSERT_EQUAL(z->output.dtype, PS_U8); // pi is the param's 3 here
    CU_ASSERT_EQUAL(w->output.dtype, PS_F64);
    mj_free(&job);

    // An array called e is that array.
    float e[] = {5};
    mj_port(&job, "e", PS_F32, true, e, 1, 1);
    CU_ASSERT_PTR_NOT_NULL(mj_stage(&job, "y", "e + 1"));
    CU_ASSERT_TRUE(mj_run(&job, 1) && *(float *)job.results[0] == 6);
    mj_free(&job);
}

static void dtype_option_casts_the_result(void)
{
    struct map_job job;
    make_ports(&job);
    CU_ASSERT_PTR_NOT_NULL(mj_stage_with(&job, "y", "x * 2", "f64", NULL));
    CU_ASSERT_EQUAL(job.stages[0].output.dtype, PS_F64);
    CU_ASSERT_PTR_NOT_NULL(mj_stage_with(&job, "z", "t * 2", "f16", NULL));
    CU_ASSERT_EQUAL(job.stages[1].output.dtype, PS_F16);
    CU_ASSERT_PTR_NOT_NULL(mj_stage_with(&job, "w", "t * 2", "bool", NULL));
    CU_ASSERT_EQUAL(job.stages[2].output.dtype, PS_BOOL);
    mj_free(&job);
}

static const char *column_of(const char *expr, int i, char *out)
{
    struct map_job job;
    make_ports(&job);
    struct ps_stage *stage = mj_stage(&job, "y", expr);
    snprintf(out, 32, "%s",
             stage && stage->output.column_count > i ? stage->output.columns[i] : "");
    mj_free(&job);
    return out;
}

static void columns_survive_elementwise_work(void)
{
    char name[32];
    CU_ASSERT_STRING_EQUAL(column_of("t * 2", 1, name), "rain");
    CU_ASSERT_STRING_EQUAL(column_of("t - t.temp", 2, name), "odd name");
    CU_ASSERT_STRING_EQUAL(column_of("t.temp", 0, name), "");
    CU_ASSERT_STRING_EQUAL(column_of("x + t.temp", 0, name), "");
}

// Long and deep expressions are worked on or refused, never a crash.
static void long_and_deep_expressions(void)
{
    enum { TERMS = 100000 };
    static char text[5 << 20];
    struct map_job job;
    int32_t ones[2] = {1, 2};
    char *p = text;
    for (int i = 0; i < TERMS; i++)
        p += sprintf(p, "%sa", i > 0 ? "+" : "");
    job = (struct map_job){0};
    mj_port(&job, "a", PS_I32, true, ones, 1, 2);
    CU_ASSERT_PTR_NOT_NULL(mj_stage(&job, "y", text));
    CU_ASSERT_TRUE(mj_run(&job, 2));
    CU_ASSERT_EQUAL(((int32_t *)job.results[0])[1], 2 * TERMS);
    struct mj_step step;
    mj_step(&job, &step);
    CU_ASSERT_TRUE(step.step.type->scratch_bytes(&step.step, PS_CPU, 2) < 64 << 20);
    mj_free(&job);

    static const char *const repeated[][3] = {
        {"(", "a", ")"},  {"-", "a", ""}, {"not ", "a", ""},        {"sqrt(", "a", ")"},
        {"2**", "a", ""}, {"+", "a", ""}, {"1 if a else ", "a", ""}};
    for (int r = 0; r < 7; r++)
        for (int depth = 900; depth <= 90000; depth *= 100) {
            p = text;
            for (int i = 0; i < depth; i++)
                p += sprintf(p, "%s", repeated[r][0]);
            p += sprintf(p, "%s", repeated[r][1]);
            for (int i = 0; i < depth; i++)
                p += sprintf(p, "%s", repeated[r][2]);
            mj_port(&job, "a", PS_F32, true, ones, 1, 1);
            bool planned = mj_stage(&job, "y", text) != NULL;
            CU_ASSERT_EQUAL(planned, depth == 900);
            if (!planned)
                CU_ASSERT_PTR_NOT_NULL(strstr(job.problems.list[0].text, "nested deeper"));
            mj_free(&job);
        }
    memset(text, ' ', sizeof text - 1);
    mj_port(&job, "a", PS_F32, true, ones, 1, 1);
    CU_ASSERT_PTR_NULL(mj_stage(&job, "y", text));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.problems.list[0].text, "longer than"));
    mj_free(&job);
}

// Mutilated expressions: any answer but a crash.
static void random_texts_do_not_crash(void)
{
    static const char *const parts[] = {
        "x",  "t",   ".",   "temp",     "[",    "]",    "(",     ")",    "+",     "**",
        "//", "%",   "<",   "==",       ",",    "min",  "where", "sqrt", "cast",  "f32",
        "1",  "2.5", "1e",  "\"rain\"", "'",    "not ", "and ",  "or ",  " ",     "u8",
        "pi", "-",   "row", "one",      "true", "\xc3", "image", " if ", " else "};
    unsigned state = 12345;
    int planned = 0;
    for (int i = 0; i < 20000; i++) {
        char text[256] = "";
        struct map_job job;
        make_ports(&job);
        for (int n = (int)(state % 9) + 1; n > 0; n--) {
            state = state * 1664525u + 1013904223u;
            strcat(text, parts[(state >> 16) % (sizeof parts / sizeof parts[0])]);
        }
        bool fine = mj_stage(&job, "y", text) != NULL;
        planned += fine;
        if (fine == (job.problems.error_count > 0)) {
            printf("\n  '%s'", text);
            CU_FAIL("a fault without a message");
        }
        mj_free(&job);
    }
    CU_ASSERT_TRUE(planned > 100);
}

static void too_many_arrays_are_refused(void)
{
    struct map_job job = {0};
    static char names[20][8];
    char expr[256] = "";
    for (int i = 0; i < 18; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        mj_port(&job, names[i], PS_F32, i == 0, "", 1, i == 17 ? 5 : 4);
        strcat(strcat(expr, i > 0 ? "+w0+" : ""), names[i]);
    }
    CU_ASSERT_PTR_NULL(mj_stage(&job, "y", expr));
    mj_free(&job);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"faults point into the expression", faults_point_into_the_expression},
        {"places allow for quotes and UTF-8", places_allow_for_escapes_and_utf8},
        {"dtypes and shapes", dtypes_and_shapes},
        {"precedence is Python's", precedence_is_pythons},
        {"params hide constants and stay weak", params_hide_constants_and_stay_weak},
        {"dtype option casts the result", dtype_option_casts_the_result},
        {"columns survive elementwise work", columns_survive_elementwise_work},
        {"long and deep expressions", long_and_deep_expressions},
        {"random texts do not crash", random_texts_do_not_crash},
        {"too many arrays are refused", too_many_arrays_are_refused},
        {NULL, NULL},
    };
    return check_main("map plan", tests);
}
