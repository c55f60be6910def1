// SPDX-License-Identifier: Apache-2.0
// Faulty configs: exact messages (tests/data/config/*.yaml beside *.expected), huge and hostile
// ones, and every valid config cut and altered at every byte. Run with an argument, it writes the
// expected files anew: read the difference before keeping it.
#include "pipeline/config.h"

#include "check.h"
#include "config_tables.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define FOLDER PS_TEST_DATA "/config"

static struct ps_config *parse(const char *text, size_t length, const char *name,
                               struct ps_problems *problems)
{
    // From a copy of just that length, so that reading past the end is seen.
    char *copy = malloc(length > 0 ? length : 1);
    memcpy(copy, text, length);
    struct ps_config *config = ps_config_parse(copy, length, name, FOLDER, NULL, 0, problems);
    free(copy);
    return config;
}

static char *read_file(const char *path, size_t *length_out)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    *length_out = file != NULL ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

// The YAML library's own words differ between its versions: they do not count.
static void cut_library_words(struct ps_text *text)
{
    static const char mark[] = "not valid YAML: ";
    for (char *at = text->data; at != NULL && (at = strstr(at, mark)) != NULL;) {
        at += strlen(mark);
        char *end = at + strcspn(at, "\n");
        memmove(at, end, strlen(end) + 1);
    }
}

static void replace_folder(struct ps_text *text, struct ps_text *out)
{
    const char *p = text->data != NULL ? text->data : "";
    for (const char *at; (at = strstr(p, FOLDER)) != NULL; p = at + strlen(FOLDER)) {
        ps_text_append(out, p, (size_t)(at - p));
        ps_text_add(out, "FOLDER");
    }
    ps_text_add(out, p);
}

// What the config of that name gives: its problems, or itself with all defaults.
static void outcome(const char *name, struct ps_text *out)
{
    char path[1024];
    size_t length;
    struct ps_problems problems = {0};
    struct ps_text text = {0};
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    char *yaml = read_file(path, &length);
    struct ps_config *config = parse(yaml, length, name, &problems);
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    ps_problems_print(&problems, config->sources, config->source_count, &text);
    if (problems.error_count == 0)
        ps_config_print(config, &text);
    ps_text_printf(&text, "status %d\n", ps_problems_status(&problems));
    cut_library_words(&text);
    replace_folder(&text, out);
    ps_text_free(&text);
    ps_problems_free(&problems);
    ps_config_free(config);
    free(yaml);
}

static bool write_anew;

static void exact_messages(void)
{
    struct dirent **files;
    int count = scandir(FOLDER, &files, NULL, alphasort), compared = 0;
    for (int i = 0; i < count; i++) {
        char path[1024];
        const char *dot = strrchr(files[i]->d_name, '.');
        size_t length;
        if (dot != NULL && strcmp(dot, ".yaml") == 0) {
            struct ps_text got = {0};
            outcome(files[i]->d_name, &got);
            snprintf(path, sizeof path, "%s/%.*s.expected", FOLDER, (int)(dot - files[i]->d_name),
                     files[i]->d_name);
            char *want = read_file(path, &length);
            if (strcmp(got.data, want) != 0)
                printf("%s gives\n%sinstead of\n%s", files[i]->d_name, got.data, want);
            CU_ASSERT_STRING_EQUAL(got.data, want);
            FILE *file = write_anew ? fopen(path, "w") : NULL;
            if (file != NULL) {
                fputs(got.data, file);
                fclose(file);
            }
            free(want);
            ps_text_free(&got);
            compared++;
        }
        free(files[i]);
    }
    free(files);
    CU_ASSERT(compared > 40);
}

