// SPDX-License-Identifier: Apache-2.0
// The twin in C: written into a folder of its own, compiled by the system's compiler, loaded.
#include "kernels/kernel/kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 32
#define MESSAGES_MAX 1100 // bytes of the compiler's messages that are shown

struct workshop { // the folder and the files in it
    char *folder, *source, *library, *messages;
};

static const char *const file_names[] = {"twin.c", "twin.so", "messages.txt"};

static void close_workshop(struct workshop *shop)
{
    char *const files[] = {shop->source, shop->library, shop->messages};
    for (int i = 0; i < 3; i++) {
        if (files[i] != NULL)
            unlink(files[i]);
        free(files[i]);
    }
    if (shop->folder != NULL)
        rmdir(shop->folder);
    free(shop->folder);
}

static bool open_workshop(struct workshop *shop, struct ps_error *error)
{
    const char *temp = getenv("TMPDIR");
    temp = temp != NULL && temp[0] == '/' ? temp : "/tmp";
    char *folder = ps_path_join(temp, "penstock-XXXXXX");
    if (folder == NULL)
        return ps_fail_memory(error, strlen(temp), "a folder's name");
    if (mkdtemp(folder) == NULL) {
        ps_fail_errno(error, PS_OUTPUT, "cannot make a folder in %s to compile the cpu twin in",
                      temp);
        free(folder);
        return false;
    }
    shop->folder = folder;
    shop->source = ps_path_join(folder, file_names[0]);
    shop->library = ps_path_join(folder, file_names[1]);
    shop->messages = ps_path_join(folder, file_names[2]);
    return (shop->source && shop->library && shop->messages) ||
           ps_fail_memory(error, strlen(folder), "a file's name");
}

static bool write_text(const char *path, const struct ps_text *text, struct ps_error *error)
{
    FILE *file = fopen(path, "wxe");
    bool fine = file != NULL && fwrite(text->data, 1, text->length, file) == text->length;
    if (file != NULL)
        fine = fclose(file) == 0 && fine;
    return fine || ps_fail_errno(error, PS_OUTPUT, "cannot write %s", path);
}

// What is written down is what is computed: no contraction, no fast-math, as in our own code.
static int gather_words(char *compiler, const struct workshop *shop, const char *include,
                        const char **words)
{
    static const char *const flags[] = {
        "-O2",        "-std=gnu17", "-ffp-contract=off",
        "-fPIC",      "-shared",    "-Werror=implicit-function-declaration",
        "-Wl,-z,defs"};
    int count = 0;
    for (char *word; (word = strsep(&compiler, " ")) != NULL && count < 8;)
        if (*word != '\0')
            words[count++] = word;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        words[count++] = flags[i];
    if (include != NULL) {
        words[count++] = "-iquote";
        words[count++] = include;
    }
    words[count++] = "-o";
    words[count++] = shop->library;
    words[count++] = shop->source;
    words[count++] = "-lm";
    words[count] = NULL;
    return count;
}

static int spawn(const char *const *words, const char *messages, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0)
        return result;
    result = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (result == 0)
        result = posix_spawnp(child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

// Carets stand under the wrong column where a block of the config is indented: they are left out.
static void read_messages(FILE *file, struct ps_text *out)
{
    char line[512];
    while (out->length < MESSAGES_MAX && fgets(line, sizeof line, file) != NULL)
        if (line[strspn(line, " |^~\n")] != '\0')
            ps_text_add(out, line);
    while (out->length > 0 && out->data[out->length - 1] == '\n')
        out->data[--out->length] = '\0';
}

static bool report_messages(const struct ps_kernel *kernel, const char *path,
                            struct ps_error *error)
{
    struct ps_text signature = {0}, text = {0};
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        read_messages(file, &text);
        fclose(file);
    }
    ps_kernel_signature(kernel, false, &signature);
    ps_fail(error, PS_USAGE, "the cpu twin, expected to define %s, does not compile:\n%s",
            signature.data != NULL ? signature.data : kernel->function,
            text.length > 0 ? text.data : "the compiler gave no reason");
    ps_text_free(&text);
    ps_text_free(&signature);
    return false;
}

static bool compile(const struct ps_kernel *kernel, const struct workshop *shop,
                    struct ps_error *error)
{
    const char *asked = getenv("CC"), *words[WORDS_MAX];
    char *compiler = ps_strdup(asked != NULL && asked[strspn(asked, " ")] != '\0' ? asked : "cc");
    pid_t child = 0;
    int status = 0;
    if (compiler == NULL)
        return ps_fail_memory(error, 16, "the compiler's name");
    gather_words(compiler, shop, kernel->c.folder, words);
    int result = spawn(words, shop->messages, &child);
    while (result == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (result != 0) {
        errno = result;
        ps_fail_errno(error, PS_DEVICE,
                      "the cpu twin needs a C compiler, but '%s' cannot be started (install one, "
                      "for example the package gcc; set CC to its name; or write the twin as "
                      "`cpu_expr`)",
                      words[0]);
    } else if (WIFSIGNALED(status)) {
        ps_fail(error, PS_DEVICE, "the C compiler '%s' was ended by signal %d", words[0],
                WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        report_messages(kernel, shop->messages, error);
    }
    free(compiler);
    return error->status == PS_OK;
}

// ISO C has no conversion from void * to a function pointer; POSIX has, through memory.
static bool load(const struct workshop *shop, struct ps_twin *twin, struct ps_error *error)
{
    void (*begin)(float (*)(uint16_t), uint16_t (*)(float)) = NULL;
    twin->library = dlopen(shop->library, RTLD_NOW | RTLD_LOCAL);
    if (twin->library == NULL)
        return ps_fail(
            error, PS_DEVICE,
            "the compiled cpu twin cannot be loaded: %s (if its folder forbids programs, "
            "set TMPDIR to one that allows them)",
            dlerror());
    void *symbols[] = {dlsym(twin->library, "ps_twin_begin"), dlsym(twin->library, "ps_twin_run")};
    if (symbols[0] == NULL || symbols[1] == NULL)
        return ps_fail(error, PS_BUG, "the cpu twin lacks its entry");
    memcpy(&begin, &symbols[0], sizeof begin);
    memcpy(&twin->run, &symbols[1], sizeof twin->run);
    begin(ps_f16_to_f32, ps_f32_to_f16);
    return true;
}

bool ps_twin_open(const struct ps_kernel *kernel, struct ps_twin *twin, struct ps_error *error)
{
    struct workshop shop = {0};
    struct ps_text source = {0};
    bool fine = ps_kernel_c_source(kernel, &source) ||
                ps_fail_memory(error, source.length, "the source of the cpu twin");
    fine = fine && open_workshop(&shop, error) && write_text(shop.source, &source, error) &&
           compile(kernel, &shop, error) && load(&shop, twin, error);
    close_workshop(&shop);
    ps_text_free(&source);
    if (!fine)
        ps_twin_close(twin);
    return fine;
}

void ps_twin_close(struct ps_twin *twin)
{
    if (twin->library != NULL)
        dlclose(twin->library);
    *twin = (struct ps_twin){0};
}
