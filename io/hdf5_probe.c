// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_probe.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Of processor time, and one more for each MiB of the file: thousands of sources take a while.
#define SECONDS_LEAST 20
#define SECONDS_MOST 600

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER true
#elif defined(__has_feature)
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define HAS_SANITIZER false
#endif

static bool write_all(int pipe, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t part = write(pipe, (const char *)data + done, bytes - done);
        if (part < 0 && errno != EINTR)
            return false;
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

// A crash is expected: no core files, no messages, no handlers of the program.
static void be_quiet(rlim_t seconds)
{
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE, SIGILL,
                                  SIGXCPU, SIGALRM, SIGPIPE, SIGINT, SIGTERM};
    struct rlimit none = {0, 0}, time = {seconds, seconds + 1};
    sigset_t all;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // not to go on alone
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    alarm((unsigned)seconds * 30); // waiting takes no processor time
    ps_log_set(NULL, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        if (!HAS_SANITIZER) // which has something to say about us
            dup2(null, STDERR_FILENO);
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

// The whole of what the child sends; false: it could not be read.
static bool receive(int pipe, struct ps_text *all)
{
    char part[4096];
    for (;;) {
        ssize_t got = read(pipe, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 && !all->failed;
        ps_text_append(all, part, (size_t)got);
    }
}

static bool take_result(const struct ps_text *all, struct ps_text *out, struct ps_error *error)
{
    size_t head = sizeof *error;
    memcpy(error, all->data, head);
    error->text[sizeof error->text - 1] = '\0';
    if (out != NULL)
        ps_text_append(out, all->data + head, all->length - head);
    return error->status == PS_OK;
}

static rlim_t seconds_for(const char *path)
{
    struct stat status;
    rlim_t more = stat(path, &status) == 0 ? (rlim_t)status.st_size >> 20 : 0;
    return SECONDS_LEAST + (more < SECONDS_MOST ? more : SECONDS_MOST);
}

static bool is_corrupt(const char *path, int status, struct ps_error *error)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGINT || number == SIGTERM)
        return ps_fail(error, PS_INTERRUPTED, "interrupted while opening %s", path);
    if (number == SIGKILL)
        return ps_fail(error, PS_DEVICE,
                       "opening %s in a process of its own: that was killed (is "
                       "there enough memory?)",
                       path);
    if (number == SIGXCPU || number == SIGALRM)
        return ps_fail(error, PS_INPUT,
                       "%s is corrupt: the HDF5 library does not come to an end with it", path);
    return ps_fail(error, PS_INPUT, "%s is corrupt: the HDF5 library crashes when it opens it (%s)",
                   path, number != 0 ? strsignal(number) : "it ended early");
}

bool ps_hdf5_probe(const char *path,
                   bool (*work)(void *context, struct ps_text *out, struct ps_error *error),
                   void *context, struct ps_text *out, struct ps_error *error)
{
    int ends[2], status = 0;
    struct ps_text all = {0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ps_fail_errno(error, PS_DEVICE, "cannot open %s in a process of its own", path);
    pid_t child = fork();
    if (child == 0) {
        struct ps_error found = {0};
        struct ps_text text = {0};
        be_quiet(seconds_for(path));
        if (!work(context, &text, &found) && found.status == PS_OK)
            ps_fail(&found, PS_BUG, "%s: an error without a reason", path);
        bool sent =
            write_all(ends[1], &found, sizeof found) && write_all(ends[1], text.data, text.length);
        _exit(sent && !text.failed ? 0 : 1);
    }
    close(ends[1]);
    bool fine = child > 0 && receive(ends[0], &all);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        fine = ps_fail_errno(error, PS_DEVICE, "cannot open %s in a process of its own", path);
    else if (!fine || all.length < sizeof *error || status != 0)
        fine = is_corrupt(path, status, error);
    else
        fine = take_result(&all, out, error);
    ps_text_free(&all);
    return fine;
}
