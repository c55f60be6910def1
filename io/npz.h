// SPDX-License-Identifier: Apache-2.0
// Arrays in .npz archives by name.
#ifndef PS_IO_NPZ_H
#define PS_IO_NPZ_H

#include "io/zip.h"

// Whether a member's name ends in ".npy".
bool ps_npz_is_array(const char *name);
// The member of that name, with or without ".npy"; wanted NULL: the only array. NULL on failure
// (PS_INPUT), with the list of the arrays.
const struct ps_zip_member *ps_npz_find(const struct ps_zip *zip, const char *wanted,
                                        struct ps_error *error);

#endif
