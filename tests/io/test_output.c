// SPDX-License-Identifier: Apache-2.0
// Outputs: what is refused, that nothing half-written is left, leftovers, links, folders, modes,
// two runs at once, full disks, provenance; and what npy, raw, digest and null write.
#include "io_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

static const float numbers[6] = {0, 1.5f, -2, 3, 4e10f, 5};

struct help_output {
    struct ps_values options;
    struct ps_output_spec spec;
    struct ps_output *output;
    struct ps_error error;
};

static void prepare(struct help_output *o, const struct ps_format *format, const char *path)
{
    int64_t dims[2] = {3, 2};
    *o = (struct help_output){0};
    CU_ASSERT_FATAL(help_options(&o->options, format->write_options, NULL));
    o->spec = (struct ps_output_spec){.format = format,
                                      .name = "out",
                                      .path = path,
                                      .options = &o->options,
                                      .dtype = PS_F32,
                                      .provenance = "version: 1\n"};
    ps_array_init(&o->spec.array, PS_F32, 2, dims);
}

// Opens, writes `numbers` in two blocks and finishes.
static bool write_numbers(struct help_output *o)
{
    struct ps_block first = {&o->spec.array, 0, 2, (void *)numbers};
    struct ps_block second = {&o->spec.array, 2, 1, (void *)(numbers + 4)};
    return ps_output_open(&o->spec, NULL, &o->output, &o->error) &&
           ps_output_write(o->output, &first, &o->error) &&
           ps_output_write(o->output, &second, &o->error) &&
           ps_output_finish(o->output, 3, &o->error);
}

static void done(struct help_output *o)
{
    if (o->output != NULL)
        ps_output_close(o->output);
    ps_values_free(&o->options);
}

static bool write_file(const struct ps_format *format, const char *path, bool overwrite,
                       struct ps_error *error)
{
    struct help_output o;
    prepare(&o, format, path);
    o.spec.overwrite = overwrite;
    bool fine = write_numbers(&o) && ps_output_commit(o.output, &o.error);
    *error = o.error;
    done(&o);
    return fine;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

// Names in the folder, "a b c" in order, without . and ..
static const char *listing(const char *folder)
{
    static char text[4096];
    struct dirent **list = NULL;
    int count = scandir(folder, &list, NULL, alphasort);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *name = list[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     text[0] != '\0' ? " " : "", name);
        free(list[i]);
    }
    free(list);
    return text;
}

// A fresh folder below the test's own.
static const char *room(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", help_folder(), name);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    return path;
}

static const char *in(const char *folder, const char *name)
{
    static char paths[8][PATH_MAX];
    static int next;
    char text[PATH_MAX]; // folder may lie in paths
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return strcpy(paths[next++ % 8], text);
}

// ---- Formats ----

static void npy_bytes(void)
{
    struct ps_error error;
    size_t bytes = 0;
    char want[128 + 24];
    const char *folder = room("npy");
    memset(want, ' ', sizeof want);
    memcpy(want, "\x93NUMPY\x01\x00v\x00", 10);
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    memcpy(want + 10, text, strlen(text));
    want[127] = '\n';
    memcpy(want + 128, numbers, 24);
    CU_ASSERT(write_file(&ps_format_npy, in(folder, "a.npy"), false, &error));
    char *file = help_slurp(in(folder, "a.npy"), &bytes);
    CU_ASSERT_EQUAL(bytes, sizeof want);
    CU_ASSERT(file != NULL && memcmp(file, want, sizeof want) == 0);
    free(file);
    CU_ASSERT_STRING_EQUAL(listing(folder), "a.npy a.npy.job.yaml");
    file = help_slurp(in(folder, "a.npy.job.yaml"), &bytes);
    CU_ASSERT(file != NULL && strcmp(file, "version: 1\n") == 0);
    free(file);
}

