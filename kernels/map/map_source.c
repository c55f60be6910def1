// SPDX-License-Identifier: Apache-2.0
// CUDA C for a map program: one kernel, no includes (headers cost NVRTC a second). Text only; it
// is compiled and launched by map_cuda.c.
//
// Neighbouring elements make a group (four of f32, sixteen of u8): a thread loads each array's
// group at once, 16 bytes where it can, computes them and stores them at once. What does not fill a
// group is done one by one.
#include "kernels/map/map.h"

#include <math.h>
#include <string.h>

extern const char ps_map_scalar_text[]; // scalar.h and checked.h, embedded by the build

static const char prelude[] =
    "#define PS_FN static __device__ __forceinline__\n"
    "PS_FN float ps_from_half(unsigned short h)\n"
    "{ float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h)); return f; }\n"
    "PS_FN unsigned short ps_to_half(float f)\n"
    "{ unsigned short h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f)); return h; }\n"
    "PS_FN unsigned short ps_to_half(double f)\n"
    "{ unsigned short h; asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(h) : \"d\"(f)); return h; }\n";

// Every helper is pasted in; that most are not used is no news.
const char *const ps_map_nvrtc_options[] = {"-w", NULL};

static const char *c_type(enum ps_dtype dtype)
{
    return ps_dtype_info(dtype)->c;
}

static void print_constant(const struct ps_instruction *i, struct ps_text *out)
{
    unsigned long long bits;
    switch (i->result) {
    case PS_F32: {
        unsigned single;
        float value = (float)i->number;
        memcpy(&single, &value, sizeof single);
        ps_text_printf(out, "__int_as_float(0x%08x)", single);
        return;
    }
    case PS_F64:
        memcpy(&bits, &i->number, sizeof bits);
        ps_text_printf(out, "__longlong_as_double(0x%016llxll)", bits);
        return;
    default:
        ps_text_printf(out, "(%s)0x%llxull", c_type(i->result), (unsigned long long)i->natural);
    }
}

// The index of the leaf's element for element e = r * elements + i.
static void print_index(const struct ps_program *program, const struct ps_leaf *leaf,
                        struct ps_text *out)
{
    ps_text_printf(out, "%lldll", (long long)leaf->offset);
    if (leaf->row_stride != 0)
        ps_text_printf(out, " + r * %lldll", (long long)leaf->row_stride);
    if (leaf->mode == PS_ACCESS_ROW) {
        ps_text_add(out, " + i");
        return;
    }
    long long below = 1;
    for (int axis = program->row_rank - 1; axis >= 0; axis--) {
        if (leaf->strides[axis] != 0)
            ps_text_printf(out, " + i / %lldll %% %lldll * %lldll", below,
                           (long long)program->row_dims[axis], (long long)leaf->strides[axis]);
        below *= program->row_dims[axis];
    }
}

static void print_load(const struct ps_program *program, const struct ps_instruction *i,
                       bool grouped, struct ps_text *out)
{
    const struct ps_leaf *leaf = &program->code.leaves[i->a];
    int input = program->leaf_inputs[i->a];
    bool half = leaf->dtype == PS_F16;
    ps_text_add(out, half ? "ps_from_half(" : "");
    if (leaf->mode == PS_ACCESS_SAME)
        ps_text_printf(out, grouped ? "g%d.x[k]" : "in%d[e]", input);
    else {
        ps_text_printf(out, "in%d[", input);
        print_index(program, leaf, out);
        ps_text_add(out, "]");
    }
    ps_text_add(out, half ? ")" : "");
}

static void print_cast(const struct ps_instruction *i, struct ps_text *out)
{
    if (ps_dtype_is_float(i->dtype) && !ps_dtype_is_float(i->result))
        ps_text_printf(out, "ps_to_%s(v%d)", ps_dtype_name(i->result), i->a);
    else
        ps_text_printf(out, "(%s)v%d", c_type(i->result), i->a);
}

static const char *infix(enum ps_map_op op)
{
    switch (op) {
    case PS_OP_EQ:
        return "==";
    case PS_OP_NE:
        return "!=";
    case PS_OP_LT:
        return "<";
    case PS_OP_LE:
        return "<=";
    case PS_OP_AND:
        return "&";
    case PS_OP_OR:
        return "|";
    default:
        return NULL;
    }
}

