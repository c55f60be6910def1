// SPDX-License-Identifier: Apache-2.0
// What goes to the terminal: results to stdout, everything else to stderr.
#include "app/app.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int stdout_errno; // of the first write that failed

// A message may hold a file's name; what would steer the terminal is shown as \xNN.
static void complain_char(char c)
{
    if (((unsigned char)c < 32 && c != '\n' && c != '\t') || c == 127)
        fprintf(stderr, "\\x%02x", (unsigned)(unsigned char)c);
    else
        fputc(c, stderr);
}

static void complain_about(const char *kind, const char *text)
{
    fprintf(stderr, "penstock: %s", kind);
    for (; *text != '\0'; text++)
        complain_char(*text);
    fputc('\n', stderr);
}

enum ps_status app_fail(const struct ps_error *error)
{
    complain_about("error: ", error->text);
    return error->status == PS_OK ? PS_BUG : error->status;
}

enum ps_status app_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("penstock: error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return PS_USAGE;
}

void app_complain(struct ps_text *text)
{
    for (size_t i = 0; i < text->length; i++)
        complain_char(text->data[i]);
    ps_text_free(text);
}

static void note_stdout(bool written)
{
    if (!written && stdout_errno == 0)
        stdout_errno = errno != 0 ? errno : EIO;
}

void app_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_stdout(vprintf(format, arguments) >= 0);
    va_end(arguments);
}

enum ps_status app_print_text(struct ps_text *text)
{
    if (text->failed) {
        struct ps_error error = {0};
        ps_fail_memory(&error, text->capacity * 2, "text to print");
        ps_text_free(text);
        return app_fail(&error);
    }
    if (text->length > 0)
        note_stdout(fwrite(text->data, 1, text->length, stdout) == text->length);
    ps_text_free(text);
    return PS_OK;
}

bool app_stdout_close(void)
{
    errno = 0;
    note_stdout(fclose(stdout) == 0);
    if (stdout_errno == 0)
        return true;
    fprintf(stderr, "penstock: error: cannot write to standard output: %s\n",
            strerror(stdout_errno));
    return false;
}

static void log_to_stderr(void *context, enum ps_log_level level, const char *text)
{
    const bool *quiet = context;
    if (level == PS_LOG_WARNING || !*quiet)
        complain_about(level == PS_LOG_WARNING ? "warning: " : "", text);
}

void app_log_to_stderr(bool quiet)
{
    static bool chosen;
    chosen = quiet;
    ps_log_set(log_to_stderr, &chosen);
}