// All dtypes and ranks 0 to 3, read back; the row count is not known before.
static void npy_round_trip(void)
{
    const char *path = in(room("round"), "a.npy");
    for (int dtype = 0; dtype < PS_DTYPE_COUNT; dtype++) {
        for (int rank = 0; rank < 4; rank++) {
            struct help_output o;
            struct help_input input;
            unsigned char data[24 * 8];
            int64_t dims[3] = {PS_ROWS_UNKNOWN, 3, 2};
            prepare(&o, &ps_format_npy, path);
            ps_array_init(&o.spec.array, (enum ps_dtype)dtype, rank, dims);
            o.spec.dtype = (enum ps_dtype)dtype;
            o.spec.overwrite = true;
            o.spec.provenance = NULL;
            int64_t rows = rank == 0 ? 1 : 4;
            size_t bytes = (size_t)rows * ps_array_row_bytes(&o.spec.array);
            for (size_t i = 0; i < bytes; i++)
                data[i] = (unsigned char)(dtype == PS_BOOL ? i % 3 == 0 : i * 5 + 1);
            struct ps_block block = {&o.spec.array, 0, rows, data};
            CU_ASSERT(ps_output_open(&o.spec, NULL, &o.output, &o.error));
            CU_ASSERT(ps_output_write(o.output, &block, &o.error));
            CU_ASSERT(ps_output_finish(o.output, rows, &o.error));
            CU_ASSERT(ps_output_commit(o.output, &o.error));
            done(&o);
            CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, path, NULL));
            CU_ASSERT_EQUAL(input.reader.array.rank, rank);
            CU_ASSERT_EQUAL((int)input.reader.array.dtype, dtype);
            CU_ASSERT_EQUAL(ps_array_rows(&input.reader.array), rows);
            char *back = help_read_all(&input, 3);
            CU_ASSERT(back != NULL && memcmp(back, data, bytes) == 0);
            free(back);
            help_close(&input);
        }
    }
}

static void raw_big_endian(void)
{
    struct help_output o;
    size_t bytes = 0;
    const char *path = in(room("raw"), "a.raw");
    static const char *const big[] = {"byte_order", "big", NULL};
    prepare(&o, &ps_format_raw, path);
    ps_values_free(&o.options);
    CU_ASSERT_FATAL(help_options(&o.options, ps_format_raw.write_options, big));
    CU_ASSERT(write_numbers(&o) && ps_output_commit(o.output, &o.error));
    done(&o);
    unsigned char *file = (unsigned char *)help_slurp(path, &bytes);
    CU_ASSERT_FATAL(file != NULL && bytes == 24);
    CU_ASSERT_EQUAL(memcmp(file + 4, "\x3f\xc0\0\0\xc0\0\0\0", 8), 0); // 1.5, -2
    free(file);
    struct help_input input;
    static const char *const options[] = {"dtype",      "f32", "shape", "[-1, 2]",
                                          "byte_order", "big", NULL};
    CU_ASSERT_FATAL(help_open(&input, &ps_format_raw, path, options));
    float *back = help_read_all(&input, 2);
    CU_ASSERT(back != NULL && memcmp(back, numbers, 24) == 0);
    free(back);
    help_close(&input);
}

static void digest_and_null(void)
{
    struct ps_error error;
    size_t bytes = 0;
    char want[128];
    const char *path = in(room("digest"), "a.digest");
    snprintf(want, sizeof want, "crc32=%08lx array=f32[3, 2] rows=3 bytes=24\n",
             crc32(0, (const Bytef *)numbers, 24));
    CU_ASSERT(write_file(&ps_format_digest, path, false, &error));
    char *file = help_slurp(path, &bytes);
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_STRING_EQUAL(file, want);
    free(file);
    struct help_output o;
    prepare(&o, &ps_format_null, NULL);
    CU_ASSERT(write_numbers(&o) && ps_output_commit(o.output, &o.error));
    CU_ASSERT_EQUAL(ps_output_counts(o.output).values, 6);
    CU_ASSERT_EQUAL(ps_output_counts(o.output).bytes, 24);
    done(&o);
    CU_ASSERT_FALSE(write_file(&ps_format_null, path, true, &error));
    CHECK_TEXT(error.text, "writes no file");
}

static void converts(void)
{
    struct help_output o;
    const char *path = in(room("convert"), "a.npy");
    prepare(&o, &ps_format_npy, path);
    o.spec.dtype = PS_I16;
    CU_ASSERT_FALSE(write_numbers(&o));
    CHECK_TEXT(o.error.text, "row 0, element 1: 1.5 (f32) does not fit i16");
    CHECK_TEXT(o.error.text, "cast: saturate");
    CU_ASSERT_EQUAL(o.error.status, PS_OUTPUT);
    done(&o);
    CU_ASSERT_FALSE(exists(path));
    prepare(&o, &ps_format_npy, path);
    o.spec.dtype = PS_I16;
    o.spec.cast = PS_CAST_SATURATE;
    CU_ASSERT(write_numbers(&o) && ps_output_commit(o.output, &o.error));
    CU_ASSERT_EQUAL(ps_output_counts(o.output).clipped, 2); // 1.5 and 4e10
    CU_ASSERT_EQUAL(ps_output_counts(o.output).bytes, 12);
    done(&o);
    struct help_input input;
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, path, NULL));
    int16_t *back = help_read_all(&input, 3);
    CU_ASSERT(back != NULL && back[1] == 1 && back[2] == -2 && back[4] == 32767);
    free(back);
    help_close(&input);
}