static void sets_with_faults(void)
{
    static const char *const yaml =
        "version: 1\ninputs: {a: {path: in.csv}, dark: {path: in.csv}}\n"
        "stages: [{name: clean, op: map, expr: a}]\noutputs: {clean: {path: o.npy}}\n";
    static const struct {
        const char *set, *piece;
        int column, length;
    } cases[] = {
        {"run.blok=3", "unknown key 'blok' of run, did you mean 'block'?", 5, 4},
        {"rnu.block=3", "unknown key 'rnu', did you mean 'run'?", 1, 3},
        {"run.block=", "there is no value", 10, 1},
        {"run.block", "no '='", 1, 9},
        {"=3", "an empty name", 1, 0},
        {"run..block=3", "an empty name", 5, 0},
        {"run.=3", "an empty name", 5, 0},
        {"run.block.x=3", "unknown key", 0, 0},
        {"version.x=3", "is a single value", 9, 1},
        {"version=2", "config version 1", 9, 1},
        {"stages.claen.expr=b", "did you mean 'clean'?", 8, 5},
        {"stages.1.expr=b", "no position 0 to 0", 8, 1},
        {"stages.-1.expr=b", "no element '-1'", 8, 2},
        {"stages.clean.exprr=b", "did you mean 'expr'?", 14, 5},
        {"inputs.drak.load=whole", "no input 'drak'", 8, 4},
        {"outputs.claen.cast=wrap", "did you mean 'clean'?", 9, 5},
        {"inputs.dark.load=hole", "did you mean 'whole'?", 18, 4},
        {"run.memory=[1, 2]", "memory is a list", 12, 1},
        {"run.slots=!!int 3", "tags", 11, 5},
        {"run={slots: 3, slots: 4}", "given twice", 16, 5},
        {"run.slots=*x", "no anchor &x", 11, 2},
        {"run={slots: [}", "not valid YAML", 0, 0},
        {"inputs.dark.path=$HOME/x", "not expanded", 18, 7},
        {"outputs.clean.path=~/x.npy", "not expanded", 20, 7},
        {"run.sl\xC3\xB6ts=n", "unknown key 'sl\xC3\xB6ts'", 5, 5},
        {"run.slots=\xFF", "invalid UTF-8", 11, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ps_problems problems = {0};
        struct ps_config *config =
            ps_config_parse(yaml, strlen(yaml), "job.yaml", FOLDER, &cases[i].set, 1, &problems);
        bool found = false;
        for (size_t k = 0; k < problems.count; k++) {
            struct ps_place place = problems.list[k].place;
            found = found ||
                    (strstr(problems.list[k].text, cases[i].piece) != NULL && place.source == 1 &&
                     place.line == 1 && (cases[i].column == 0 || place.column == cases[i].column) &&
                     (cases[i].length == 0 || place.length == cases[i].length));
        }
        if (!found && cases[i].column != 0)
            for (size_t k = 0; k < problems.count; k++)
                printf("%s: %d+%d %s\n", cases[i].set, problems.list[k].place.column,
                       problems.list[k].place.length, problems.list[k].text);
        CU_ASSERT(problems.error_count > 0);
        CU_ASSERT(found || cases[i].column == 0);
        ps_problems_free(&problems);
        ps_config_free(config);
    }
}

// A config of `length` bytes made of one piece over and over: refused, soon, in little memory.
static void refuse_repeated(const char *start, const char *piece, size_t length)
{
    struct ps_text text = {0};
    struct ps_problems problems = {0};
    ps_text_add(&text, start);
    while (text.length < length)
        ps_text_add(&text, piece);
    clock_t before = clock();
    struct ps_config *config = parse(text.data, text.length, "job.yaml", &problems);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (seconds > 5)
        printf("'%s' took %.1f s\n", piece, seconds);
    CU_ASSERT(seconds < 20); // far less, but the machine may be busy
    CU_ASSERT(problems.error_count > 0);
    struct ps_text out = {0};
    ps_problems_print(&problems, config->sources, config->source_count, &out);
    CU_ASSERT(out.length > 0 && out.length < 2000000);
    ps_text_free(&out);
    ps_text_free(&text);
    ps_problems_free(&problems);
    ps_config_free(config);
}

// (Thousands of '' in a row are left out: libfyaml 0.7 loses memory over them.)
static void hostile_configs(void)
{
    static const char *const pieces[] = {"[",     "{",     "[a,",  "{a: ", "- ",  "? ",     "- [",
                                         "&a ",   "!t ",   "a: ",  "\n",   " ",   "#",      "---\n",
                                         "...\n", "%TAG ", "\"",   "''a",  "|\n", "a: b\n", "a\n",
                                         "*a ",   ",",     "<<: ", "- a\n"};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        refuse_repeated("", pieces[i], 300000);
        refuse_repeated("version: 1\ninputs: ", pieces[i], 300000);
    }
}

