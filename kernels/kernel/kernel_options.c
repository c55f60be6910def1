// SPDX-License-Identifier: Apache-2.0
// What the options of a kernel stage say: its texts, its parameters, the map of `cpu_expr`.
#include "kernels/kernel/kernel.h"
#include "kernels/stages.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_BYTES_MAX (4u << 20)

static bool fault(struct ps_problems *problems, struct ps_place place, const char *text)
{
    ps_problem_add(problems, PS_USAGE, place, "%s", text);
    return false;
}

// ---- Texts ----

// The text of a file, NUL-terminated; NULL after reporting.
static char *read_file(const struct ps_value *path, struct ps_problems *problems)
{
    char shown[300];
    ps_escape(path->text, strlen(path->text), shown, sizeof shown);
    FILE *file = fopen(path->text, "re");
    char *text = malloc(SOURCE_BYTES_MAX + 1);
    errno = text == NULL ? ENOMEM : errno;
    size_t length = file != NULL && text != NULL ? fread(text, 1, SOURCE_BYTES_MAX + 1, file) : 0;
    bool failed = file == NULL || text == NULL || ferror(file);
    const char *reason = failed                               ? strerror(errno)
                         : length > SOURCE_BYTES_MAX          ? "it is larger than 4 MiB"
                         : memchr(text, '\0', length) != NULL ? "it holds a NUL byte: it is no text"
                                                              : NULL;
    if (file != NULL)
        fclose(file);
    if (reason == NULL) {
        text[length] = '\0';
        return text;
    }
    ps_problem_add(problems, PS_INPUT, path->place, "%s: cannot use %s: %s", path->option->key,
                   shown, reason);
    free(text);
    return NULL;
}

static char *folder_of(const char *path)
{
    char *folder = ps_strdup(path);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL)
        slash[slash == folder] = '\0';
    return folder;
}

// Out of `source` or `file`, or their like for the twin. A text of the config is found there by the
// compiler's messages, too: its place is that of its first line.
static bool read_code(const struct ps_stage *stage, const char *source_key, const char *file_key,
                      struct ps_kernel_code *code, struct ps_problems *problems)
{
    const struct ps_value *source = ps_values_get(stage->options, source_key);
    const struct ps_value *file = ps_values_get(stage->options, file_key);
    if (source->given && file->given) {
        ps_problem_add(problems, PS_USAGE, file->place, "%s and %s: give one of them", source_key,
                       file_key);
        return false;
    }
    const struct ps_source *config = stage->sources;
    if (file->given) {
        code->text = read_file(file, problems);
        code->line = 1;
        if (code->text == NULL)
            return false;
        code->file = ps_strdup(file->text);
        code->folder = folder_of(file->text);
    } else {
        code->text = ps_strdup(source->text);
        code->line = source->place.line > 0 ? source->place.line : 1;
        code->file = ps_strdup(config != NULL ? config[source->place.source].name : source_key);
        code->folder = stage->folder != NULL ? ps_strdup(stage->folder) : NULL;
    }
    return (code->text != NULL && code->file != NULL) ||
           fault(problems, stage->place, "out of memory");
}

// NVRTC's code is kept under a hash of the text: what an #include brings in would escape it.
static bool check_includes(const struct ps_value *value, const char *text,
                           struct ps_problems *problems)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *p = line + strspn(line, " \t\f\v");
        size_t mark = *p == '#' ? 1 : strncmp(p, "%:", 2) == 0 ? 2 : 0;
        p += mark + strspn(p + mark, " \t");
        if (mark == 0 || strncmp(p, "include", 7) != 0)
            continue;
        int number = 1;
        for (const char *c = text; c < line; c++)
            number += *c == '\n';
        ps_problem_add(problems, PS_USAGE, value->place,
                       "%s, its line %d: a kernel cannot #include; CUDA's own functions are there "
                       "without, put what else it needs into the text",
                       value->option->key, number);
        return false;
    }
    return true;
}