// ---- Refusals ----

static void refuses(const struct ps_format *format, const char *path, bool overwrite,
                    const char *says)
{
    struct ps_error error;
    CU_ASSERT_FALSE(write_file(format, path, overwrite, &error));
    CU_ASSERT_EQUAL(error.status, PS_OUTPUT);
    CHECK_TEXT(error.text, says);
}

static void refusals(void)
{
    const char *folder = room("refuse");
    const char *path = in(folder, "old.npy");
    struct ps_error error;
    CU_ASSERT(help_file(path, "precious", 8));
    refuses(&ps_format_npy, path, false, "old.npy exists; add `overwrite: true`");
    CU_ASSERT_STRING_EQUAL(listing(folder), "old.npy");
    CU_ASSERT(write_file(&ps_format_npy, path, true, &error));
    refuses(&ps_format_npy, folder, true, "is a directory");
    refuses(&ps_format_npy, in(folder, "new/"), false, "names no file");
    refuses(&ps_format_npy, in(path, "x.npy"), false, "old.npy");
    refuses(&ps_format_raw, "/dev/full", true, "device, pipe or socket");
    refuses(&ps_format_raw, "/dev/null", true, "device, pipe or socket");
    CU_ASSERT_EQUAL(mkfifo(in(folder, "pipe"), 0600), 0);
    refuses(&ps_format_raw, in(folder, "pipe"), true, "device, pipe or socket");
    CU_ASSERT_EQUAL(symlink("nowhere/x.npy", in(folder, "dangling.npy")), 0);
    refuses(&ps_format_npy, in(folder, "dangling.npy"), true, "whose folder does not exist");
    CU_ASSERT_FALSE(exists(in(folder, "nowhere")));
    CU_ASSERT_EQUAL(symlink("b.npy", in(folder, "a.npy")), 0);
    CU_ASSERT_EQUAL(symlink("a.npy", in(folder, "b.npy")), 0);
    refuses(&ps_format_npy, in(folder, "a.npy"), true, "symbolic links");
    CU_ASSERT_STRING_EQUAL(listing(folder),
                           "a.npy b.npy dangling.npy old.npy old.npy.job.yaml pipe");
    if (geteuid() != 0) { // root may write everywhere
        CU_ASSERT_EQUAL(chmod(folder, 0500), 0);
        refuses(&ps_format_npy, in(folder, "c.npy"), true, "Permission denied");
        CU_ASSERT_EQUAL(chmod(folder, 0700), 0);
    }
}

static void inputs_are_never_outputs(void)
{
    const char *folder = room("inputs");
    const char *input = in(folder, "in.npy");
    CU_ASSERT(help_file(input, "data", 4));
    CU_ASSERT_EQUAL(link(input, in(folder, "hard.npy")), 0);
    CU_ASSERT_EQUAL(symlink("in.npy", in(folder, "soft.npy")), 0);
    static const char *const names[] = {"in.npy", "./in.npy", "hard.npy", "soft.npy",
                                        "../inputs/in.npy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct help_output o;
        const char *inputs[] = {input, NULL};
        prepare(&o, &ps_format_npy, in(folder, names[i]));
        o.spec.overwrite = true;
        o.spec.input_paths = inputs;
        CU_ASSERT_FALSE(ps_output_check(&o.spec, &o.error));
        CHECK_TEXT(o.error.text, "is an input of this job");
        o.error = (struct ps_error){0};
        CU_ASSERT_FALSE(ps_output_open(&o.spec, NULL, &o.output, &o.error));
        done(&o);
    }
    CU_ASSERT_STRING_EQUAL(listing(folder), "hard.npy in.npy soft.npy");
}

