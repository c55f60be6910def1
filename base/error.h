// SPDX-License-Identifier: Apache-2.0
// Errors travel as a caller-owned struct ps_error, always the last parameter.
// Who notices a fault writes the whole message (path, row, numbers, what to do);
// who passes it on adds nothing; the pipeline adds the place once.
#ifndef PS_BASE_ERROR_H
#define PS_BASE_ERROR_H

#include <stdbool.h>

// The values are the program's exit codes.
enum ps_status {
    PS_OK = 0,
    PS_USAGE = 2,        // wrong flag or config
    PS_INPUT = 3,        // an input is missing or malformed
    PS_OUTPUT = 4,       // an output is refused or failed
    PS_DEVICE = 5,       // GPU or memory
    PS_BUG = 70,         // a broken promise inside penstock
    PS_INTERRUPTED = 75, // stopped by a signal
};

struct ps_error {
    enum ps_status status; // PS_OK until something failed
    char text[1536];       // one message, no trailing newline, file bytes escaped; cut with "..."
};

// Fills in *error and returns false, so that `return ps_fail(error, ...)` reads well.
// The first failure wins: a second call on a failed error changes nothing.
bool ps_fail(struct ps_error *error, enum ps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// As ps_fail, followed by ": " and the text of errno (taken on entry).
bool ps_fail_errno(struct ps_error *error, enum ps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// "cannot allocate N bytes for WHAT", PS_DEVICE.
bool ps_fail_memory(struct ps_error *error, unsigned long long bytes, const char *what);

// Puts "PLACE: " in front of a failed error's text ("stage 2 (matmul), rows 4096-8191").
void ps_error_place(struct ps_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
