/*
 * missing.c - the debug files that reports lack: a row a report with the number of its set, and the files of new sets.
 */
#include "rows/derive.h"
#include "rows/keys.h"
#include "rows/rekey_due.h"

#include "base/fault.h"

#include <stdlib.h>

#define FILES_AT_ONCE 256 /* of sets, in a statement */

struct missing_rows {
    const struct rows_missing *report;
    int64_t set;
};

/* The number of a report's set: a hash of all that it says. 0: no memory. */
static int64_t set_of(const struct rows_missing *report, struct arena *arena)
{
    size_t room = 0, len = 0;
    int64_t set;

    for (size_t k = 0; k < report->count; k++)
        room += 1 + report->rows[k].build_id_len + strlen(report->rows[k].had) + 1;
    uint8_t *all = arena_alloc(arena, room + 1);
    if (!all)
        return 0;
    for (size_t k = 0; k < report->count; k++) {
        const struct missing_debug_row *row = &report->rows[k];
        size_t had = strlen(row->had) + 1;
        all[len++] = (uint8_t)row->build_id_len;
        memcpy(all + len, row->build_id, row->build_id_len);
        memcpy(all + len + row->build_id_len, row->had, had);
        len += row->build_id_len + had;
    }
    hash_blake2b((uint8_t *)&set, sizeof set, all, len);
    return (set & INT64_MAX) | 1;
}

static int by_set(const void *a, const void *b)
{
    const struct missing_rows *x = a, *y = b;
    return (x->set > y->set) - (x->set < y->set);
}

/* Files of sets, column by column. */
struct set_files {
    int64_t sets[FILES_AT_ONCE];
    struct pg_bytes builds[FILES_AT_ONCE];
    const char *hads[FILES_AT_ONCE];
    size_t count;
};

/* Each set is marked as seen once a day. Until the next day a statement changes nothing, and locks nothing. */
static int flush(struct set_files *files, struct pg_tx *tx)
{
    int rc =
        files->count
            ? pg_query(NULL, tx,
                       "INSERT INTO missing_set AS s (build_id, set_id, had, seen) SELECT k.build_id, k.set_id, k.had,"
                       " (now() AT TIME ZONE 'UTC')::date FROM unnest($1::bytea[], $2::bigint[], $3::text[])"
                       " k (build_id, set_id, had) WHERE NOT EXISTS (SELECT FROM missing_set o WHERE"
                       "  o.build_id = k.build_id AND o.set_id = k.set_id"
                       "  AND o.seen >= (now() AT TIME ZONE 'UTC')::date)"
                       " ORDER BY k.set_id, k.build_id"
                       " ON CONFLICT (build_id, set_id) DO UPDATE SET seen = greatest(s.seen, EXCLUDED.seen)",
                       PG_BYTESS(files->builds, files->count), PG_INT8S(files->sets, files->count),
                       PG_TEXTS(files->hads, files->count))
            : 0;
    files->count = 0;
    return rc;
}

static int add_set(struct set_files *files, struct pg_tx *tx, const struct missing_rows *missing)
{
    int rc = 0;

    for (size_t k = 0; !rc && k < missing->report->count; k++) {
        const struct missing_debug_row *row = &missing->report->rows[k];
        files->sets[files->count] = missing->set;
        files->builds[files->count] = (struct pg_bytes){row->build_id, row->build_id_len};
        files->hads[files->count++] = row->had;
        if (files->count == FILES_AT_ONCE)
            rc = flush(files, tx);
    }
    return rc;
}

int rows_missing_debug_store(struct pg_tx *tx, struct arena *arena, const struct rows_missing *reports, size_t count)
{
    MIRE_SCOPED(pg_copy_fini) struct pg_copy copy = {0};
    struct missing_rows *all = arena_array(arena, count + 1, sizeof *all);
    struct set_files *files = arena_alloc(arena, sizeof *files);
    size_t n = 0;
    int rc = 0;

    if (!all || !files)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!reports[i].count)
            continue;
        struct uuid id = id_of(&reports[i].key);
        all[n] = (struct missing_rows){&reports[i], set_of(&reports[i], arena)};
        if (!all[n].set)
            return MIRE_FAULT_MEMORY;
        pg_copy(&copy, PG_INT2(reports[i].key.slot), PG_DAY(reports[i].key.day), PG_UUID(&id),
                PG_INT4(reports[i].app_id), PG_INT8(all[n++].set));
    }
    if (n)
        qsort(all, n, sizeof *all, by_set);
    for (size_t i = 0; !rc && i < n; i++)
        rc = i && all[i].set == all[i - 1].set ? 0 : add_set(files, tx, &all[i]);
    if (!rc)
        rc = flush(files, tx);
    return rc ? rc
              : pg_copy_end(tx, "COPY report_missing (slot, day, report_id, app_id, set_id) FROM STDIN BINARY", &copy);
}

int rows_missing_debug_forget(struct pg_tx *tx, struct arena *arena, const struct rows_missing *reports, size_t count)
{
    struct key_columns keys;

    if (!count)
        return 0;
    if (!keys_make(&keys, arena, count))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys_put(&keys, i, &reports[i].key);
    return pg_query(NULL, tx, "DELETE FROM report_missing l USING " OF_KEYS " WHERE " IS_KEY("l"),
                    KEY_PARAMS(keys, count));
}