static void collisions(void)
{
    const char *folder = room("collide");
    struct help_output a, b;
    CU_ASSERT_EQUAL(symlink(".", in(folder, "loop")), 0);
    CU_ASSERT_EQUAL(symlink("new.npy", in(folder, "other.npy")), 0);
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"new.npy", "new.npy", true},   {"new.npy", "loop/new.npy", true},
                 {"new.npy", "other.npy", true}, {"new.npy", "new.npy.job.yaml", true},
                 {"new.npy", "new2.npy", false}, {"sub/new.npy", "new.npy", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        prepare(&a, &ps_format_npy, in(folder, cases[i].a));
        prepare(&b, &ps_format_npy, in(folder, cases[i].b));
        CU_ASSERT_EQUAL(ps_output_collides(&a.spec, &b.spec), cases[i].same);
        CU_ASSERT_EQUAL(ps_output_collides(&b.spec, &a.spec), cases[i].same);
        done(&a);
        done(&b);
    }
}

// ---- Atomic ----

static void nothing_before_commit(void)
{
    const char *folder = room("atomic");
    const char *path = in(folder, "a.npy");
    struct help_output o;
    prepare(&o, &ps_format_npy, path);
    CU_ASSERT(write_numbers(&o));
    CU_ASSERT_FALSE(exists(path));
    CU_ASSERT_PTR_NOT_NULL(strstr(listing(folder), ".part"));
    done(&o); // not committed
    CU_ASSERT_STRING_EQUAL(listing(folder), "");
    // A file that appears meanwhile stays.
    prepare(&o, &ps_format_npy, path);
    CU_ASSERT(write_numbers(&o));
    CU_ASSERT(help_file(path, "other", 5));
    CU_ASSERT_FALSE(ps_output_commit(o.output, &o.error));
    CHECK_TEXT(o.error.text, "appeared while the job ran");
    done(&o);
    size_t bytes = 0;
    char *file = help_slurp(path, &bytes);
    CU_ASSERT(file != NULL && strcmp(file, "other") == 0);
    free(file);
    CU_ASSERT_STRING_EQUAL(listing(folder), "a.npy");
}

static void folders_come_and_go(void)
{
    const char *folder = room("folders");
    struct help_output o, second;
    prepare(&o, &ps_format_npy, in(folder, "x/y/z/a.npy"));
    prepare(&second, &ps_format_npy, in(folder, "x/b.npy"));
    CU_ASSERT(ps_output_check(&o.spec, &o.error));
    CU_ASSERT_STRING_EQUAL(listing(folder), ""); // checking touches nothing
    CU_ASSERT(write_numbers(&o) && write_numbers(&second));
    CU_ASSERT_STRING_EQUAL(listing(folder), "x");
    done(&second);
    CU_ASSERT_STRING_EQUAL(listing(folder), "x");
    done(&o);
    CU_ASSERT_STRING_EQUAL(listing(folder), "");
    // A folder that cannot be made takes those above it along.
    char path[PATH_MAX], name[300];
    memset(name, 'n', 299);
    name[299] = '\0';
    snprintf(path, sizeof path, "%s/u/v/%s/a.npy", folder, name);
    prepare(&o, &ps_format_npy, path);
    CU_ASSERT_FALSE(write_numbers(&o));
    done(&o);
    CU_ASSERT_STRING_EQUAL(listing(folder), "");
    // One that was there stays, empty or not.
    CU_ASSERT_EQUAL(mkdir(in(folder, "mine"), 0777), 0);
    prepare(&o, &ps_format_npy, in(folder, "mine/sub/a.npy"));
    CU_ASSERT(write_numbers(&o));
    done(&o);
    CU_ASSERT_STRING_EQUAL(listing(folder), "mine");
}

static void links_and_modes(void)
{
    const char *folder = room("links");
    struct ps_error error;
    struct stat status;
    CU_ASSERT_EQUAL(mkdir(in(folder, "store"), 0777), 0);
    CU_ASSERT(help_file(in(folder, "store/t.npy"), "old", 3));
    CU_ASSERT_EQUAL(chmod(in(folder, "store/t.npy"), 0640), 0);
    CU_ASSERT_EQUAL(symlink("store/t.npy", in(folder, "out.npy")), 0);
    CU_ASSERT(write_file(&ps_format_npy, in(folder, "out.npy"), true, &error));
    CU_ASSERT(lstat(in(folder, "out.npy"), &status) == 0 && S_ISLNK(status.st_mode));
    CU_ASSERT(stat(in(folder, "store/t.npy"), &status) == 0 && status.st_size == 152);
    CU_ASSERT_EQUAL(status.st_mode & 07777, 0640);
    CU_ASSERT_STRING_EQUAL(listing(in(folder, "store")), "t.npy t.npy.job.yaml");
    CU_ASSERT_STRING_EQUAL(listing(folder), "out.npy store");
    mode_t before = umask(027);
    CU_ASSERT(write_file(&ps_format_npy, in(folder, "new.npy"), false, &error));
    umask(before);
    CU_ASSERT(stat(in(folder, "new.npy"), &status) == 0 && (status.st_mode & 07777) == 0640);
}

