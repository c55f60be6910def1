// SPDX-License-Identifier: Apache-2.0
#include "kernels/map/map_parts.h"

#include <stdlib.h>
#include <string.h>

// Of a value on one line without escapes; the sources tell the rest when the fault is printed.
static struct ps_place place_in(const struct ps_map_part *part, int start, int length)
{
    struct ps_place place = part->place;
    int size = 0;
    for (const char *p = part->text; *p != '\0'; p++) {
        size += ((unsigned char)*p & 0xc0) != 0x80;
        if (*p == '\n')
            return place;
    }
    if (place.line == 0 || place.length != size)
        return place;
    place.column += start;
    place.length = length;
    return place;
}

void ps_map_part_fault(const struct ps_map_part *part, int start, int length, const char *text,
                       struct ps_problems *problems)
{
    struct ps_place place = place_in(part, start, length);
    bool exact = place.column != part->place.column || place.length != part->place.length;
    struct ps_inside inside = ps_inside_of(part->text, start, length);
    if (exact || (start == 0 && inside.count == 0))
        inside = (struct ps_inside){0};
    ps_problem_add_inside(problems, PS_USAGE, place, inside, "%s", text);
}

int ps_map_parts_find(const struct ps_map_parts *parts, const char *name)
{
    for (int i = 0; i < parts->count; i++)
        if (parts->list[i].name != NULL && strcmp(parts->list[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_port(const struct ps_scope *scope, const char *name)
{
    for (int i = 0; i < scope->count; i++)
        if (!scope->ports[i].hidden && strcmp(scope->ports[i].name, name) == 0)
            return true;
    return false;
}

static bool check_name(const struct ps_map_part *part, const struct ps_stage *stage,
                       const struct ps_scope *scope, struct ps_problems *problems)
{
    static const char *const reserved[] = {"and", "or", "not", "if", "else", "true", "false"};
    const struct ps_value *params = ps_values_get(stage->options, "params");
    const char *what = is_port(scope, part->name) ? "an array" : NULL;
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->words[i], part->name) == 0)
            what = "one of `params`";
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(reserved[i], part->name) == 0)
            what = "a word of the language";
    if (what == NULL)
        return true;
    ps_problem_add(problems, PS_USAGE, part->name_place,
                   "let: '%s' is %s already; take another name", part->name, what);
    return false;
}

static bool parse(struct ps_map_part *part, struct ps_problems *problems)
{
    struct ps_expr_fault fault;
    if (ps_expr_parse(part->text, &part->expr, &fault))
        return true;
    ps_map_part_fault(part, fault.start, fault.length, fault.text, problems);
    return false;
}

// From the result back to what it names.
static void mark_used(struct ps_map_parts *parts)
{
    parts->list[parts->count - 1].used = true;
    for (int i = parts->count - 1; i >= 0; i--) {
        const struct ps_expr *expr = &parts->list[i].expr;
        for (int n = 0; parts->list[i].used && n < expr->count; n++) {
            const char *name = expr->nodes[n].name;
            int part = name != NULL ? ps_map_parts_find(parts, name) : -1;
            if (part >= 0)
                parts->list[part].used = true;
        }
    }
}

bool ps_map_parts_make(const struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_map_parts *parts, struct ps_problems *problems)
{
    const struct ps_value *text = ps_values_get(stage->options, "expr");
    const struct ps_value *let = ps_values_get(stage->options, "let");
    bool fine = true;
    *parts = (struct ps_map_parts){0};
    if (!text->given)
        return false; // reported as missing
    parts->list = calloc((size_t)let->count + 1, sizeof *parts->list);
    if (parts->list == NULL) {
        ps_problem_add(problems, PS_DEVICE, text->place, "out of memory for the expression");
        return false;
    }
    for (int i = 0; i < let->count; i++)
        parts->list[parts->count++] = (struct ps_map_part){.name = let->words[i],
                                                           .text = let->texts[i],
                                                           .name_place = let->places[i],
                                                           .place = let->text_places[i]};
    parts->list[parts->count++] = (struct ps_map_part){.text = text->text, .place = text->place};
    for (int i = 0; i < parts->count; i++) {
        struct ps_map_part *part = &parts->list[i];
        fine = (part->name == NULL || check_name(part, stage, scope, problems)) && fine;
        fine = parse(part, problems) && fine;
    }
    if (!fine) {
        ps_map_parts_free(parts);
        return false;
    }
    mark_used(parts);
    for (int i = 0; i < parts->count; i++)
        if (!parts->list[i].used)
            ps_problem_warn(problems, parts->list[i].name_place,
                            "let: '%s' is not used, so it is not computed", parts->list[i].name);
    return true;
}

void ps_map_parts_free(struct ps_map_parts *parts)
{
    for (int i = 0; i < parts->count; i++)
        ps_expr_free(&parts->list[i].expr);
    free(parts->list);
    *parts = (struct ps_map_parts){0};
}
