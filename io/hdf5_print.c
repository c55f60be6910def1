// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_filters.h"
#include "io/hdf5_storage.h"

#include <stdlib.h>
#include <string.h>

#define SOURCES_SHOWN 5

// ---- Filters ----

static void print_blosc(const unsigned *values, size_t count, struct ps_text *out)
{
    static const char *const packers[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    static const char *const shuffles[] = {"", ", shuffle", ", bitshuffle"};
    if (count < 5)
        return;
    unsigned packer = count > 6 ? values[6] : 0, shuffle = count > 5 ? values[5] : 1;
    ps_text_printf(out, " (%s-%u%s)", packer < 6 ? packers[packer] : "?", values[4],
                   shuffle < 3 ? shuffles[shuffle] : "");
}

// What is known of the parameters; else they are shown as numbers.
static void print_parameters(int id, const unsigned *values, size_t count, struct ps_text *out)
{
    if (id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32 || id == H5Z_FILTER_NBIT ||
        id == PS_HDF5_LZF || count == 0)
        return;
    if (id == H5Z_FILTER_DEFLATE || id == 32015)
        ps_text_printf(out, "-%u", values[0]);
    else if (id == H5Z_FILTER_SZIP && count > 1)
        ps_text_printf(out, " (%s, blocks of %u)", values[0] & 4 ? "ec" : "nn", values[1]);
    else if (id == H5Z_FILTER_SCALEOFFSET && count > 1 && values[0] != H5Z_SO_INT)
        ps_text_printf(out, " (%d decimals)", (int)values[1]);
    else if (id == 32001)
        print_blosc(values, count, out);
    else if (id == 32008 && count > 4)
        ps_text_add(out, values[4] == 2 ? " (lz4)" : values[4] == 3 ? " (zstd)" : "");
    else if (id != H5Z_FILTER_SCALEOFFSET) {
        ps_text_add(out, " (");
        for (size_t i = 0; i < count; i++)
            ps_text_printf(out, "%s%u", i > 0 ? ", " : "", values[i]);
        ps_text_add(out, ")");
    }
}

static void print_filters(hid_t properties, struct ps_text *out)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags, config, values[12] = {0};
        size_t count = 12;
        char own[80] = "", shown[120];
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &count, values,
                                         sizeof own, own, &config);
        if (id < 0)
            continue;
        const struct ps_hdf5_filter *filter = ps_hdf5_filter(id);
        ps_text_printf(out, ", %s",
                       filter != NULL ? filter->name
                       : own[0]       ? ps_escape(own, strlen(own), shown, sizeof shown)
                                      : "filter");
        print_parameters(id, values, count < 12 ? count : 12, out);
        if (filter == NULL)
            ps_text_printf(out, " %d", (int)id);
        if (!ps_hdf5_filter_is_there(id))
            ps_text_add(out, " (not installed)");
    }
}

// ---- Chunks ----

static void print_chunks(hid_t set, hid_t space, hid_t properties, struct ps_text *out)
{
    hsize_t chunk[H5S_MAX_RANK], dims[H5S_MAX_RANK], written = 0;
    double all = 1;
    int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
    for (int i = 0; i < rank; i++)
        ps_text_printf(out, "%s%llu", i > 0 ? "x" : " ", (unsigned long long)chunk[i]);
    if (space < 0 || rank <= 0 || H5Sget_simple_extent_dims(space, dims, NULL) != rank ||
        H5Dget_num_chunks(set, space, &written) < 0)
        return;
    for (int i = 0; i < rank; i++)
        all *= (double)(dims[i] / chunk[i] + (dims[i] % chunk[i] != 0));
    if ((double)written == all)
        ps_text_printf(out, " (%llu)", (unsigned long long)written);
    else
        ps_text_printf(out, " (%llu of %.0f written)", (unsigned long long)written, all);
}

// ---- Other files ----

static void print_external(hid_t properties, struct ps_text *out)
{
    int count = H5Pget_external_count(properties);
    for (int i = 0; i < count && i < SOURCES_SHOWN; i++) {
        char name[1024], shown[300];
        off_t offset;
        hsize_t bytes;
        if (H5Pget_external(properties, (unsigned)i, sizeof name, name, &offset, &bytes) < 0)
            return;
        name[sizeof name - 1] = '\0';
        ps_text_printf(out, "%s%s", i > 0 ? ", " : ", in external files ",
                       ps_escape(name, strlen(name), shown, sizeof shown));
    }
    if (count > SOURCES_SHOWN)
        ps_text_printf(out, ", ... (%d files)", count);
}

static void print_source(hid_t properties, size_t i, struct ps_text *out)
{
    char file[1024] = "", dataset[1024] = "", shown[2][300];
    H5Pget_virtual_filename(properties, i, file, sizeof file);
    H5Pget_virtual_dsetname(properties, i, dataset, sizeof dataset);
    ps_text_printf(out, "\n      from %s:%s", ps_escape(file, strlen(file), shown[0], 300),
                   ps_escape(dataset, strlen(dataset), shown[1], 300));
}

static void print_sources(hid_t properties, struct ps_text *out)
{
    size_t count = 0;
    if (H5Pget_virtual_count(properties, &count) < 0)
        return;
    ps_text_printf(out, ", %zu source%s", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < SOURCES_SHOWN; i++)
        print_source(properties, i, out);
    if (count > SOURCES_SHOWN)
        ps_text_add(out, "\n      ...");
}

bool ps_hdf5_shape_needs_sources(hid_t set)
{
    hid_t properties = H5Dget_create_plist(set);
    size_t count = 0;
    bool needs = properties < 0;
    if (!needs && H5Pget_layout(properties) == H5D_VIRTUAL &&
        H5Pget_virtual_count(properties, &count) < 0)
        needs = true;
    for (size_t i = 0; i < count && !needs; i++) {
        hid_t space = H5Pget_virtual_vspace(properties, i);
        needs = space < 0 || (hsize_t)H5Sget_select_npoints(space) == H5S_UNLIMITED;
        if (space >= 0)
            H5Sclose(space);
    }
    if (properties >= 0)
        H5Pclose(properties);
    return needs;
}

void ps_hdf5_print_storage(hid_t set, hid_t space, uint64_t bytes, struct ps_text *out)
{
    static const char *const names[] = {"compact", "contiguous", "chunks", "virtual"};
    hid_t properties = H5Dget_create_plist(set);
    H5D_layout_t layout = properties >= 0 ? H5Pget_layout(properties) : H5D_LAYOUT_ERROR;
    if (layout >= 0 && layout < 4)
        ps_text_printf(out, ", %s", names[layout]);
    if (layout == H5D_CHUNKED) {
        print_chunks(set, space, properties, out);
        print_filters(properties, out);
        hsize_t stored = H5Dget_storage_size(set);
        if (stored > 0 && bytes > 0)
            ps_text_printf(out, ", ratio %.2f", (double)bytes / (double)stored);
    } else if (layout == H5D_CONTIGUOUS) {
        print_external(properties, out);
    } else if (layout == H5D_VIRTUAL) {
        print_sources(properties, out);
    }
    if (properties >= 0)
        H5Pclose(properties);
}
