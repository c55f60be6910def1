// SPDX-License-Identifier: Apache-2.0
// Members out of records: the choice of columns, the dtype of all of them, and the values, against
// records laid out by hand.
#include "io_help.h"

#include "io/record.h"

static const struct ps_option options[] = {
    {.key = "columns", .kind = PS_WORDS},
    {.key = "dtype", .kind = PS_DTYPE},
    {.key = NULL},
};

// 32 bytes, packed; channel and gain are big-endian.
struct __attribute__((packed)) event {
    int8_t kind;
    uint32_t channel;
    char text[3];
    int16_t v[2][3];
    uint64_t id;
    float gain;
};

static struct ps_record make_record(void)
{
    struct ps_record record = {.bytes = sizeof(struct event)};
    struct ps_error error = {0};
    static const struct {
        const char *name;
        enum ps_dtype dtype;
        bool swapped;
        size_t offset;
        int rank;
        const char *refused;
    } rows[] = {{"kind", PS_I8, false, 0, 0, NULL},      {"channel", PS_U32, true, 1, 0, NULL},
                {"text", PS_U8, false, 5, 0, "text"},    {"v", PS_I16, false, 8, 2, NULL},
                {"head.id", PS_U64, false, 20, 0, NULL}, {"head.gain", PS_F32, true, 28, 0, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ps_member *member = ps_record_add(&record, rows[i].name, "x.npy", &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(member);
        member->dtype = rows[i].dtype;
        member->swapped = rows[i].swapped;
        member->offset = rows[i].offset;
        member->refused = rows[i].refused;
        member->rank = rows[i].rank;
        if (member->rank == 2) {
            member->dims[0] = 2;
            member->dims[1] = 3;
            member->count = 6;
        }
    }
    return record;
}

static struct event event_at(int64_t i)
{
    struct event e = {.kind = (int8_t)(i % 3),
                      .channel = __builtin_bswap32(100000u + (uint32_t)i),
                      .text = "abc",
                      .id = (uint64_t)i};
    float gain = (float)i / 4;
    for (int k = 0; k < 6; k++)
        e.v[k / 3][k % 3] = (int16_t)(10 * i + k);
    uint32_t bits;
    memcpy(&bits, &gain, sizeof bits);
    bits = __builtin_bswap32(bits);
    memcpy((char *)&e + 28, &bits, sizeof bits);
    return e;
}

static bool choose(const struct ps_record *record, const char *columns, const char *dtype,
                   struct ps_record_choice *choice, struct ps_error *error)
{
    const char *pairs[] = {"columns", columns, "dtype", dtype, NULL};
    const char *only[] = {"dtype", dtype, NULL};
    struct ps_values values;
    *error = (struct ps_error){0};
    const char *const *given = columns != NULL ? pairs : only;
    if (dtype == NULL)
        pairs[2] = only[0] = NULL;
    CU_ASSERT_FATAL(help_options(&values, options, given));
    for (int i = 0; i < values.count; i++)
        values.values[i].given =
            strcmp(options[i].key, "columns") == 0 ? columns != NULL : dtype != NULL;
    bool fine = ps_record_choose(record, ps_values_get(&values, "columns"),
                                 ps_values_get(&values, "dtype"), "x.npy", choice, error);
    ps_values_free(&values);
    return fine;
}

static void *decode(const struct ps_record_choice *choice, int64_t count, struct ps_error *error)
{
    struct event *events = malloc((size_t)count * sizeof *events + 1);
    char *data = malloc((size_t)(count * choice->count) * ps_dtype_bytes(choice->dtype) + 1);
    CU_ASSERT_FATAL(events != NULL && data != NULL);
    for (int64_t i = 0; i < count; i++)
        events[i] = event_at(i);
    bool fine = ps_record_decode(choice, (struct ps_record_place){"x.npy", 40, 1}, events, count,
                                 data, error);
    free(events);
    if (fine)
        return data;
    free(data);
    return NULL;
}

#define EVENTS 1300

static void several_columns(void)
{
    struct ps_record record = make_record();
    struct ps_record_choice choice;
    struct ps_error error;
    struct ps_array array = {.rank = 1, .dims = {EVENTS}};
    CU_ASSERT_FATAL(choose(&record, "[kind 1 v head.gain]", NULL, &choice, &error));
    CU_ASSERT_EQUAL(choice.dtype, PS_F64); // u32 with f32
    CU_ASSERT_FATAL(ps_record_array(&choice, "x.npy", &array, &error));
    CU_ASSERT(array.rank == 2 && array.dims[1] == 9 && array.column_count == 9);
    CU_ASSERT_STRING_EQUAL(array.columns[1], "channel");
    CU_ASSERT_STRING_EQUAL(array.columns[6], "v[1,1]");
    double *data = decode(&choice, EVENTS, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    for (int i = 0; i < EVENTS; i++) {
        CU_ASSERT_EQUAL(data[9 * i], i % 3);
        CU_ASSERT_EQUAL(data[9 * i + 1], 100000 + i);
        for (int k = 0; k < 6; k++)
            CU_ASSERT_EQUAL(data[9 * i + 2 + k], 10 * i + k);
        CU_ASSERT_EQUAL(data[9 * i + 8], i / 4.0);
    }
    free(data);
    ps_array_free(&array);
    ps_record_choice_free(&choice);
    ps_record_free(&record);
}

static void alone(void)
{
    struct ps_record record = make_record();
    struct ps_record_choice choice;
    struct ps_error error;
    CU_ASSERT_FATAL(choose(&record, "[head.id]", NULL, &choice, &error));
    CU_ASSERT(choice.rank == 0 && choice.dtype == PS_U64 && choice.names == NULL);
    uint64_t *ids = decode(&choice, EVENTS, &error);
    CU_ASSERT(ids != NULL && ids[EVENTS - 1] == EVENTS - 1);
    free(ids);
    ps_record_choice_free(&choice);

    CU_ASSERT_FATAL(choose(&record, "[v]", "f32", &choice, &error));
    CU_ASSERT(choice.rank == 2 && choice.dims[0] == 2 && choice.dims[1] == 3);
    float *v = decode(&choice, EVENTS, &error);
    CU_ASSERT(v != NULL && v[6 * 1299 + 5] == 12995);
    free(v);
    ps_record_choice_free(&choice);

    CU_ASSERT_FATAL(choose(&record, "[head]", NULL, &choice, &error)); // all members inside
    CU_ASSERT(choice.count == 2 && strcmp(choice.names[1], "head.gain") == 0);
    ps_record_choice_free(&choice);
    ps_record_free(&record);
}

static void elements(void)
{
    struct ps_record record = make_record();
    struct ps_record_choice choice;
    struct ps_error error = {0};
    struct ps_values values;
    CU_ASSERT_FATAL(help_options(&values, options, NULL));
    struct ps_value *columns = (struct ps_value *)ps_values_get(&values, "columns");
    struct ps_problems problems = {0};
    ps_value_begin_list(columns, (struct ps_place){0, 1, 1, 1});
    ps_value_add_element(columns, "v[1,2]", false, (struct ps_place){0, 1, 1, 1}, &problems);
    CU_ASSERT_FATAL(ps_record_choose(&record, columns, ps_values_get(&values, "dtype"), "x.npy",
                                     &choice, &error));
    CU_ASSERT(choice.rank == 0 && choice.count == 1 && choice.dtype == PS_I16);
    int16_t *data = decode(&choice, EVENTS, &error);
    CU_ASSERT(data != NULL && data[0] == 5 && data[1299] == 12995);
    free(data);
    ps_record_choice_free(&choice);
    static const char *const wrong[] = {"v[1,3]",  "v[2,0]",  "v[1]",   "v[1,2",
                                        "v[1,2]x", "v[-1,0]", "kind[0]"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ps_error failed = {0};
        ps_value_begin_list(columns, (struct ps_place){0, 1, 1, 1});
        ps_value_add_element(columns, wrong[i], false, (struct ps_place){0, 1, 1, 1}, &problems);
        CU_ASSERT_FALSE(ps_record_choose(&record, columns, ps_values_get(&values, "dtype"), "x.npy",
                                         &choice, &failed));
        CHECK_TEXT(failed.text, "no column");
    }
    ps_problems_free(&problems);
    ps_values_free(&values);
    ps_record_free(&record);
}

static void refused(void)
{
    static const struct {
        const char *columns, *message;
    } cases[] = {
        {NULL, "column 'text' holds text"},
        {"[kind kind]", "listed twice"},
        {"[head head.id]", "listed twice"},
        {"[knd]", "no column 'knd' in x.npy (columns: kind, channel, text, v[2,3], head.id, "
                  "head.gain); did you mean 'kind'?"},
        {"[6]", "no column 6"},
        {"[1.5]", "neither a position nor a name"},
        {"[]", "the list is empty"},
    };
    struct ps_record record = make_record();
    struct ps_record_choice choice;
    struct ps_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_FALSE(choose(&record, cases[i].columns, NULL, &choice, &error));
        CHECK_TEXT(error.text, cases[i].message);
    }
    ps_record_free(&record);
}

// The dtype of all cannot hold one value: never rounded in silence.
static void values_that_do_not_fit(void)
{
    struct ps_record record = make_record();
    struct ps_record_choice choice;
    struct ps_error error = {0};
    struct event events[2] = {event_at(0), event_at(1)};
    double data[8];
    events[1].id = (1ull << 53) + 1;
    CU_ASSERT_FATAL(choose(&record, "[kind head.id]", "f64", &choice, &error));
    CU_ASSERT_FALSE(ps_record_decode(&choice, (struct ps_record_place){"x.npy", 40, 1}, events, 2,
                                     data, &error));
    CU_ASSERT_STRING_EQUAL(error.text,
                           "x.npy, row 41, column 'head.id': 9007199254740993 cannot be held by "
                           "f64; read this column as an input of its own (`columns: [head.id]`)");
    error = (struct ps_error){0};
    events[1].id = 1ull << 53;
    CU_ASSERT(ps_record_decode(&choice, (struct ps_record_place){"x.npy", 40, 1}, events, 2, data,
                               &error));
    CU_ASSERT_EQUAL(data[3], 0x1p53);
    ps_record_choice_free(&choice);
    ps_record_free(&record);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"several columns", several_columns},
        {"one member alone", alone},
        {"one element of a member", elements},
        {"refused choices", refused},
        {"values that do not fit", values_that_do_not_fit},
        {NULL, NULL},
    };
    return help_finish(check_main("record", tests));
}
