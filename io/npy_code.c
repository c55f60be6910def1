// SPDX-License-Identifier: Apache-2.0
// One dtype code of a .npy header ('<f4', '|S5', '<M8[ns]'): what can be read, and the names and
// sizes of what cannot.
#include "io/npy_header.h"
#include "io/time_unit.h"

#include <stdlib.h>
#include <string.h>

const char ps_npy_date_member[] = "dates or time differences, to be read by `dates:`";
const char ps_npy_complex_member[] = "complex numbers, to be read by `complex: parts`";

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
        return "dates (datetime64) without a unit, or in several of one";
    case 'm':
        return "time differences (timedelta64) without a unit, in several of one, or in years or "
               "months";
    case 'c':
        return "long complex numbers";
    case 'f':
        return "long doubles";
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
    } table[] = {{"b1", PS_BOOL}, {"?", PS_BOOL}, {"i1", PS_I8},  {"i2", PS_I16}, {"i4", PS_I32},
                 {"i8", PS_I64},  {"u1", PS_U8},  {"u2", PS_U16}, {"u4", PS_U32}, {"u8", PS_U64},
                 {"f2", PS_F16},  {"f4", PS_F32}, {"f8", PS_F64}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].code, code) == 0) {
            *dtype_out = table[i].dtype;
            return true;
        }
    }
    return false;
}

// Bytes of an element that is not read, so that its neighbours are found. False: not known.
static bool unread_bytes(const char *code, size_t *bytes_out)
{
    char *end;
    if (code[0] == '\0' || strchr("USaVMmcf", code[0]) == NULL)
        return false;
    long long count = strtoll(code + 1, &end, 10);
    bool digits = code[1] >= '0' && code[1] <= '9' && count >= 0 && count <= INT32_MAX;
    bool whole = *end == '\0' || (*end == '[' && strchr("Mm", code[0]) != NULL);
    // "f3" and "c7" are nothing that NumPy has.
    bool sized =
        strchr("cf", code[0]) == NULL || count == 12 || count == 16 || count == 24 || count == 32;
    *bytes_out = (size_t)count * (code[0] == 'U' ? 4 : 1);
    return digits && whole && sized;
}

// 'M8[ns]', 'm8[D]'. NULL: another type, or no unit that has a fixed length (of differences).
static const struct ps_time_unit *find_unit(const char *code)
{
    size_t length = strlen(code);
    if (length < 5 || (strncmp(code, "M8[", 3) != 0 && strncmp(code, "m8[", 3) != 0) ||
        code[length - 1] != ']')
        return NULL;
    const struct ps_time_unit *unit = ps_time_unit_find(code + 3, length - 4);
    bool calendar = unit != NULL && unit->seconds == 0 && unit->decimals == 0;
    return calendar && code[0] == 'm' ? NULL : unit;
}

static bool add_parts(struct ps_literal *p, enum ps_dtype dtype, bool swapped,
                      struct ps_npy_type *type)
{
    static const char *const names[] = {"re", "im"};
    type->is_complex = true;
    for (int i = 0; i < 2; i++) {
        struct ps_member *member = ps_record_add(&type->record, names[i], p->path, p->error);
        if (member == NULL)
            return false;
        member->dtype = dtype;
        member->swapped = swapped;
        member->offset = type->record.bytes;
        type->record.bytes += ps_dtype_bytes(dtype);
    }
    return true;
}

bool ps_npy_code_parse(struct ps_literal *p, const char *text, struct ps_npy_type *type)
{
    bool ordered = text[0] != '\0' && strchr("<>=|", text[0]) != NULL;
    bool swapped = text[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    const char *code = text + ordered;
    if (strcmp(code, "c8") == 0 || strcmp(code, "c16") == 0)
        return add_parts(p, code[1] == '8' ? PS_F32 : PS_F64, swapped, type);
    struct ps_member *member = ps_record_add(&type->record, "", p->path, p->error);
    if (member == NULL)
        return false;
    member->time = find_unit(code);
    if (member->time != NULL) {
        member->dtype = PS_I64;
        member->refused = ps_npy_date_member;
    }
    if (member->time != NULL || find_dtype(code, &member->dtype)) {
        type->record.bytes = ps_dtype_bytes(member->dtype);
        member->swapped = swapped && type->record.bytes > 1;
        return true;
    }
    bool known = unread_bytes(code, &type->record.bytes);
    type->refused = unread_kind(known || code[0] == 'O' ? code[0] : '?');
    type->unsized = !known;
    member->refused = type->refused;
    type->is_void = known && code[0] == 'V';
    return true;
}
