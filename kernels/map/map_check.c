// SPDX-License-Identifier: Apache-2.0
// Faults that the data of a map has: which instructions can find one, and in words what was found.
#include "kernels/map/map.h"

#include <string.h>

bool ps_map_can_fail(const struct ps_code *code, const struct ps_instruction *i)
{
    return i->checked || i->op == PS_OP_INTERP ||
           (i->op == PS_OP_LOOKUP && !ps_dtype_is_float(code->leaves[i->b].dtype));
}

size_t ps_map_check_bytes(const struct ps_step *step)
{
    for (int s = 0; s < step->stage_count; s++) {
        const struct ps_map_detail *detail = step->stages[s]->detail;
        for (int i = 0; i < detail->code.count; i++)
            if (ps_map_can_fail(&detail->code, &detail->code.list[i]))
                return sizeof(struct ps_map_note);
    }
    return 0;
}

static void print_number(enum ps_dtype dtype, uint64_t bits, struct ps_text *out)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (ps_dtype_is_float(dtype))
        ps_number_print(number, out);
    else if (ps_dtype_info(dtype)->kind == PS_CLASS_SIGNED)
        ps_text_printf(out, "%lld", (long long)bits);
    else
        ps_text_printf(out, "%llu", (unsigned long long)bits);
}

#define SHOWN 60 // characters of an expression

// The part of the expression, on one line, cut when it is long.
static void print_part(const struct ps_instruction *i, struct ps_text *out)
{
    const char *p = i->text;
    int at = 0, end = i->start + (i->length < SHOWN ? i->length : SHOWN);
    bool blank = false;
    ps_text_add(out, "`");
    for (; *p != '\0'; p++) {
        at += ((unsigned char)*p & 0xc0) != 0x80;
        if (at > end)
            break;
        bool white = *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r';
        if (at > i->start && white)
            blank = true;
        else if (at > i->start) {
            ps_text_add(out, blank ? " " : "");
            ps_text_append(out, p, 1);
            blank = false;
        }
    }
    ps_text_add(out, i->length > SHOWN ? "...`" : "`");
}

// "row 17, column 3", of the result.
static void print_place(const struct ps_program *p, int64_t first_row, int64_t element,
                        struct ps_text *out)
{
    int64_t rest = element % p->row_elements, below = p->row_elements;
    if (!p->whole)
        ps_text_printf(out, "row %lld%s", (long long)(first_row + element / p->row_elements),
                       p->row_rank > 0 ? ", " : "");
    if (!p->whole && p->row_rank == 1) {
        ps_text_printf(out, "column %lld", (long long)rest);
        return;
    }
    ps_text_add(out, p->row_rank > 0 ? "element [" : "");
    for (int d = 0; d < p->row_rank; d++) {
        below /= p->row_dims[d];
        ps_text_printf(out, "%s%lld", d > 0 ? ", " : "", (long long)(rest / below));
        rest %= below;
    }
    ps_text_add(out, p->row_rank > 0 ? "]" : "");
}

static const char *sign_of(enum ps_map_op op)
{
    switch (op) {
    case PS_OP_ADD:
        return " + ";
    case PS_OP_SUB:
        return " - ";
    case PS_OP_MUL:
        return " * ";
    case PS_OP_POW:
        return " ** ";
    case PS_OP_SHL:
        return " << ";
    case PS_OP_SHR:
        return " >> ";
    case PS_OP_FLOORDIV:
        return " // ";
    case PS_OP_MOD:
        return " % ";
    default:
        return ", ";
    }
}

static void print_operation(const struct ps_instruction *i, const struct ps_map_note *note,
                            struct ps_text *out)
{
    bool two = ps_op_infos[i->op].arguments == 2;
    bool named = i->op == PS_OP_ABS || i->op == PS_OP_FMOD;
    ps_text_printf(out, "%s", i->op == PS_OP_NEG ? "-(" : named ? ps_op_infos[i->op].word : "");
    ps_text_add(out, named ? "(" : "");
    print_number(i->dtype, note->a, out);
    if (two) {
        ps_text_add(out, sign_of(i->op));
        print_number(i->dtype, note->b, out);
    }
    ps_text_add(out, named || i->op == PS_OP_NEG ? ")" : "");
    bool division = i->op == PS_OP_FLOORDIV || i->op == PS_OP_MOD || i->op == PS_OP_FMOD;
    bool shift = (i->op == PS_OP_SHL || i->op == PS_OP_SHR) && (int64_t)note->b < 0 &&
                 ps_dtype_info(i->dtype)->kind == PS_CLASS_SIGNED;
    if (division && note->b == 0)
        ps_text_add(out, " divides by zero");
    else if (shift)
        ps_text_add(out, " shifts by a negative count");
    else if (i->op == PS_OP_POW && note->a == 0)
        ps_text_add(out, " divides by zero");
    else
        ps_text_printf(out, " does not fit %s", ps_dtype_name(i->result));
}

static void print_fault(const struct ps_program *p, const struct ps_instruction *i,
                        const struct ps_map_note *note, struct ps_text *out)
{
    const struct ps_leaf *leaf = &p->code.leaves[i->b];
    if (i->op == PS_OP_INTERP) {
        ps_text_printf(out,
                       "the places are not increasing: element %lld is not above element %lld (or "
                       "one of them is NaN)",
                       (long long)note->a + 1, (long long)note->a);
    } else if (i->op == PS_OP_LOOKUP) {
        ps_text_add(out, "index ");
        print_number(PS_I64, note->a, out);
        ps_text_printf(
            out,
            " is not one of the %lld elements of the array (0 to %lld); a third argument "
            "of lookup would be taken instead",
            (long long)leaf->count, (long long)leaf->count - 1);
    } else if (i->op == PS_OP_CAST) {
        print_number(i->dtype, note->a, out);
        ps_text_printf(out, " does not fit %s", ps_dtype_name(i->result));
    } else {
        print_operation(i, note, out);
    }
}

bool ps_map_check(const struct ps_program *program, const void *noted, struct ps_error *error)
{
    const struct ps_map_note *note = noted;
    if (note->key == 0)
        return true;
    uint64_t place = UINT64_MAX - note->key, count = (uint64_t)program->code.count;
    const struct ps_instruction *i = &program->code.list[place % count];
    struct ps_text text = {0};
    if (i->op != PS_OP_INTERP) {
        print_place(program, note->first_row, (int64_t)(place / count), &text);
        ps_text_add(&text, ": ");
    }
    print_part(i, &text);
    ps_text_add(&text, ": ");
    print_fault(program, i, note, &text);
    ps_fail(error, PS_INPUT, "%s", text.failed ? "a value does not fit" : text.data);
    ps_text_free(&text);
    return false;
}
