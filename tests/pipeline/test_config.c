// SPDX-License-Identifier: Apache-2.0
// What the config means: values and defaults, --set, printing and reading back, the schema, and
// files that are no config. The exact messages of faulty configs are in test_config_faults.c.
#include "pipeline/config.h"

#include "check.h"
#include "config_tables.h"

#include <libfyaml.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER PS_TEST_DATA "/config"

static const char *const good =
    "version: 1\n"
    "inputs:\n"
    "  spectra: {path: in.csv, columns: [no, \"1\", 2, \"a b\"], delimiter: \";\"}\n"
    "  dark: {path: ./in.csv, load: whole, format: csv}\n"
    "  made: {format: pattern, shape: [10, 2]}\n"
    "stages:\n"
    "  - {name: clean, op: map, expr: 'max(spectra - dark, 0) * gain # \"x\"',\n"
    "     params: {gain: 1.5, k: 2, big: 1e30, tenth: 0.1, top: .inf}}\n"
    "  - {name: stats, op: reduce, in: clean, of: [mean, std]}\n"
    "  - {name: s2, op: reduce, axis: [1, 2], of: sum}\n"
    "  - {name: s3, op: reduce, axis: all, of: max}\n"
    "  - {name: s4, op: reduce, axis: 1, of: [max]}\n"
    "outputs:\n"
    "  clean: {path: out/features.npy, dtype: float64, cast: wrap}\n"
    "  table: {array: stats, path: /abs/stats.csv, overwrite: true, header: false}\n"
    "  s2: {format: null}\n"
    "run: {block: 4096 rows, slots: 5, memory: 1.5 GiB, log: out/t.csv, cuda: {threads: 256}}\n";

static struct ps_problems problems;
static struct ps_config *config;

static void forget(void)
{
    ps_config_free(config);
    config = NULL;
    ps_problems_free(&problems);
}

static void parse(const char *text, int set_count, const char *const *sets)
{
    forget();
    config =
        ps_config_parse(text, strlen(text), "job.yaml", FOLDER, sets, (size_t)set_count, &problems);
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
}

// Parses what must be right.
static void parse_good(const char *text, int set_count, const char *const *sets)
{
    parse(text, set_count, sets);
    for (size_t i = 0; i < problems.count; i++)
        printf("unexpected: %s\n", problems.list[i].text);
    CU_ASSERT_EQUAL_FATAL(problems.error_count, 0);
}

static const struct ps_value *run(const char *key)
{
    return ps_values_get(&config->run, key);
}

static void reads_inputs(void)
{
    parse_good(good, 0, NULL);
    CU_ASSERT_EQUAL_FATAL(config->input_count, 3);
    const struct ps_config_input *spectra = &config->inputs[0], *dark = &config->inputs[1];
    CU_ASSERT_STRING_EQUAL(spectra->name, "spectra");
    CU_ASSERT(spectra->place.line == 3 && spectra->place.column == 3 && spectra->place.length == 7);
    CU_ASSERT_PTR_EQUAL(spectra->format, &csv);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&spectra->common, "path")->words[0], FOLDER "/in.csv");
    CU_ASSERT_EQUAL(ps_values_get(&spectra->common, "load")->choice, 0);
    CU_ASSERT_FALSE(ps_values_get(&spectra->common, "load")->given);
    const struct ps_value *columns = ps_values_get(&spectra->options, "columns");
    CU_ASSERT(columns->given && columns->listed);
    CU_ASSERT_EQUAL_FATAL(columns->count, 4);
    CU_ASSERT_STRING_EQUAL(columns->words[0], "no");
    CU_ASSERT_STRING_EQUAL(columns->words[3], "a b");
    CU_ASSERT(!columns->quoted[0] && columns->quoted[1] && !columns->quoted[2]);
    CU_ASSERT(columns->places[1].column == 42 && columns->places[1].length == 1);
    CU_ASSERT_EQUAL(ps_values_get(&dark->common, "load")->choice, 1);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&dark->common, "path")->words[0], FOLDER "/in.csv");
    CU_ASSERT_PTR_NULL(ps_values_get(&config->inputs[2].common, "path")->text);
    CU_ASSERT_EQUAL(ps_values_get(&config->inputs[2].options, "shape")->integers[0], 10);
}

