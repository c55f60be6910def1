// SPDX-License-Identifier: Apache-2.0
// The HDF5 library crashes on some corrupt files, and may go round in circles. So what opens a file is
// done in a child process first; only what went well there is done here.
#ifndef PS_IO_HDF5_PROBE_H
#define PS_IO_HDF5_PROBE_H

#include "io/hdf5_common.h"

// Runs work(context, out, error) in a child process, under the lock, which the caller holds. Returns
// what it returned, with its *error and what it added to *out (which may be NULL); nothing else that it
// changed is seen here. A child that dies is PS_INPUT: path is corrupt.
bool ps_hdf5_probe(const char *path,
                   bool (*work)(void *context, struct ps_text *out, struct ps_error *error),
                   void *context, struct ps_text *out, struct ps_error *error);

#endif
