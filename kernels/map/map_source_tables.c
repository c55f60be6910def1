// SPDX-License-Identifier: Apache-2.0
// CUDA C of what reads whole arrays by number, and of what finds faults in the data. The same
// arithmetic as map_table_cpu.c.
#include "kernels/map/map.h"

#include <stdio.h>

// As struct ps_map_note. Of several faults the one with the largest key, so the first one, stays; a
// lock keeps its values together with it. Faults are rare: nothing here is fast but the way round.
static const char note_text[] =
    "struct ps_note { unsigned long long key; long long first; unsigned long long a, b;\n"
    "                 unsigned lock, unused; };\n"
    "PS_FN unsigned long long ps_bits(double x) { return __double_as_longlong(x); }\n"
    "PS_FN void ps_fault(ps_note *note, unsigned long long place, long long first,\n"
    "                    unsigned long long a, unsigned long long b)\n"
    "{\n"
    "    const unsigned long long key = 0xffffffffffffffffull - place;\n"
    "    bool done = key <= *(volatile unsigned long long *)&note->key;\n"
    "    while (!done) {\n"
    "        if (atomicCAS(&note->lock, 0u, 1u) == 0u) {\n"
    "            __threadfence();\n"
    "            volatile ps_note *n = note;\n"
    "            if (key > n->key) { n->key = key; n->first = first; n->a = a; n->b = b; }\n"
    "            __threadfence();\n"
    "            atomicExch(&note->lock, 0u);\n"
    "            done = true;\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char *c_type(enum ps_dtype dtype)
{
    return ps_dtype_info(dtype)->c;
}

// Element `index` (an expression) of a table that is called `name`, as its register has it.
static void print_element(const struct ps_leaf *leaf, const char *name, const char *index,
                          struct ps_text *out)
{
    bool half = leaf->dtype == PS_F16;
    ps_text_printf(out, "%s%s[%lldll + (%s) * %lldll]%s", half ? "ps_from_half(" : "", name,
                   (long long)leaf->offset, index, (long long)leaf->strides[0], half ? ")" : "");
}

static void print_interp(const struct ps_program *program, int n, struct ps_text *out)
{
    const struct ps_instruction *i = &program->code.list[n];
    const struct ps_leaf *xs = &program->code.leaves[i->b], *ys = &program->code.leaves[i->c];
    for (int k = 0; k < n; k++) {
        const struct ps_instruction *other = &program->code.list[k];
        if (other->op == PS_OP_INTERP && other->b == i->b && other->c == i->c)
            return; // it is there
    }
    ps_text_printf(out,
                   "PS_FN double ps_interp_%d_%d(double x, const %s *xs, const %s *ys)\n{\n"
                   "    long long low = 0, high = %lldll, middle;\n"
                   "    if (x != x) return x;\n    if (x < (double)",
                   i->b, i->c, c_type(xs->dtype), c_type(ys->dtype), (long long)xs->count - 1);
    print_element(xs, "xs", "0", out);
    ps_text_add(out, ") return (double)");
    print_element(ys, "ys", "0", out);
    ps_text_add(out, ";\n    if (x >= (double)");
    print_element(xs, "xs", "high", out);
    ps_text_add(out, ") return (double)");
    print_element(ys, "ys", "high", out);
    ps_text_add(out, ";\n    while (high - low > 1) {\n        middle = low + (high - low) / 2;\n"
                     "        if ((double)");
    print_element(xs, "xs", "middle", out);
    ps_text_add(out, " <= x) low = middle; else high = middle;\n    }\n    return ps_between(x");
    for (int part = 0; part < 4; part++) {
        ps_text_add(out, ", (double)");
        print_element(part < 2 ? xs : ys, part < 2 ? "xs" : "ys", part % 2 ? "low + 1" : "low",
                      out);
    }
    ps_text_add(out, ");\n}\n");
}

void ps_map_print_tables(const struct ps_program *program, struct ps_text *out)
{
    ps_text_add(out, program->checks ? note_text : "");
    for (int n = 0; n < program->code.count; n++)
        if (program->code.list[n].op == PS_OP_INTERP)
            print_interp(program, n, out);
}

void ps_map_print_lookup(const struct ps_program *program, const struct ps_instruction *i,
                         struct ps_text *out)
{
    const struct ps_leaf *leaf = &program->code.leaves[i->b];
    char name[32], index[32];
    snprintf(name, sizeof name, "in%d", program->leaf_inputs[i->b]);
    snprintf(index, sizeof index, "v%d", i->a);
    ps_text_printf(out, "(unsigned long long)v%d < %lluull ? ", i->a,
                   (unsigned long long)leaf->count);
    print_element(leaf, name, index, out);
    ps_text_printf(out, " : (%s)%s", c_type(i->result),
                   i->result == PS_F64   ? "__longlong_as_double(0x7ff8000000000000ll)"
                   : i->result == PS_F32 ? "__int_as_float(0x7fc00000)"
                                         : "0");
}

static void print_bits(enum ps_dtype dtype, int value, struct ps_text *out)
{
    ps_text_printf(
        out, ps_dtype_is_float(dtype) ? ", ps_bits((double)v%d)" : ", (unsigned long long)v%d",
        value);
}

void ps_map_print_check(const struct ps_program *program, int n, const char *indent,
                        struct ps_text *out)
{
    const struct ps_instruction *i = &program->code.list[n];
    bool two = ps_op_infos[i->op].arguments > 1;
    ps_text_printf(out, "%sif (", indent);
    if (i->op == PS_OP_LOOKUP)
        ps_text_printf(out, "(unsigned long long)v%d >= %lluull", i->a,
                       (unsigned long long)program->code.leaves[i->b].count);
    else if (i->op == PS_OP_CAST)
        ps_text_printf(out, "ps_lost_%s_%s(v%d)", ps_dtype_name(i->result),
                       ps_dtype_is_float(i->dtype)                        ? "f"
                       : ps_dtype_info(i->dtype)->kind == PS_CLASS_SIGNED ? "i"
                                                                          : "u",
                       i->a);
    else
        ps_text_printf(out, two ? "ps_over_%s_%s(v%d, v%d)" : "ps_over_%s_%s(v%d)",
                       ps_op_infos[i->op].name, ps_dtype_name(i->dtype), i->a, i->b);
    ps_text_printf(out, ")\n%s    ps_fault(note, e * %dull + %dull, first", indent,
                   program->code.count, n);
    print_bits(i->dtype, i->a, out);
    if (two)
        print_bits(i->dtype, i->b, out);
    ps_text_add(out, two ? ");\n" : ", 0);\n");
}

void ps_map_print_place_checks(const struct ps_program *program, struct ps_text *out)
{
    for (int n = 0; n < program->code.count; n++) {
        const struct ps_instruction *i = &program->code.list[n];
        char name[32];
        if (i->op != PS_OP_INTERP)
            continue;
        const struct ps_leaf *xs = &program->code.leaves[i->b];
        snprintf(name, sizeof name, "in%d", program->leaf_inputs[i->b]);
        ps_text_printf(out,
                       "    for (long long k = thread; first == 0 && k < %lldll; k += threads)\n"
                       "        if (!((double)",
                       (long long)xs->count - 1);
        print_element(xs, name, "k", out);
        ps_text_add(out, " <= (double)");
        print_element(xs, name, "k + 1", out);
        // The first such k of all: it counts as the element here, which no message shows.
        ps_text_printf(out, "))\n            ps_fault(note, %dull, first, k, 0);\n", n);
    }
}
