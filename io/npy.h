// SPDX-License-Identifier: Apache-2.0
// The two halves of the format npy.
#ifndef PS_IO_NPY_H
#define PS_IO_NPY_H

#include "io/format.h"

extern const struct ps_format_writer ps_npy_writer; // io/npy_write.c

#endif
