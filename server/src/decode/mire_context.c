/*
 * mire_context.c - the section "context" of Mire's own format: what the app told of the moment.
 */
#include "decode/mire.h"

static enum bind_outcome read_tag(struct bind *bind, void *rows, size_t i, const char *name, uint32_t value)
{
    struct report_tag *row = (struct report_tag *)rows + i;
    row->name = name;
    return bind_text(&row->value, bind, value, MIRE_WIRE_TEXT_MAX);
}

static enum bind_outcome read_tags(struct bind *bind, void *out, uint32_t at)
{
    struct report_context *context = out;
    enum bind_outcome outcome = mire_is_map(bind, at);
    if (outcome)
        return outcome;
    struct report_tag *rows = arena_array(bind->arena, json_size(bind->json, at), sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    context->tags = rows;
    return mire_read_map(&context->tag_count, bind, at, rows, read_tag);
}

struct crumbs {              /* as they stand in the document */
    struct mire_texts texts; /* first: mire_read_texts gets the whole */
    struct bind_column at_ms;
};

static enum bind_outcome read_crumbs(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(OTHER(MIRE_NAME_TEXTS, mire_read_texts))},
        {REQUIRED(COLUMN(struct crumbs, at_ms, MIRE_NAME_AT_MS, MIRE_WIRE_CRUMBS_MAX, 0, INT64_MAX))},
    };
    struct report_context *context = out;
    struct crumbs crumbs = {0};
    enum bind_outcome outcome = bind_object(bind, &crumbs, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (crumbs.texts.count != crumbs.at_ms.count)
        return bind_wrong_at(bind, MIRE_NAME_TEXTS, UNEQUAL);
    struct report_crumb *rows = arena_array(bind->arena, crumbs.at_ms.count, sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < crumbs.at_ms.count; i++) {
        if (i && crumbs.at_ms.values[i] < crumbs.at_ms.values[i - 1])
            return bind_wrong_element(bind, MIRE_NAME_AT_MS, i, "must not fall");
        rows[i] = (struct report_crumb){(uint64_t)crumbs.at_ms.values[i], crumbs.texts.all[i]};
    }
    context->crumbs = rows;
    context->crumb_count = crumbs.at_ms.count;
    return MIRE_BIND_OK;
}

enum bind_outcome mire_read_context(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {TEXT(struct report_context, state, MIRE_NAME_STATE)},
        {TEXT(struct report_context, scene, MIRE_NAME_SCENE)},
        {TEXT(struct report_context, user, MIRE_NAME_USER)},
        {FLAG(struct report_context, user_hashed, MIRE_NAME_USER_HASHED)},
        {OTHER(MIRE_NAME_TAGS, read_tags)},
        {OTHER(MIRE_NAME_CRUMBS, read_crumbs)},
    };
    struct report *report = out;
    return bind_object(bind, &report->context, at, fields, COUNT(fields));
}
