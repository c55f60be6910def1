// SPDX-License-Identifier: Apache-2.0
// The table of kinds.
#include "kernels/reduce/kinds.h"

#define ROW(id, name, source, type, sums, squares) {name, source, type, sums, squares},

const struct ps_reduce_kind_row ps_reduce_kinds[PS_REDUCE_KINDS] = {PS_REDUCE_KIND_LIST(ROW)};
