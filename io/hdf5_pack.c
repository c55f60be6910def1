// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_pack.h"

#include "io/hdf5_filters.h"

#include <string.h>

struct packer {
    const char *word; // of `compression`
    int id;
    int least, most, usual; // levels; all 0: it has none
    bool shuffles;          // sorts bytes itself
    int codec;              // bitshuffle and blosc pack by another library
};

static const struct packer packers[] = {
    {"gzip", H5Z_FILTER_DEFLATE, 1, 9, 4, false, 0},
    {"lzf", PS_HDF5_LZF, 0, 0, 0, false, 0},
    {"lz4", 32004, 0, 0, 0, false, 0},
    {"zstd", 32015, 1, 22, 3, false, 0},
    {"bzip2", 307, 1, 9, 9, false, 0},
    {"szip", H5Z_FILTER_SZIP, 0, 0, 0, false, 0},
    {"bitshuffle", 32008, 0, 0, 0, true, 2}, // with LZ4
    {"bitshuffle-zstd", 32008, 1, 22, 3, true, 3},
    {"blosc", 32001, 0, 9, 5, true, 1}, // with LZ4
    {"blosc-zstd", 32001, 0, 9, 5, true, 5},
};

static const struct packer *find_packer(const char *word)
{
    size_t length = strncmp(word, "gzip-", 5) == 0 ? 4 : strlen(word);
    for (size_t i = 0; i < sizeof packers / sizeof packers[0]; i++)
        if (strncmp(packers[i].word, word, length) == 0 && packers[i].word[length] == '\0')
            return &packers[i];
    return NULL; // none
}

static bool choose_level(const struct packer *packer, const char *word,
                         const struct ps_value *level, unsigned *level_out, struct ps_error *error)
{
    bool named = strncmp(word, "gzip-", 5) == 0;
    *level_out = (unsigned)(named ? word[5] - '0' : packer->usual);
    if (!level->given)
        return true;
    if (named)
        return ps_fail(error, PS_USAGE,
                       "compression: %s has its level in its name; write either "
                       "`compression: %s` or `compression: gzip, level: %lld`",
                       word, word, (long long)level->integer);
    if (packer->most == 0)
        return ps_fail(error, PS_USAGE, "level: %s has no levels; remove it", word);
    if (level->integer < packer->least || level->integer > packer->most)
        return ps_fail(error, PS_USAGE, "level: %s has the levels %d to %d, not %lld", word,
                       packer->least, packer->most, (long long)level->integer);
    *level_out = (unsigned)level->integer;
    return true;
}

// What each filter wants to be told, as the sources of the plugins have it.
static struct ps_hdf5_stage packer_stage(const struct packer *packer, unsigned level,
                                         unsigned shuffle)
{
    struct ps_hdf5_stage stage = {.id = packer->id};
    unsigned codec = (unsigned)packer->codec;
    if (packer->id == 32008) // elements at a time (0: it chooses), codec, level
        stage = (struct ps_hdf5_stage){packer->id, codec == 3 ? 3 : 2, {0, codec, level}};
    else if (packer->id == 32001) // four that it fills in itself, level, shuffle, codec
        stage = (struct ps_hdf5_stage){packer->id, 7, {0, 0, 0, 0, level, shuffle, codec}};
    else if (packer->id == H5Z_FILTER_SZIP)
        stage = (struct ps_hdf5_stage){packer->id, 2, {H5_SZIP_NN_OPTION_MASK, 16}};
    else if (packer->most > 0)
        stage = (struct ps_hdf5_stage){packer->id, 1, {level}};
    return stage;
}

