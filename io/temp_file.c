// SPDX-License-Identifier: Apache-2.0
// Temporary names are .NAME.PID-N.part; a run holds a lock on its own, so a lock that can be had
// belongs to nobody any more.
#include "io/temp_file.h"

#include "base/log.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return ps_strdup(".");
    return slash == path ? ps_strdup("/") : strndup(path, (size_t)(slash - path));
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

char *ps_path_target(const char *path, struct ps_error *error)
{
    char *current = ps_strdup(path);
    for (int links = 0; current != NULL && links < 40; links++) {
        char link[PATH_MAX];
        ssize_t length = readlink(current, link, sizeof link - 1);
        if (length < 0)
            return current; // no link (or nothing there)
        link[length] = '\0';
        char *folder = folder_of(current);
        char *next = folder != NULL ? ps_path_join(folder, link) : NULL;
        free(folder);
        free(current);
        current = next;
    }
    if (current == NULL)
        ps_fail_memory(error, strlen(path), "a path");
    else
        ps_fail(error, PS_OUTPUT, "%s: too many symbolic links", path);
    free(current);
    return NULL;
}

// mkdir -p. *made is the topmost folder that did not exist.
static bool make_folders(const char *folder, char **made, struct ps_error *error)
{
    char *path = ps_strdup(folder);
    if (path == NULL)
        return ps_fail_memory(error, strlen(folder), "a path");
    bool fine = true;
    for (char *p = path + 1; fine; p++) {
        char stop = *p;
        if (stop != '/' && stop != '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0777) == 0) {
            if (*made == NULL)
                *made = ps_strdup(path);
        } else if (errno != EEXIST && errno != EISDIR) {
            fine = ps_fail_errno(error, PS_OUTPUT, "cannot make the folder %s", path);
        }
        *p = stop;
        if (stop == '\0')
            break;
    }
    free(path);
    return fine;
}

// As much of the final name as leaves room for the rest: names have at most 255 bytes.
static int kept_length(const char *name)
{
    return (int)strnlen(name, 200);
}

// A lock that belongs to the open file, not to the process. (Not flock: HDF5 takes one of those on
// the files it writes, and would find ours.)
static bool lock(int file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

static bool is_leftover(const char *entry, const char *name)
{
    size_t n = (size_t)kept_length(name), length = strlen(entry);
    return entry[0] == '.' && length > n + 7 && strncmp(entry + 1, name, n) == 0 &&
           entry[n + 1] == '.' && strcmp(entry + length - 5, ".part") == 0 &&
           strspn(entry + n + 2, "0123456789-") == length - n - 7;
}

static void remove_leftovers(const char *folder, const char *name)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (!is_leftover(entry->d_name, name))
            continue;
        int file = openat(dirfd(list), entry->d_name, O_RDWR | O_CLOEXEC);
        if (file < 0)
            continue;
        if (lock(file) && unlinkat(dirfd(list), entry->d_name, 0) == 0)
            ps_log(PS_LOG_NOTE, "removed %s/%s, left by a run that was killed", folder,
                   entry->d_name);
        close(file);
    }
    if (list != NULL)
        closedir(list);
}

// Opens and locks file->path. *lost_out: another run took it for a leftover before it was locked.
static bool create_locked(struct ps_temp_file *file, bool *lost_out, struct ps_error *error)
{
    struct stat held, named;
    *lost_out = false;
    file->lock = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->lock < 0)
        return ps_fail_errno(error, PS_OUTPUT, "cannot write %s: cannot create %s", file->target,
                             file->path);
    bool locked = lock(file->lock);
    bool taken = !locked && (errno == EAGAIN || errno == EACCES);
    if (!locked && !taken && errno != ENOLCK && errno != EOPNOTSUPP && errno != EINVAL &&
        errno != ENOSYS)
        return ps_fail_errno(error, PS_OUTPUT, "cannot lock %s", file->path);
    *lost_out = taken || fstat(file->lock, &held) != 0 ||
                stat(file->path, &named) != 0 || held.st_ino != named.st_ino ||
                held.st_dev != named.st_dev;
    return true;
}

