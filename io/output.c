// SPDX-License-Identifier: Apache-2.0
// Outputs: refused early where they must not be written, converted, written beside their final
// name, renamed when the whole job is done.
#include "io/format.h"

#include "io/file.h"
#include "io/temp_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIDECAR ".job.yaml"

struct ps_output {
    struct ps_output_spec spec;
    struct ps_array stored; // spec.array with the stored dtype; columns borrowed
    struct ps_writer writer;
    bool created;
    struct ps_output *first; // whose file it shares, or NULL
    struct ps_temp_file file;    // of the data; unused without a path
    struct ps_temp_file sidecar; // provenance of formats that cannot hold it themselves
    bool has_sidecar;
    void *converted; // one block in the stored dtype
    size_t converted_bytes;
    struct ps_output_counts counts;
};

static bool is_stdout(const struct ps_output_spec *spec)
{
    return spec->path != NULL && strcmp(spec->path, "-") == 0;
}

// Whether the output is a file of its own, to be renamed at the end.
static bool has_file(const struct ps_output_spec *spec)
{
    return spec->path != NULL && !is_stdout(spec);
}

// ---- Checking ----

static bool check_stdout(const struct ps_output_spec *spec, struct ps_error *error)
{
    if (!(spec->format->flags & PS_STREAMED))
        return ps_fail(error, PS_OUTPUT,
                       "the format %s needs a file: it cannot be written to standard output",
                       spec->format->name);
    return strcmp(spec->format->name, "csv") == 0 || !isatty(STDOUT_FILENO) ||
           ps_fail(error, PS_OUTPUT, "standard output is a terminal, which cannot show %s data",
                   spec->format->name);
}

static bool is_input(const struct ps_output_spec *spec, const struct stat *status,
                     struct ps_error *error)
{
    struct stat other;
    for (int i = 0; spec->input_paths != NULL && spec->input_paths[i] != NULL; i++)
        if (stat(spec->input_paths[i], &other) == 0 && other.st_dev == status->st_dev &&
            other.st_ino == status->st_ino)
            return !ps_fail(error, PS_OUTPUT, "%s is an input of this job (%s); an output must be "
                            "another file", spec->path, spec->input_paths[i]);
    return false;
}

static bool check_existing(const struct ps_output_spec *spec, const struct stat *status,
                           struct ps_error *error)
{
    if (is_input(spec, status, error))
        return false;
    if (S_ISDIR(status->st_mode))
        return ps_fail(error, PS_OUTPUT, "%s is a directory; an output needs the name of a file",
                       spec->path);
    if (!S_ISREG(status->st_mode))
        return ps_fail(error, PS_OUTPUT, "%s is a device, pipe or socket; outputs are written as "
                       "files and renamed when complete", spec->path);
    if (!spec->overwrite)
        return ps_fail(error, PS_OUTPUT, "%s exists; add `overwrite: true` to this output to "
                       "replace it when the job has succeeded", spec->path);
    return true;
}

// The nearest folder above path that exists must be one we can write to.
static bool check_folder(const struct ps_output_spec *spec, const char *target, bool through_link,
                         struct ps_error *error)
{
    struct stat status;
    char *folder = ps_strdup(target);
    bool direct = true;
    if (folder == NULL)
        return ps_fail_memory(error, strlen(target), "a path");
    for (;; direct = false) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            strcpy(folder, ".");
        else
            slash[slash == folder] = '\0';
        if (stat(folder, &status) == 0 || strcmp(folder, "/") == 0 || strcmp(folder, ".") == 0)
            break;
        if (errno != ENOENT) {
            ps_fail_errno(error, PS_OUTPUT, "cannot write %s: folder %s", spec->path, folder);
            free(folder);
            return false;
        }
    }
    bool fine = true;
    if (!S_ISDIR(status.st_mode))
        fine = ps_fail(error, PS_OUTPUT, "cannot write %s: %s is not a folder", spec->path, folder);
    else if (through_link && !direct)
        fine = ps_fail(error, PS_OUTPUT, "%s is a link to %s, whose folder does not exist",
                       spec->path, target);
    else if (access(folder, W_OK | X_OK) != 0)
        fine = ps_fail_errno(error, PS_OUTPUT, "cannot write %s: folder %s", spec->path, folder);
    free(folder);
    return fine;
}

static bool check_array(const struct ps_output_spec *spec, struct ps_error *error)
{
    struct ps_array stored = spec->array;
    stored.dtype = spec->dtype;
    return spec->format->writer->check == NULL ||
           spec->format->writer->check(spec->options, &stored, error);
}

