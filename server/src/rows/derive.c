/*
 * derive.c - the statements behind derive.h, text beside binding.
 *
 * Workers lock rows in one order: version, issue, issue_tree (tree.c), event, event_stack, image, split_wanted,
 * version_hour, issue_hour, turn_hour, arrival_day, issue_memory (memory.c); of a baseline version, memory_baseline, healthy. Each
 * transaction touches one row of each, and those of turn_hour by length, so two of them never wait for each other in a
 * circle.
 */
#include "rows/derive.h"

#include "base/clock.h"

#include <string.h>

static struct uuid id_of(const struct report_key *key)
{
    struct uuid id;
    __builtin_memcpy(id.bytes, key->report_id, sizeof id.bytes);
    return id;
}

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

int rows_event_store(bool *new_out, struct pg_tx *tx, const struct event_row *event)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct uuid id = id_of(&event->key);
    int rc = pg_query(
        &rows, tx,
        "INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms,"
        " category, reason, open, weight, install, os, os_version, arch, model, process_name, sample_count, "
        "frame_count,"
        " unresolved_count, rules_version, foreground, launch, thread_count, suppressed, suppressed_ms, holder,"
        " footprint_bytes, subject_bytes, exit, exit_ppm, waited_ms, tree)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,"
        " $23, CASE WHEN $24 THEN $25 END, $26, nullif($27, -1), $28, $29, $30, nullif($31, -1), nullif($32, -1),"
        " nullif($33, ''), CASE WHEN $33 <> '' THEN $34::integer END, $35, $36) ON CONFLICT (slot, day, report_id) DO "
        "NOTHING",
        PG_INT2(event->key.slot), PG_DAY(event->key.day), PG_UUID(&id), PG_INT4(event->app_id),
        PG_INT8(event->version_id), PG_INT8(event->issue_id), PG_TIME(event->received_us), PG_TIME(event->occurred_us),
        PG_INT8(event->duration_ms), PG_TEXT(event->category), PG_TEXT(event->reason), PG_BOOL(event->open),
        PG_REAL(event->weight), PG_BYTES(event->install, sizeof event->install), PG_TEXT(event->os),
        PG_TEXT(event->os_version), PG_TEXT(event->arch), PG_TEXT(event->model), PG_TEXT(event->process_name),
        PG_INT4(event->sample_count), PG_INT4(event->frame_count), PG_INT4(event->unresolved_count),
        PG_INT4(event->rules_version), PG_BOOL(event->foreground_known), PG_BOOL(event->foreground),
        PG_BOOL(event->launch), PG_INT8(event->thread_count), PG_INT8(event->suppressed), PG_INT8(event->suppressed_ms),
        PG_TEXT(event->holder), PG_INT8(event->footprint_bytes), PG_INT8(event->subject_bytes), PG_TEXT(event->exit),
        PG_INT4(event->exit_ppm), PG_INT8(event->waited_ms), PG_INT4(event->tree));
    if (!rc)
        *new_out = pg_touched(rows) > 0;
    return rc;
}

int rows_stack_store(struct pg_tx *tx, const struct report_key *key, struct pg_bytes document)
{
    struct uuid id = id_of(key);
    return pg_query(NULL, tx,
                    "INSERT INTO event_stack (slot, day, report_id, document) VALUES ($1, $2, $3, $4)"
                    " ON CONFLICT (slot, day, report_id) DO UPDATE SET document = EXCLUDED.document",
                    PG_INT2(key->slot), PG_DAY(key->day), PG_UUID(&id), PG_BYTES(document.bytes, document.len));
}

#define MISSING_AT_ONCE 64

/* Which split files a program wants: when one comes, the program's reports are derived anew. */
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

/* What is wrong with the files there are of them, where that is something else by now. */
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

int rows_missing_debug_store(struct pg_tx *tx, const struct report_key *key, int32_t app_id,
                             const struct missing_debug_row *missing, size_t count)
{
    struct uuid id = id_of(key);
    int rc = 0;
    for (size_t at = 0, these; !rc && at < count; at += these) {
        struct pg_bytes builds[MISSING_AT_ONCE];
        const char *had[MISSING_AT_ONCE];
        these = count - at < MISSING_AT_ONCE ? count - at : MISSING_AT_ONCE;
        for (size_t i = 0; i < these; i++) {
            builds[i] = (struct pg_bytes){missing[at + i].build_id, missing[at + i].build_id_len};
            had[i] = missing[at + i].had;
        }
        rc = pg_query(NULL, tx,
                      "INSERT INTO missing_debug_file (slot, day, report_id, app_id, build_id, had)"
                      " SELECT $1, $2, $3, $4, l.* FROM unnest($5::bytea[], $6::text[]) l ON CONFLICT DO NOTHING",
                      PG_INT2(key->slot), PG_DAY(key->day), PG_UUID(&id), PG_INT4(app_id), PG_BYTESS(builds, these),
                      PG_TEXTS(had, these));
    }
    return rc;
}