static void reads_stages_and_outputs(void)
{
    parse_good(good, 0, NULL);
    CU_ASSERT_EQUAL_FATAL(config->stage_count, 5);
    CU_ASSERT_EQUAL_FATAL(config->output_count, 3);
    const struct ps_value *params = ps_values_get(&config->stages[0].options, "params");
    CU_ASSERT_EQUAL_FATAL(params->count, 5);
    CU_ASSERT_STRING_EQUAL(params->words[0], "gain");
    CU_ASSERT(params->numbers[0] == 1.5 && params->numbers[2] == 1e30);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&config->stages[0].options, "expr")->text,
                           "max(spectra - dark, 0) * gain # \"x\"");
    const struct ps_value *of = ps_values_get(&config->stages[1].options, "of");
    CU_ASSERT(of->count == 2 && of->picks[0] == 1 && of->picks[1] == 2 && of->listed);
    CU_ASSERT_FALSE(ps_values_get(&config->stages[2].options, "in")->given);
    CU_ASSERT_EQUAL(ps_values_get(&config->stages[2].options, "axis")->count, 2);
    CU_ASSERT_EQUAL(ps_values_get(&config->stages[3].options, "axis")->count, -1);
    const struct ps_config_output *table = &config->outputs[1];
    CU_ASSERT_STRING_EQUAL(config->outputs[0].array, "clean");
    CU_ASSERT_EQUAL(ps_values_get(&config->outputs[0].common, "dtype")->dtype, PS_F64);
    CU_ASSERT_EQUAL(ps_values_get(&config->outputs[0].common, "cast")->choice, PS_CAST_WRAP);
    CU_ASSERT_STRING_EQUAL(table->array, "stats");
    CU_ASSERT_STRING_EQUAL(ps_values_get(&table->common, "path")->text, "/abs/stats.csv");
    CU_ASSERT(ps_values_get(&table->common, "overwrite")->truth);
    CU_ASSERT_FALSE(ps_values_get(&table->options, "header")->truth);
    CU_ASSERT_PTR_EQUAL(config->outputs[2].format, &null_format);
}

static void reads_run(void)
{
    parse_good(good, 0, NULL);
    CU_ASSERT(run("block")->integer == 4096 && run("slots")->integer == 5);
    CU_ASSERT_EQUAL(run("memory")->bytes, 3ull << 29);
    CU_ASSERT(run("threads")->automatic && run("device_memory")->automatic);
    CU_ASSERT_STRING_EQUAL(run("log")->text, FOLDER "/out/t.csv");
    CU_ASSERT_EQUAL(ps_values_get(&config->run_cuda, "threads")->integer, 256);
    parse_good("version: 1\ninputs: {in: {path: in.csv}}\noutputs: {in: {path: a.npy}}\n", 0, NULL);
    CU_ASSERT(run("block")->automatic && run("slots")->automatic);
    CU_ASSERT_EQUAL(run("memory")->bytes, 2ull << 30);
    CU_ASSERT_PTR_NULL(run("log")->text);
    CU_ASSERT(run("device")->integer == 0 && !run("compare")->truth && run("backend")->choice == 0);
    CU_ASSERT(ps_values_get(&config->run_cuda, "threads")->automatic);
    // Comparing backends is something to do without any output.
    parse_good("version: 1\ninputs: {in: {path: in.csv}}\nrun: {compare: true}\n", 0, NULL);
}

