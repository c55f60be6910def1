// SPDX-License-Identifier: Apache-2.0
// Messages on the way (warnings, notes) that are not errors. Below app/ nothing prints; the
// program installs a sink.
#ifndef PS_BASE_LOG_H
#define PS_BASE_LOG_H

#include <stdbool.h>

enum ps_log_level { PS_LOG_WARNING, PS_LOG_NOTE, PS_LOG_DETAIL };

typedef void ps_log_sink(void *context, enum ps_log_level level, const char *text);
void ps_log_set(ps_log_sink *sink, void *context); // NULL: silence (the start)
// Whether this thread's messages are dropped: what is done again has been told.
void ps_log_mute(bool muted);
void ps_log(enum ps_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
