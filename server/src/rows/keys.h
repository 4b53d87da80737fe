/*
 * keys.h - keys of reports as parameters of statements, column by column. Inside rows/ only.
 */
#ifndef MIRE_ROWS_KEYS_H
#define MIRE_ROWS_KEYS_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#include <string.h>

struct key_columns {
    int16_t *slots;
    int32_t *days;
    struct uuid *ids;
};

/* Statement text: $1 to $3 as the rows k, and the rows of a table that have one of their keys. */
#define OF_KEYS       "unnest($1::smallint[], $2::date[], $3::uuid[]) k (slot, day, report_id)"
#define IS_KEY(table) table ".slot = k.slot AND " table ".day = k.day AND " table ".report_id = k.report_id"

#define KEY_PARAMS(keys, count) PG_INT2S((keys).slots, count), PG_DAYS((keys).days, count), PG_UUIDS((keys).ids, count)

static inline struct uuid id_of(const struct report_key *key)
{
    struct uuid id;
    memcpy(id.bytes, key->report_id, sizeof id.bytes);
    return id;
}

/* Room for `count` keys in the arena. False: no memory. */
static inline bool keys_make(struct key_columns *out, struct arena *arena, size_t count)
{
    *out = (struct key_columns){arena_array(arena, count + 1, sizeof *out->slots),
                                arena_array(arena, count + 1, sizeof *out->days),
                                arena_array(arena, count + 1, sizeof *out->ids)};
    return out->slots && out->days && out->ids;
}

static inline void keys_put(const struct key_columns *keys, size_t at, const struct report_key *key)
{
    keys->slots[at] = key->slot;
    keys->days[at] = key->day;
    keys->ids[at] = id_of(key);
}

#endif
