// SPDX-License-Identifier: Apache-2.0
// The list of formats. Order matters for recognising files by their first bytes: strict ones first.
#include "io/formats.h"

const struct ps_format *const ps_formats[] = {
    &ps_format_hdf5,
    &ps_format_npy,
    &ps_format_npz,
    &ps_format_csv,
    &ps_format_raw,
    &ps_format_pattern,
    &ps_format_null,
    &ps_format_digest,
    NULL,
};
