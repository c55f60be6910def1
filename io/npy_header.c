// SPDX-License-Identifier: Apache-2.0
// Parser of the small part of Python literals that a .npy header is made of: one dict with the
// keys descr, fortran_order and shape in any order. Nothing is ever evaluated or unpickled.
#include "io/npy_header.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

struct parser {
    const char *at, *end, *start;
    const char *path;
    int major;
    struct ps_npy_header *header;
    bool fortran;
    struct ps_error *error;
};

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && strchr(" \t\r\n\f", *p->at) != NULL && *p->at != '\0')
        p->at++;
}

static bool expected(struct parser *p, const char *what)
{
    char near[64];
    size_t left = (size_t)(p->end - p->at);
    return ps_fail(p->error, PS_INPUT,
                   "%s: broken npy header at character %zu: %s expected before "
                   "'%s'",
                   p->path, (size_t)(p->at - p->start) + 1, what,
                   ps_escape(p->at, left < 40 ? left : 40, near, sizeof near));
}

static bool peek(struct parser *p, char c)
{
    skip_blanks(p);
    return p->at < p->end && *p->at == c;
}

static bool take(struct parser *p, char c)
{
    if (!peek(p, c))
        return false;
    p->at++;
    return true;
}

// A string in single or double quotes, without escapes (no name or dtype needs one).
static bool take_string(struct parser *p, const char *what, const char **text, size_t *length)
{
    if (!peek(p, '\'') && !peek(p, '"'))
        return expected(p, what);
    char quote = *p->at;
    const char *start = p->at + 1, *stop = start;
    while (stop < p->end && *stop != quote && *stop != '\\' && *stop != '\n')
        stop++;
    if (stop == p->end || *stop != quote)
        return expected(p, what);
    *text = start;
    *length = (size_t)(stop - start);
    p->at = stop + 1;
    return true;
}

// Whether the word is next and ends there ("True" but not "Trueish").
static bool take_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return false;
    char next = p->at + n < p->end ? p->at[n] : ' ';
    if (next == '_' || (next >= '0' && next <= '9') || ((next | 32) >= 'a' && (next | 32) <= 'z'))
        return false;
    p->at += n;
    return true;
}

// ---- descr ----

static bool refuse_type(struct parser *p, const char *descr, const char *what)
{
    return ps_fail(p->error, PS_INPUT,
                   "%s holds %s (dtype %s); only bool, integers of 8 to 64 bits "
                   "and floats of 16 to 64 bits can be read: convert it with NumPy first",
                   p->path, what, descr);
}

static const char *unread_kind(char kind)
{
    switch (kind) {
    case 'O':
        return "Python objects (a pickle, which is never unpacked)";
    case 'U':
    case 'S':
    case 'a':
        return "text, not numbers";
    case 'M':
        return "dates (datetime64)";
    case 'm':
        return "time differences (timedelta64)";
    case 'c':
        return "complex numbers";
    case 'V':
        return "raw bytes (void)";
    default:
        return "an unknown type";
    }
}

static bool find_dtype(const char *code, enum ps_dtype *dtype_out)
{
    static const struct {
        const char *code;
        enum ps_dtype dtype;
    } table[] = {{"b1", PS_BOOL}, {"i1", PS_I8},  {"i2", PS_I16}, {"i4", PS_I32},
                 {"i8", PS_I64},  {"u1", PS_U8},  {"u2", PS_U16}, {"u4", PS_U32},
                 {"u8", PS_U64},  {"f2", PS_F16}, {"f4", PS_F32}, {"f8", PS_F64}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].code, code) == 0) {
            *dtype_out = table[i].dtype;
            return true;
        }
    }
    return false;
}

