// SPDX-License-Identifier: Apache-2.0
// Dates and times against Python's datetime (tests/data/times.txt, made by make_times.py).
#include "io_help.h"

#include "io/time_text.h"

static void check_line(char *line)
{
    char *rest = line, *text = strsep(&rest, "\t"), *bits = strsep(&rest, "\t");
    char *whole = strsep(&rest, "\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    double seconds = 0;
    int64_t nanoseconds = 0;
    uint64_t got;
    bool wanted = strcmp(bits, "-") != 0, exact = strcmp(whole, "-") != 0;
    bool fine = ps_text_to_seconds(text, strlen(text), &seconds);
    enum ps_number_fit fit = ps_text_to_nanoseconds(text, strlen(text), &nanoseconds);
    memcpy(&got, &seconds, sizeof got);
    bool right = fine == wanted && (!wanted || got == strtoull(bits, NULL, 16)) &&
                 fit == (exact    ? PS_FIT_OK
                         : wanted ? PS_FIT_OUT_OF_RANGE
                                  : PS_FIT_NOT_A_NUMBER) &&
                 (!exact || nanoseconds == strtoll(whole, NULL, 10));
    if (!right)
        fprintf(stderr, "\n  '%s': %.9f, %lld\n", text, seconds, (long long)nanoseconds);
    CU_ASSERT(right);
}

static void agrees_with_python(void)
{
    FILE *file = fopen(PS_TEST_DATA "/times.txt", "r");
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (; getline(&line, &room, file) > 0; count++)
        check_line(line);
    CU_ASSERT(count > 600);
    free(line);
    fclose(file);
}

// The text need not end with a NUL, and nothing behind it is looked at.
static void stays_within(void)
{
    double seconds;
    int64_t nanoseconds;
    const char *text = "2024-01-01T00:00:00.5Z";
    for (size_t length = 0; length <= strlen(text); length++) {
        char *copy = malloc(length + 1); // the sanitizers watch its end
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        memcpy(copy, text, length);
        bool fine = length == 10 || length == 16 || length == 19 || length >= 21;
        char *exact = realloc(copy, length > 0 ? length : 1);
        CU_ASSERT_EQUAL(ps_text_to_seconds(exact, length, &seconds), fine);
        CU_ASSERT_EQUAL(ps_text_to_nanoseconds(exact, length, &nanoseconds) == PS_FIT_OK, fine);
        free(exact);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"against Python", agrees_with_python},
        {"no byte too far", stays_within},
        {NULL, NULL},
    };
    return check_main("time_text", tests);
}
