/* holder.c - the thread with the role "owner", or the one whose number is in the lock. */
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

/* The frame to blame in the holder; its location in *location_out. -1: none. */
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

/* The thread that a thread waits for; -1: none in the report. */
static int32_t next_owner(const struct resolved *doc, int32_t thread)
{
    const struct report_lock *lock = &doc->threads[thread].lock;

    for (size_t i = 0; lock->known && lock->owner_tid.known && i < doc->thread_count; i++)
        if (doc->threads[i].tid == lock->owner_tid.value)
            return (int32_t)i;
    return -1;
}

/*
 * The end of the chain of waits: the hung thread, which is a deadlock, or the last holder. "" if the holder waits for
 * no lock.
 */
static const char *find_end(struct arena *arena, const struct resolved *doc, int32_t holder)
{
    int32_t at = holder, last = holder;

    for (size_t steps = 0; steps <= doc->thread_count && at >= 0; steps++) {
        const struct report_lock *lock = &doc->threads[at].lock;

        if (lock->known && lock->owner_tid.known && doc->thread.tid.known &&
            lock->owner_tid.value == doc->thread.tid.value)
            return ", which waits for a lock of this thread: a deadlock";
        last = at;
        at = next_owner(doc, at);
    }
    if (at >= 0)
        return ", which is in a deadlock with others";
    return last == holder ? "" : arena_printf(arena, ", which waits for a lock of %s", doc->threads[last].name);
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
    const char *end = find_end(arena, doc, holder->thread);

    if (!end)
        return MIRE_FAULT_MEMORY;
    *text_out = holder->frame < 0 ? arena_printf(arena, "%s%s", name, end)
                                  : arena_printf(arena, "%s in %s%s", name, doc->locations[location].function, end);
    return *text_out ? 0 : MIRE_FAULT_MEMORY;
}
