// SPDX-License-Identifier: Apache-2.0
// penstock inspect: what a file holds, by its format's own inspect().
#include "app/app.h"

#include "io/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool choose_format(const char *path, const char *wanted, const struct ps_format **format_out,
                          struct ps_error *error)
{
    char shown[512];
    *format_out = wanted != NULL ? ps_format_find(wanted) : ps_format_guess(path, false);
    if (*format_out == NULL && wanted != NULL)
        return ps_fail(error, PS_USAGE, "no format '%s'; `penstock ops` lists them",
                       ps_escape(wanted, strlen(wanted), shown, sizeof shown));
    if (*format_out == NULL)
        return ps_fail(error, PS_INPUT,
                       "%s: neither its suffix nor its first bytes tell the "
                       "format; name it with --format",
                       ps_escape(path, strlen(path), shown, sizeof shown));
    if ((*format_out)->inspect == NULL)
        return ps_fail(error, PS_USAGE,
                       "format %s cannot be inspected: its files do not say what "
                       "they hold",
                       (*format_out)->name);
    return true;
}

bool app_inspect_format(const char *path, const char *wanted, const struct ps_format **format_out,
                        struct ps_error *error)
{
    char shown[512];
    struct stat status;
    ps_escape(path, strlen(path), shown, sizeof shown);
    if (strcmp(path, "-") == 0)
        return ps_fail(error, PS_USAGE, "standard input cannot be looked at: it could not be read again");
    if (stat(path, &status) != 0)
        return ps_fail_errno(error, PS_INPUT, "cannot open %s", shown);
    if (S_ISDIR(status.st_mode))
        return ps_fail(error, PS_INPUT, "%s is a folder, not a file", shown);
    return choose_format(path, wanted, format_out, error);
}

static bool inspect(const char *path, const char *wanted, struct ps_text *text,
                    struct ps_error *error)
{
    const struct ps_format *format;
    return app_inspect_format(path, wanted, &format, error) && format->inspect(path, text, error);
}

enum ps_status app_inspect(const struct app_args *args)
{
    enum ps_status status = PS_OK;
    for (int i = 0; i < args->operand_count; i++) {
        struct ps_text text = {0};
        struct ps_error error = {0};
        bool good = inspect(args->operands[i], app_args_value(args, "--format"), &text, &error);
        if (good && i > 0)
            app_print("\n");
        enum ps_status one = good ? app_print_text(&text) : app_fail(&error);
        if (!good)
            ps_text_free(&text);
        if (status == PS_OK)
            status = one;
    }
    return status;
}
