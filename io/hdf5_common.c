// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_common.h"

#include "io/hdf5_filters.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Before the library reads the environment, which it does once.
static void start(void)
{
    const char *prefix = getenv(PS_HDF5_EXTERNAL_PREFIX);
    if (prefix == NULL || prefix[0] == '\0')
        setenv(PS_HDF5_EXTERNAL_PREFIX, "${ORIGIN}", 1);
    // A file whose close failed (disk full) would be closed once more at exit, and crash there.
    H5dont_atexit();
    ps_hdf5_add_plugin_folders();
}

void ps_hdf5_lock(void)
{
    static bool started;
    pthread_mutex_lock(&lock);
    if (!started)
        start();
    started = true;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void ps_hdf5_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

// ---- Errors ----

static herr_t keep_description(unsigned n, const H5E_error2_t *entry, void *text)
{
    (void)n;
    if (entry->desc != NULL && entry->desc[0] != '\0')
        snprintf(text, 300, "%s", entry->desc);
    return 0;
}

static const char *advice(const char *reason)
{
    if (strstr(reason, "unable to lock file") != NULL && strstr(reason, "errno = 11") == NULL)
        return "; the file system may have no locks (HDF5_USE_FILE_LOCKING=FALSE does without)";
    if (strstr(reason, "unable to lock file") != NULL) // EAGAIN
        return "; it is locked by another program that writes it "
               "(HDF5_USE_FILE_LOCKING=FALSE reads anyway, at your own risk)";
    return "";
}

bool ps_hdf5_says(const char *text)
{
    char reason[300] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, reason);
    return strstr(reason, text) != NULL;
}

bool ps_hdf5_fail(struct ps_error *error, enum ps_status status, const char *format, ...)
{
    char what[700], reason[300] = "", shown[320];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    // Walking upward ends at the API call; walking downward ends where the fault was noticed.
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, reason);
    H5Eclear2(H5E_DEFAULT);
    ps_escape(reason, strlen(reason), shown, sizeof shown);
    return ps_fail(error, status, "%s%s%s%s", what, reason[0] != '\0' ? ": " : "", shown,
                   advice(reason));
}