static void alias_bomb_is_cheap(void)
{
    struct ps_text text = {0}, out = {0};
    ps_text_add(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 30; i++) {
        ps_text_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            ps_text_printf(&text, "*a%d%s", i - 1, k < 8 ? "," : "]\n");
    }
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    clock_t start = clock();
    struct ps_problems problems = {0};
    struct ps_config *config = parse(text.data, text.length, "bomb", &problems);
    getrusage(RUSAGE_SELF, &after);
    CU_ASSERT((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    CU_ASSERT(after.ru_maxrss - before.ru_maxrss < 100 * 1024);
    CU_ASSERT_EQUAL(problems.error_count, 1);
    ps_problems_print(&problems, config->sources, 1, &out);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "more than 100000 values"));
    ps_text_free(&out);
    ps_text_free(&text);
    ps_problems_free(&problems);
    ps_config_free(config);
}

static void too_big(void)
{
    char name[] = "/tmp/penstock-test-XXXXXX";
    int file = mkstemp(name);
    FILE *stream = fdopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    for (int i = 0; i < (5 << 20) / 64; i++)
        fprintf(stream, "# %061d\n", i);
    fclose(stream);
    struct ps_problems problems = {0};
    struct ps_config *config = ps_config_load(name, NULL, 0, &problems);
    CU_ASSERT_EQUAL(problems.error_count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(problems.list[0].text, "bigger than 4 MiB"));
    ps_problems_free(&problems);
    ps_config_free(config);
    remove(name);
}

// Whatever it is, it is read without crash, and either refused or printed so that it reads back.
static void survive(const char *text, size_t length)
{
    struct ps_problems problems = {0}, again = {0};
    struct ps_text out = {0};
    struct ps_config *config = parse(text, length, "job.yaml", &problems), *second = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    if (problems.error_count > 0) {
        ps_problems_print(&problems, config->sources, 1, &out);
    } else {
        ps_config_print(config, &out);
        second = parse(out.data, out.length, "job.yaml", &again);
        if (again.error_count > 0)
            printf("%.*s\ncame out as\n%s%s\n", (int)length, text, out.data, again.list[0].text);
        CU_ASSERT_EQUAL(again.error_count, 0);
    }
    CU_ASSERT(out.length > 0 && !out.failed);
    ps_text_free(&out);
    ps_problems_free(&problems);
    ps_problems_free(&again);
    ps_config_free(second);
    ps_config_free(config);
}

static const char *const valid =
    "version: 1\n"
    "inputs:\n"
    "  a: &x {path: in.csv, columns: [no, \"1\", 2], delimiter: ';'}\n"
    "  b: *x\n"
    "  made: {format: pattern, shape: [10, 2]} # \xC3\xBC\n"
    "stages:\n"
    "  - {name: c, op: map, expr: \"a - b * g\\t\", params: {g: 1.5, k: .inf}}\n"
    "  - name: s\n"
    "    op: reduce\n"
    "    of: [mean, std]\n"
    "    axis: 1\n"
    "outputs:\n"
    "  c: {path: o.npy, dtype: f64, cast: wrap}\n"
    "  t: {array: s, path: |-\n"
    "      o.csv\n"
    "    }\n"
    "run: {block: 4096 rows, memory: 1.5 GiB, cuda: {threads: 64}}\n";

static void cut_everywhere(void)
{
    for (size_t length = 0; length <= strlen(valid); length++)
        survive(valid, length);
}

static void altered_everywhere(void)
{
    size_t length = strlen(valid);
    char *text = malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        static const char others[] = "\0\n\t:,[]{}&*!#|>'\"%@-?~\xFF\xC3";
        memcpy(text, valid, length);
        for (size_t k = 0; k + 1 < sizeof others; k++) {
            text[i] = others[k];
            survive(text, length);
        }
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(valid[i] ^ (1 << bit));
            survive(text, length);
        }
    }
    for (size_t i = 0; i < length; i++) { // one byte gone
        memcpy(text, valid, i);
        memcpy(text + i, valid + i + 1, length - i - 1);
        survive(text, length - 1);
    }
    free(text);
}

int main(int argc, char **argv)
{
    (void)argv;
    static const struct check_test tests[] = {
        {"exact messages", exact_messages},
        {"--set", sets_with_faults},
        {"hostile configs", hostile_configs},
        {"alias bomb", alias_bomb_is_cheap},
        {"too big a file", too_big},
        {"cut everywhere", cut_everywhere},
        {"altered everywhere", altered_everywhere},
        {NULL, NULL},
    };
    write_anew = argc > 1;
    return check_main("config faults", tests);
}
