// SPDX-License-Identifier: Apache-2.0
// What readers of plain binary data do after reading: byte order and truth values.
#ifndef PS_IO_DECODE_H
#define PS_IO_DECODE_H

#include "base/dtype.h"

// Makes `count` elements as read from a file native: swaps bytes when asked to, and makes every
// byte of a bool 0 or 1 (any other value counts as true, as in NumPy). Returns the time it took
// in ms; 0 when there was nothing to do.
double ps_decode(enum ps_dtype dtype, bool swapped, void *data, size_t count);

#endif
