// SPDX-License-Identifier: Apache-2.0
// Feeds files and the files of folders to a fuzz target, where libFuzzer is not there to do it.
#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

static int feed(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(16u << 20);
    if (file == NULL || data == NULL)
        abort();
    size_t size = fread(data, 1, 16u << 20, file);
    uint8_t *exact = malloc(size + 1); // the sanitizers watch its end
    if (exact == NULL)
        abort();
    memcpy(exact, data, size);
    free(data);
    fclose(file);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

static int feed_all(const char *path)
{
    struct stat status;
    char name[PATH_MAX];
    int count = 0;
    if (stat(path, &status) != 0)
        return 0;
    if (!S_ISDIR(status.st_mode))
        return feed(path);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            count += feed_all(name);
    }
    if (folder != NULL)
        closedir(folder);
    return count;
}

int main(int count, char **arguments)
{
    int files = 0;
    for (int i = 1; i < count; i++)
        files += feed_all(arguments[i]);
    printf("%d files\n", files);
    return files > 0 ? 0 : 1;
}
