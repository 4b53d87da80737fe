/* many.c - see many.h. */
#include "bench/many.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "postgres/migrate.h"
#include "rows/counters.h"
#include "rows/derive.h"
#include "rows/rollup.h"
#include "rows/session.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_US   86400000000ll
#define APP      1
#define SESSIONS 10 /* events for each session record */
#define STORED   1000000

static const char names_sql[] =
    "INSERT INTO app (app_id, slug, name) VALUES (1, 'redis', 'Redis');"
    "INSERT INTO version (app_id, version, first_seen)"
    " SELECT 1, '7.' || g / 10 || '.' || g %% 10, now() - (%d - g) * interval '1 day' FROM generate_series(1, %d) g;"
    "INSERT INTO issue (app_id, feature_key, caller1, caller1_image, caller2, caller2_image, category, reason,"
    " rules_version, first_seen, first_version_id) SELECT 1, decode(md5(g::text), 'hex'), 'caller1_' || g / 3,"
    " 'redis-server', 'caller2_' || g, 'redis-server', (ARRAY['hang', 'launch', 'background', 'killed'])[1 + g %% 4],"
    " (ARRAY['cpu', 'io', 'lock'])[1 + g %% 3], 1, now() - interval '31 days', 1 FROM generate_series(1, %d) g;";

static const char *const categories[] = {"hang", "launch", "background", "killed"};

struct batch {
    struct event_row events[MIRE_DELTA_ENTRIES_MAX];
    struct hour_row hours[MIRE_DELTA_ENTRIES_MAX];
    struct session_row sessions[MIRE_DELTA_ENTRIES_MAX / SESSIONS];
    struct delta_entry entries[MIRE_DELTA_ENTRIES_MAX + MIRE_DELTA_ENTRIES_MAX / SESSIONS];
};

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "bench-api: %s: %s\n", what, fault_name(rc));
    exit(2);
}

