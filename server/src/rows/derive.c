/*
 * derive.c - the statements behind derive.h, text beside binding.
 *
 * Workers lock rows in one order: version, app (alone), issue, issue_tree (tree.c), event, event_stack, image,
 * split_wanted, missing_set and report_missing (missing.c), issue_memory (memory.c), memory_baseline, healthy, session,
 * then counters (counters.c, session.c); rows of one table by rising key. So two batches cannot deadlock; if they do,
 * PostgreSQL ends one of them, and it is processed again.
 */
#include "rows/derive.h"

#include "rows/keys.h"

#include <string.h>

static struct pg_param text_of(struct pg_bytes text)
{
    return (struct pg_param){.kind = MIRE_PG_TEXT, .bytes = text};
}

static int version_find(int64_t *version_id_out, struct pg_tx *tx, int32_t app_id, struct pg_bytes version,
                        struct pg_bytes build)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT version_id FROM version WHERE app_id = $1 AND version = $2 AND build = $3",
                      PG_INT4(app_id), text_of(version), text_of(build));
    if (rc || !pg_row_count(rows))
        return rc;
    *version_id_out = pg_int(rows, 0, 0);
    return 1;
}

int rows_version(int64_t *version_id_out, struct pg_tx *tx, int32_t app_id, struct pg_bytes version,
                 struct pg_bytes build, int64_t seen_us)
{
    int found = version_find(version_id_out, tx, app_id, version, build);
    if (found)
        return found < 0 ? found : 0;
    int rc = pg_query(NULL, tx,
                      "INSERT INTO version (app_id, version, build, first_seen) VALUES ($1, $2, $3, $4)"
                      " ON CONFLICT (app_id, version, build) DO NOTHING",
                      PG_INT4(app_id), text_of(version), text_of(build), PG_TIME(seen_us));
    if (rc)
        return rc;
    found = version_find(version_id_out, tx, app_id, version, build);
    if (found < 0)
        return found;
    return found ? 0 : MIRE_FAULT_BROKEN;
}

int rows_issue_take(struct pg_tx *tx, int64_t issue_id, int64_t occurred_us, int64_t version_id)
{
    return pg_query(NULL, tx,
                    "UPDATE issue SET gone_to = NULL, first_seen = least(first_seen, $2),"
                    " first_version_id = CASE WHEN first_seen > $2 THEN $3 ELSE first_version_id END"
                    " WHERE issue_id = $1",
                    PG_INT8(issue_id), PG_TIME(occurred_us), PG_INT8(version_id));
}

int rows_issue_find(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT issue_id, gone_to IS NOT NULL OR first_seen > $3 FROM issue"
                      " WHERE app_id = $1 AND feature_key = $2",
                      PG_INT4(issue->app_id), PG_BYTES(issue->feature_key, MIRE_FEATURE_KEY_LEN),
                      PG_TIME(issue->first_seen_us));
    if (rc || !pg_row_count(rows))
        return rc;
    *issue_id_out = pg_int(rows, 0, 0);
    if (pg_bool(rows, 0, 1))
        rc = rows_issue_take(tx, *issue_id_out, issue->first_seen_us, issue->first_version_id);
    return rc ? rc : 1;
}

int rows_issue_open(int64_t *issue_id_out, struct pg_tx *tx, const struct issue_row *issue)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO issue (app_id, feature_key, caller1, caller1_image, caller1_location, caller2,"
                      " caller2_image, category, reason, rules_version, first_seen, first_version_id, subject, unnamed,"
                      " blame_key)"
                      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
                      " ON CONFLICT (app_id, feature_key) DO NOTHING",
                      PG_INT4(issue->app_id), PG_BYTES(issue->feature_key, MIRE_FEATURE_KEY_LEN),
                      PG_TEXT(issue->caller1), PG_TEXT(issue->caller1_image), PG_TEXT(issue->caller1_location),
                      PG_TEXT(issue->caller2), PG_TEXT(issue->caller2_image), PG_TEXT(issue->category),
                      PG_TEXT(issue->reason), PG_INT4(issue->rules_version), PG_TIME(issue->first_seen_us),
                      PG_INT8(issue->first_version_id), PG_TEXT(issue->subject), PG_BOOL(issue->unnamed),
                      issue->joins ? PG_BYTES(issue->blame_key, MIRE_FEATURE_KEY_LEN) : PG_NULL());
    if (rc)
        return rc;
    int found = rows_issue_find(issue_id_out, tx, issue);
    if (found < 0)
        return found;
    return found ? 0 : MIRE_FAULT_BROKEN;
}