static void sets_keys(void)
{
    static const char *const sets[] = {"run.block=64MiB",
                                       "run.block = 7 rows",
                                       "inputs.dark.path=../config/in.csv",
                                       "stages.clean.params.gain=2e3",
                                       "stages.clean.params.new=-1",
                                       "stages.1.of=[sum, max]",
                                       "stages.s4.axis=rows",
                                       "inputs.extra={format: pattern, shape: [3]}",
                                       "run.cuda.threads=64",
                                       "stages.0.expr=spectra = dark",
                                       "outputs.clean={path: x.npy}",
                                       "inputs.spectra.delimiter=\"\\t\""};
    parse_good(good, sizeof sets / sizeof sets[0], sets);
    CU_ASSERT(run("block")->integer == 7 && run("block")->bytes == 0);
    CU_ASSERT(run("block")->place.source == 2 && run("block")->place.column == 13);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&config->inputs[1].common, "path")->words[0],
                           FOLDER "/../config/in.csv");
    const struct ps_value *params = ps_values_get(&config->stages[0].options, "params");
    CU_ASSERT(params->count == 6 && params->numbers[0] == 2000 && params->numbers[5] == -1);
    CU_ASSERT_EQUAL(ps_values_get(&config->stages[1].options, "of")->picks[1], 4);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&config->stages[4].options, "axis")->text, "rows");
    CU_ASSERT_STRING_EQUAL(ps_values_get(&config->stages[0].options, "expr")->text,
                           "spectra = dark");
    CU_ASSERT(config->input_count == 4 && config->output_count == 3);
    CU_ASSERT_FALSE(ps_values_get(&config->outputs[0].common, "dtype")->given);
    CU_ASSERT_EQUAL(ps_values_get(&config->run_cuda, "threads")->integer, 64);
    CU_ASSERT_STRING_EQUAL(ps_values_get(&config->inputs[0].options, "delimiter")->text, "\t");
}

static void sets_make_sections(void)
{
    static const char *const small =
        "version: 1\ninputs: {in: {path: in.csv}}\noutputs: {in: {path: a.npy}}\n";
    static const char *const sets[] = {"run.cuda.threads=32", "run.slots=2"};
    parse_good(small, 2, sets);
    CU_ASSERT(run("slots")->integer == 2);
    CU_ASSERT_EQUAL(ps_values_get(&config->run_cuda, "threads")->integer, 32);
}

// Aliases stand for copies: changing one does not change the other.
static void sets_one_of_two_aliases(void)
{
    static const char *const text = "version: 1\ninputs:\n  a: &x {path: in.csv}\n  b: *x\n"
                                    "outputs: {a: {path: o.npy}}\n";
    static const char *const sets[] = {"inputs.b.load=whole"};
    parse_good(text, 1, sets);
    CU_ASSERT_EQUAL(ps_values_get(&config->inputs[0].common, "load")->choice, 0);
    CU_ASSERT_EQUAL(ps_values_get(&config->inputs[1].common, "load")->choice, 1);
}

static bool same_value(const struct ps_value *a, const struct ps_value *b)
{
    bool same = a->automatic == b->automatic && a->truth == b->truth && a->integer == b->integer &&
                a->number == b->number && a->bytes == b->bytes && a->dtype == b->dtype &&
                a->choice == b->choice && a->count == b->count && a->listed == b->listed;
    for (int i = 0; same && i < a->count; i++) {
        same = a->words == NULL || strcmp(a->words[i], b->words[i]) == 0;
        same = same && (a->numbers == NULL || a->numbers[i] == b->numbers[i]);
        same = same && a->integers[i] == b->integers[i];
    }
    enum ps_kind kind = a->option->kind;
    if (same && (kind == PS_TEXT || kind == PS_PATH || kind == PS_NAME) &&
        strcmp(a->option->key, "format") != 0 && strcmp(a->option->key, "array") != 0)
        same = (a->text == NULL) == (b->text == NULL) &&
               (a->text == NULL || strcmp(a->text, b->text) == 0);
    if (!same)
        printf("%s changed\n", a->option->key);
    return same;
}

static void same_values(const struct ps_values *a, const struct ps_values *b)
{
    CU_ASSERT_EQUAL_FATAL(a->count, b->count);
    for (int i = 0; i < a->count; i++)
        CU_ASSERT(same_value(&a->values[i], &b->values[i]));
}

