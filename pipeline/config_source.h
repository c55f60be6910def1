// SPDX-License-Identifier: Apache-2.0
// Getting at a config's bytes and refusing what is no text. Private to config_*.c.
#ifndef PS_PIPELINE_CONFIG_SOURCE_H
#define PS_PIPELINE_CONFIG_SOURCE_H

#include "base/problem.h"

#define PS_CONFIG_BYTES_MAX ((size_t)4 << 20)
#define PS_CONFIG_BRACKETS_MAX 1000 // more open brackets than that are no config

// The whole file ("-": standard input) into *text_out (owned by the caller, NUL-terminated; NULL
// after reporting). Says whether it is missing, a folder, unreadable or too big.
char *ps_source_read(const char *path, size_t *length_out, struct ps_problems *problems);

// Reports the first byte that is not UTF-8 text (RFC 3629; no control characters but tab and
// line ends), or too many open brackets (the YAML scanner would keep all of them in memory
// before it hands out anything). True when there is no such place.
bool ps_source_check(const struct ps_source *source, int source_index,
                     struct ps_problems *problems);

#endif