int rows_issue_scenes(int64_t *first_out, int64_t *count_out, struct pg_tx *tx, int32_t app_id,
                      const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "WITH scene AS (SELECT issue_id FROM issue WHERE app_id = $1 AND blame_key = $2"
                      "  AND gone_to IS NULL)"
                      " SELECT coalesce(min(issue_id), 0), CASE WHEN EXISTS (SELECT FROM issue_alias JOIN scene"
                      "  USING (issue_id) WHERE author = $3 AND undone_at IS NOT NULL) THEN 0 ELSE count(*) END"
                      " FROM scene",
                      PG_INT4(app_id), PG_BYTES(blame, MIRE_FEATURE_KEY_LEN), PG_TEXT(MIRE_JOINED_BY));
    if (rc)
        return rc;
    *first_out = pg_int(rows, 0, 0);
    *count_out = pg_int(rows, 0, 1);
    return 0;
}

int rows_issue_join(struct pg_tx *tx, int32_t app_id, int64_t issue_id, int64_t into)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "WITH n AS (SELECT nextval(pg_get_serial_sequence('issue_alias', 'alias_id')) AS id)"
                      " INSERT INTO issue_alias (alias_id, app_id, kind, issue_id, into_id, act_id, author, reason)"
                      " SELECT id, $1, 'merge', $2, $3, id, $4, 'The same Caller1 in another scene.' FROM n"
                      " WHERE NOT EXISTS (SELECT FROM issue_alias WHERE issue_id = $2 OR (into_id = $2 AND tree = 0))",
                      PG_INT4(app_id), PG_INT8(issue_id), PG_INT8(into), PG_TEXT(MIRE_JOINED_BY));
    if (rc || !pg_touched(rows))
        return rc;
    return pg_query(
        NULL, tx,
        "WITH head AS (SELECT coalesce((SELECT shown_id FROM issue_shown WHERE app_id = $1 AND issue_id = $3"
        "  AND tree = 0), $3) AS id)"
        " INSERT INTO issue_shown (app_id, issue_id, tree, shown_id)"
        "  SELECT $1, $2, 0, id FROM head UNION ALL SELECT $1, id, 0, id FROM head"
        " ON CONFLICT (app_id, issue_id, tree) DO UPDATE SET shown_id = EXCLUDED.shown_id",
        PG_INT4(app_id), PG_INT8(issue_id), PG_INT8(into));
}

int rows_issues_find(struct rows_issue_found *out, struct pg_tx *tx, int32_t app_id, const struct pg_bytes *keys,
                     size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT l.n, issue_id, first_seen, gone_to IS NOT NULL FROM unnest($2::bytea[]) WITH ORDINALITY"
                      " l (feature_key, n) JOIN issue i ON i.app_id = $1 AND i.feature_key = l.feature_key",
                      PG_INT4(app_id), PG_BYTESS(keys, count));
    memset(out, 0, count * sizeof *out);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        out[pg_int(rows, i, 0) - 1] =
            (struct rows_issue_found){pg_int(rows, i, 1), pg_time(rows, i, 2), pg_bool(rows, i, 3)};
    return rc;
}

int rows_issues_take(struct pg_tx *tx, struct arena *arena, const struct rows_taken *taken, size_t count)
{
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues);
    int64_t *versions = arena_array(arena, count + 1, sizeof *versions);
    int64_t *occurred = arena_array(arena, count + 1, sizeof *occurred);

    if (!count)
        return 0;
    if (!issues || !versions || !occurred)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        issues[i] = taken[i].issue_id;
        versions[i] = taken[i].version_id;
        occurred[i] = taken[i].occurred_us;
    }
    return pg_query(NULL, tx,
                    "UPDATE issue i SET gone_to = NULL, first_seen = least(i.first_seen, l.seen),"
                    " first_version_id = CASE WHEN i.first_seen > l.seen THEN l.version_id ELSE i.first_version_id END"
                    " FROM (SELECT issue.issue_id, u.version_id, u.seen FROM unnest($1::bigint[], $2::bigint[],"
                    "  $3::timestamptz[]) u (issue_id, version_id, seen) JOIN issue ON issue.issue_id = u.issue_id"
                    "  ORDER BY issue.issue_id FOR UPDATE OF issue) l WHERE i.issue_id = l.issue_id",
                    PG_INT8S(issues, count), PG_INT8S(versions, count), PG_TIMES(occurred, count));
}

int rows_versions_find(int64_t *ids_out, struct pg_tx *tx, int32_t app_id, const char *const *versions,
                       const char *const *builds, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT l.n, v.version_id FROM unnest($2::text[], $3::text[]) WITH ORDINALITY l (version, build, n)"
                 " JOIN version v ON v.app_id = $1 AND v.version = l.version AND v.build = l.build",
                 PG_INT4(app_id), PG_TEXTS(versions, count), PG_TEXTS(builds, count));
    memset(ids_out, 0, count * sizeof *ids_out);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        ids_out[pg_int(rows, i, 0) - 1] = pg_int(rows, i, 1);
    return rc;
}