bool ps_output_check(const struct ps_output_spec *spec, struct ps_error *error)
{
    struct stat status, link;
    if (!check_array(spec, error))
        return false;
    if (spec->path == NULL)
        return (spec->format->flags & PS_NO_PATH) ||
               ps_fail(error, PS_OUTPUT, "format %s needs a path", spec->format->name);
    if (spec->format->flags & PS_NO_PATH)
        return ps_fail(error, PS_OUTPUT, "format %s writes no file: remove `path`",
                       spec->format->name);
    if (is_stdout(spec))
        return check_stdout(spec, error);
    size_t length = strlen(spec->path);
    if (length == 0 || spec->path[length - 1] == '/')
        return ps_fail(error, PS_OUTPUT, "'%s' names no file", spec->path);
    if (stat(spec->path, &status) == 0) {
        if (!check_existing(spec, &status, error))
            return false;
    } else if (errno != ENOENT) {
        return ps_fail_errno(error, PS_OUTPUT, "cannot write %s", spec->path);
    }
    bool through_link = lstat(spec->path, &link) == 0 && S_ISLNK(link.st_mode);
    char *target = ps_path_target(spec->path, error);
    bool fine = target != NULL && check_folder(spec, target, through_link, error);
    free(target);
    return fine;
}

// The file that a path leads to, with every link in it followed as far as folders exist.
static char *whole_target(const char *path)
{
    struct ps_error error = {0};
    char *target = ps_path_target(path, &error), *whole = NULL;
    char *slash = target != NULL ? strrchr(target, '/') : NULL;
    if (slash == NULL)
        return target;
    *slash = '\0';
    char *folder = realpath(slash == target ? "/" : target, NULL);
    if (folder == NULL) {
        *slash = '/';
        return target;
    }
    whole = ps_path_join(folder, slash + 1);
    free(folder);
    free(target);
    return whole;
}

static bool is_sidecar_of(const char *path, const char *other)
{
    size_t length = strlen(other);
    return strncmp(path, other, length) == 0 && strcmp(path + length, SIDECAR) == 0;
}

bool ps_output_collides(const struct ps_output_spec *a, const struct ps_output_spec *b)
{
    struct stat first, second;
    if (a->path == NULL || b->path == NULL)
        return false;
    if (is_stdout(a) || is_stdout(b))
        return is_stdout(a) && is_stdout(b);
    if (stat(a->path, &first) == 0 && stat(b->path, &second) == 0 &&
        first.st_dev == second.st_dev && first.st_ino == second.st_ino)
        return true;
    char *x = whole_target(a->path), *y = whole_target(b->path);
    bool same = x != NULL && y != NULL &&
                (strcmp(x, y) == 0 || is_sidecar_of(x, y) || is_sidecar_of(y, x));
    free(x);
    free(y);
    return same;
}

bool ps_output_may_share(const struct ps_output_spec *a, const struct ps_output_spec *b,
                         struct ps_error *error)
{
    bool able = a->format == b->format && a->format->writer->may_share != NULL && has_file(a);
    if (!able)
        return ps_fail(error, PS_USAGE, "only datasets of one hdf5 file can share a path");
    return a->format->writer->may_share(a->options, b->options, error);
}

// ---- Opening ----

static bool open_sidecar(struct ps_output *output, struct ps_error *error)
{
    const struct ps_output_spec *spec = &output->spec;
    size_t size = strlen(output->file.target) + 16;
    char *path = malloc(size);
    if (path == NULL)
        return ps_fail_memory(error, size, "a path");
    snprintf(path, size, "%s" SIDECAR, output->file.target);
    output->has_sidecar = ps_temp_file_open(&output->sidecar, path, error);
    free(path);
    return output->has_sidecar &&
           ps_file_write(output->sidecar.lock, output->sidecar.target, 0, spec->provenance,
                         strlen(spec->provenance), error);
}

static bool open_files(struct ps_output *output, struct ps_error *error)
{
    if (is_stdout(&output->spec))
        output->writer.temp_path = "-";
    if (!has_file(&output->spec))
        return true;
    if (!ps_temp_file_open(&output->file, output->spec.path, error))
        return false;
    output->writer.temp_path = output->file.path;
    return output->spec.provenance == NULL ||
           (output->spec.format->flags & PS_OWN_PROVENANCE) != 0 || open_sidecar(output, error);
}

bool ps_output_open(const struct ps_output_spec *spec, struct ps_output *first,
                    struct ps_output **output_out, struct ps_error *error)
{
    *output_out = NULL;
    if (!ps_output_check(spec, error))
        return false;
    struct ps_output *output = calloc(1, sizeof *output);
    if (output == NULL)
        return ps_fail_memory(error, sizeof *output, "an output");
    output->spec = *spec;
    output->stored = spec->array;
    output->stored.dtype = spec->dtype;
    output->file.lock = output->sidecar.lock = -1;
    output->writer = (struct ps_writer){.format = spec->format, .path = spec->path,
                                        .options = spec->options, .array = &output->stored,
                                        .provenance = spec->provenance,
                                        .name = spec->array_name,
                                        .origins = output->spec.origins,
                                        .keeps_elements = spec->keeps_elements,
                                        .computed = spec->computed};
    output->first = first;
    if (first != NULL) {
        output->writer.first = &first->writer;
        output->writer.temp_path = first->writer.temp_path;
    }
    bool fine = first != NULL || open_files(output, error);
    output->created = fine;
    if (fine && spec->format->writer->create(&output->writer, error)) {
        *output_out = output;
        return true;
    }
    ps_output_close(output);
    return false;
}

