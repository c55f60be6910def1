// SPDX-License-Identifier: Apache-2.0
// What a file claims about a dataset against what it stores: the library believes it, and would
// read bytes that are not the dataset's, or allocate what a small file says.
#include "io/hdf5_filters.h"
#include "io/hdf5_reader.h"

#include <sys/stat.h>

#define GZIP_RATIO                                                                                 \
    1040 // no deflated data are larger by more than 1032 (RFC 1951: 258 bytes for 2 bits)

struct claims {
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    int rank;
    double bytes;  // of the whole dataset
    double stored; // bytes of it in the file
    double file_bytes;
};

static bool disagree(const struct ps_reader *reader, const char *what, double claimed, double found,
                     struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    return ps_fail(error, PS_INPUT, "%s is corrupt: dataset %s %s (%.0f, but there are %.0f)",
                   reader->path, state->name, what, claimed, found);
}

static bool check_piece(const struct ps_reader *reader, const struct claims *claims,
                        struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    haddr_t offset = H5Dget_offset(state->set);
    H5Eclear2(H5E_DEFAULT);
    if (offset == HADDR_UNDEF || claims->stored == 0)
        return true; // never written
    if (claims->stored < claims->bytes)
        return disagree(reader, "has a shape that needs more bytes than it stores", claims->bytes,
                        claims->stored, error);
    return !ps_hdf5_is_in_this_file(state) ||
           (double)offset + claims->bytes <= claims->file_bytes ||
           disagree(reader, "ends behind the end of the file", (double)offset + claims->bytes,
                    claims->file_bytes, error);
}

// The largest number of bytes that so many stored ones can be unpacked to; 0: no limit is known.
static double largest_unpacked(hid_t properties, double stored)
{
    double ratio = 1;
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t id =
            H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        if (id == H5Z_FILTER_DEFLATE || id == PS_HDF5_LZF)
            ratio *= GZIP_RATIO;
        else if (id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32)
            return 0;
    }
    return ratio * stored;
}

static bool check_chunks(const struct ps_reader *reader, hid_t properties, hid_t space,
                         const struct claims *claims, struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    hsize_t written = 0;
    double grid = 1, chunk_bytes = 1;
    for (int i = 0; i < claims->rank; i++) {
        grid *= (double)(claims->dims[i] / claims->chunk[i] +
                         (claims->dims[i] % claims->chunk[i] != 0));
        chunk_bytes *= (double)claims->chunk[i];
    }
    hid_t type = H5Dget_type(state->set);
    chunk_bytes *= type >= 0 ? (double)H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    if (H5Dget_num_chunks(state->set, space, &written) < 0)
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the index of chunks of dataset %s",
                            reader->path, state->name);
    if ((double)written > grid)
        return disagree(reader, "stores more chunks than its shape has", (double)written, grid,
                        error);
    double most = largest_unpacked(properties, claims->stored);
    return written == 0 || most == 0 || chunk_bytes <= most ||
           disagree(reader, "has chunks larger than what is stored of them", chunk_bytes,
                    claims->stored, error);
}

bool ps_hdf5_check_claims(const struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    struct claims claims = {0};
    struct stat status;
    hid_t properties = H5Dget_create_plist(state->set), space = H5Dget_space(state->set);
    claims.rank = space >= 0 ? H5Sget_simple_extent_dims(space, claims.dims, NULL) : -1;
    hid_t type = H5Dget_type(state->set);
    claims.bytes = type >= 0 ? (double)H5Tget_size(type) : 0;
    for (int i = 0; i < claims.rank; i++)
        claims.bytes *= (double)claims.dims[i];
    claims.stored = (double)H5Dget_storage_size(state->set);
    claims.file_bytes = stat(reader->path, &status) == 0 ? (double)status.st_size : 0;
    bool fine = true;
    if (properties >= 0 && H5Pget_layout(properties) == H5D_CONTIGUOUS &&
        H5Pget_external_count(properties) == 0)
        fine = check_piece(reader, &claims, error);
    else if (properties >= 0 && claims.rank > 0 && H5Pget_layout(properties) == H5D_CHUNKED &&
             H5Pget_chunk(properties, H5S_MAX_RANK, claims.chunk) == claims.rank)
        fine = check_chunks(reader, properties, space, &claims, error);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (properties >= 0)
        H5Pclose(properties);
    return fine;
}
