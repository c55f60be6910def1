// SPDX-License-Identifier: Apache-2.0
// The arithmetic of row rules.
#include "kernels/row_rule.h"

bool ps_row_rule_keeps(const struct ps_row_rule *rule)
{
    return !rule->chosen && rule->start == 0 && rule->stop == INT64_MAX && rule->step == 1 &&
           rule->times == 1;
}

int64_t ps_row_rule_count(const struct ps_row_rule *rule, int64_t end, bool at_end)
{
    int64_t last = end < rule->stop ? end : rule->stop;
    int64_t anchors = last <= rule->start ? 0 : (last - rule->start - 1) / rule->step + 1;
    int64_t used = anchors > 0 ? rule->start + (anchors - 1) * rule->step + 1 : 0;
    bool more = rule->partial && at_end && end > used;
    return (anchors + more) * rule->times;
}

struct ps_row_range ps_row_rule_needs(const struct ps_row_rule *rule, struct ps_row_range output)
{
    if (output.end <= output.first)
        return (struct ps_row_range){0, 0};
    return (struct ps_row_range){
        rule->start + output.first / rule->times * rule->step - rule->before,
        rule->start + (output.end - 1) / rule->times * rule->step + rule->after + 1};
}

// Wide windows of wide windows: more than any memory holds, rather than an overflow.
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > INT64_MAX / 8 ? INT64_MAX / 8
                                                                             : product;
}

int64_t ps_row_rule_most(const struct ps_row_rule *rule, int64_t rows)
{
    if (rule->chosen)
        return rows;
    int64_t anchors = rows > 0 ? (rows - 1) / rule->step + 1 : 0;
    return times(anchors + rule->partial, rule->times);
}

static int64_t scaled(const struct ps_row_rule *rule, int64_t output)
{
    return times((output + rule->times - 1) / rule->times, rule->step);
}

int64_t ps_row_rule_before(const struct ps_row_rule *rule, int64_t output_before)
{
    return rule->before + (rule->ordered ? 0 : scaled(rule, output_before));
}

int64_t ps_row_rule_after(const struct ps_row_rule *rule, int64_t output_after)
{
    return rule->after + (rule->ordered ? 0 : scaled(rule, output_after));
}