// ---- Writing ----

static bool grow_buffer(struct ps_output *output, size_t bytes, struct ps_error *error)
{
    if (bytes <= output->converted_bytes)
        return true;
    free(output->converted);
    output->converted_bytes = 0;
    output->converted = malloc(bytes);
    if (output->converted == NULL)
        return ps_fail_memory(error, bytes, "converting a block");
    output->converted_bytes = bytes;
    return true;
}

static bool refuse_value(const struct ps_output *output, const struct ps_block *block, size_t bad,
                         struct ps_error *error)
{
    int64_t row_elements = ps_array_row_elements(&output->stored);
    enum ps_dtype from = output->spec.array.dtype;
    char value[PS_NUMBER_TEXT + 1];
    size_t length = ps_value_to_text(
        from, (const char *)block->data + bad * ps_dtype_bytes(from), value);
    value[length] = '\0';
    return ps_fail(error, PS_OUTPUT, "%s: row %lld, element %lld: %s (%s) does not fit %s exactly; "
                   "set `cast: saturate` or `cast: wrap`, or another dtype",
                   output->spec.path ? output->spec.path : output->spec.name,
                   (long long)(block->first_row + (int64_t)bad / row_elements),
                   (long long)((int64_t)bad % row_elements), value, ps_dtype_name(from),
                   ps_dtype_name(output->spec.dtype));
}

static bool convert(struct ps_output *output, const struct ps_block *block, size_t count,
                    const void **data_out, struct ps_error *error)
{
    size_t bad = 0;
    uint64_t changed = 0;
    *data_out = block->data;
    if (output->spec.dtype == output->spec.array.dtype)
        return true;
    if (!grow_buffer(output, count * ps_dtype_bytes(output->spec.dtype), error))
        return false;
    *data_out = output->converted;
    bool fine = ps_convert(output->spec.dtype, output->converted, output->spec.array.dtype,
                           block->data, count, output->spec.cast, &bad, &changed);
    if (output->spec.cast == PS_CAST_WRAP)
        output->counts.wrapped += changed;
    else
        output->counts.clipped += changed;
    return fine || refuse_value(output, block, bad, error);
}

bool ps_output_write(struct ps_output *output, const struct ps_block *block,
                     struct ps_error *error)
{
    size_t count = (size_t)(block->rows * ps_array_row_elements(&output->stored));
    const void *data;
    if (!convert(output, block, count, &data, error))
        return false;
    output->counts.values += count;
    output->counts.bytes += count * ps_dtype_bytes(output->spec.dtype);
    return output->spec.format->writer->write(&output->writer, block->first_row, block->rows, data,
                                              error);
}

bool ps_output_finish(struct ps_output *output, int64_t rows, struct ps_error *error)
{
    if (!output->spec.format->writer->finish(&output->writer, rows, error))
        return false;
    if (!has_file(&output->spec))
        return true;
    if (output->first != NULL) // complete only when the last part is
        output = output->first;
    return ps_temp_file_sync(&output->file, error) &&
           (!output->has_sidecar || ps_temp_file_sync(&output->sidecar, error));
}

bool ps_output_commit(struct ps_output *output, struct ps_error *error)
{
    if (!has_file(&output->spec) || output->first != NULL)
        return true;
    // The sidecar second: were it first, a refused file would have lost the one it had.
    return ps_temp_file_commit(&output->file, output->spec.overwrite, error) &&
           (!output->has_sidecar || ps_temp_file_commit(&output->sidecar, true, error));
}

bool ps_output_take_back(struct ps_output *output)
{
    if (!has_file(&output->spec) || output->first != NULL)
        return true;
    bool fine = ps_temp_file_take_back(&output->file);
    return (!output->has_sidecar || ps_temp_file_take_back(&output->sidecar)) && fine;
}

void ps_output_close(struct ps_output *output)
{
    if (output->created)
        output->spec.format->writer->close(&output->writer);
    if (output->has_sidecar)
        ps_temp_file_close(&output->sidecar);
    if (output->file.target != NULL)
        ps_temp_file_close(&output->file);
    free(output->converted);
    free(output);
}

struct ps_output_counts ps_output_counts(const struct ps_output *output)
{
    return output->counts;
}