static uint64_t roll(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double share(uint64_t *state)
{
    return (double)(roll(state) >> 11) * 0x1p-53;
}

static void make_key(struct report_key *key, int64_t at_us, uint64_t *state)
{
    uint64_t halves[2] = {roll(state), roll(state)};
    memcpy(key->report_id, halves, sizeof key->report_id);
    key->slot = (int16_t)(halves[0] & 63);
    key->day = clock_day(at_us);
}

static void make_install(uint8_t install[16], uint64_t *state)
{
    uint64_t seed = roll(state) % MANY_DEVICES;
    uint64_t halves[2] = {roll(&seed), roll(&seed)};
    memcpy(install, halves, 16);
}

static int64_t version_of(uint64_t *state)
{
    double u = share(state);
    return 1 + (int64_t)((1 - u * u * u) * (MANY_VERSIONS - 1));
}

static void make_event(struct event_row *event, struct hour_row *hour, int64_t at_us, uint64_t *state)
{
    static const char *const models[] = {"Pixel 7",       "Pixel 8", "SM-G991B", "SM-A536B",
                                         "Redmi Note 12", "V2130",   "CPH2465",  "moto g"};
    int64_t issue = 1 + (int64_t)(pow(share(state), 3) * (MANY_ISSUES - 1));
    int64_t ms = (int64_t)(1000 * exp(share(state) * 3));
    const char *category = categories[issue % 4];

    *event = (struct event_row){.app_id = APP,
                                .version_id = version_of(state),
                                .issue_id = issue,
                                .received_us = at_us + 5000000,
                                .occurred_us = at_us,
                                .duration_ms = ms,
                                .waited_ms = ms,
                                .category = category,
                                .reason = "cpu",
                                .foreground = roll(state) & 1,
                                .foreground_known = true,
                                .weight = 1,
                                .thread_count = 20,
                                .holder = "",
                                .country = "",
                                .footprint_bytes = -1,
                                .subject_bytes = -1,
                                .exit = "",
                                .os = "android",
                                .os_version = roll(state) & 1 ? "13" : "14",
                                .arch = "aarch64",
                                .model = models[roll(state) & 7],
                                .process_name = "redis",
                                .device_class = roll(state) & 1 ? "4gb" : "8gb",
                                .channel = "public",
                                .scene = "",
                                .sample_count = 20,
                                .frame_count = 40,
                                .unresolved_count = 1,
                                .rules_version = 1,
                                .is_counted = true};
    make_key(&event->key, event->received_us, state);
    make_install(event->install, state);
    *hour = (struct hour_row){.reports = 1,
                              .hour_us = at_us - at_us % 3600000000ll,
                              .app_id = APP,
                              .version_id = event->version_id,
                              .issue_id = issue,
                              .category = category,
                              .events = 1,
                              .waited_ms = (double)ms,
                              .longest_ms = ms,
                              .last_us = at_us,
                              .turns = {[2] = 1}};
}

static void make_session(struct session_row *session, int64_t at_us, uint64_t *state)
{
    bool hung = roll(state) % 20 == 0;
    *session = (struct session_row){.app_id = APP,
                                    .version_id = version_of(state),
                                    .received_us = at_us,
                                    .occurred_us = at_us,
                                    .occurred_day = clock_day(at_us),
                                    .channel = "public",
                                    .plugins = 9,
                                    .over = true,
                                    .loop = true,
                                    .duration_ms = 600000,
                                    .foreground_ms = 300000,
                                    .hangs = hung,
                                    .hang_ms = hung ? 1500 : 0,
                                    .sdk_cpu_us = 20000,
                                    .cpu_ms = 30000,
                                    .footprint_peak_bytes = 200000000,
                                    .launch_ms = 700,
                                    .frames_drawn = -1,
                                    .frames_dropped = -1,
                                    .weight = 1,
                                    .watched_weight = 1,
                                    .time_ms = 300000,
                                    .os = "android",
                                    .os_version = roll(state) & 1 ? "13" : "14",
                                    .arch = "aarch64",
                                    .model = "Pixel 7",
                                    .process_name = "redis",
                                    .device_class = "4gb",
                                    .country = "",
                                    .ends = 1};
    make_key(&session->key, at_us, state);
    make_install(session->install, state);
}

/* Store `count` events between two instants, as the worker does; unless `whole`, without their own rows. */
static void store(struct pg *pg, struct batch *b, size_t count, int64_t from_us, int64_t to_us, bool whole,
                  uint64_t *state)
{
    char versions[MANY_VERSIONS + 1][16];
    size_t sessions = count / SESSIONS;
    struct arena arena;
    struct pg_tx *tx;

    arena_init(&arena, 256u << 20);
    for (int i = 1; i <= MANY_VERSIONS; i++)
        snprintf(versions[i], sizeof versions[i], "7.%d.%d", i / 10, i % 10);
    for (size_t i = 0; i < count; i++) {
        make_event(&b->events[i], &b->hours[i], from_us + (int64_t)(share(state) * (double)(to_us - from_us)), state);
        rows_rollup_entry(&b->entries[i], &b->events[i], &b->hours[i], versions[b->events[i].version_id]);
    }
    for (size_t i = 0; i < sessions; i++) {
        make_session(&b->sessions[i], from_us + (int64_t)(share(state) * (double)(to_us - from_us)), state);
        must(rows_rollup_session_entry(&b->entries[count + i], &arena, &b->sessions[i],
                                       versions[b->sessions[i].version_id]),
             "session");
    }
    must(pg_begin(&tx, pg, MIRE_PG_WRITE), "begin");
    must(whole ? rows_events_store(tx, b->events, count) : 0, "events");
    must(rows_sessions_store(tx, b->sessions, sessions), "sessions");
    must(rows_sessions_add(tx, &arena, b->sessions, sessions, 1), "session days");
    must(rows_hours_add(tx, &arena, b->hours, count), "counters");
    for (size_t at = 0; at < count + sessions; at += MIRE_DELTA_ENTRIES_MAX) {
        size_t some = count + sessions - at < MIRE_DELTA_ENTRIES_MAX ? count + sessions - at : MIRE_DELTA_ENTRIES_MAX;
        must(rows_rollup_delta_store(tx, &arena, APP, b->events[0].key.slot, &b->entries[at], some), "delta");
    }
    must(pg_commit(&tx), "commit");
    arena_fini(&arena);
}

static void merge(struct pg *pg)
{
    for (bool more = true; more;)
        must(rows_rollups_merge(&more, pg, clock_wall_us()), "merging");
}

static struct batch *make_batch(void)
{
    struct batch *batch = calloc(1, sizeof *batch);
    must(batch ? 0 : MIRE_FAULT_MEMORY, "memory");
    return batch;
}

/* Merges beside the filling: a day that was stored is merged while the next one is stored. */
struct merging {
    struct pg *pg;
    sem_t days;
    _Atomic bool done;
};

static void *merge_days(void *context)
{
    struct merging *merging = context;

    while (!atomic_load(&merging->done)) {
        sem_wait(&merging->days);
        merge(merging->pg);
    }
    return NULL;
}

/* A batch has the events of a part of the day, as they come in. */
static void fill_day(struct pg *pg, struct batch *batch, long events, int64_t from_us, bool whole, uint64_t *state)
{
    for (long done = 0, some; done < events; done += some) {
        some = events - done < MIRE_DELTA_ENTRIES_MAX ? events - done : MIRE_DELTA_ENTRIES_MAX;
        store(pg, batch, (size_t)some, from_us + (int64_t)((double)DAY_US * (double)done / (double)events),
              from_us + (int64_t)((double)DAY_US * (double)(done + some) / (double)events), whole, state);
    }
}

static void fill_days(struct pg *pg, struct pg *merger, long events)
{
    struct merging merging = {.pg = merger};
    struct batch *batch = make_batch();
    int64_t now_us = clock_wall_us();
    uint64_t state = 1;
    pthread_t thread;

    must(sem_init(&merging.days, 0, 0) || pthread_create(&thread, NULL, merge_days, &merging) ? MIRE_FAULT_MEMORY : 0,
         "thread");
    for (int day = 0; day < MANY_DAYS; day++) {
        fill_day(pg, batch, events / MANY_DAYS, now_us - (MANY_DAYS - day) * DAY_US,
                 events / MANY_DAYS * (MANY_DAYS - day - 1) < STORED, &state);
        sem_post(&merging.days);
        fprintf(stderr, "\rfilled %d of %d days", day + 1, MANY_DAYS);
    }
    atomic_store(&merging.done, true);
    sem_post(&merging.days);
    pthread_join(thread, NULL);
    sem_destroy(&merging.days);
    merge(merger);
    fprintf(stderr, "\n");
    free(batch);
}

void many_fill(struct pg *pg, struct pg *merger, long events)
{
    const struct log log = {.fd = 2, .least = MIRE_LOG_WARN};
    const struct pg_days days = {.today = clock_day(clock_wall_us()), .back = MANY_DAYS + 1, .ahead = 1};
    char sql[sizeof names_sql + 64];
    struct pg_tx *tx;
    int made, dropped;

    must(pg_partition(&made, &dropped, pg, &days, &log), "partitions");
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    snprintf(sql, sizeof sql, names_sql, MANY_VERSIONS, MANY_VERSIONS, MANY_ISSUES);
    must(pg_script(tx, sql), "names");
    pg_end(&tx);
    fill_days(pg, merger, events);
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_script(tx, "VACUUM ANALYZE"), "vacuum");
    pg_end(&tx);
}

void *many_arrive(void *context)
{
    struct many_arrival *arrival = context;
    struct batch *batch = make_batch();
    uint64_t state = (uint64_t)clock_wall_us();
    int64_t begun_us = clock_wall_us(), merged_us = begun_us;

    while (!atomic_load(&arrival->stop)) {
        int64_t now_us = clock_wall_us();
        long due = (long)((now_us - begun_us) * arrival->per_second / 1000000) - arrival->stored;
        size_t some = due < 500 ? (size_t)due : 500;
        if (some)
            store(arrival->pg, batch, some, now_us - 1000000, now_us, true, &state);
        arrival->stored += (long)some;
        if (now_us - merged_us > 60000000) {
            merge(arrival->pg);
            merged_us = now_us;
            arrival->merges++;
            arrival->merge_us += clock_wall_us() - now_us;
        }
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    free(batch);
    return NULL;
}
