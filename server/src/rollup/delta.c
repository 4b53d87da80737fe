/*
 * delta.c - texts once, then the events with the texts' numbers (pack.h).
 *
 *     1, texts, then each; events, then for each: issue, tree, category, instant, device, weight, events, waited, length,
 *     longest, counts, each value's number + 1, or 0, and 1 with a session (sessions.h), or 0
 */
#include "rollup/delta.h"

#include "base/fault.h"
#include "base/hash.h"
#include "rollup/pack.h"

#include <string.h>

#define VERSION   1
#define YEAR_MAX  4102444800000000ull /* 2100, microseconds */
#define LEAST     (12 + MIRE_CELL_COUNTS + MIRE_FACET_COUNT)
#define TEXTS_MAX (MIRE_DELTA_ENTRIES_MAX * (MIRE_FACET_COUNT + 1))

struct delta_texts {
    const char **texts;
    size_t count;
    uint32_t *table; /* number of the text + 1, by hash; 0: free */
    size_t mask;
};

static bool texts_make(struct delta_texts *out, struct arena *arena, size_t most)
{
    size_t room = 64;
    while (room < 2 * most)
        room *= 2;
    *out = (struct delta_texts){.texts = arena_array(arena, most + 1, sizeof *out->texts),
                                .table = arena_array(arena, room, sizeof *out->table),
                                .mask = room - 1};
    return out->texts && out->table;
}

static size_t number_of(struct delta_texts *texts, const char *text)
{
    size_t at = (size_t)hash_for_table(0, text) & texts->mask;
    for (; texts->table[at]; at = (at + 1) & texts->mask)
        if (!strcmp(texts->texts[texts->table[at] - 1], text))
            return texts->table[at] - 1;
    texts->texts[texts->count] = text;
    texts->table[at] = (uint32_t)++texts->count;
    return texts->count - 1;
}

static void pack_entry(struct pack_out *out, struct delta_texts *texts, const struct delta_entry *entry)
{
    const struct cell_event *event = &entry->event;

    pack_number(out, (uint64_t)entry->issue_id);
    pack_number(out, (uint32_t)entry->tree);
    pack_number(out, number_of(texts, entry->category));
    pack_number(out, (uint64_t)event->occurred_us);
    pack_bytes(out, &event->device, sizeof event->device);
    pack_real(out, event->weight);
    pack_real(out, event->events);
    pack_real(out, event->waited_ms);
    pack_number(out, event->length_ms);
    pack_number(out, event->longest_ms);
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        pack_number(out, event->counts[i]);
    for (size_t i = 0; i < MIRE_FACET_COUNT; i++)
        pack_number(out, event->values[i] ? number_of(texts, event->values[i]) + 1 : 0);
    pack_number(out, event->session != NULL);
    if (event->session)
        session_one_pack(out, event->session);
}

int delta_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct delta_entry *entries,
                 size_t count)
{
    struct pack_out out = {.arena = arena}, body = {.arena = arena};
    struct delta_texts texts;

    if (!texts_make(&texts, arena, count * (MIRE_FACET_COUNT + 1)))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        pack_entry(&body, &texts, &entries[i]);
    pack_number(&out, VERSION);
    pack_number(&out, texts.count);
    for (size_t i = 0; i < texts.count; i++) {
        size_t len = cell_text_length(texts.texts[i]);
        pack_number(&out, len);
        pack_bytes(&out, texts.texts[i], len);
    }
    pack_number(&out, count);
    pack_bytes(&out, body.bytes, body.len);
    *bytes_out = out.bytes;
    *len_out = out.len;
    return out.failed || body.failed ? MIRE_FAULT_MEMORY : 0;
}

static const char *get_text_at(struct pack_in *in, const char *const *texts, size_t count)
{
    size_t at = pack_get_number(in, UINT32_MAX);
    in->bad |= at >= count;
    return in->bad ? "" : texts[at];
}

static void unpack_entry(struct delta_entry *entry, struct pack_in *in, const char *const *texts, size_t count)
{
    struct cell_event *event = &entry->event;

    entry->issue_id = (int64_t)pack_get_number(in, INT64_MAX);
    entry->tree = (int32_t)(uint32_t)pack_get_number(in, UINT32_MAX);
    entry->category = get_text_at(in, texts, count);
    event->occurred_us = (int64_t)pack_get_number(in, YEAR_MAX);
    const unsigned char *device = pack_get_bytes(in, sizeof event->device);
    if (device)
        memcpy(&event->device, device, sizeof event->device);
    event->weight = pack_get_real(in);
    event->events = pack_get_real(in);
    event->waited_ms = pack_get_real(in);
    event->length_ms = pack_get_number(in, UINT64_MAX);
    event->longest_ms = pack_get_number(in, UINT64_MAX);
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        event->counts[i] = pack_get_number(in, UINT64_MAX);
    for (size_t i = 0; i < MIRE_FACET_COUNT; i++) {
        size_t at = pack_get_number(in, count);
        event->values[i] = at && !in->bad ? texts[at - 1] : NULL;
    }
    if (!pack_get_number(in, 1))
        return;
    struct session_one *session = arena_alloc(in->arena, sizeof *session);
    in->bad |= !session;
    if (!in->bad)
        session_one_unpack(session, in);
    event->session = session;
}

int delta_decode(struct delta_entry **out, size_t *count_out, struct arena *arena, const void *bytes, size_t len)
{
    struct pack_in in = {.arena = arena, .at = bytes, .end = (const unsigned char *)bytes + len};

    *count_out = 0;
    *out = NULL;
    in.bad = pack_get_number(&in, VERSION) != VERSION;
    size_t text_count = pack_get_count(&in, TEXTS_MAX, 1);
    const char **texts = arena_array(arena, text_count + 1, sizeof *texts);
    for (size_t i = 0; texts && !in.bad && i < text_count; i++)
        texts[i] = pack_get_text(&in, MIRE_CELL_TEXT_MAX);
    size_t count = pack_get_count(&in, MIRE_DELTA_ENTRIES_MAX, LEAST);
    struct delta_entry *entries = in.bad ? NULL : arena_array(arena, count + 1, sizeof *entries);
    for (size_t i = 0; texts && entries && !in.bad && i < count; i++)
        unpack_entry(&entries[i], &in, texts, text_count);
    if (!texts || !entries || in.bad || in.at != in.end)
        return MIRE_FAULT_BROKEN;
    *out = entries;
    *count_out = count;
    return 0;
}