/* Turns of each length; nothing if the report tells of none. */
static int turns_add(struct pg_tx *tx, const struct hour_row *hour)
{
    int64_t from_ms[MIRE_TURN_BUCKETS];
    double turns[MIRE_TURN_BUCKETS];
    size_t used = 0;
    for (int i = 0; i < MIRE_TURN_BUCKETS; i++) {
        if (hour->turns[i] == 0)
            continue;
        from_ms[used] = (int64_t)MIRE_TURN_LEAST << i;
        turns[used++] = hour->turns[i];
    }
    if (!used)
        return 0;
    return pg_query(
        NULL, tx,
        "INSERT INTO turn_hour AS t (slot, hour, app_id, version_id, from_ms, turns)"
        " SELECT $1, $2, $3, $4, u.from_ms, u.turns FROM unnest($5::bigint[], $6::float8[]) u (from_ms, turns)"
        " ORDER BY u.from_ms"
        " ON CONFLICT (slot, hour, app_id, version_id, from_ms) DO UPDATE SET turns = t.turns + EXCLUDED.turns",
        PG_INT2(hour->slot), PG_TIME(hour->hour_us), PG_INT4(hour->app_id), PG_INT8(hour->version_id),
        PG_INT8S(from_ms, used), PG_REALS(turns, used));
}

int rows_arrival_add(struct pg_tx *tx, const struct rows_arrival *arrival)
{
    if (arrival->delay < 0)
        return 0;
    return pg_query(
        NULL, tx,
        "INSERT INTO arrival_day AS t (slot, day, app_id, kind, delay, events) VALUES ($1, $2, $3, $4, $5, $6)"
        " ON CONFLICT (slot, day, app_id, kind, delay) DO UPDATE SET events = t.events + EXCLUDED.events",
        PG_INT2(arrival->slot), PG_DAY(arrival->day), PG_INT4(arrival->app_id), PG_TEXT(arrival->kind),
        PG_INT2((int16_t)arrival->delay), PG_REAL(arrival->events));
}

int rows_version_hour_add(struct pg_tx *tx, const struct hour_row *hour, int64_t reports)
{
    return pg_query(
        NULL, tx,
        "INSERT INTO version_hour AS t (slot, hour, app_id, version_id, category, reports, events, waited_ms,"
        " longest_ms) VALUES ($1, $2, $3, $4, $5, $9, $6, $7, $8)"
        " ON CONFLICT (slot, hour, app_id, version_id, category) DO UPDATE SET"
        " reports = t.reports + EXCLUDED.reports,"
        " events = t.events + EXCLUDED.events, waited_ms = t.waited_ms + EXCLUDED.waited_ms,"
        " longest_ms = greatest(t.longest_ms, EXCLUDED.longest_ms)",
        PG_INT2(hour->slot), PG_TIME(hour->hour_us), PG_INT4(hour->app_id), PG_INT8(hour->version_id),
        PG_TEXT(hour->category), PG_REAL(hour->events), PG_REAL(hour->waited_ms), PG_INT8(hour->longest_ms),
        PG_INT8(reports));
}

int rows_issue_hour_add(struct pg_tx *tx, const struct hour_row *hour, int64_t reports)
{
    return pg_query(NULL, tx,
                    "INSERT INTO issue_hour AS t (slot, hour, app_id, issue_id, version_id, reports, events, waited_ms,"
                    " longest_ms, last_at, most_bytes, tree)"
                    " VALUES ($1, $2, $3, $4, $5, $11, $6, $7, $8, $9, $10, $12)"
                    " ON CONFLICT (slot, hour, app_id, issue_id, version_id, tree) DO UPDATE SET"
                    " reports = t.reports + EXCLUDED.reports,"
                    " events = t.events + EXCLUDED.events, waited_ms = t.waited_ms + EXCLUDED.waited_ms,"
                    " longest_ms = greatest(t.longest_ms, EXCLUDED.longest_ms),"
                    " most_bytes = greatest(t.most_bytes, EXCLUDED.most_bytes),"
                    " last_at = greatest(t.last_at, EXCLUDED.last_at)",
                    PG_INT2(hour->slot), PG_TIME(hour->hour_us), PG_INT4(hour->app_id), PG_INT8(hour->issue_id),
                    PG_INT8(hour->version_id), PG_REAL(hour->events), PG_REAL(hour->waited_ms),
                    PG_INT8(hour->longest_ms), PG_TIME(hour->last_us), PG_INT8(hour->most_bytes), PG_INT8(reports),
                    PG_INT4(hour->tree));
}

int rows_hour_add(struct pg_tx *tx, const struct hour_row *hour)
{
    int rc = rows_version_hour_add(tx, hour, 1);
    if (!rc)
        rc = rows_issue_hour_add(tx, hour, 1);
    if (!rc)
        rc = turns_add(tx, hour);
    const struct rows_arrival arrival = {hour->slot,  clock_day(hour->hour_us), hour->app_id, "event", hour->delay,
                                         hour->events};
    return rc ? rc : rows_arrival_add(tx, &arrival);
}

int rows_loss_add(struct pg_tx *tx, const struct loss_row *loss)
{
    if (!loss->count)
        return 0;
    return pg_query(
        NULL, tx,
        "INSERT INTO loss_day AS t (slot, day, app_id, version_id, reason, lost)"
        " SELECT $1, $2, $3, $4, e.reason, e.n FROM unnest($5::text[], $6::int8[]) e (reason, n) ORDER BY e.reason"
        " ON CONFLICT (slot, day, app_id, version_id, reason) DO UPDATE SET lost = t.lost + EXCLUDED.lost",
        PG_INT2(loss->slot), PG_DAY(loss->day), PG_INT4(loss->app_id), PG_INT8(loss->version_id),
        PG_TEXTS(loss->reasons, loss->count), PG_INT8S(loss->lost, loss->count));
}
