// SPDX-License-Identifier: Apache-2.0
// The program's own option tables: rows are complete, defaults are right, and no format or stage
// has a key that the config's common keys already take.
#include "pipeline/config.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

static void complain(const char *where, const char *key, const char *what)
{
    printf("%s, option '%s': %s\n", where, key, what);
    CU_FAIL("an option table is wrong");
}

static void check_row(const char *where, const struct ps_option *option)
{
    bool chooses = option->kind == PS_CHOICE || option->kind == PS_CHOICES ||
                   option->kind == PS_TYPES;
    if (option->help == NULL || option->help[0] == '\0')
        complain(where, option->key, "no help");
    else if (option->help[strlen(option->help) - 1] == '.')
        complain(where, option->key, "the help ends in a full stop");
    bool may_choose = option->kind == PS_PATH || option->kind == PS_PATHS; // "-"
    if (!may_choose && chooses != (option->choices != NULL))
        complain(where, option->key, "choices belong to the kinds that choose");
    if (option->required && option->fallback != NULL)
        complain(where, option->key, "required, yet with a default");
    if (option->min > option->max)
        complain(where, option->key, "min is above max");
    char expected[512];
    CU_ASSERT(ps_option_expected(option, expected, sizeof expected)[0] != '\0');
    CU_ASSERT(strlen(expected) + 1 < sizeof expected);
}

static void check_table(const char *where, const struct ps_option *own,
                        const struct ps_option *common)
{
    struct ps_values values;
    struct ps_error error = {0};
    if (own == NULL)
        return;
    for (const struct ps_option *option = own; option->key != NULL; option++) {
        check_row(where, option);
        if (common != NULL && ps_options_find(common, option->key) != NULL)
            complain(where, option->key, "a common key of that name comes first");
        if (ps_options_find(own, option->key) != option)
            complain(where, option->key, "is there twice");
    }
    if (!ps_values_default(&values, own, &error))
        complain(where, "?", error.text);
    else
        ps_values_free(&values);
}

static void config_tables(void)
{
    check_table("inputs", ps_input_options, NULL);
    check_table("stages", ps_stage_options, NULL);
    check_table("outputs", ps_output_options, NULL);
    check_table("run", ps_run_options, NULL);
    check_table("run.cuda", ps_run_cuda_options, NULL);
    CU_ASSERT_PTR_NULL(ps_options_find(ps_run_options, "cuda")); // the subsection's name
}

static void format_tables(void)
{
    int count = 0;
    for (; ps_formats[count] != NULL; count++) {
        const struct ps_format *format = ps_formats[count];
        check_table(format->name, format->read_options, ps_input_options);
        check_table(format->name, format->write_options, ps_output_options);
        CU_ASSERT_PTR_EQUAL(ps_format_find(format->name), format);
        CU_ASSERT_EQUAL(format->read_options != NULL, format->open != NULL);
        CU_ASSERT_EQUAL(format->write_options != NULL, format->writer != NULL);
        CU_ASSERT(format->help != NULL && format->help[0] != '\0');
    }
    CU_ASSERT(count > 0);
    CU_ASSERT_PTR_NULL(ps_format_find("no such format"));
}

static void stage_tables(void)
{
    int count = 0;
    for (; ps_stage_types[count] != NULL; count++) {
        const struct ps_stage_type *type = ps_stage_types[count];
        check_table(type->name, type->options, ps_stage_options);
        CU_ASSERT_PTR_EQUAL(ps_stage_type_find(type->name), type);
        CU_ASSERT(type->help != NULL && type->help[0] != '\0');
        CU_ASSERT_PTR_NOT_NULL(type->options);
    }
    CU_ASSERT(count > 0);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"tables of the config", config_tables},
        {"tables of formats", format_tables},
        {"tables of stages", stage_tables},
        {NULL, NULL},
    };
    return check_main("tables", tests);
}
