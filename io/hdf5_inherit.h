// SPDX-License-Identifier: Apache-2.0
// What a dataset that is written takes over from the HDF5 files that its axes come from: dimension
// scales and labels of axes (HDF5 Dimension Scale Specification 1.0.4), and attributes.
#ifndef PS_IO_HDF5_INHERIT_H
#define PS_IO_HDF5_INHERIT_H

#include "io/hdf5_common.h"

// file, set: what is written, open. Scales go beside the dataset, under their own names, as far as they
// are selected. Attributes come along when every element is one of the input's: all of them when it was
// only copied, but those that `cf: true` has applied; when it was computed, not those that would lie
// about the new values (units, names, limits, packing). What cannot be copied is left out with a
// warning. Under the lock.
bool ps_hdf5_inherit(const struct ps_writer *writer, hid_t file, hid_t set, struct ps_error *error);

#endif
