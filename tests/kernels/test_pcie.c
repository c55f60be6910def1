// SPDX-License-Identifier: Apache-2.0
// Reading a PCIe link out of files as the kernel writes them.
#include "check.h"

#if PS_HAVE_CUDA
#include "kernels/cuda/pcie.h"

#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/penstock-test-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/0000:8a:00.0/%s", folder, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static void test_link(void)
{
    char path[200];
    struct ps_pcie_link link;
    ps_pcie_link(folder, "0000:8A:00.0", &link);
    CU_ASSERT(link.generation == -1 && link.width == -1 && link.width_max == -1);
    snprintf(path, sizeof path, "%s/0000:8a:00.0", folder);
    CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
    write_file("current_link_speed", "2.5 GT/s PCIe\n");
    write_file("max_link_speed", "32.0 GT/s PCIe\n");
    write_file("current_link_width", "8\n");
    write_file("max_link_width", "16\n");
    ps_pcie_link(folder, "0000:8A:00.0", &link);
    CU_ASSERT_EQUAL(link.generation, 1);
    CU_ASSERT_EQUAL(link.generation_max, 5);
    CU_ASSERT_EQUAL(link.width, 8);
    CU_ASSERT_EQUAL(link.width_max, 16);
    write_file("current_link_speed", "Unknown\n");
    write_file("max_link_speed", "64 GT/s\n");
    write_file("current_link_width", "0\n");
    write_file("max_link_width", "255\n");
    ps_pcie_link(folder, "0000:8a:00.0", &link);
    CU_ASSERT_EQUAL(link.generation, -1);
    CU_ASSERT_EQUAL(link.generation_max, 6);
    CU_ASSERT_EQUAL(link.width, -1);
    CU_ASSERT_EQUAL(link.width_max, -1);
}

int main(void)
{
    static const struct check_test tests[] = {{"link", test_link}, {NULL, NULL}};
    char command[100];
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    int result = check_main("pcie", tests);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
#else
int main(void)
{
    return PS_SKIP;
}
#endif