bool ps_kernel_read_code(const struct ps_stage *stage, struct ps_kernel *kernel,
                         struct ps_problems *problems)
{
    const struct ps_value *source = ps_values_get(stage->options, "source");
    const struct ps_value *file = ps_values_get(stage->options, "file");
    const struct ps_value *expr = ps_values_get(stage->options, "cpu_expr");
    bool c = ps_values_get(stage->options, "cpu_source")->given ||
             ps_values_get(stage->options, "cpu_file")->given;
    if (!source->given && !file->given)
        return fault(problems, stage->place,
                     "a kernel needs its CUDA C: give `source` (the text) or `file`");
    if (expr->given && c)
        return fault(problems, expr->place,
                     "cpu_expr and cpu_source or cpu_file: a kernel has one twin");
    kernel->twin = c ? PS_TWIN_C : expr->given ? PS_TWIN_EXPR : PS_TWIN_NONE;
    bool fine = read_code(stage, "source", "file", &kernel->cuda, problems) &&
                check_includes(file->given ? file : source, kernel->cuda.text, problems);
    return (!c || read_code(stage, "cpu_source", "cpu_file", &kernel->c, problems)) && fine;
}

// ---- Parameters ----

static bool set_param(struct ps_kernel_param *param, const struct ps_value *value, int i,
                      struct ps_problems *problems)
{
    double number = value->numbers[i];
    bool written_whole = !value->quoted[i];
    bool integer = param->dtype == PS_I64 || param->dtype == PS_I32;
    int64_t whole = written_whole ? value->integers[i] : 0;
    if (!written_whole && fabs(number) <= 0x1p53 && number == floor(number))
        whole = (int64_t)number; // 1e6 is a whole number
    else if (!written_whole && integer)
        number = NAN;
    bool fits = param->dtype == PS_I64   ? !isnan(number)
                : param->dtype == PS_I32 ? !isnan(number) && whole >= INT_MIN && whole <= INT_MAX
                : param->dtype == PS_F32 ? !(isfinite(number) && isinf((float)number))
                                         : true;
    if (!fits) {
        ps_problem_add(problems, PS_USAGE, value->places[i],
                       "params.%s is not %s, as param_types says it is", param->name,
                       param->dtype == PS_I64   ? "a whole number"
                       : param->dtype == PS_I32 ? "a whole number of 32 bits"
                                                : "within the range of f32");
        return false;
    }
    if (param->dtype == PS_I64)
        param->i64 = whole;
    else if (param->dtype == PS_I32)
        param->i32 = (int)whole;
    else if (param->dtype == PS_F32)
        param->f32 = (float)number;
    else
        param->f64 = number;
    return true;
}

static int find_word(const struct ps_value *value, const char *word)
{
    for (int i = 0; i < value->count; i++)
        if (strcmp(value->words[i], word) == 0)
            return i;
    return -1;
}

static enum ps_dtype param_type(const struct ps_value *types, const char *name)
{
    enum ps_dtype dtype = PS_F64;
    int at = find_word(types, name);
    const char *word = at >= 0 ? types->texts[at] : types->count == 0 ? types->text : NULL;
    if (word != NULL)
        ps_dtype_parse(word, &dtype);
    return dtype;
}

bool ps_kernel_read_params(const struct ps_stage *stage, struct ps_kernel *kernel,
                           struct ps_problems *problems)
{
    const struct ps_value *params = ps_values_get(stage->options, "params");
    const struct ps_value *types = ps_values_get(stage->options, "param_types");
    bool fine = true;
    for (int i = 0; i < types->count; i++) {
        if (find_word(params, types->words[i]) >= 0)
            continue;
        ps_problem_add(problems, PS_USAGE, types->places[i],
                       "param_types.%s: params has no such name", types->words[i]);
        fine = false;
    }
    if (params->count > PS_KERNEL_PARAMS_MAX) {
        ps_problem_add(problems, PS_USAGE, params->place, "a kernel takes at most %d params",
                       PS_KERNEL_PARAMS_MAX);
        return false;
    }
    for (int i = 0; i < params->count; i++) {
        struct ps_kernel_param *param = &kernel->params[kernel->param_count++];
        param->name = params->words[i];
        param->dtype = param_type(types, param->name);
        fine = set_param(param, params, i, problems) && fine;
    }
    return fine;
}

