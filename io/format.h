// SPDX-License-Identifier: Apache-2.0
// A format is one row: how a kind of file is recognised, opened, read by row range and written.
// New format = one new file ending in its row, and one line in io/formats.c.
// Formats know nothing of devices, stages or the config file.
#ifndef PS_IO_FORMAT_H
#define PS_IO_FORMAT_H

#include "base/array.h"
#include "base/option.h"

enum ps_format_flags {
    PS_READ_ANYWHERE = 1, // read() takes any row range, from many threads at once
    PS_READ_LOCKED = 2,   // any row range, but one call at a time (ps_reader_read locks)
    PS_READ_IN_ORDER = 4, // blocks must be asked for in order, one call at a time
    PS_NO_PATH = 8,       // needs no path (pattern, null)
    PS_OWN_PROVENANCE = 16, // its files hold the config themselves; others get NAME.job.yaml
    PS_GZIP = 32,         // its files may be packed by gzip, with .gz behind the suffix
    PS_STREAMED = 64,     // its files can be written to standard output
};

// A way of reading, as told by `run --verbose` and the log ("pread", "H5Dread").
struct ps_reader {
    const struct ps_format *format;
    const char *name;                // the input's name in the config
    const char *path;                // absolute, or NULL
    const char *const *paths;        // of more than one file as one array; path is the first
    size_t path_count;               // 0 or 1: path alone
    const struct ps_values *options; // of format->read_options
    bool told;                       // no warnings of the way of reading: a file of the same list
                                     // has given them
    bool seen;                       // this file was opened before, and all was well
    unsigned flags;                  // the format's; open may change how this file is read
    struct ps_array array;           // filled in by open; dims[0] may be PS_ROWS_UNKNOWN
    const char *way;                 // filled in by open: static text
    uint64_t file_bytes;             // filled in by open: 0 when it has no meaning
    int64_t row_group;               // filled in by open: blocks of fewer rows read everything
                                     // several times; 0: any block will do
    void *state;                     // the format's own
    void *lock;                      // the wrapper's own
    void *many;                      // io/many.c's own
};

struct ps_read_result {
    int64_t rows;      // rows delivered; fewer than asked only at the end of the array
    uint64_t bytes;    // bytes taken from the file
    double decode_ms;  // part of the call spent on decoding, not on reading
};

// Where an axis of an array that is written comes from: an axis of the array that a reader gives.
struct ps_origin {
    const struct ps_format *format;  // of the input; NULL: a new axis
    const char *path;
    const struct ps_values *options; // of its read_options
    int axis;
};

struct ps_writer {
    const struct ps_format *format;
    const char *path;                // final absolute path, or NULL
    const char *temp_path;           // where create() writes; made by the wrapper
    const struct ps_values *options; // of format->write_options
    const struct ps_array *array;    // what is stored (dtype after conversion); dims[0] may be
                                     // PS_ROWS_UNKNOWN, then finish() learns the count
    const char *provenance;          // the resolved config as YAML text
    const char *name;                // of the array, or NULL
    const struct ps_writer *first;   // whose file it shares, or NULL: it has one of its own
    const struct ps_origin *origins; // of each axis of the array, or NULL
    bool keeps_elements;             // element for element of that input, and
    bool computed;                   // computed from it, not only copied
    void *state;
};

struct ps_format {
    const char *name;
    const char *help;
    const char *suffixes;                    // ".h5|.hdf5|.nc", or NULL
    unsigned flags;                          // enum ps_format_flags
    const struct ps_option *read_options;    // NULL: cannot be read
    const struct ps_option *write_options;   // NULL: cannot be written
    // Whether the first bytes of a file are of this format (suffix unknown). May be NULL.
    bool (*recognise)(const unsigned char *head, size_t length);
    bool (*open)(struct ps_reader *reader, struct ps_error *error);
    // rows full rows from first_row on into data (native order, C order).
    bool (*read)(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                 struct ps_read_result *result_out, struct ps_error *error);
    void (*close)(struct ps_reader *reader); // also after a failed open
    const struct ps_format_writer *writer;   // NULL: cannot be written
    // What a file holds, for people; the lines from the last "inputs:" on are a section of a config
    // that reads it (not there when nothing can be read). May be NULL.
    bool (*inspect)(const char *path, struct ps_text *out, struct ps_error *error);
};

struct ps_format_writer {
    bool (*create)(struct ps_writer *writer, struct ps_error *error);
    // Called in row order, one call at a time.
    bool (*write)(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                  struct ps_error *error);
    bool (*finish)(struct ps_writer *writer, int64_t rows, struct ps_error *error);
    void (*close)(struct ps_writer *writer); // always last; frees state; never fails
    // Whether an array can be written with these options, before anything is made. May be NULL.
    bool (*check)(const struct ps_values *options, const struct ps_array *array,
                  struct ps_error *error);
    // Whether two outputs with these options can share one file; PS_USAGE says what is in the way.
    // NULL: never.
    bool (*may_share)(const struct ps_values *a, const struct ps_values *b, struct ps_error *error);
};

// NULL-terminated list of all formats.
extern const struct ps_format *const ps_formats[];
const struct ps_format *ps_format_find(const char *name);
// By suffix, then by the file's first bytes; NULL: unknown. for_writing: by suffix only. One that
// cannot be read (or written) is found where no other has the suffix.
const struct ps_format *ps_format_guess(const char *path, bool for_writing);

// ---- Readers as the pipeline uses them (io/reader.c) ----

