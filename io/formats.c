// SPDX-License-Identifier: Apache-2.0
// The list of formats. Order matters for recognising files by their first bytes: strict ones first.
#include "io/formats.h"

const struct ps_format *const ps_formats[] = {
    NULL,
};
