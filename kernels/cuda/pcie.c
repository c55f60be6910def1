// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/pcie.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>

// The number that the file begins with; -1 when there is none.
static double read_number(const char *folder, const char *bus, const char *name)
{
    char path[512], text[64] = "";
    unsigned whole = 0, tenth = 0;
    snprintf(path, sizeof path, "%s/%s/%s", folder, bus, name);
    FILE *file = fopen(path, "re");
    bool read = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL)
        fclose(file);
    int found = read ? sscanf(text, "%4u.%1u", &whole, &tenth) : 0; // in no locale's way
    return found < 1 ? -1 : whole + tenth / 10.0;
}

// "16.0 GT/s PCIe"; "Unknown" gives -1.
static int generation(double rate)
{
    static const double rates[] = {2.5, 5, 8, 16, 32, 64};
    for (int i = 0; i < 6; i++)
        if (rate > rates[i] - 0.2 && rate < rates[i] + 0.2)
            return i + 1;
    return -1;
}

static int width(double lanes)
{
    return lanes >= 1 && lanes <= 32 ? (int)lanes : -1; // 0 and 255 mean unknown
}

void ps_pcie_link(const char *folder, const char *bus, struct ps_pcie_link *out)
{
    char lower[64];
    size_t length = 0;
    for (; bus[length] != '\0' && length + 1 < sizeof lower; length++)
        lower[length] = (char)tolower((unsigned char)bus[length]);
    lower[length] = '\0';
    out->generation = generation(read_number(folder, lower, "current_link_speed"));
    out->generation_max = generation(read_number(folder, lower, "max_link_speed"));
    out->width = width(read_number(folder, lower, "current_link_width"));
    out->width_max = width(read_number(folder, lower, "max_link_width"));
}
