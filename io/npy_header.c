// SPDX-License-Identifier: Apache-2.0
// The dict of a .npy header: the keys descr, fortran_order and shape in any order. Nothing is ever
// evaluated or unpickled.
#include "io/npy_header.h"

#include <stdio.h>
#include <string.h>

static bool parse_descr(struct ps_literal *p, struct ps_npy_header *header)
{
    ps_literal_peek(p, ' '); // skips blanks
    const char *start = p->at;
    if (!ps_npy_type_parse(p, &header->type))
        return false;
    size_t length = (size_t)(p->at - start);
    bool quoted = length >= 2 && (start[0] == '\'' || start[0] == '"');
    ps_escape(start + quoted, length - (quoted ? 2 : 0), header->descr, sizeof header->descr);
    return header->type.refused == NULL ||
           ps_fail(p->error, PS_INPUT,
                   "%s holds %s (dtype %s); only bool, integers of 8 to 64 bits and floats of 16 "
                   "to 64 bits can be read: convert it with NumPy first",
                   p->path, header->type.refused, header->descr);
}

static bool parse_order(struct ps_literal *p, struct ps_npy_header *header)
{
    header->fortran = ps_literal_word(p, "True");
    return header->fortran || ps_literal_word(p, "False") ||
           ps_literal_expected(p, "True or False");
}

static bool parse_shape(struct ps_literal *p, struct ps_npy_header *header)
{
    return ps_literal_shape(p, &header->array.rank, header->array.dims);
}

static bool parse_entry(struct ps_literal *p, struct ps_npy_header *header, struct ps_text *key,
                        unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static bool (*const values[])(struct ps_literal *,
                                  struct ps_npy_header *) = {parse_descr, parse_order, parse_shape};
    char shown[64];
    if (!ps_literal_text(p, "a key in quotes", key))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(keys[i], key->data) != 0)
            continue;
        if (*seen & 1u << i)
            return ps_fail(p->error, PS_INPUT, "%s: the npy header has '%s' twice", p->path,
                           keys[i]);
        *seen |= 1u << i;
        return ps_literal_take(p, ':') ? values[i](p, header) : ps_literal_expected(p, "':'");
    }
    return ps_fail(p->error, PS_INPUT,
                   "%s: the npy header has the unknown key '%s'; it must have "
                   "exactly descr, fortran_order and shape",
                   p->path, ps_escape(key->data, key->length, shown, sizeof shown));
}

static bool parse_dict(struct ps_literal *p, struct ps_npy_header *header, struct ps_text *key)
{
    unsigned seen = 0;
    bool comma = true;
    if (!ps_literal_take(p, '{'))
        return ps_literal_expected(p, "'{'");
    while (!ps_literal_peek(p, '}')) {
        if (!comma)
            return ps_literal_expected(p, "',' or '}'");
        if (!parse_entry(p, header, key, &seen))
            return false;
        comma = ps_literal_take(p, ',');
    }
    p->at++;
    if (seen != 7)
        return ps_fail(p->error, PS_INPUT, "%s: the npy header lacks '%s'", p->path,
                       !(seen & 1)   ? "descr"
                       : !(seen & 2) ? "fortran_order"
                                     : "shape");
    ps_literal_peek(p, ' '); // skips blanks
    return p->at == p->end || ps_literal_expected(p, "the end of the header");
}

// The element's own axes become the array's last ones; plain numbers give the array its dtype.
static bool settle(struct ps_npy_header *header, const char *path, struct ps_error *error)
{
    struct ps_array *array = &header->array;
    struct ps_npy_type *type = &header->type;
    if (array->rank + type->rank > PS_RANK_MAX)
        return ps_fail(error, PS_INPUT, "%s: the array has more than %d axes", path, PS_RANK_MAX);
    for (int i = 0; i < type->rank; i++)
        array->dims[array->rank++] = type->dims[i];
    int outer = array->rank - type->rank, wide_axes = 0; // axes of size 1 do not care
    for (int i = 0; i < array->rank; i++)
        wide_axes += array->dims[i] != 1;
    header->fortran = header->fortran && wide_axes > 1;
    if (header->fortran && type->rank > 0 && outer > 1)
        return ps_fail(error, PS_INPUT,
                       "%s: sub-arrays of an array in Fortran order cannot be read: convert it "
                       "with numpy.ascontiguousarray first",
                       path);
    header->fortran = header->fortran && type->rank == 0;
    type->rank = 0;
    if (type->structured && array->rank == 0)
        array->dims[array->rank++] = 1; // a single record is one row
    if (!type->structured) {
        array->dtype = type->record.members[0].dtype;
        header->swapped = type->record.members[0].swapped;
    }
    return true;
}

bool ps_npy_header_parse(const char *text, size_t length, int major, const char *path,
                         struct ps_npy_header *header, struct ps_error *error)
{
    struct ps_literal p = {.at = text,
                           .end = text + length,
                           .start = text,
                           .path = path,
                           .major = major,
                           .error = error};
    struct ps_text key = {0};
    *header = (struct ps_npy_header){0};
    bool fine = parse_dict(&p, header, &key) && settle(header, path, error);
    ps_text_free(&key);
    if (!fine)
        ps_npy_header_free(header);
    return fine;
}

void ps_npy_header_free(struct ps_npy_header *header)
{
    ps_npy_type_free(&header->type);
}