static void print_call(const struct ps_instruction *i, struct ps_text *out)
{
    bool typed = i->op != PS_OP_CMP_IU && i->op != PS_OP_CMP_IF && i->op != PS_OP_CMP_UF;
    ps_text_printf(out, "ps_%s%s%s(v%d", ps_op_infos[i->op].name, typed ? "_" : "",
                   typed ? ps_dtype_name(i->dtype) : "", i->a);
    if (ps_op_infos[i->op].arguments > 1)
        ps_text_printf(out, ", v%d", i->b);
    if (ps_op_infos[i->op].arguments > 2)
        ps_text_printf(out, ", v%d", i->c);
    ps_text_add(out, ")");
}

// Axes are those of the output row; -1 is the row itself.
static void print_axis(const struct ps_program *program, int axis, struct ps_text *out)
{
    long long below = 1;
    for (int d = axis + 1; axis >= 0 && d < program->row_rank; d++)
        below *= (long long)program->row_dims[d];
    if (axis < 0)
        ps_text_add(out, "first + r");
    else
        ps_text_printf(out, "i / %lldll %% %lldll", below, (long long)program->row_dims[axis]);
}

static void print_value(const struct ps_program *program, const struct ps_instruction *i,
                        bool grouped, struct ps_text *out)
{
    if (i->op == PS_OP_LOAD)
        print_load(program, i, grouped, out);
    else if (i->op == PS_OP_CONST)
        print_constant(i, out);
    else if (i->op == PS_OP_INDEX)
        print_axis(program, i->a, out);
    else if (i->op == PS_OP_LOOKUP)
        ps_map_print_lookup(program, i, out);
    else if (i->op == PS_OP_INTERP)
        ps_text_printf(out, "ps_interp_%d_%d(v%d, in%d, in%d)", i->b, i->c, i->a,
                       program->leaf_inputs[i->b], program->leaf_inputs[i->c]);
    else if (i->op == PS_OP_CAST)
        print_cast(i, out);
    else if (i->op == PS_OP_HALF)
        ps_text_printf(out, "ps_from_half(ps_to_half(v%d))", i->a); // of f32 or f64
    else if (i->op == PS_OP_NOT)
        ps_text_printf(out, "v%d ^ 1", i->a);
    else if (i->op == PS_OP_SELECT)
        ps_text_printf(out, "v%d ? v%d : v%d", i->a, i->b, i->c);
    else if (infix(i->op) != NULL)
        ps_text_printf(out, "v%d %s v%d", i->a, infix(i->op), i->b);
    else
        print_call(i, out);
}

static bool needs_row(const struct ps_program *program)
{
    for (int n = 0; n < program->code.count; n++)
        if (program->code.list[n].op == PS_OP_INDEX)
            return true;
    for (int l = 0; l < program->code.leaf_count; l++)
        if (program->code.leaves[l].mode != PS_ACCESS_SAME &&
            program->code.leaves[l].mode != PS_ACCESS_TABLE)
            return true;
    return false;
}

// The computation of element e, from loads to stores.
static void print_body(const struct ps_program *program, bool grouped, struct ps_text *out)
{
    const char *indent = grouped ? "            " : "        ";
    long long elements = program->row_elements > 0 ? (long long)program->row_elements : 1;
    if (needs_row(program))
        ps_text_printf(out, "%sconst long long r = e / %lldll, i = e - r * %lldll;\n", indent,
                       elements, elements);
    for (int n = 0; n < program->code.count; n++) {
        const struct ps_instruction *i = &program->code.list[n];
        if (i->checked || (i->op == PS_OP_LOOKUP && ps_map_can_fail(&program->code, i)))
            ps_map_print_check(program, n, indent, out);
        ps_text_printf(out, "%sconst %s v%d = ", indent, c_type(i->result), n);
        print_value(program, i, grouped, out);
        ps_text_add(out, ";\n");
    }
    for (int s = 0; s < program->store_count; s++) {
        bool half = program->stores[s].dtype == PS_F16;
        ps_text_printf(out, grouped ? "%so%d.x[k] = " : "%sout%d[e] = ", indent, s);
        ps_text_printf(out, half ? "ps_to_half(v%d);\n" : "v%d;\n",
                       program->stores[s].register_index);
    }
}

// ---- Groups ----

