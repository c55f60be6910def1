// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_filters.h"

#include "io/hdf5_common.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The HDF Group's list of registered filters, as far as they are met in files.
const struct ps_hdf5_filter ps_hdf5_filters[] = {
    {H5Z_FILTER_DEFLATE, "gzip", NULL, false, true},
    {H5Z_FILTER_SHUFFLE, "shuffle", NULL, false, true},
    {H5Z_FILTER_FLETCHER32, "fletcher32", NULL, false, true},
    {H5Z_FILTER_SZIP, "szip", NULL, false, true},
    {H5Z_FILTER_NBIT, "nbit", NULL, false, true},
    {H5Z_FILTER_SCALEOFFSET, "scaleoffset", NULL, false, true},
    {PS_HDF5_LZF, "lzf", NULL, false, true},
    {307, "bzip2", "hdf5-filter-plugin", true, false},
    {32001, "blosc", "hdf5-filter-plugin-blosc-serial", true, false},
    {32004, "lz4", "hdf5-filter-plugin", true, false},
    {32008, "bitshuffle", "bitshuffle", true, false},
    {32013, "zfp", "hdf5-filter-plugin-zfp-serial", true, false},
    {32015, "zstd", NULL, true, false},
    {32017, "sz", NULL, true, false},
    {32018, "fcidecomp", NULL, true, false},
    {32024, "sz3", NULL, true, false},
    {32026, "blosc2", NULL, true, false},
    {32028, "sperr", NULL, true, false},
    {305, "lzo", NULL, false, false},
    {32002, "mafisc", NULL, false, false},
    {32003, "snappy", NULL, false, false},
    {32005, "apax", NULL, false, false},
    {32006, "cbf", NULL, false, false},
    {32007, "jpeg-xr", NULL, false, false},
    {32009, "spdp", NULL, false, false},
    {32012, "jpeg-ls", NULL, false, false},
    {32014, "fpzip", NULL, false, false},
    {32019, "jpeg", NULL, false, false},
    {32020, "vbz", NULL, false, false},
    {32022, "bitgroom", NULL, false, false},
    {32023, "granular bitround", NULL, false, false},
    {0},
};

const struct ps_hdf5_filter *ps_hdf5_filter(int id)
{
    for (const struct ps_hdf5_filter *filter = ps_hdf5_filters; filter->name != NULL; filter++)
        if (filter->id == id)
            return filter;
    return NULL;
}

bool ps_hdf5_filter_is_there(int id)
{
    unsigned how = 0;
    bool there = H5Zfilter_avail(id) > 0 || (id == PS_HDF5_LZF && ps_hdf5_register_lzf());
    there = there && H5Zget_filter_info(id, &how) >= 0 && (how & H5Z_FILTER_CONFIG_DECODE_ENABLED);
    H5Eclear2(H5E_DEFAULT);
    return there;
}

void ps_hdf5_filter_advice(int id, char *out, size_t out_size)
{
    const struct ps_hdf5_filter *filter = ps_hdf5_filter(id);
    const char *preload = getenv("HDF5_PLUGIN_PRELOAD"), *path = getenv("HDF5_PLUGIN_PATH");
    const char *debian = filter != NULL ? filter->debian : NULL;
    bool pip = filter != NULL && filter->pip;
    struct ps_text text = {0};
    if (filter != NULL && filter->built_in)
        ps_text_add(&text, "this HDF5 library was built without it");
    else if (debian != NULL || pip)
        ps_text_printf(&text, "install its plugin (%s%s%s%s)",
                       debian != NULL ? "apt-get install " : "", debian != NULL ? debian : "",
                       debian != NULL && pip ? ", or " : "", pip ? "pip install hdf5plugin" : "");
    else
        ps_text_add(&text, "install its plugin");
    ps_text_printf(&text, "; HDF5_PLUGIN_PATH tells its folder (now: %s)",
                   path != NULL ? path : "the usual ones");
    if (preload != NULL && strcmp(preload, "::") == 0)
        ps_text_add(&text, "; HDF5_PLUGIN_PRELOAD=:: switches plugins off");
    snprintf(out, out_size, "%s", text.data != NULL ? text.data : "");
    ps_text_free(&text);
}

static bool is_searched(const char *folder)
{
    unsigned count = 0;
    char known[4096];
    H5PLsize(&count);
    for (unsigned i = 0; i < count; i++) {
        ssize_t length = H5PLget(i, known, sizeof known);
        if (length > 0 && (size_t)length < sizeof known && strcmp(known, folder) == 0)
            return true;
    }
    return false;
}

static void add_folders(const char *base, const char *pattern)
{
    char full[4096];
    glob_t found;
    if (base == NULL || snprintf(full, sizeof full, "%s%s", base, pattern) >= (int)sizeof full ||
        glob(full, GLOB_ONLYDIR, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!is_searched(found.gl_pathv[i]))
            H5PLappend(found.gl_pathv[i]);
    globfree(&found);
}

void ps_hdf5_add_plugin_folders(void)
{
    static const char python[] = "/lib/python3*/*-packages/hdf5plugin/plugins";
    H5E_BEGIN_TRY
    {
        add_folders("", "/usr/lib/*/hdf5/serial/plugins"); // Debian
        add_folders("", "/usr/lib64/hdf5/plugin");         // Fedora
        add_folders("", "/usr/local/hdf5/lib/plugin");     // of the library itself
        add_folders("/usr", "/lib/python3/dist-packages/hdf5plugin/plugins");
        add_folders("/usr/local", python);
        add_folders(getenv("HOME"), "/.local/lib/python3*/site-packages/hdf5plugin/plugins");
        add_folders(getenv("VIRTUAL_ENV"), python);
    }
    H5E_END_TRY;
}
