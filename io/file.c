// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

size_t ps_path_bare_length(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcasecmp(path + length - 3, ".gz") == 0 ? length - 3 : length;
}

const char *ps_path_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int ps_file_open(const char *path, uint64_t *bytes_out, struct ps_error *error)
{
    struct stat status;
    // O_NONBLOCK: opening a pipe without a writer must not wait. Files do not care.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0) {
        ps_fail_errno(error, PS_INPUT, "cannot open %s", path);
        if (file >= 0)
            close(file);
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        ps_fail(error, PS_INPUT, "%s is not a regular file (this format reads at offsets)", path);
        close(file);
        return -1;
    }
    *bytes_out = (uint64_t)status.st_size;
    return file;
}

bool ps_file_read(int file, const char *path, uint64_t offset, void *data, size_t bytes,
                  struct ps_error *error)
{
    char *to = data;
    while (bytes > 0) {
        ssize_t got = pread(file, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ps_fail_errno(error, PS_INPUT, "cannot read %s at byte %llu", path,
                                 (unsigned long long)offset);
        if (got == 0)
            return ps_fail(error, PS_INPUT, "%s ends at byte %llu, %zu bytes before the end of its "
                           "array: the file is truncated or shrank while it was read", path,
                           (unsigned long long)offset, bytes);
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

bool ps_file_write(int file, const char *path, uint64_t offset, const void *data, size_t bytes,
                   struct ps_error *error)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t wrote = pwrite(file, from, bytes, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return ps_fail_errno(error, PS_OUTPUT, "cannot write %s", path);
        from += wrote;
        offset += (uint64_t)wrote;
        bytes -= (size_t)wrote;
    }
    return true;
}

int ps_file_create(const char *path, struct ps_error *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        ps_fail_errno(error, PS_OUTPUT, "cannot create %s", path);
    return file;
}
