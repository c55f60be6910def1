// SPDX-License-Identifier: Apache-2.0
// What every format's inspect() prints in the same way.
#ifndef PS_IO_INSPECT_H
#define PS_IO_INSPECT_H

#include "base/text.h"

#include "base/array.h"

// The lines "file: ...", and for a regular file "size: ...". Names are escaped.
void ps_inspect_file(const char *path, const char *format, uint64_t bytes, struct ps_text *out);
// A scalar that YAML reads as text: in single quotes, or in double ones with control bytes escaped.
void ps_inspect_quoted(const char *text, struct ps_text *out);
// A ready entry for a config, on its own lines:
//   inputs:
//     spectra: {path: data/spectra.npy, MORE}
// The name is made from the file's; more is NULL or further keys ("dataset: /x").
void ps_inspect_entry(const char *path, const char *more, struct ps_text *out);

#endif