// reader's format, name, path and options are set. Fills in the rest. Errors are PS_INPUT and
// name the path. On failure everything is released.
bool ps_reader_open(struct ps_reader *reader, struct ps_error *error);
// As format->read, plus: takes the lock a format needs, refuses ranges outside the array, and
// fails when fewer rows come although the count was known ("file shrank").
bool ps_reader_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                    struct ps_read_result *result_out, struct ps_error *error);
void ps_reader_close(struct ps_reader *reader);

// ---- Outputs as the pipeline uses them (io/output.c) ----
// An output is written beside its final name and renamed when everything is complete.

enum ps_cast { PS_CAST_ERROR, PS_CAST_SATURATE, PS_CAST_WRAP };

struct ps_output_spec {
    const struct ps_format *format;
    const char *name;                // of the output, for messages
    const char *path;                // absolute, or NULL for null
    const struct ps_values *options; // of format->write_options
    struct ps_array array;           // what arrives (borrowed columns)
    enum ps_dtype dtype;             // what is stored
    enum ps_cast cast;
    bool overwrite;
    const char *provenance;
    const char *const *input_paths;  // never to be overwritten, NULL-terminated
    const char *array_name;          // for files that can note it, or NULL
    struct ps_origin origins[PS_RANK_MAX]; // of the array's axes
    bool keeps_elements, computed;         // as in struct ps_writer
};

struct ps_output; // opaque

// Checks without touching anything: exists without overwrite, is an input (device and inode, also
// through links), folder missing or not writable, path is a folder. PS_OUTPUT.
bool ps_output_check(const struct ps_output_spec *spec, struct ps_error *error);
// Whether both would replace the same file (links followed), or one the other's provenance file.
bool ps_output_collides(const struct ps_output_spec *a, const struct ps_output_spec *b);
// Whether the two, which collide, can be parts of one file; else why not.
bool ps_output_may_share(const struct ps_output_spec *a, const struct ps_output_spec *b,
                         struct ps_error *error);
// Makes the temporary file (and missing folders) and starts it; first: the opened output whose file it
// shares, or NULL. *output_out is NULL on failure.
bool ps_output_open(const struct ps_output_spec *spec, struct ps_output *first,
                    struct ps_output **output_out, struct ps_error *error);
// Converts to the stored dtype by the cast rule and writes; blocks come in row order.
bool ps_output_write(struct ps_output *output, const struct ps_block *block,
                     struct ps_error *error);
// Completes the temporary file: header, flush, fsync.
bool ps_output_finish(struct ps_output *output, int64_t rows, struct ps_error *error);
// Renames it to the final name (a link's target is replaced, the link stays). Only after every
// output of the job has finished.
bool ps_output_commit(struct ps_output *output, struct ps_error *error);
// Takes a commit back, as another output's failed: false when the file could not be.
bool ps_output_take_back(struct ps_output *output);
// Frees; removes the temporary file and folders made when not committed.
void ps_output_close(struct ps_output *output);

struct ps_output_counts { // of the values that were written
    uint64_t values, clipped, wrapped, bytes;
};
struct ps_output_counts ps_output_counts(const struct ps_output *output);

// ---- Element conversion (io/convert.c) ----
// count elements. CAST_ERROR fails on a value that the target cannot hold: out of range, a fraction
// or NaN for an integer, an integer with more digits than a float has (2^24 + 1 as f32).
//   to an integer: saturate and wrap cut fractions off (toward zero), then saturate takes the
//     nearest end of the range (NaN is an error) and wrap the value modulo 2^bits (NaN and
//     infinities give 0)
//   to bool: 0 and 1 alone are held; saturate as for an integer; wrap makes all but 0 true
//   to a float: rounds to nearest, ties to even, straight from the source; a float that loses
//     digits is no error. A finite value too large is one; saturate gives the largest finite value,
//     wrap infinity
// *bad_out is the index of the first refused element; the target is then undefined from some
// element on. *changed_out is increased by the number of values that saturate or wrap changed (a
// float's rounding is no change).
bool ps_convert(enum ps_dtype to, void *target, enum ps_dtype from, const void *source,
                size_t count, enum ps_cast cast, size_t *bad_out, uint64_t *changed_out);
// Swaps the bytes of count elements in place.
void ps_byte_swap(void *data, size_t element_bytes, size_t count);

// ---- Number text (io/number_text.cc) ----
// Correctly rounded, locale-free. Accepts what the CSV manual says: digits with optional sign,
// fraction, exponent; inf, infinity, nan in any case; hexadecimal numbers as C's %a writes them. The
// whole of text must be the number.
// false: not a number. Overflow gives inf, underflow 0, as IEEE rounding says.
bool ps_text_to_f64(const char *text, size_t length, double *value_out);
bool ps_text_to_f32(const char *text, size_t length, float *value_out); // no double rounding
bool ps_text_to_f16(const char *text, size_t length, uint16_t *value_out); // nor here (of decimals)
enum ps_number_fit { PS_FIT_OK, PS_FIT_NOT_A_NUMBER, PS_FIT_OUT_OF_RANGE };
enum ps_number_fit ps_text_to_i64(const char *text, size_t length, int64_t *value_out);
enum ps_number_fit ps_text_to_u64(const char *text, size_t length, uint64_t *value_out);
// Shortest text that reads back as the same value ("0.1", "1e+22", "nan", "-inf", "true").
// Returns the length; out has at least PS_NUMBER_TEXT bytes; no NUL.
#define PS_NUMBER_TEXT 32
size_t ps_value_to_text(enum ps_dtype dtype, const void *value, char *out);
// A float with `digits` (1 to 17) significant digits, correctly rounded, as printf's %g writes it.
size_t ps_value_to_digits(enum ps_dtype dtype, const void *value, int digits, char *out);

#endif
