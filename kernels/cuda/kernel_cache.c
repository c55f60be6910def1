// SPDX-License-Identifier: Apache-2.0
// Entry: "PSKC0001", key bytes, cubin bytes, checksum of both (u64 each), key, cubin.
#include "kernels/cuda/kernel_cache.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_BYTES_MAX (256u << 20)

struct header {
    char magic[8];
    uint64_t key_bytes, cubin_bytes, checksum;
};

// FNV-1a, 64 bits (Fowler, Noll, Vo; offset basis and prime as published).
static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
    for (const unsigned char *p = data; bytes-- > 0; p++)
        hash = (hash ^ *p) * 0x100000001b3ull;
    return hash;
}

#define FNV_BASIS 0xcbf29ce484222325ull

static bool folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int wrote;
    if (cache != NULL && cache[0] == '/') {
        wrote = snprintf(out, size, "%s", cache);
    } else {
        if (home == NULL || home[0] != '/')
            return false;
        wrote = snprintf(out, size, "%s/.cache", home);
    }
    if (wrote < 0 || (size_t)wrote + 40 > size)
        return false;
    mkdir(out, 0700);
    strcat(out, "/penstock");
    mkdir(out, 0700);
    return access(out, R_OK | W_OK | X_OK) == 0;
}

static bool entry_path(const char *key, size_t key_bytes, char *out, size_t size)
{
    if (!folder(out, size))
        return false;
    size_t used = strlen(out);
    uint64_t a = fnv(FNV_BASIS, key, key_bytes), b = fnv(a ^ key_bytes, key, key_bytes);
    snprintf(out + used, size - used, "/%016llx%016llx", (unsigned long long)a,
             (unsigned long long)b);
    return true;
}

static char *read_all(const char *path, size_t *bytes)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *data = NULL;
    if (file >= 0 && fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct header) &&
        status.st_size < ENTRY_BYTES_MAX && (data = malloc((size_t)status.st_size)) != NULL) {
        *bytes = (size_t)status.st_size;
        if (pread(file, data, *bytes, 0) != status.st_size) {
            free(data);
            data = NULL;
        }
    }
    if (file >= 0)
        close(file);
    return data;
}

static bool entry_matches(const char *data, size_t bytes, const char *key, size_t key_bytes)
{
    struct header header;
    memcpy(&header, data, sizeof header);
    return memcmp(header.magic, "PSKC0001", 8) == 0 && header.key_bytes == key_bytes &&
           header.cubin_bytes == bytes - sizeof header - key_bytes &&
           bytes > sizeof header + key_bytes && memcmp(data + sizeof header, key, key_bytes) == 0 &&
           header.checksum == fnv(FNV_BASIS, data + sizeof header, bytes - sizeof header);
}

bool ps_kernel_cache_get(const char *key, size_t key_bytes, void **cubin_out, size_t *bytes_out)
{
    char path[4096];
    size_t bytes = 0;
    char *data = entry_path(key, key_bytes, path, sizeof path) ? read_all(path, &bytes) : NULL;
    bool hit = data != NULL && entry_matches(data, bytes, key, key_bytes);
    if (hit) {
        size_t skip = sizeof(struct header) + key_bytes;
        *bytes_out = bytes - skip;
        *cubin_out = malloc(*bytes_out);
        hit = *cubin_out != NULL;
        if (hit)
            memcpy(*cubin_out, data + skip, *bytes_out);
    }
    free(data);
    return hit;
}

void ps_kernel_cache_put(const char *key, size_t key_bytes, const void *cubin, size_t bytes)
{
    char path[4096], temporary[4160];
    struct header header = {"PSKC0001", key_bytes, bytes, 0};
    if (!entry_path(key, key_bytes, path, sizeof path))
        return;
    header.checksum = fnv(fnv(FNV_BASIS, key, key_bytes), cubin, bytes);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    bool fine = write(file, &header, sizeof header) == (ssize_t)sizeof header &&
                write(file, key, key_bytes) == (ssize_t)key_bytes &&
                write(file, cubin, bytes) == (ssize_t)bytes;
    fine = close(file) == 0 && fine;
    if (!fine || rename(temporary, path) != 0)
        unlink(temporary);
}
