// SPDX-License-Identifier: Apache-2.0
// Conversion where nothing special happens: one plain loop per pair of dtypes.
#ifndef PS_IO_CONVERT_LOOPS_H
#define PS_IO_CONVERT_LOOPS_H

#include "base/dtype.h"

// Converts count elements and tells whether the target holds every value as `cast: error` asks.
// false: some element may be refused (or may be fine: the loops look only roughly at integers that
// become floats), and target holds nothing of use.
typedef bool ps_convert_loop(void *target, const void *source, size_t count);

// NULL for two equal dtypes.
ps_convert_loop *ps_convert_plainly(enum ps_dtype to, enum ps_dtype from);

#endif