// The dtype of an input, and whether it is read in groups; false when nothing reads it.
static bool input_of(const struct ps_program *program, int input, enum ps_dtype *dtype, bool *same)
{
    bool found = false;
    *same = false;
    for (int l = 0; l < program->code.leaf_count; l++) {
        const struct ps_leaf *leaf = &program->code.leaves[l];
        if (program->leaf_inputs[l] != input)
            continue;
        found = true;
        *dtype = leaf->dtype;
        *same = *same || leaf->mode == PS_ACCESS_SAME;
    }
    return found;
}

#define LONG_PROGRAM 200 // instructions: unrolling would cost registers and compile time

int ps_map_group(const struct ps_program *program)
{
    size_t widest = 1;
    for (int l = 0; l < program->code.leaf_count; l++)
        if (program->code.leaves[l].mode == PS_ACCESS_SAME &&
            ps_dtype_bytes(program->code.leaves[l].dtype) > widest)
            widest = ps_dtype_bytes(program->code.leaves[l].dtype);
    for (int s = 0; s < program->store_count; s++)
        if (ps_dtype_bytes(program->stores[s].dtype) > widest)
            widest = ps_dtype_bytes(program->stores[s].dtype);
    if (program->code.count > LONG_PROGRAM)
        return 1;
    return widest < 4 ? (int)(16 / widest) : 4;
}

static void print_group_type(const char *name, int number, enum ps_dtype dtype, int group,
                             struct ps_text *out)
{
    size_t bytes = (size_t)group * ps_dtype_bytes(dtype);
    ps_text_printf(out, "struct __align__(%zu) ps_%s%d { %s x[%d]; };\n", bytes > 16 ? 16 : bytes,
                   name, number, c_type(dtype), group);
}

static void print_signature(const struct ps_program *program, struct ps_text *out)
{
    enum ps_dtype dtype = PS_U8;
    bool same;
    int group = ps_map_group(program);
    for (int i = 0; i < program->input_count; i++)
        if (input_of(program, i, &dtype, &same) && same)
            print_group_type("in", i, dtype, group, out);
    for (int s = 0; s < program->store_count; s++)
        print_group_type("out", s, program->stores[s].dtype, group, out);
    ps_map_print_tables(program, out);
    ps_text_add(out, "extern \"C\" __global__ void ps_map(");
    for (int i = 0; i < program->input_count; i++)
        ps_text_printf(out, "const %s *__restrict__ in%d, ",
                       input_of(program, i, &dtype, &same) ? c_type(dtype) : "void", i);
    for (int s = 0; s < program->store_count; s++)
        ps_text_printf(out, "%s *__restrict__ out%d, ", c_type(program->stores[s].dtype), s);
    ps_text_printf(out, "long long n, long long groups, long long first%s)\n{\n",
                   program->checks ? ", ps_note *note" : "");
}

static void print_grouped_loop(const struct ps_program *program, struct ps_text *out)
{
    enum ps_dtype dtype;
    bool same;
    int group = ps_map_group(program);
    ps_text_add(out, "    for (long long q = thread; q < groups; q += threads) {\n");
    for (int i = 0; i < program->input_count; i++)
        if (input_of(program, i, &dtype, &same) && same)
            ps_text_printf(out, "        const ps_in%d g%d = ((const ps_in%d *)in%d)[q];\n", i, i,
                           i, i);
    for (int s = 0; s < program->store_count; s++)
        ps_text_printf(out, "        ps_out%d o%d;\n", s, s);
    ps_text_printf(out,
                   "        #pragma unroll\n"
                   "        for (int k = 0; k < %d; k++) {\n"
                   "            const long long e = q * %d + k;\n",
                   group, group);
    print_body(program, true, out);
    ps_text_add(out, "        }\n");
    for (int s = 0; s < program->store_count; s++)
        ps_text_printf(out, "        ((ps_out%d *)out%d)[q] = o%d;\n", s, s, s);
    ps_text_add(out, "    }\n");
}

bool ps_map_source(const struct ps_program *program, struct ps_text *out)
{
    int group = ps_map_group(program);
    ps_text_add(out, prelude);
    ps_text_add(out, ps_map_scalar_text);
    print_signature(program, out);
    ps_text_add(out,
                "    const long long threads = (long long)gridDim.x * blockDim.x;\n"
                "    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n");
    ps_map_print_place_checks(program, out);
    if (group > 1)
        print_grouped_loop(program, out);
    ps_text_printf(out, "    for (long long e = groups * %d + thread; e < n; e += threads) {\n",
                   group);
    print_body(program, false, out);
    ps_text_add(out, "    }\n}\n");
    return !out->failed;
}
