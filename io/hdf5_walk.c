// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_walk.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200 // of groups in groups: each takes some of the stack

struct met { // addresses of objects, by open addressing
    haddr_t *list;
    size_t count, capacity; // capacity: a power of two
};

struct tour {
    ps_hdf5_visit visit;
    void *context;
    struct ps_text path; // of the group that is walked through
    struct met met;
    int depth;
};

static size_t place_of(const struct met *met, haddr_t address)
{
    size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (met->capacity - 1);
    while (met->list[at] != HADDR_UNDEF && met->list[at] != address)
        at = (at + 1) & (met->capacity - 1);
    return at;
}

static bool grow(struct met *met)
{
    struct met larger = {.count = met->count, .capacity = met->capacity ? 2 * met->capacity : 64};
    larger.list = malloc(larger.capacity * sizeof *larger.list);
    if (larger.list == NULL)
        return false;
    for (size_t i = 0; i < larger.capacity; i++)
        larger.list[i] = HADDR_UNDEF;
    for (size_t i = 0; i < met->capacity; i++)
        if (met->list[i] != HADDR_UNDEF)
            larger.list[place_of(&larger, met->list[i])] = met->list[i];
    free(met->list);
    *met = larger;
    return true;
}

// *again_out: it was there.
static bool meet(struct met *met, haddr_t address, bool *again_out)
{
    if (2 * met->count >= met->capacity && !grow(met))
        return false;
    size_t at = place_of(met, address);
    *again_out = met->list[at] == address;
    met->count += !*again_out;
    met->list[at] = address;
    return true;
}

static herr_t go_on(hid_t group, const char *name, const H5L_info_t *link, void *context);

static bool walk_group(hid_t group, const char *name, struct tour *tour)
{
    hid_t inner = H5Gopen2(group, name, H5P_DEFAULT);
    if (inner < 0)
        return false;
    tour->depth++;
    bool fine = H5Literate(inner, H5_INDEX_NAME, H5_ITER_INC, NULL, go_on, tour) >= 0;
    tour->depth--;
    H5Gclose(inner);
    return fine;
}

// A broken object is shown like the others; what is wrong with it is told when it is wanted.
static herr_t go_on(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    struct tour *tour = context;
    struct ps_hdf5_item item = {
        .group = group, .last = name, .link = *link, .type = H5O_TYPE_UNKNOWN};
    H5O_info_t info;
    size_t length = tour->path.length;
    if (link->type == H5L_TYPE_HARD && H5Oget_info_by_name(group, name, &info, H5P_DEFAULT) >= 0) {
        item.type = info.type;
        if (!meet(&tour->met, info.addr, &item.again))
            return -1;
    }
    item.too_deep = item.type == H5O_TYPE_GROUP && tour->depth >= DEPTH_MAX;
    ps_text_printf(&tour->path, "%s%s", length > 0 ? "/" : "", name);
    item.path = tour->path.data;
    bool fine = !tour->path.failed && tour->visit(&item, tour->context);
    if (fine && item.type == H5O_TYPE_GROUP && !item.again && !item.too_deep)
        fine = walk_group(group, name, tour);
    if (tour->path.data != NULL)
        tour->path.data[length] = '\0';
    tour->path.length = length;
    return fine ? 0 : -1;
}

bool ps_hdf5_walk(hid_t start, ps_hdf5_visit visit, void *context)
{
    struct tour tour = {.visit = visit, .context = context};
    H5O_info_t info;
    bool again, fine = H5Oget_info(start, &info) >= 0 && meet(&tour.met, info.addr, &again) &&
                       walk_group(start, ".", &tour);
    free(tour.met.list);
    ps_text_free(&tour.path);
    return fine;
}
