// SPDX-License-Identifier: Apache-2.0
// Patterns of paths: against fnmatch(3) for plain characters, the natural order, and folders with
// names of all kinds.
#include "io_help.h"

#include "io/paths.h"
#include "io/random.h"

#include <fnmatch.h>

static void natural_order(void)
{
    static const char *const sorted[] = {
        "a",
        "a/1",
        "a/2",
        "a/10",
        "a-1",
        "a0",
        "a00",
        "a01",
        "a1",
        "a1b",
        "a2",
        "a10",
        "a99999999999999999999998",
        "a99999999999999999999999",
        "aa",
        "run-2.h5",
        "run-2b.h5",
        "run-10.h5",
        "run-010.h5x",
        "ä",
    };
    size_t count = sizeof sorted / sizeof sorted[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order = ps_path_compare(sorted[i], sorted[j]);
            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fprintf(stderr, "\n  %s %s: %d\n", sorted[i], sorted[j], order);
            CU_ASSERT_EQUAL((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void patterns(void)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } cases[] = {
        {"*", "", true},
        {"*", "a", true},
        {"*", ".a", false},
        {".*", ".a", true},
        {"?", ".", false},
        {"?", "ü", true},
        {"?", "温", true},
        {"??", "ü", false},
        {"[ä-ü]x", "öx", true},
        {"[a", "[a", true},
        {"[]a]", "]", true},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[a-]", "-", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\", "a\\", true},
        {"*a*b*c", "xaybzc", true},
        {"*a*b*c", "xaybz", false},
        {"?", "\xff", true},
        {"\xff*", "\xff\xfe", true},
        {"run-*.h5", "run-.h5", true},
        {"run-?.h5", "run-12.h5", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CU_ASSERT_EQUAL(ps_path_matches(cases[i].pattern, cases[i].name), cases[i].fits);
    char pattern[9], name[9];
    for (uint64_t round = 0; round < 20000; round++) {
        size_t n = ps_random_at(1, round) % 8, m = ps_random_at(2, round) % 8;
        for (size_t i = 0; i < n; i++)
            pattern[i] = "ab*?[]!-"[ps_random_at(3, round * 8 + i) % 8];
        for (size_t i = 0; i < m; i++)
            name[i] = "abc-]"[ps_random_at(4, round * 8 + i) % 5];
        pattern[n] = name[m] = '\0';
        bool expected = fnmatch(pattern, name, FNM_PERIOD) == 0;
        if (ps_path_matches(pattern, name) != expected)
            fprintf(stderr, "\n  %s %s: %d\n", pattern, name, !expected);
        CU_ASSERT_EQUAL(ps_path_matches(pattern, name), expected);
    }
    // A pattern made to take long.
    char stars[200], same[200];
    for (int i = 0; i < 199; i++) {
        stars[i] = i % 2 ? 'a' : '*';
        same[i] = 'a';
    }
    stars[198] = 'b';
    stars[199] = same[199] = '\0';
    CU_ASSERT_FALSE(ps_path_matches(stars, same));
}

// "a|b": what a pattern below the test's folder gives.
static void check_expand(const char *pattern, const char *wanted)
{
    struct ps_paths paths = {0};
    struct ps_error error = {0};
    struct ps_text joined = {0};
    char path[PATH_MAX];
    size_t cut = strlen(help_folder()) + 1;
    snprintf(path, sizeof path, "%s/%s", help_folder(), pattern);
    bool fine = ps_paths_expand(&paths, path, &error);
    for (size_t i = 0; i < paths.count; i++)
        ps_text_printf(&joined, "%s%s", i > 0 ? "|" : "", paths.list[i] + cut);
    if (fine)
        CU_ASSERT_STRING_EQUAL(joined.data, wanted);
    if (!fine) {
        CHECK_TEXT(error.text, wanted);
        CU_ASSERT_EQUAL(error.status, PS_INPUT);
    }
    ps_text_free(&joined);
    ps_paths_free(&paths);
}

static void files(void)
{
    static const char *const folders[] = {"[old]", "day2", "day10", "day2/deep"};
    static const char *const names[] = {"run-1.h5",   "run-2.h5",   "run-10.h5",  ".run-3.h5",
                                        "run-[1].h5", "star*.h5",   "star1.h5",   "[old]/a.h5",
                                        "day2/x.h5",  "day10/x.h5", "day10/y.h5", "what?"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        CU_ASSERT_EQUAL(mkdir(help_path(folders[i]), 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CU_ASSERT(help_file(help_path(names[i]), "", 0));
    check_expand("run-*.h5", "run-1.h5|run-2.h5|run-10.h5|run-[1].h5");
    check_expand("run-[12].h5", "run-1.h5|run-2.h5");
    check_expand("run-[1].h5", "run-[1].h5"); // exactly that name
    check_expand("star*.h5", "star*.h5");
    check_expand("star\\*.h5", "star*.h5");
    check_expand("[old]/*.h5", "[old]/a.h5");
    check_expand("day*/x.h5", "day2/x.h5|day10/x.h5");
    check_expand("day?/*.h5", "day2/x.h5");
    check_expand("day*/?.h5", "day2/x.h5|day10/x.h5|day10/y.h5");
    check_expand("plain.h5", "plain.h5"); // whether it exists or not
    check_expand("day2/*", "/day2/deep is a folder and fits the pattern as well");
    check_expand("run-*.csv", "no file matches 'run-*.csv' in the folder ");
    check_expand("day2/no-*.csv", "/day2");
    check_expand("none/run-*.csv", "/none, which does not exist");
    check_expand("run-1.h5/*", "no file matches '*' in the folder ");
    check_expand("day*/z.h5", "no file matches 'day*/z.h5' in the folder ");
}

int main(void)
{
    static const struct check_test tests[] = {
        {"natural order", natural_order},
        {"patterns", patterns},
        {"files", files},
        {NULL, NULL},
    };
    return help_finish(check_main("paths", tests));
}
