// SPDX-License-Identifier: Apache-2.0
// What reading, writing and inspecting HDF5 share: one lock (the library is not thread-safe), its
// error stack as one line, dtypes. hdf5.h is included in io/hdf5*.c alone.
#ifndef PS_IO_HDF5_COMMON_H
#define PS_IO_HDF5_COMMON_H

#include "io/format.h"

#define H5_USE_110_API 1 // the names of 1.10, also with newer headers
#include <hdf5.h>

// Folder of external files with relative names. By itself the library looks in the working folder;
// but what a file means must not depend on where the job runs, so unless this variable of the
// environment is set, it becomes the folder of the HDF5 file. (A property would not reach the sources
// of virtual datasets.)
#define PS_HDF5_EXTERNAL_PREFIX "HDF5_EXTFILE_PREFIX"

// Around every use of the library, from any thread. Silences its own printing.
void ps_hdf5_lock(void);
void ps_hdf5_unlock(void);

// "WHAT: reason", to be called before any other use of the library; the reason is taken from the library's error stack (innermost entry), with advice
// for locked and truncated files and missing filters. Clears the stack.
bool ps_hdf5_fail(struct ps_error *error, enum ps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether the reason holds this text. The stack stays.
bool ps_hdf5_says(const char *text);

// Opens for reading; says why not (not HDF5, locked, truncated, ...). -1 on failure. flags:
// H5F_ACC_RDONLY, and H5F_ACC_SWMR_READ beside a writer.
hid_t ps_hdf5_open(const char *path, unsigned flags, struct ps_error *error);
// As H5Fopen, for files that may be being written.
hid_t ps_hdf5_file(const char *path, unsigned flags);
// Whether the file is marked as being written in a way that lets others read it (SWMR).
bool ps_hdf5_is_swmr(const char *path);

// The dtype of a stored type, and the type to read it with (to be closed). False: not numeric;
// *what_out then names it ("text", "compound").
bool ps_hdf5_dtype(hid_t type, enum ps_dtype *dtype_out, hid_t *memory_out, const char **what_out);
// Whether a float has more digits or a larger range than f64, as which it is read.
bool ps_hdf5_is_wide(hid_t type);
// A new library type that is the dtype in memory (bool: h5py's enum). Little or big endian as here.
hid_t ps_hdf5_type(enum ps_dtype dtype);
// Whether the stored type is the dtype as it lies in memory, but for the order of bytes.
bool ps_hdf5_is_plain(hid_t type, enum ps_dtype dtype, bool *swapped_out);

bool ps_hdf5_inspect(const char *path, struct ps_text *out, struct ps_error *error);
extern const struct ps_format_writer ps_hdf5_writer;
extern const struct ps_option ps_hdf5_write_options[];

#endif
