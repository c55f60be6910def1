// SPDX-License-Identifier: Apache-2.0
// One sink for the process: set it before threads start.
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static ps_log_sink *current_sink;
static void *current_context;
static _Thread_local bool is_muted;

void ps_log_set(ps_log_sink *sink, void *context)
{
    current_sink = sink;
    current_context = context;
}

void ps_log_mute(bool muted)
{
    is_muted = muted;
}

void ps_log(enum ps_log_level level, const char *format, ...)
{
    if (current_sink == NULL || is_muted)
        return;
    char text[1536];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    current_sink(current_context, level, text);
}
