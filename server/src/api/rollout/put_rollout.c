/*
 * put_rollout.c - changes of a rollout: PUT /api/v1/apps/{app}/rollout, and POST .../rollout/back.
 *
 * Going back adds a version with the rules of an older one, so nothing is ever lost.
 */
#include "api/api.h"
#include "api/change.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "rollout/rollout.h"

static enum bind_outcome take_rules(struct bind *bind, void *out, uint32_t at)
{
    struct change *change = out;

    change->rollout = arena_alloc(bind->arena, sizeof *change->rollout);
    return change->rollout ? rollout_read(change->rollout, bind, at) : MIRE_BIND_NO_MEMORY;
}

static const struct bind_field put_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"rules", MIRE_BIND_OTHER, 0, .required = true, .read = take_rules},
};
static const struct bind_field back_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"to", MIRE_BIND_U64, offsetof(struct change, to), .required = true, .min = 1, .max = INT64_MAX},
};

static int fill_from_body(struct change *change)
{
    MIRE_SCOPED(text_fini) struct text text = {0};

    rollout_write(&text, change->rollout);
    if (text_failed(&text))
        return MIRE_FAULT_MEMORY;
    if (text.len > MIRE_ROLLOUT_TEXT_MAX)
        return change_refuse(change, 413, "rollout.too_large", "The rules are larger than a megabyte.");
    change->row.rules = arena_copy(change->request->arena, text.bytes, text.len);
    return change->row.rules ? change_store(change) : MIRE_FAULT_MEMORY;
}

int put_rollout(void *api, struct request *request, struct reply *reply)
{
    struct change change = {.request = request, .reply = reply};

    return change_run(&change, ((struct api *)api)->pg, put_fields, sizeof put_fields / sizeof *put_fields,
                      fill_from_body);
}

int post_rollout_back(void *api, struct request *request, struct reply *reply)
{
    struct change change = {.request = request, .reply = reply};

    return change_run(&change, ((struct api *)api)->pg, back_fields, sizeof back_fields / sizeof *back_fields,
                      change_go_back);
}