static bool add_packer(const struct ps_values *options, struct ps_hdf5_pack *pack,
                       struct ps_error *error)
{
    const char *word = ps_values_get(options, "compression")->text;
    const struct ps_value *shuffle = ps_values_get(options, "shuffle");
    const struct ps_value *level = ps_values_get(options, "level");
    const struct packer *packer = find_packer(word);
    bool shuffled = shuffle->given ? shuffle->truth : packer != NULL;
    unsigned number = 0;
    if (packer == NULL && level->given)
        return ps_fail(error, PS_USAGE, "level: nothing is compressed; add `compression:`");
    if (packer != NULL && !choose_level(packer, word, level, &number, error))
        return false;
    if (packer != NULL && packer->id == 32008 && !shuffled)
        return ps_fail(error, PS_USAGE,
                       "shuffle: false: %s is a shuffle; choose another compression", word);
    // szip takes differences of neighbours and packs worse when bytes are sorted.
    bool szip = packer != NULL && packer->id == H5Z_FILTER_SZIP && !shuffle->given;
    if (shuffled && !szip && (packer == NULL || !packer->shuffles))
        pack->stages[pack->count++] = (struct ps_hdf5_stage){.id = H5Z_FILTER_SHUFFLE};
    if (packer != NULL)
        pack->stages[pack->count++] = packer_stage(packer, number, shuffled);
    return true;
}

// One chunk of zeros into a file in memory: shows whether the library and the plugin really pack.
static bool packs(const struct ps_hdf5_pack *pack, enum ps_dtype dtype)
{
    static const char zeros[4096 * 8];
    hsize_t size = 4096;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t type = ps_hdf5_type(dtype), space = H5Screate_simple(1, &size, NULL), file = -1, set = -1;
    if (H5Pset_fapl_core(access, 1 << 16, false) >= 0 && H5Pset_chunk(create, 1, &size) >= 0 &&
        ps_hdf5_pack_apply(pack, create))
        file = H5Fcreate("penstock-tries-filters", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file >= 0)
        set = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    bool fine = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0 &&
                H5Dflush(set) >= 0 &&
                H5Dget_storage_size(set) < sizeof zeros / 8 * ps_dtype_bytes(dtype);
    if (set >= 0)
        H5Dclose(set);
    if (file >= 0)
        H5Fclose(file);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(create);
    H5Pclose(access);
    return fine;
}

static bool check_there(const struct ps_values *options, const struct ps_hdf5_stage *stage,
                        struct ps_error *error)
{
    char advice[600];
    if (ps_hdf5_filter_is_there(stage->id))
        return true;
    ps_hdf5_filter_advice(stage->id, advice, sizeof advice);
    const char *word = ps_values_get(options, "compression")->text;
    return ps_fail(error, PS_OUTPUT, "compression: %s needs filter %d (%s), which is not here: %s",
                   word, stage->id, ps_hdf5_filter(stage->id)->name, advice);
}

bool ps_hdf5_pack_choose(const struct ps_values *options, enum ps_dtype dtype,
                         struct ps_hdf5_pack *pack_out, struct ps_error *error)
{
    *pack_out = (struct ps_hdf5_pack){0};
    if (!add_packer(options, pack_out, error))
        return false;
    int packer = ps_values_get(options, "compression")->choice == 0 ? -1 : pack_out->count - 1;
    if (packer >= 0 && !check_there(options, &pack_out->stages[packer], error))
        return false;
    if (packer >= 0 && !packs(pack_out, dtype)) {
        int id = pack_out->stages[packer].id;
        return ps_hdf5_fail(error, PS_OUTPUT,
                            "compression: %s: filter %d (%s) is here but cannot "
                            "pack",
                            ps_values_get(options, "compression")->text, id,
                            ps_hdf5_filter(id)->name);
    }
    // Last: so a damaged chunk is found before it is unpacked.
    if (ps_values_get(options, "fletcher32")->truth)
        pack_out->stages[pack_out->count++] = (struct ps_hdf5_stage){.id = H5Z_FILTER_FLETCHER32};
    return true;
}

bool ps_hdf5_pack_apply(const struct ps_hdf5_pack *pack, hid_t create)
{
    for (int i = 0; i < pack->count; i++) {
        const struct ps_hdf5_stage *stage = &pack->stages[i];
        // Optional: a chunk that does not get smaller is stored as it is.
        unsigned flag = stage->id == H5Z_FILTER_FLETCHER32 ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
        herr_t result =
            stage->id == H5Z_FILTER_SZIP
                ? H5Pset_szip(create, stage->values[0], stage->values[1])
                : H5Pset_filter(create, stage->id, flag, stage->value_count, stage->values);
        if (result < 0)
            return false;
    }
    return true;
}