static void leftovers(void)
{
    const char *folder = room("leftovers");
    struct ps_error error;
    CU_ASSERT(help_file(in(folder, ".a.npy.99999-0.part"), "dead", 4));
    CU_ASSERT(help_file(in(folder, ".a.npy.job.yaml.99999-1.part"), "dead", 4));
    CU_ASSERT(help_file(in(folder, ".a.npy.99998-0.part"), "alive", 5));
    CU_ASSERT(help_file(in(folder, ".b.npy.99999-0.part"), "of another file", 15));
    CU_ASSERT(help_file(in(folder, ".a.npy.mine.part"), "not ours", 8));
    int held = open(in(folder, ".a.npy.99998-0.part"), O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CU_ASSERT(held >= 0 && fcntl(held, F_OFD_SETLK, &whole) == 0);
    CU_ASSERT(write_file(&ps_format_npy, in(folder, "a.npy"), false, &error));
    CU_ASSERT_STRING_EQUAL(listing(folder), ".a.npy.99998-0.part .a.npy.mine.part "
                                            ".b.npy.99999-0.part a.npy a.npy.job.yaml");
    close(held);
}

static void long_names(void)
{
    const char *folder = room("long");
    char name[256];
    struct ps_error error;
    memset(name, 'n', 242);
    memcpy(name + 242, ".npy", 5); // 246 bytes, and .job.yaml makes 255
    CU_ASSERT(write_file(&ps_format_npy, in(folder, name), false, &error));
    CU_ASSERT(exists(in(folder, name)));
    CU_ASSERT_PTR_NULL(strstr(listing(folder), ".part"));
}

// Many processes that write the same file: each result is whole, and one remains.
static void writers_at_once(void)
{
    const char *folder = room("writers");
    const char *path = in(folder, "a.npy");
    pid_t children[8];
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct ps_error error = {0};
            bool fine = true;
            for (int k = 0; fine && k < 20; k++)
                fine = write_file(&ps_format_npy, path, true, &error);
            if (!fine)
                fprintf(stderr, "\n  %s\n", error.text);
            _exit(fine ? 0 : 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        int status = -1;
        CU_ASSERT(children[i] > 0 && waitpid(children[i], &status, 0) == children[i]);
        CU_ASSERT_EQUAL(status, 0);
    }
    CU_ASSERT_STRING_EQUAL(listing(folder), "a.npy a.npy.job.yaml");
}

// A limit on the size of files fails as a full disk does.
static void full_disk(void)
{
    const char *folder = room("full");
    static char zeros[1 << 20];
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 300000;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    static const struct ps_format *const formats[] = {&ps_format_npy, &ps_format_raw};
    for (int i = 0; i < 2; i++) {
        struct help_output o;
        prepare(&o, formats[i], in(folder, "a.out"));
        ps_array_init(&o.spec.array, PS_F32, 1, (int64_t[]){1 << 18});
        struct ps_block block = {&o.spec.array, 0, 1 << 18, zeros};
        CU_ASSERT(ps_output_open(&o.spec, NULL, &o.output, &o.error));
        CU_ASSERT_FALSE(ps_output_write(o.output, &block, &o.error));
        CU_ASSERT_EQUAL(o.error.status, PS_OUTPUT);
        CHECK_TEXT(o.error.text, "a.out: File too large");
        done(&o);
    }
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
    CU_ASSERT_STRING_EQUAL(listing(folder), "");
}

int main(void)
{
    static const struct check_test tests[] = {
        {"npy, byte by byte", npy_bytes},
        {"npy and back", npy_round_trip},
        {"raw, big-endian", raw_big_endian},
        {"digest and null", digest_and_null},
        {"conversion", converts},
        {"refusals", refusals},
        {"inputs are never outputs", inputs_are_never_outputs},
        {"two outputs in one file", collisions},
        {"nothing before commit", nothing_before_commit},
        {"folders", folders_come_and_go},
        {"links and modes", links_and_modes},
        {"leftovers", leftovers},
        {"long names", long_names},
        {"writers at once", writers_at_once},
        {"full disk", full_disk},
        {NULL, NULL},
    };
    return help_finish(check_main("output", tests));
}
