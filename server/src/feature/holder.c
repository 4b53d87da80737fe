/* holder.c - the thread with the role "owner", or the one whose number the lock told. */
#include "feature/holder.h"

#include "base/fault.h"

#include <inttypes.h>
#include <string.h>

static int32_t find_thread(const struct resolved *doc)
{
    for (size_t i = 0; i < doc->thread_count; i++)
        if (!strcmp(doc->threads[i].role, "owner"))
            return (int32_t)i;
    for (size_t i = 0; doc->lock.owner_tid.known && i < doc->thread_count; i++)
        if (doc->threads[i].tid == doc->lock.owner_tid.value)
            return (int32_t)i;
    return -1;
}

/* The frame to answer for it; its location in *location_out. -1: none. */
static int32_t find_frame(uint32_t *location_out, const struct resolved *doc, const enum rule_class *classes,
                          uint32_t node)
{
    int32_t named = -1;
    int32_t at = 0;
    for (; node && at < INT32_MAX; node = doc->nodes[node].parent, at++) {
        uint32_t location = doc->nodes[node].location;
        if (rule_class_is_app(classes[location])) {
            *location_out = location;
            return at;
        }
        if (named < 0 && doc->locations[location].named) {
            *location_out = location;
            named = at;
        }
    }
    return named;
}

int holder_find(const char **text_out, struct arena *arena, struct resolved *doc, const enum rule_class *classes)
{
    struct resolved_holder *holder = &doc->holder;
    const struct fact *owner = &doc->lock.owner_tid;
    uint32_t location = 0;

    *holder = (struct resolved_holder){.thread = find_thread(doc), .frame = -1};
    *text_out = "";
    if (owner->known && doc->thread.tid.known && owner->value == doc->thread.tid.value) {
        holder->itself = true;
        holder->thread = -1;
        *text_out = "itself";
        return 0;
    }
    if (holder->thread < 0) {
        *text_out = owner->known ? "another thread" : "";
        return 0;
    }
    const struct resolved_thread *thread = &doc->threads[holder->thread];
    const char *name = thread->name[0] ? thread->name : "another thread";
    holder->frame = find_frame(&location, doc, classes, thread->node);
    *text_out = holder->frame < 0 ? name : arena_printf(arena, "%s in %s", name, doc->locations[location].function);
    return *text_out ? 0 : MIRE_FAULT_MEMORY;
}
