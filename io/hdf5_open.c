// SPDX-License-Identifier: Apache-2.0
// Opening a file for reading, and saying why it cannot be: the file's first bytes (its superblock)
// tell more than the library does.
#include "io/hdf5_common.h"

#include "io/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct header {           // format specification, II.A
    bool is_hdf5, is_cut; // cut: the file ends within it
    uint64_t at;          // behind a user block
    int version;
    bool writing, swmr; // marked as open for writing
    uint64_t end;       // of all data, from the start of the file
    char driver[9];     // that wrote it in several files, or ""
};

static uint64_t number(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

// The signature is at 0, 512, 1024, 2048 ... bytes.
static bool find_signature(int file, uint64_t bytes, uint64_t *at)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8];
    for (*at = 0; *at + 8 <= bytes; *at = *at == 0 ? 512 : *at * 2)
        if (pread(file, head, 8, (off_t)*at) == 8 && memcmp(head, signature, 8) == 0)
            return true;
    return false;
}

static void read_driver(int file, uint64_t at, struct header *header)
{
    unsigned char block[16];
    if (pread(file, block, sizeof block, (off_t)at) == (ssize_t)sizeof block)
        memcpy(header->driver, block + 8, 8);
    if (memcmp(header->driver, "NCSA", 4) != 0)
        header->driver[0] = '\0';
}

static struct header read_header(int file, uint64_t bytes)
{
    struct header header = {0};
    unsigned char head[96] = {0};
    header.is_hdf5 = find_signature(file, bytes, &header.at);
    if (!header.is_hdf5)
        return header;
    ssize_t got = pread(file, head, sizeof head, (off_t)header.at);
    header.version = head[8];
    bool old = header.version < 2;
    int size = old ? head[13] : head[9]; // of an address
    int base = old ? 24 + 4 * header.version : 12;
    header.is_cut = got < base + 4 * size;
    if (header.is_cut || (size != 2 && size != 4 && size != 8))
        return header;
    uint64_t offset = number(head + base, size);
    header.end = offset + number(head + base + 2 * size, size);
    uint64_t driver = number(head + base + 3 * size, size);
    if (old && driver < bytes)
        read_driver(file, offset + driver, &header);
    header.writing = header.version >= 3 && (head[11] & 1) != 0;
    header.swmr = header.version >= 3 && (head[11] & 4) != 0;
    return header;
}

static void not_hdf5(const char *path, int file, struct ps_error *error)
{
    char head[24], shown[100];
    ssize_t got = pread(file, head, sizeof head, 0);
    ps_escape(head, got > 0 ? (size_t)got : 0, shown, sizeof shown);
    if (got == 0)
        ps_fail(error, PS_INPUT, "%s is empty, not an HDF5 file", path);
    else if (got > 3 && memcmp(head, "CDF", 3) == 0)
        ps_fail(error, PS_INPUT,
                "%s is a classic netCDF file, not HDF5; convert it: nccopy -k nc4 IN OUT", path);
    else
        ps_fail(error, PS_INPUT, "%s is not an HDF5 file (it starts with '%s')", path, shown);
}

static void several_files(const char *path, const char *driver, struct ps_error *error)
{
    bool family = strcmp(driver, "NCSAfami") == 0;
    ps_fail(error, PS_INPUT, "%s is one of several files that HDF5's %s driver wrote together; %s",
            path, family ? "family" : "split or multi",
            family ? "join them: h5repart NAME%d.h5 OUT.h5"
                   : "write them as one file, with a program that knows the driver");
}

static void explain(const char *path, int file, uint64_t bytes, unsigned flags,
                    struct ps_error *error)
{
    struct header header = read_header(file, bytes);
    if (ps_hdf5_says("unable to lock file"))
        ps_hdf5_fail(error, PS_INPUT, "cannot open %s", path);
    else if (!header.is_hdf5)
        not_hdf5(path, file, error);
    else if (header.is_cut)
        ps_fail(error, PS_INPUT, "%s is truncated: it has %llu bytes and ends within its header",
                path, (unsigned long long)bytes);
    else if (header.driver[0] != '\0')
        several_files(path, header.driver, error);
    else if (header.end > bytes && !header.writing)
        ps_fail(
            error, PS_INPUT,
            "%s is truncated: it has %llu bytes, its header says %llu; the file was cut, or its "
            "writer did not close it",
            path, (unsigned long long)bytes, (unsigned long long)header.end);
    else if (header.writing && !(flags & H5F_ACC_SWMR_READ))
        ps_fail(error, PS_INPUT,
                "%s is marked as open for writing: the program that wrote it was killed or still "
                "runs; %sh5clear -s FILE takes the mark off when it is gone",
                path,
                header.swmr
                    ? "`swmr: true` in the input reads it nevertheless, as its writer allows "
                      "that, and "
                    : "");
    else if ((flags & H5F_ACC_SWMR_READ) && header.version < 3)
        ps_fail(error, PS_INPUT,
                "%s cannot be read with `swmr: true`: its format (superblock version %d) is older "
                "than SWMR",
                path, header.version);
    else
        ps_hdf5_fail(error, PS_INPUT, "cannot open %s", path);
    H5Eclear2(H5E_DEFAULT);
}

// Beside a writer the library tries again when it meets broken metadata, a hundred times, and each
// time it waits twice as long.
#define SWMR_ATTEMPTS 30 // about a second

hid_t ps_hdf5_file(const char *path, unsigned flags)
{
    static hid_t patient = -1; // kept: closing it would take the reason of a failure away
    if (!(flags & H5F_ACC_SWMR_READ))
        return H5Fopen(path, flags, H5P_DEFAULT);
    if (patient < 0)
        patient = H5Pcreate(H5P_FILE_ACCESS);
    return patient >= 0 && H5Pset_metadata_read_attempts(patient, SWMR_ATTEMPTS) >= 0
               ? H5Fopen(path, flags, patient)
               : -1;
}

hid_t ps_hdf5_open(const char *path, unsigned flags, struct ps_error *error)
{
    uint64_t bytes;
    int raw = ps_file_open(path, &bytes, error); // refuses what is no file without waiting
    if (raw < 0)
        return -1;
    hid_t file = ps_hdf5_file(path, flags);
    if (file < 0)
        explain(path, raw, bytes, flags, error);
    close(raw);
    return file;
}

bool ps_hdf5_is_swmr(const char *path)
{
    uint64_t bytes;
    struct ps_error ignored = {0};
    int raw = ps_file_open(path, &bytes, &ignored);
    struct header header = {0};
    if (raw >= 0) {
        header = read_header(raw, bytes);
        close(raw);
    }
    return header.writing && header.swmr;
}
