/* tally.c - see tally.h. Apps are few: they are found one by one. */
#include "ingest/tally.h"

#include <stdlib.h>
#include <string.h>

const char *const ingest_outcomes[MIRE_INGEST_OUTCOMES] = {
    [MIRE_INGEST_STORED] = "stored",       [MIRE_INGEST_DUPLICATE] = "duplicate", [MIRE_INGEST_QUOTA] = "quota",
    [MIRE_INGEST_BUSY] = "queue_full",     [MIRE_INGEST_DISK] = "disk_full",      [MIRE_INGEST_BODY] = "body_refused",
    [MIRE_INGEST_FAILED] = "store_failed", [MIRE_INGEST_OFTEN] = "too_often",
};

void tally_init(struct door_tally *tally)
{
    *tally = (struct door_tally){0};
    pthread_mutex_init(&tally->mutex, NULL);
}

void tally_fini(struct door_tally *tally)
{
    pthread_mutex_destroy(&tally->mutex);
    free(tally->apps);
}

/* The row of an app, made if there is none. NULL: no app, or no memory. The mutex is held. */
static struct ingest_app *find(struct door_tally *tally, int32_t app_id)
{
    for (size_t i = 0; i < tally->count; i++)
        if (tally->apps[i].app_id == app_id)
            return &tally->apps[i];
    if (!app_id)
        return NULL;
    if (tally->count == tally->room) {
        size_t room = tally->room ? tally->room * 2 : 16;
        struct ingest_app *apps = realloc(tally->apps, room * sizeof *apps);
        if (!apps)
            return NULL;
        tally->apps = apps;
        tally->room = room;
    }
    tally->apps[tally->count] = (struct ingest_app){.app_id = app_id};
    return &tally->apps[tally->count++];
}

static void count(struct ingest_app *app, enum ingest_outcome outcome, size_t reports, size_t bytes)
{
    app->reports[outcome] += (int64_t)reports;
    app->bytes[outcome] += (int64_t)bytes;
}

static bool has_room(const struct ingest_app *app)
{
    int64_t reports = app->today_reports + app->reports[MIRE_INGEST_STORED] + app->coming_reports;
    int64_t bytes = app->today_bytes + app->bytes[MIRE_INGEST_STORED] + app->coming_bytes;
    return (!app->quota_reports || reports < app->quota_reports) && (!app->quota_bytes || bytes < app->quota_bytes);
}

bool tally_take(struct door_tally *tally, int32_t app_id, size_t reports, size_t bytes)
{
    bool is_kept = true;

    pthread_mutex_lock(&tally->mutex);
    struct ingest_app *app = find(tally, app_id);
    if (app) {
        is_kept = has_room(app) || app->beyond++ % MIRE_TALLY_ONE_OF == 0;
        if (is_kept) {
            app->coming_reports += (int64_t)reports;
            app->coming_bytes += (int64_t)bytes;
        } else {
            count(app, MIRE_INGEST_QUOTA, reports, bytes);
        }
    }
    pthread_mutex_unlock(&tally->mutex);
    return is_kept;
}

void tally_stored(struct door_tally *tally, int32_t app_id, enum ingest_outcome outcome, size_t bytes)
{
    pthread_mutex_lock(&tally->mutex);
    struct ingest_app *app = find(tally, app_id);
    if (app) {
        app->coming_reports--;
        app->coming_bytes -= (int64_t)bytes;
        count(app, outcome, 1, bytes);
    }
    pthread_mutex_unlock(&tally->mutex);
}

void tally_refused(struct door_tally *tally, int32_t app_id, enum ingest_outcome outcome, size_t bytes)
{
    pthread_mutex_lock(&tally->mutex);
    struct ingest_app *app = find(tally, app_id);
    if (app)
        count(app, outcome, 1, bytes);
    pthread_mutex_unlock(&tally->mutex);
}

/* The counts that were handed over are no longer the process's own; budgets and sums are the table's. */
static void settle(struct door_tally *tally, const struct ingest_app *handed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ingest_app *app = find(tally, handed[i].app_id);
        if (!app)
            continue;
        for (int k = 0; k < MIRE_INGEST_OUTCOMES; k++) {
            app->reports[k] -= handed[i].reports[k];
            app->bytes[k] -= handed[i].bytes[k];
        }
        app->quota_reports = handed[i].quota_reports;
        app->quota_bytes = handed[i].quota_bytes;
        app->today_reports = handed[i].today_reports;
        app->today_bytes = handed[i].today_bytes;
    }
}

void tally_flush(struct door_tally *tally, const struct ingest_needs *needs)
{
    pthread_mutex_lock(&tally->mutex);
    size_t count = tally->count;
    struct ingest_app *handed = count ? malloc(count * sizeof *handed) : NULL;
    if (handed)
        memcpy(handed, tally->apps, count * sizeof *handed);
    pthread_mutex_unlock(&tally->mutex);
    if (handed && !needs->tally(needs->store_context, handed, count)) {
        pthread_mutex_lock(&tally->mutex);
        settle(tally, handed, count);
        pthread_mutex_unlock(&tally->mutex);
    }
    free(handed);
}
