// SPDX-License-Identifier: Apache-2.0
// Reader threads: one large read split into pieces that several threads take. Only for formats
// that can read any row range at once (PS_READ_ANYWHERE).
#ifndef PS_PIPELINE_READERS_H
#define PS_PIPELINE_READERS_H

#include "io/format.h"

struct ps_readers;
struct ps_readers *ps_readers_open(int threads, struct ps_error *error); // NULL on failure
void ps_readers_close(struct ps_readers *readers);                       // NULL is fine
// As ps_reader_read; may be called from several threads at once, which share the readers. The
// calling thread reads too.
bool ps_readers_read(struct ps_readers *readers, struct ps_reader *reader, int64_t first_row,
                     int64_t rows, void *data, struct ps_read_result *result_out,
                     struct ps_error *error);

#endif
