// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its final name and gets that name only when it is complete.
// Leftovers of killed runs are told from files in use by a lock and removed.
#ifndef PS_IO_TEMP_FILE_H
#define PS_IO_TEMP_FILE_H

#include "base/error.h"

struct ps_temp_file {
    char *target; // the final path, symbolic links followed: what is replaced
    char *path;   // the temporary file, in the same folder
    int lock;     // descriptor that holds the lock; -1: none
    char *made_folder; // the topmost folder that was made for it, or NULL
    bool committed;
    bool replaced; // a file of that name
    bool has_old;  // what was replaced lies under `path` now
};

// Follows links of `path`, makes missing folders and an empty, locked temporary file.
bool ps_temp_file_open(struct ps_temp_file *file, const char *path, struct ps_error *error);
// Content to disk.
bool ps_temp_file_sync(struct ps_temp_file *file, struct ps_error *error);
// To its final name; without `overwrite` only if nothing is there. What it replaces is kept until the
// file is closed, where the file system can swap two names.
bool ps_temp_file_commit(struct ps_temp_file *file, bool overwrite, struct ps_error *error);
// Takes a commit back: what was there is there again. False where the file system could not keep it:
// then the new file stays.
bool ps_temp_file_take_back(struct ps_temp_file *file);
// Removes what was not committed and what was replaced, and frees.
void ps_temp_file_close(struct ps_temp_file *file);

// path with its symbolic links followed, also when the last one points to nothing yet (malloc'ed).
char *ps_path_target(const char *path, struct ps_error *error);

#endif
