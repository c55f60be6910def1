// SPDX-License-Identifier: Apache-2.0
// What every CUnit program needs: a table of tests and a main.
#ifndef PS_TESTS_CHECK_H
#define PS_TESTS_CHECK_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdlib.h>

#define PS_SKIP 77 // ctest: not run here

struct check_test {
    const char *name;
    void (*run)(void);
};

static inline int check_main(const char *suite_name, const struct check_test *tests)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return EXIT_FAILURE;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (; suite != NULL && tests->name != NULL; tests++)
        CU_add_test(suite, tests->name, tests->run);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    unsigned ran = CU_get_number_of_tests_run();
    CU_cleanup_registry();
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
