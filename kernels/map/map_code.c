// SPDX-License-Identifier: Apache-2.0
// Growing instruction lists. Equal loads, constants, casts are kept once.
#include "kernels/map/map.h"

#include <stdlib.h>
#include <string.h>

static bool shareable(const struct ps_instruction *i)
{
    return i->op == PS_OP_LOAD || i->op == PS_OP_CONST || i->op == PS_OP_CAST ||
           i->op == PS_OP_HALF || i->op == PS_OP_INDEX || i->op == PS_OP_LOOKUP;
}

static bool equal(const struct ps_instruction *x, const struct ps_instruction *y)
{
    return x->op == y->op && x->dtype == y->dtype && x->result == y->result && x->a == y->a &&
           x->b == y->b && x->c == y->c && x->checked == y->checked && x->natural == y->natural;
}

#define LOOK_BACK 64 // sharing is a matter of speed, so long programs are not searched whole

int ps_code_add(struct ps_code *code, struct ps_instruction instruction)
{
    int oldest = code->count > LOOK_BACK ? code->count - LOOK_BACK : 0;
    for (int i = code->count - 1; shareable(&instruction) && i >= oldest; i--)
        if (equal(&code->list[i], &instruction))
            return i;
    if (code->count == code->capacity) {
        int capacity = code->capacity * 2 + 16;
        struct ps_instruction *list = realloc(code->list, (size_t)capacity * sizeof *list);
        if (list == NULL)
            return -1;
        code->list = list;
        code->capacity = capacity;
    }
    code->list[code->count] = instruction;
    return code->count++;
}

int ps_code_add_leaf(struct ps_code *code, const struct ps_leaf *leaf)
{
    for (int i = 0; i < code->leaf_count; i++)
        if (memcmp(&code->leaves[i], leaf, sizeof *leaf) == 0)
            return i;
    struct ps_leaf *leaves = realloc(code->leaves, (size_t)(code->leaf_count + 1) * sizeof *leaves);
    if (leaves == NULL)
        return -1;
    code->leaves = leaves;
    code->leaves[code->leaf_count] = *leaf;
    return code->leaf_count++;
}

void ps_code_free(struct ps_code *code)
{
    free(code->list);
    free(code->leaves);
    *code = (struct ps_code){0};
}