/* A statement about reports in two forms: of any slots, where $4 is unused, and of the slot $4, which Citus sends to one
 * machine. */
struct of_slots {
    const char *any, *one;
};

/* For tables with one row a report. */
static int find_stored(bool *stored_out, struct pg_tx *tx, struct arena *arena, const struct of_slots *sql,
                       const struct report_key *keys, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct key_columns columns;
    bool is_one = true;

    if (!count)
        return 0;
    if (!keys_make(&columns, arena, count))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys_put(&columns, i, &keys[i]);
        stored_out[i] = false;
        is_one &= keys[i].slot == keys[0].slot;
    }
    int rc = pg_query(&rows, tx, is_one ? sql->one : sql->any, KEY_PARAMS(columns, count), PG_INT2(keys[0].slot));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        stored_out[pg_int(rows, i, 0) - 1] = true;
    return rc;
}

#define STORED(table, where)                                                                                     \
    "SELECT l.n FROM unnest($1::smallint[], $2::date[], $3::uuid[]) WITH ORDINALITY l (slot, day, report_id, n)" \
    " JOIN " table " t ON t.slot = l.slot AND t.day = l.day AND t.report_id = l.report_id WHERE " where
#define STORED_IN(table)                                                              \
    {                                                                                 \
        STORED(table, "$4::smallint IS NOT NULL"), STORED(table, "t.slot = $4::int2") \
    }

int rows_stored(bool *stored_out, struct pg_tx *tx, struct arena *arena, enum rows_table table,
                const struct report_key *keys, size_t count)
{
    static const struct of_slots statements[] = {
        [ROWS_OF_EVENTS] = STORED_IN("event"),
        [ROWS_OF_SESSIONS] = STORED_IN("session"),
        [ROWS_OF_BASELINES] = STORED_IN("memory_baseline"),
    };
    return find_stored(stored_out, tx, arena, &statements[table], keys, count);
}

static void copy_event(struct pg_copy *copy, const struct event_row *event)
{
    struct uuid id = id_of(&event->key);
    bool ended = event->exit[0] != '\0';

    pg_copy(copy, PG_INT2(event->key.slot), PG_DAY(event->key.day), PG_UUID(&id), PG_INT4(event->app_id),
            PG_INT8(event->version_id), PG_INT8(event->issue_id), PG_TIME(event->received_us),
            PG_TIME(event->occurred_us), PG_INT8(event->duration_ms), PG_TEXT(event->category), PG_TEXT(event->reason),
            PG_BOOL(event->open), PG_REAL(event->weight), PG_BYTES(event->install, sizeof event->install),
            PG_TEXT(event->os), PG_TEXT(event->os_version), PG_TEXT(event->arch), PG_TEXT(event->model),
            PG_TEXT(event->process_name), PG_INT4(event->sample_count), PG_INT4(event->frame_count),
            PG_INT4(event->unresolved_count), PG_INT4(event->rules_version),
            event->foreground_known ? PG_BOOL(event->foreground) : PG_NULL(), PG_BOOL(event->launch),
            event->thread_count >= 0 ? PG_INT8(event->thread_count) : PG_NULL(), PG_INT8(event->suppressed),
            PG_INT8(event->suppressed_ms), PG_TEXT(event->holder),
            event->footprint_bytes >= 0 ? PG_INT8(event->footprint_bytes) : PG_NULL(),
            event->subject_bytes >= 0 ? PG_INT8(event->subject_bytes) : PG_NULL(),
            event->above_bytes >= 0 ? PG_INT8(event->above_bytes) : PG_NULL(), ended ? PG_TEXT(event->exit) : PG_NULL(),
            ended ? PG_INT4(event->exit_ppm) : PG_NULL(), PG_INT8(event->waited_ms), PG_INT4(event->tree),
            PG_TEXT(event->device_class), PG_TEXT(event->channel), PG_TEXT(event->scene), PG_BOOL(!event->is_counted),
            event->has_user ? PG_BYTES(event->user_hash, sizeof event->user_hash) : PG_NULL(),
            PG_TEXTS(event->tags, event->tag_count), PG_TEXT(event->country));
}

int rows_events_store(struct pg_tx *tx, const struct event_row *events, size_t count)
{
    MIRE_SCOPED(pg_copy_fini) struct pg_copy copy = {0};

    for (size_t i = 0; i < count; i++)
        copy_event(&copy, &events[i]);
    return pg_copy_end(
        tx,
        "COPY event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms,"
        " category, reason, open, weight, install, os, os_version, arch, model, process_name, sample_count,"
        " frame_count, unresolved_count, rules_version, foreground, launch, thread_count, suppressed, suppressed_ms,"
        " holder, footprint_bytes, subject_bytes, above_bytes, exit, exit_ppm, waited_ms, tree, device_class,"
        " channel, scene, kept, user_hash, tags, country) FROM STDIN BINARY",
        &copy);
}

