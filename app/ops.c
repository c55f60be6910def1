// SPDX-License-Identifier: Apache-2.0
// penstock ops: what a config may say.
#include "app/app.h"

#include "pipeline/config.h"

#include <string.h>

#define NAMES_MAX 64

struct listing {
    const char *wanted; // NULL: everything
    bool markdown;
    int found;
    struct ps_text text;
    const char *names[NAMES_MAX]; // of all topics, for "did you mean"
    size_t name_count;
};

static bool visit(void *context, const struct app_topic *topic)
{
    struct listing *listing = context;
    if (listing->name_count < NAMES_MAX)
        listing->names[listing->name_count++] = topic->name;
    if (listing->wanted != NULL && strcmp(listing->wanted, topic->name) != 0)
        return true;
    listing->found++;
    if (listing->markdown)
        app_topic_markdown(topic, &listing->text);
    else
        app_topic_text(topic, &listing->text);
    return true;
}

static enum ps_status report_unknown(const struct listing *listing)
{
    const char *near = ps_nearest(listing->wanted, listing->names, listing->name_count);
    char shown[128];
    return app_usage("no config part, format or stage '%s'%s%s%s; `penstock ops` lists them",
                     ps_escape(listing->wanted, strlen(listing->wanted), shown, sizeof shown),
                     near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum ps_status print_schema(const struct app_args *args)
{
    if (args->operand_count > 0 || app_args_has(args, "--markdown"))
        return app_usage("--schema is of the whole config: no NAME and no --markdown beside it");
    struct ps_text text = {0};
    ps_config_schema(&text);
    return app_print_text(&text);
}

enum ps_status app_ops(const struct app_args *args)
{
    if (app_args_has(args, "--schema"))
        return print_schema(args);
    for (int i = 0; i == 0 || i < args->operand_count; i++) {
        struct listing listing = {.markdown = app_args_has(args, "--markdown")};
        listing.wanted = args->operand_count > 0 ? args->operands[i] : NULL;
        app_topics(visit, &listing);
        if (listing.found == 0) {
            ps_text_free(&listing.text);
            return report_unknown(&listing);
        }
        enum ps_status status = app_print_text(&listing.text);
        if (status != PS_OK)
            return status;
    }
    return PS_OK;
}