// ---- The twin as an expression ----

static bool fill_map_options(const struct ps_stage *stage, struct ps_kernel *kernel,
                             struct ps_problems *problems)
{
    struct ps_error error = {0};
    struct ps_values *options = &kernel->map_options;
    const struct ps_value *text = ps_values_get(stage->options, "cpu_expr");
    const struct ps_value *params = ps_values_get(stage->options, "params");
    if (!ps_values_default(options, ps_stage_map.options, &error))
        return fault(problems, stage->place, error.text);
    struct ps_value *expr = (struct ps_value *)ps_values_get(options, "expr");
    struct ps_value *own = (struct ps_value *)ps_values_get(options, "params");
    struct ps_value *dtype = (struct ps_value *)ps_values_get(options, "dtype");
    bool fine =
        ps_value_from_scalar(expr, text->text, true, text->place, problems) &&
        ps_value_from_scalar(dtype, ps_dtype_name(kernel->out_dtype), false, text->place, problems);
    if (params->given)
        ps_value_begin_list(own, params->place);
    for (int i = 0; fine && i < params->count; i++) {
        struct ps_text number = {0};
        if (!params->quoted[i])
            ps_text_printf(&number, "%lld", (long long)params->integers[i]);
        else if (params->numbers[i] == floor(params->numbers[i]) && isfinite(params->numbers[i]))
            ps_text_printf(&number, "%.17g%s", params->numbers[i],
                           fabs(params->numbers[i]) < 1e15 ? ".0" : "");
        else
            ps_number_print(params->numbers[i], &number);
        fine = !number.failed && ps_value_add_param(own, params->words[i], params->places[i],
                                                    number.data, params->places[i], problems);
        ps_text_free(&number);
    }
    return fine;
}

static bool reads_only_inputs(const struct ps_stage *stage, const struct ps_scope *scope,
                              const struct ps_kernel *kernel, struct ps_problems *problems)
{
    const struct ps_value *expr = ps_values_get(stage->options, "cpu_expr");
    for (int i = 0; i < kernel->map.input_count; i++) {
        bool known = false;
        for (int k = 0; k < stage->input_count; k++)
            known = known || stage->inputs[k] == kernel->map.inputs[i];
        if (known)
            continue;
        ps_problem_add(
            problems, PS_USAGE, expr->place,
            "cpu_expr reads '%s', which is not among the kernel's arrays: add it to `in`",
            scope->ports[kernel->map.inputs[i]].name);
        return false;
    }
    return true;
}

bool ps_kernel_plan_map(const struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_kernel *kernel, struct ps_problems *problems)
{
    const struct ps_value *expr = ps_values_get(stage->options, "cpu_expr");
    const struct ps_array *a = &kernel->map.output, *b = &stage->output;
    char made[PS_ARRAY_TEXT], wanted[PS_ARRAY_TEXT];
    kernel->map = (struct ps_stage){.type = &ps_stage_map,
                                    .name = stage->name,
                                    .port = stage->port,
                                    .place = stage->place,
                                    .options = &kernel->map_options,
                                    .rows = PS_ROWS_ONE_TO_ONE};
    if (!fill_map_options(stage, kernel, problems) ||
        !ps_stage_map.plan(&kernel->map, scope, problems) ||
        !reads_only_inputs(stage, scope, kernel, problems))
        return false;
    bool same = a->rank == b->rank && kernel->map.streamed == stage->streamed;
    for (int i = stage->streamed; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    if (!same)
        ps_problem_add(problems, PS_USAGE, expr->place,
                       "cpu_expr makes %s%s, but the kernel makes %s%s", ps_array_text(a, made),
                       kernel->map.streamed ? "" : " (whole)", ps_array_text(b, wanted),
                       stage->streamed ? "" : " (whole)");
    return same;
}
