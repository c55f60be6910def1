// SPDX-License-Identifier: Apache-2.0
// The texts that are compiled: the user's own between what it may use and the check of its
// signature. Knows no compiler.
#include "kernels/kernel/kernel.h"

static void add_type(enum ps_dtype dtype, struct ps_text *out)
{
    ps_text_add(out, ps_dtype_info(dtype)->c);
}

// The parameters, with names or as a type has them.
static void add_parameters(const struct ps_kernel *kernel, bool named, struct ps_text *out)
{
    for (int i = 0; i < kernel->input_count; i++) {
        ps_text_add(out, "const ");
        add_type(kernel->inputs[i].dtype, out);
        ps_text_printf(out, " *%s, ", named ? kernel->inputs[i].name : "");
    }
    add_type(kernel->out_dtype, out);
    ps_text_printf(out, " *%s, long long%s, long long%s", named ? "out" : "", named ? " rows" : "",
                   named ? " first_row" : "");
    for (int i = 0; i < kernel->param_count; i++) {
        ps_text_add(out, ", ");
        add_type(kernel->params[i].dtype, out);
        ps_text_printf(out, "%s%s", named ? " " : "", named ? kernel->params[i].name : "");
    }
}

void ps_kernel_signature(const struct ps_kernel *kernel, bool cuda, struct ps_text *out)
{
    ps_text_printf(out, "%svoid %s(", cuda ? "__global__ " : "", kernel->function);
    add_parameters(kernel, true, out);
    ps_text_add(out, ")");
}

static void add_pointer_type(const struct ps_kernel *kernel, struct ps_text *out)
{
    ps_text_add(out, "void (*)(");
    add_parameters(kernel, false, out);
    ps_text_add(out, ")");
}

void ps_kernel_expression(const struct ps_kernel *kernel, struct ps_text *out)
{
    ps_text_add(out, "(");
    add_pointer_type(kernel, out);
    ps_text_printf(out, ")&%s", kernel->function);
}

// Elements per row of each array, and rows of whole ones, so that shapes need not be written twice.
static void add_constants(const struct ps_kernel *kernel, struct ps_text *out)
{
    for (int i = 0; i < kernel->input_count; i++) {
        const struct ps_kernel_input *input = &kernel->inputs[i];
        ps_text_printf(out, "#define PS_ROW_%s %lldLL\n", input->name,
                       (long long)input->row_elements);
        if (input->rows >= 0)
            ps_text_printf(out, "#define PS_ROWS_%s %lldLL\n", input->name, (long long)input->rows);
    }
    ps_text_printf(out, "#define PS_ROW_%s %lldLL\n", kernel->stage,
                   (long long)kernel->out_row_elements);
    if (kernel->threads > 0)
        ps_text_printf(out, "#define PS_THREADS %d\n", kernel->threads);
}

static void add_line(int line, const char *file, struct ps_text *out)
{
    ps_text_printf(out, "\n#line %d \"", line);
    for (const char *p = file; *p != '\0'; p++)
        ps_text_printf(out, "%s%c", *p == '"' || *p == '\\' ? "\\" : "",
                       (unsigned char)*p < ' ' ? '?' : *p);
    ps_text_add(out, "\"\n");
}

static void add_code(const struct ps_kernel_code *code, const struct ps_kernel *kernel,
                     struct ps_text *out)
{
    struct ps_text name = {0};
    add_line(code->line, code->file, out);
    ps_text_add(out, code->text);
    ps_text_printf(&name, "signature of %s", kernel->function);
    out->failed = out->failed || name.failed;
    add_line(1, name.data != NULL ? name.data : "signature", out);
    ps_text_free(&name);
}

// PTX's own conversions: cuda_fp16.h is a header, of which NVRTC has none.
static const char cuda_prelude[] =
    "static __device__ inline float ps_f16_to_f32(unsigned short h)\n"
    "{ float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h)); return f; }\n"
    "static __device__ inline unsigned short ps_f32_to_f16(float f)\n"
    "{ unsigned short h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f)); return h; }\n"
    "namespace ps_signature { template <class F> char exactly(F); }\n";

bool ps_kernel_cuda_source(const struct ps_kernel *kernel, struct ps_text *out)
{
    add_constants(kernel, out);
    ps_text_add(out, cuda_prelude);
    add_code(&kernel->cuda, kernel, out);
    ps_text_add(out, "using ps_signature_checked = decltype(ps_signature::exactly<");
    add_pointer_type(kernel, out);
    ps_text_printf(out, ">(&%s));\n", kernel->function);
    return !out->failed;
}

// The conversions of halves are ours (base/half.c), handed over when the library is opened.
static const char c_prelude[] = "static float (*ps_f16_to_f32)(unsigned short);\n"
                                "static unsigned short (*ps_f32_to_f16)(float);\n";

static void add_call(const struct ps_kernel *kernel, struct ps_text *out)
{
    ps_text_add(out, "void ps_twin_run(const void *const *inputs, void *out, long long rows, long "
                     "long first_row, const void *const *params)\n{\n(void)params;\n");
    ps_text_printf(out, "%s(", kernel->function);
    for (int i = 0; i < kernel->input_count; i++)
        ps_text_printf(out, "inputs[%d], ", i);
    ps_text_add(out, "out, rows, first_row");
    for (int i = 0; i < kernel->param_count; i++) {
        ps_text_add(out, ", *(const ");
        add_type(kernel->params[i].dtype, out);
        ps_text_printf(out, " *)params[%d]", i);
    }
    ps_text_add(out, ");\n}\n");
}

bool ps_kernel_c_source(const struct ps_kernel *kernel, struct ps_text *out)
{
    add_constants(kernel, out);
    ps_text_add(out, c_prelude);
    add_code(&kernel->c, kernel, out);
    ps_text_printf(out, "_Static_assert(_Generic(&%s, ", kernel->function);
    add_pointer_type(kernel, out);
    ps_text_add(out, ": 1, default: 0), \"expected is ");
    ps_kernel_signature(kernel, false, out);
    ps_text_add(out, "\");\n"
                     "void ps_twin_begin(float (*widen)(unsigned short), unsigned short "
                     "(*narrow)(float))\n{\nps_f16_to_f32 = widen;\nps_f32_to_f16 = narrow;\n}\n");
    add_call(kernel, out);
    return !out->failed;
}

const void *ps_kernel_param_value(const struct ps_kernel_param *param)
{
    return &param->f64; // of the union: any member begins there
}