int rows_stacks_store(struct pg_tx *tx, const struct rows_stack *stacks, size_t count)
{
    MIRE_SCOPED(pg_copy_fini) struct pg_copy copy = {0};

    for (size_t i = 0; i < count; i++) {
        struct uuid id = id_of(&stacks[i].key);
        pg_copy(&copy, PG_INT2(stacks[i].key.slot), PG_DAY(stacks[i].key.day), PG_UUID(&id),
                PG_BYTES(stacks[i].document.bytes, stacks[i].document.len));
    }
    return pg_copy_end(tx, "COPY event_stack (slot, day, report_id, document) FROM STDIN BINARY", &copy);
}

#define MISSING_AT_ONCE 64

/* The split files that a program lacks. When one arrives, the program's reports are derived again. */
static int splits_store(struct pg_tx *tx, const struct missing_debug_row *entry)
{
    struct pg_bytes splits[MISSING_AT_ONCE];
    size_t count = entry->split_count < MISSING_AT_ONCE ? entry->split_count : MISSING_AT_ONCE;
    for (size_t i = 0; i < count; i++)
        splits[i] = (struct pg_bytes){entry->splits[i], sizeof entry->splits[i]};
    return pg_query(
        NULL, tx,
        "INSERT INTO split_wanted (split_id, build_id) SELECT split_id, $2 FROM unnest($1::bytea[]) s (split_id)"
        " WHERE NOT EXISTS (SELECT FROM split_wanted w WHERE w.split_id = s.split_id AND w.build_id = $2)"
        " ORDER BY split_id ON CONFLICT DO NOTHING",
        PG_BYTESS(splits, count), PG_BYTES(entry->build_id, entry->build_id_len));
}

/* The damage of the stored files, where it has changed. */
static int defects_store(struct pg_tx *tx, const struct pg_bytes *builds, const char *const *defects, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= defects[i][0] != '\0';
    return any ? pg_query(NULL, tx,
                          "UPDATE image i SET defect = l.defect FROM (SELECT f.build_id, f.defect FROM image JOIN"
                          "  unnest($1::bytea[], $2::text[]) f (build_id, defect) USING (build_id)"
                          "  WHERE image.defect <> f.defect ORDER BY build_id FOR UPDATE OF image) l"
                          " WHERE i.build_id = l.build_id",
                          PG_BYTESS(builds, count), PG_TEXTS(defects, count))
               : 0;
}

int rows_images_store(struct pg_tx *tx, const struct missing_debug_row *missing, size_t count)
{
    int rc = 0;
    for (size_t at = 0, these = 0; !rc && at < count; these = 0) {
        struct pg_bytes builds[MISSING_AT_ONCE];
        const char *names[MISSING_AT_ONCE], *archs[MISSING_AT_ONCE], *versions[MISSING_AT_ONCE],
            *of_builds[MISSING_AT_ONCE];
        const char *defects[MISSING_AT_ONCE];
        int64_t sought[MISSING_AT_ONCE];
        for (; at < count && these < MISSING_AT_ONCE; at++) {
            if (!strcmp(missing[at].had, "lines"))
                continue;
            builds[these] = (struct pg_bytes){missing[at].build_id, missing[at].build_id_len};
            names[these] = missing[at].name;
            archs[these] = missing[at].arch;
            versions[these] = missing[at].version;
            of_builds[these] = missing[at].build;
            sought[these] = missing[at].sought;
            defects[these++] = missing[at].defect;
        }
        if (!these)
            break;
        rc =
            pg_query(NULL, tx,
                     "INSERT INTO image (build_id, name, arch, version, build, look_at)"
                     " SELECT build_id, name, arch, version, build, CASE WHEN sought > 0 THEN now() ELSE 'infinity' END"
                     " FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])"
                     "  l (build_id, name, arch, version, build, sought)"
                     " WHERE NOT EXISTS (SELECT FROM image i WHERE i.build_id = l.build_id) ORDER BY build_id"
                     " ON CONFLICT DO NOTHING",
                     PG_BYTESS(builds, these), PG_TEXTS(names, these), PG_TEXTS(archs, these),
                     PG_TEXTS(versions, these), PG_TEXTS(of_builds, these), PG_INT8S(sought, these));
        rc = rc ? rc : defects_store(tx, builds, defects, these);
    }
    for (size_t i = 0; !rc && i < count; i++)
        rc = missing[i].split_count ? splits_store(tx, &missing[i]) : 0;
    return rc;
}