static bool create(struct ps_temp_file *file, const char *folder, struct ps_error *error)
{
    static atomic_int counter;
    const char *name = name_of(file->target);
    size_t size = strlen(folder) + strlen(name) + 48;
    file->path = malloc(size);
    if (file->path == NULL)
        return ps_fail_memory(error, size, "a path");
    for (int tries = 0; tries < 100; tries++) {
        bool lost;
        snprintf(file->path, size, "%s/.%.*s.%ld-%d.part", folder, kept_length(name), name,
                 (long)getpid(), atomic_fetch_add(&counter, 1));
        if (!create_locked(file, &lost, error)) {
            if (file->lock < 0) { // not ours to remove
                free(file->path);
                file->path = NULL;
            }
            return false;
        }
        if (!lost)
            return true;
        close(file->lock);
        file->lock = -1;
        unlink(file->path);
    }
    return ps_fail(error, PS_OUTPUT, "cannot write %s: other programs keep removing %s",
                   file->target, file->path);
}

bool ps_temp_file_open(struct ps_temp_file *file, const char *path, struct ps_error *error)
{
    *file = (struct ps_temp_file){.lock = -1};
    file->target = ps_path_target(path, error);
    char *folder = file->target != NULL ? folder_of(file->target) : NULL;
    bool fine = folder != NULL && make_folders(folder, &file->made_folder, error);
    if (fine) {
        remove_leftovers(folder, name_of(file->target));
        fine = create(file, folder, error);
    }
    free(folder);
    if (!fine)
        ps_temp_file_close(file);
    return fine;
}

bool ps_temp_file_sync(struct ps_temp_file *file, struct ps_error *error)
{
    return fsync(file->lock) == 0 || errno == EINVAL ||
           ps_fail_errno(error, PS_OUTPUT, "cannot write %s to disk", file->target);
}

static void keep_mode(const struct ps_temp_file *file)
{
    struct stat status;
    if (stat(file->target, &status) == 0)
        fchmod(file->lock, status.st_mode & 07777);
}

static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int file = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file); // not all file systems can; the name is there in any case
        close(file);
    }
    free(folder);
}

// The old file gets the temporary name; 0 or -1 as rename, which is what is done without an old one.
static int replace(struct ps_temp_file *file)
{
    keep_mode(file);
    file->has_old =
        renameat2(AT_FDCWD, file->path, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0;
    struct stat status;
    file->replaced = file->has_old || stat(file->target, &status) == 0;
    return file->has_old ? 0 : rename(file->path, file->target);
}

bool ps_temp_file_commit(struct ps_temp_file *file, bool overwrite, struct ps_error *error)
{
    int result;
    if (overwrite) {
        result = replace(file);
    } else {
        result = renameat2(AT_FDCWD, file->path, AT_FDCWD, file->target, RENAME_NOREPLACE);
        if (result != 0 && (errno == EINVAL || errno == ENOSYS)) { // file system without it
            result = link(file->path, file->target);
            if (result == 0)
                unlink(file->path);
        }
    }
    if (result != 0 && errno == EEXIST)
        return ps_fail(error, PS_OUTPUT, "%s appeared while the job ran and was left as it is; add "
                       "`overwrite: true` to replace it", file->target);
    if (result != 0)
        return ps_fail_errno(error, PS_OUTPUT, "cannot give %s its final name", file->target);
    file->committed = true;
    sync_folder(file->target);
    return true;
}

bool ps_temp_file_take_back(struct ps_temp_file *file)
{
    if (!file->committed)
        return true;
    if (file->replaced && !file->has_old)
        return false;
    int result = file->has_old
                     ? renameat2(AT_FDCWD, file->path, AT_FDCWD, file->target, RENAME_EXCHANGE)
                     : renameat2(AT_FDCWD, file->target, AT_FDCWD, file->path, RENAME_NOREPLACE);
    if (result != 0)
        return false;
    file->committed = file->has_old = false; // closing removes the new file
    return true;
}

// Folders made for the file go as far up as we made them, as long as they are empty.
static void remove_folders(const struct ps_temp_file *file)
{
    char *path = folder_of(file->target);
    size_t top = strlen(file->made_folder);
    while (path != NULL && strlen(path) >= top) {
        rmdir(path); // fails where something else is in it, and where it was never made
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            break;
        *slash = '\0';
    }
    free(path);
}

void ps_temp_file_close(struct ps_temp_file *file)
{
    if ((!file->committed || file->has_old) && file->path != NULL)
        unlink(file->path);
    if (!file->committed && file->made_folder != NULL && file->target != NULL)
        remove_folders(file);
    if (file->lock >= 0)
        close(file->lock);
    free(file->target);
    free(file->path);
    free(file->made_folder);
    *file = (struct ps_temp_file){.lock = -1};
}