static bool parse_descr(struct parser *p)
{
    const char *text;
    size_t length;
    char code[16];
    struct ps_npy_header *header = p->header;
    if (peek(p, '['))
        return refuse_type(p, "[...]", "records with named fields");
    if (!take_string(p, "a dtype in quotes such as '<f4'", &text, &length))
        return false;
    ps_escape(text, length, header->descr, sizeof header->descr);
    bool ordered = length > 0 && strchr("<>=|", text[0]) != NULL && text[0] != '\0';
    bool swapped = ordered && text[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    size_t n = length - ordered;
    snprintf(code, sizeof code, "%.*s", (int)(n < 15 ? n : 15), text + ordered);
    if (n > 15 || !find_dtype(code, &header->array.dtype))
        return refuse_type(p, header->descr,
                           strcmp(code, "f16") == 0 || strcmp(code, "f12") == 0
                               ? "long doubles"
                               : unread_kind(code[0]));
    header->swapped = swapped && ps_dtype_bytes(header->array.dtype) > 1;
    return true;
}

// ---- shape ----

static bool parse_size(struct parser *p, int64_t *size_out)
{
    int64_t value = 0;
    const char *start = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return ps_fail(p->error, PS_INPUT,
                           "%s: an axis of the npy header's shape is larger "
                           "than 2^63",
                           p->path);
    if (p->at == start)
        return expected(p, "a whole number >= 0 in the shape");
    if (p->major < 3 && p->at < p->end && *p->at == 'L')
        p->at++; // Python 2 wrote long integers so
    *size_out = value;
    return true;
}

static bool parse_shape(struct parser *p)
{
    struct ps_array *array = &p->header->array;
    bool comma = false;
    if (!take(p, '('))
        return expected(p, "a shape in parentheses");
    while (!peek(p, ')')) {
        if (array->rank > 0 && !comma)
            return expected(p, "',' or ')'");
        if (array->rank == PS_RANK_MAX)
            return ps_fail(p->error, PS_INPUT, "%s: the array has more than %d axes", p->path,
                           PS_RANK_MAX);
        if (!parse_size(p, &array->dims[array->rank++]))
            return false;
        comma = take(p, ',');
    }
    p->at++;
    // "(184)" is a number, not a tuple; "(184,)" is meant, but NumPy refuses it as well.
    if (array->rank == 1 && !comma)
        return ps_fail(p->error, PS_INPUT,
                       "%s: the npy header's shape (%lld) is not a tuple; a "
                       "correct writer says (%lld,)",
                       p->path, (long long)array->dims[0], (long long)array->dims[0]);
    return true;
}

// ---- the dict ----

static bool parse_order(struct parser *p)
{
    p->fortran = take_word(p, "True");
    return p->fortran || take_word(p, "False") || expected(p, "True or False");
}

static bool parse_entry(struct parser *p, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static bool (*const values[])(struct parser *) = {parse_descr, parse_order, parse_shape};
    const char *key;
    size_t length;
    char shown[64];
    if (!take_string(p, "a key in quotes", &key, &length))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (strlen(keys[i]) != length || memcmp(keys[i], key, length) != 0)
            continue;
        if (*seen & 1u << i)
            return ps_fail(p->error, PS_INPUT, "%s: the npy header has '%s' twice", p->path,
                           keys[i]);
        *seen |= 1u << i;
        return take(p, ':') ? values[i](p) : expected(p, "':'");
    }
    return ps_fail(p->error, PS_INPUT,
                   "%s: the npy header has the unknown key '%s'; it must have "
                   "exactly descr, fortran_order and shape",
                   p->path, ps_escape(key, length, shown, sizeof shown));
}

static bool parse_dict(struct parser *p)
{
    unsigned seen = 0;
    bool comma = true;
    if (!take(p, '{'))
        return expected(p, "'{'");
    while (!peek(p, '}')) {
        if (!comma)
            return expected(p, "',' or '}'");
        if (!parse_entry(p, &seen))
            return false;
        comma = take(p, ',');
    }
    p->at++;
    if (seen != 7)
        return ps_fail(p->error, PS_INPUT, "%s: the npy header lacks '%s'", p->path,
                       !(seen & 1)   ? "descr"
                       : !(seen & 2) ? "fortran_order"
                                     : "shape");
    skip_blanks(p);
    return p->at == p->end || expected(p, "the end of the header");
}

bool ps_npy_header_parse(const char *text, size_t length, int major, const char *path,
                         struct ps_npy_header *header, struct ps_error *error)
{
    struct parser p = {.at = text,
                       .end = text + length,
                       .start = text,
                       .path = path,
                       .major = major,
                       .header = header,
                       .error = error};
    *header = (struct ps_npy_header){0};
    if (!parse_dict(&p))
        return false;
    int wide_axes = 0; // axes of size 1 do not care about the order
    for (int i = 0; i < header->array.rank; i++)
        wide_axes += header->array.dims[i] != 1;
    header->fortran = p.fortran && wide_axes > 1;
    return true;
}