static void prints_what_it_reads(void)
{
    struct ps_text first = {0}, second = {0};
    parse_good(good, 0, NULL);
    struct ps_config *original = config;
    config = NULL;
    ps_config_print(original, &first);
    parse_good(first.data, 0, NULL);
    ps_config_print(config, &second);
    CU_ASSERT_STRING_EQUAL(first.data, second.data);
    for (int i = 0; i < 3; i++) {
        same_values(&original->inputs[i].common, &config->inputs[i].common);
        same_values(&original->inputs[i].options, &config->inputs[i].options);
        same_values(&original->outputs[i].common, &config->outputs[i].common);
        same_values(&original->outputs[i].options, &config->outputs[i].options);
        CU_ASSERT_STRING_EQUAL(original->outputs[i].array, config->outputs[i].array);
    }
    for (int i = 0; i < 5; i++)
        same_values(&original->stages[i].options, &config->stages[i].options);
    same_values(&original->run, &config->run);
    same_values(&original->run_cuda, &config->run_cuda);
    CU_ASSERT_PTR_NOT_NULL(strstr(first.data, "  memory: 1.5 GiB\n")); // sizes as written
    CU_ASSERT_PTR_NOT_NULL(strstr(first.data, "tenth: 0.1, top: .inf"));
    ps_text_free(&first);
    ps_text_free(&second);
    ps_config_free(original);
}

static void schema_is_json(void)
{
    struct ps_text text = {0};
    ps_config_schema(&text);
    CU_ASSERT_FALSE_FATAL(text.failed);
    struct fy_parse_cfg json = {.flags = FYPCF_QUIET | FYPCF_JSON_FORCE};
    struct fy_document *document = fy_document_build_from_string(&json, text.data, text.length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(document);
    static const char *const paths[] = {"/properties/version/const",
                                        "/properties/inputs/additionalProperties/anyOf/0/"
                                        "properties/columns/description",
                                        "/properties/stages/items/anyOf/1/properties/of/anyOf/0/"
                                        "enum/4",
                                        "/properties/run/properties/cuda/properties/threads",
                                        "/properties/outputs/additionalProperties/anyOf/2/"
                                        "properties/format/const"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        CU_ASSERT_PTR_NOT_NULL(
            fy_node_by_path(fy_document_root(document), paths[i], FY_NT, FYNWF_DONT_FOLLOW));
    fy_document_destroy(document);
    ps_text_free(&text);
}

// Loads what is no config; the message holds the piece and the status is that of a config fault.
static void refuse_file(const char *path, const char *piece)
{
    forget();
    config = ps_config_load(path, NULL, 0, &problems);
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    CU_ASSERT_EQUAL_FATAL(problems.count, 1);
    if (strstr(problems.list[0].text, piece) == NULL)
        printf("%s\n", problems.list[0].text);
    CU_ASSERT_PTR_NOT_NULL(strstr(problems.list[0].text, piece));
    CU_ASSERT_EQUAL(ps_problems_status(&problems), PS_USAGE);
    CU_ASSERT(run("memory")->bytes > 0); // defaults are there even so
}

static void refuses_files(void)
{
    refuse_file(FOLDER "/nothere.yaml", "No such file");
    refuse_file(FOLDER, "is a folder");
    refuse_file(FOLDER "/in.csv/job.yaml", "Not a directory");
    refuse_file(FOLDER "/in.csv", "must be a mapping"); // a CSV file is YAML text, of a kind
    refuse_file("/dev/null", "is empty");
    if (geteuid() == 0)
        return;
    char name[] = "/tmp/penstock-test-XXXXXX";
    int file = mkstemp(name);
    CU_ASSERT_FATAL(file >= 0 && fchmod(file, 0) == 0);
    refuse_file(name, "Permission denied");
    close(file);
    unlink(name);
}

static void loads_from_its_folder(void)
{
    forget();
    config = ps_config_load(FOLDER "/bom_crlf.yaml", NULL, 0, &problems);
    CU_ASSERT_EQUAL(problems.error_count, 0);
    char *real = realpath(FOLDER, NULL);
    CU_ASSERT_STRING_EQUAL(config->folder, real);
    CU_ASSERT_STRING_EQUAL(config->path, FOLDER "/bom_crlf.yaml");
    free(real);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"inputs", reads_inputs},
        {"stages and outputs", reads_stages_and_outputs},
        {"run", reads_run},
        {"--set", sets_keys},
        {"--set makes sections", sets_make_sections},
        {"--set and aliases", sets_one_of_two_aliases},
        {"print and read back", prints_what_it_reads},
        {"schema", schema_is_json},
        {"no config files", refuses_files},
        {"folder of the config", loads_from_its_folder},
        {NULL, NULL},
    };
    int result = check_main("config", tests);
    forget();
    return result;
}
