// SPDX-License-Identifier: Apache-2.0
// The timing log and its totals. Intervals are merged as they come, so that the busy time of a
// step (the union over slots) needs memory for the gaps only.
#include "pipeline/timing.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOTALS_MAX 256
#define OPEN_INTERVALS 128
#define RESOURCES (PS_STEP_KINDS + 1)

struct interval {
    double start, end;
};

struct total {
    enum ps_step_kind kind;
    const char *name, *backend;
    int64_t count, rows;
    uint64_t bytes;
    double sum_ms, busy_ms; // busy_ms: of closed intervals
    int open;               // recent intervals, sorted by start, disjoint
    struct interval intervals[OPEN_INTERVALS + 1];
};

struct ps_timing {
    pthread_mutex_t lock;
    FILE *log;
    char *path;
    bool json, log_failed;
    int log_errno;
    double start_ms, end_ms;
    int total_count;
    struct total totals[TOTALS_MAX];
    struct total resources[RESOURCES]; // all steps that share one, by kind; the last: cuda stages
};

static const char *const kind_names[] = {"read", "decode", "h2d", "stage", "d2h", "write"};

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

// Makes the folders of path that are missing; what goes wrong, fopen says.
static void make_folders(const char *path)
{
    char *folder = ps_strdup(path);
    for (char *slash = folder; slash != NULL && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
    free(folder);
}

struct ps_timing *ps_timing_open(const char *log_path, struct ps_error *error)
{
    struct ps_timing *timing = calloc(1, sizeof *timing);
    if (timing == NULL) {
        ps_fail_memory(error, sizeof *timing, "timings");
        return NULL;
    }
    pthread_mutex_init(&timing->lock, NULL);
    timing->start_ms = timing->end_ms = ps_clock_ms();
    if (log_path == NULL)
        return timing;
    timing->path = ps_strdup(log_path);
    timing->json = ends_with(log_path, ".jsonl");
    make_folders(log_path);
    if (timing->path != NULL)
        timing->log = fopen(log_path, "we");
    if (timing->log == NULL) {
        ps_fail_errno(error, PS_OUTPUT, "cannot write the log %s", log_path);
        ps_timing_free(timing);
        return NULL;
    }
    if (!timing->json)
        fputs("pass,block,slot,step,name,first_row,rows,bytes,start_ms,duration_ms,backend\n",
              timing->log);
    return timing;
}

static struct total *find_total(struct ps_timing *timing, const struct ps_timing_entry *entry)
{
    for (int i = 0; i < timing->total_count; i++) {
        struct total *total = &timing->totals[i];
        if (total->kind == entry->kind && strcmp(total->name, entry->name) == 0 &&
            strcmp(total->backend, entry->backend) == 0)
            return total;
    }
    if (timing->total_count == TOTALS_MAX)
        return &timing->totals[TOTALS_MAX - 1];
    struct total *total = &timing->totals[timing->total_count++];
    total->kind = entry->kind;
    total->name = entry->name;
    total->backend = entry->backend;
    return total;
}

// Adds [start, end] to the sorted disjoint list, joining what touches.
static void add_interval(struct total *total, struct interval new)
{
    struct interval *list = total->intervals;
    int at = 0;
    while (at < total->open && list[at].end < new.start)
        at++;
    int stop = at;
    for (; stop < total->open && list[stop].start <= new.end; stop++) {
        new.start = list[stop].start < new.start ? list[stop].start : new.start;
        new.end = list[stop].end > new.end ? list[stop].end : new.end;
    }
    memmove(&list[at + 1], &list[stop], (size_t)(total->open - stop) * sizeof *list);
    list[at] = new;
    total->open += 1 - (stop - at);
    if (total->open < OPEN_INTERVALS)
        return;
    // Blocks come nearly in time order: the older half cannot grow any more.
    int closed = OPEN_INTERVALS / 2;
    for (int i = 0; i < closed; i++)
        total->busy_ms += list[i].end - list[i].start;
    total->open -= closed;
    memmove(list, list + closed, (size_t)total->open * sizeof *list);
}

static void write_line(struct ps_timing *timing, const struct ps_timing_entry *e)
{
    const char *format =
        timing->json ? "{\"pass\":%d,\"block\":%lld,\"slot\":%d,\"step\":\"%s\",\"name\":\"%s\","
                       "\"first_row\":%lld,\"rows\":%lld,\"bytes\":%llu,\"start_ms\":%.4f,"
                       "\"duration_ms\":%.4f,\"backend\":\"%s\"}\n"
                     : "%d,%lld,%d,%s,%s,%lld,%lld,%llu,%.4f,%.4f,%s\n";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int wrote =
        fprintf(timing->log, format, e->pass, (long long)e->block, e->slot, kind_names[e->kind],
                e->name, (long long)e->first_row, (long long)e->rows, (unsigned long long)e->bytes,
                e->start_ms - timing->start_ms, e->duration_ms, e->backend);
#pragma GCC diagnostic pop
    if (wrote < 0 && !timing->log_failed) {
        timing->log_failed = true;
        timing->log_errno = errno;
    }
}

static void add_to(struct total *total, const struct ps_timing_entry *entry)
{
    total->count += entry->block >= 0; // whole arrays and merging are no blocks
    total->rows += entry->rows;
    total->bytes += entry->bytes;
    total->sum_ms += entry->duration_ms;
    add_interval(total, (struct interval){entry->start_ms, entry->start_ms + entry->duration_ms});
}

void ps_timing_add(struct ps_timing *timing, const struct ps_timing_entry *entry)
{
    bool on_gpu = entry->kind == PS_STEP_STAGE && strcmp(entry->backend, "cuda") == 0;
    pthread_mutex_lock(&timing->lock);
    add_to(find_total(timing, entry), entry);
    struct total *resource = &timing->resources[on_gpu ? PS_STEP_KINDS : (int)entry->kind];
    resource->kind = entry->kind;
    if (resource->backend == NULL) // "io", whatever later passes find in memory
        resource->backend = entry->backend;
    add_to(resource, entry);
    if (timing->log != NULL)
        write_line(timing, entry);
    pthread_mutex_unlock(&timing->lock);
}

bool ps_timing_close_log(struct ps_timing *timing, struct ps_error *error)
{
    timing->end_ms = ps_clock_ms();
    if (timing->log == NULL)
        return true;
    if (timing->log_failed)
        errno = timing->log_errno;
    bool failed = timing->log_failed;
    if (fclose(timing->log) != 0)
        failed = true;
    timing->log = NULL;
    return !failed || ps_fail_errno(error, PS_OUTPUT, "cannot write the log %s", timing->path);
}

void ps_timing_free(struct ps_timing *timing)
{
    if (timing == NULL)
        return;
    if (timing->log != NULL)
        fclose(timing->log);
    pthread_mutex_destroy(&timing->lock);
    free(timing->path);
    free(timing);
}

double ps_timing_wall_ms(const struct ps_timing *timing)
{
    return timing->end_ms - timing->start_ms;
}

uint64_t ps_timing_bytes(const struct ps_timing *timing, enum ps_step_kind kind)
{
    uint64_t bytes = 0;
    for (int i = 0; i < timing->total_count; i++)
        if (timing->totals[i].kind == kind)
            bytes += timing->totals[i].bytes;
    return bytes;
}

double ps_timing_stage_ms(const struct ps_timing *timing, const char *name, const char *backend)
{
    for (int i = 0; i < timing->total_count; i++) {
        const struct total *total = &timing->totals[i];
        if (total->kind == PS_STEP_STAGE && strcmp(total->name, name) == 0 &&
            strcmp(total->backend, backend) == 0)
            return total->sum_ms;
    }
    return 0;
}

static double busy(const struct total *total)
{
    double ms = total->busy_ms;
    for (int i = 0; i < total->open; i++)
        ms += total->intervals[i].end - total->intervals[i].start;
    return ms;
}

// Summed durations over what `slots` lanes could have done. One lane writes; the GPU's copy
// engines and its kernels are one lane each; reading, decoding and the cpu's stages run in every
// slot.
static bool is_shared(const struct total *total)
{
    return total->kind == PS_STEP_WRITE || strcmp(total->backend, "cuda") == 0;
}

static double lanes_share(const struct total *total, double wall, int slots)
{
    double share = wall > 0 ? total->sum_ms / wall / (is_shared(total) ? 1 : slots) : 0;
    return share > 1 ? 1 : share;
}

static double busy_share(const struct total *total, double wall)
{
    double share = wall > 0 ? busy(total) / wall : 0;
    return share > 1 ? 1 : share;
}

// What never ran twice at once has one lane, be it that a format is read in order only.
static double load_of(const struct total *resource, double wall, int slots)
{
    bool alone = is_shared(resource) || resource->sum_ms <= busy(resource) * 1.001;
    return alone ? busy_share(resource, wall) : lanes_share(resource, wall, slots);
}

// The name that took most of a resource's time.
static const char *largest_part(const struct ps_timing *timing, const struct total *resource)
{
    const struct total *most = NULL;
    for (int i = 0; i < timing->total_count; i++) {
        const struct total *total = &timing->totals[i];
        if (total->kind == resource->kind && strcmp(total->backend, resource->backend) == 0 &&
            (most == NULL || total->sum_ms > most->sum_ms))
            most = total;
    }
    return most != NULL ? most->name : "";
}

static void print_bound(const struct ps_timing *timing, int slots, struct ps_text *out)
{
    double wall = ps_timing_wall_ms(timing), most = -1;
    const struct total *bound = NULL;
    for (int i = 0; i < RESOURCES; i++) {
        const struct total *resource = &timing->resources[i];
        if (resource->backend == NULL) // never used
            continue;
        double load = load_of(resource, wall, slots);
        if (load > most) {
            most = load;
            bound = resource;
        }
    }
    if (bound != NULL)
        ps_text_printf(out, "bound by: %s (%s) %.0f %%, most of it %s\n", kind_names[bound->kind],
                       bound->backend, most * 100, largest_part(timing, bound));
}

void ps_timing_print(const struct ps_timing *timing, int slots, struct ps_text *out)
{
    double wall = ps_timing_wall_ms(timing);
    ps_text_printf(out, "%-7s %-22s %-7s %8s %12s %10s %9s %6s %6s\n", "step", "name", "where",
                   "blocks", "bytes", "ms", "GB/s", "busy", "lanes");
    for (int i = 0; i < timing->total_count; i++) {
        const struct total *total = &timing->totals[i];
        char bytes[32];
        double ms = busy(total);
        ps_text_printf(out, "%-7s %-22s %-7s %8lld %12s %10.2f %9.2f %5.0f%% %5.0f%%\n",
                       kind_names[total->kind], total->name, total->backend,
                       (long long)total->count, ps_size_text(total->bytes, bytes, sizeof bytes),
                       total->sum_ms, ms > 0 ? (double)total->bytes / ms * 1e-6 : 0,
                       busy_share(total, wall) * 100, lanes_share(total, wall, slots) * 100);
    }
    print_bound(timing, slots, out);
}
