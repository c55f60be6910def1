// SPDX-License-Identifier: Apache-2.0
// Filling in struct ps_error. Long messages are cut, never overrun.
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(struct ps_error *error, int wanted)
{
    if (wanted < (int)sizeof error->text)
        return;
    size_t end = sizeof error->text - 4;
    while (end > 0 && ((unsigned char)error->text[end] & 0xc0) == 0x80)
        end--; // not in the middle of a UTF-8 character
    memcpy(error->text + end, "...", 4);
}

static bool fail(struct ps_error *error, enum ps_status status, const char *format, va_list list)
{
    if (error->status != PS_OK)
        return false;
    error->status = status;
    mark_cut(error, vsnprintf(error->text, sizeof error->text, format, list));
    return false;
}

bool ps_fail(struct ps_error *error, enum ps_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(error, status, format, list);
    va_end(list);
    return false;
}

bool ps_fail_errno(struct ps_error *error, enum ps_status status, const char *format, ...)
{
    int code = errno;
    if (error->status != PS_OK)
        return false;
    va_list list;
    va_start(list, format);
    fail(error, status, format, list);
    va_end(list);
    size_t used = strlen(error->text);
    char buffer[128];
    // The GNU strerror_r returns its answer, which need not be in the buffer.
    const char *reason = strerror_r(code, buffer, sizeof buffer);
    int wanted = snprintf(error->text + used, sizeof error->text - used, ": %s", reason);
    mark_cut(error, (int)used + wanted);
    return false;
}

bool ps_fail_memory(struct ps_error *error, unsigned long long bytes, const char *what)
{
    return ps_fail(error, PS_DEVICE, "cannot allocate %llu bytes for %s", bytes, what);
}

void ps_error_place(struct ps_error *error, const char *format, ...)
{
    char text[sizeof error->text];
    if (error->status == PS_OK)
        return;
    memcpy(text, error->text, sizeof text);
    va_list list;
    va_start(list, format);
    int used = vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    if (used < 0 || used >= (int)sizeof error->text)
        used = (int)strlen(error->text);
    int wanted = snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", text);
    mark_cut(error, used + wanted);
}
