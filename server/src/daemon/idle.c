/* idle.c - see idle.h. */
#include "daemon/idle.h"

#include "base/fault.h"
#include "base/scope.h"
#include "pipeline/known.h"
#include "rows/alias.h"
#include "rows/derive.h"
#include "rows/idle.h"
#include "rows/triage.h"

#include <inttypes.h>
#include <string.h>

#define ARENA_BYTES (16u << 20)

static bool deletes(const struct idle_app *app)
{
    return !strcmp(app->idle, "delete");
}

static int archive(struct pg_tx *tx, const struct idle_app *app, const int64_t *issues, size_t count, int days)
{
    char why[64];
    int64_t batch;
    const struct triage_change change = {
        .app = app->app, .who = "mire", .why = why, .state = "ignored", .version = "", .devices = 1};
    snprintf(why, sizeof why, "No report for %d days.", days);
    int rc = rows_triage_set(&batch, tx, &change, issues, count);
    return rc > 0 ? MIRE_FAULT_RACED : rc;
}

/* Each leads to the issue "other" of its kind. */
static int delete_all(struct pg_tx *tx, struct arena *arena, const struct idle_app *app, const int64_t *issues,
                      size_t count)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++) {
        struct issue_row kind;
        int64_t other;
        rc = rows_idle_kind(&kind, tx, arena, app->app, issues[i]);
        if (rc)
            break;
        known_other_issue(&kind);
        rc = rows_issue_open(&other, tx, &kind);
        if (!rc && other != issues[i])
            rc = rows_idle_delete(tx, arena, app->app, issues[i], other);
    }
    return rc;
}

/* Wait for the reports that are on their way into issues of the app, and ask again with those that come behind locked out. */
static int check(int64_t *issues, size_t *count, struct pg_tx *tx, const struct idle_app *app, int days)
{
    int rc = rows_idle_alone(tx, app->app);
    if (!rc)
        rc = rows_alias_begin(tx, app->app);
    return rc ? rc : rows_idle_still(issues, count, tx, app, days);
}

/* A page of issues in a transaction. */
static int step_page(int64_t *from, int64_t *changed, struct pg *pg, struct arena *arena, const struct idle_app *app,
                     int days)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t *issues;
    size_t count;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_idle_issues(&issues, &count, from, tx, arena, app, days);
    if (!rc && count)
        rc = check(issues, &count, tx, app, days);
    if (!rc && count)
        rc = deletes(app) ? delete_all(tx, arena, app, issues, count) : archive(tx, app, issues, count, days);
    if (!rc)
        rc = pg_commit(&tx);
    *changed += rc ? 0 : (int64_t)count;
    return rc;
}

static int step_versions(int64_t *archived, struct pg *pg, const struct idle_app *app, int days)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_idle_versions(archived, tx, app->app, days);
    return rc ? rc : pg_commit(&tx);
}

static int step_app(struct pg *pg, const struct log *log, const struct idle_app *app, int days)
{
    int64_t from = 0, changed = 0, archived = 0;
    int rc;
    do {
        MIRE_SCOPED(arena_fini) struct arena arena;
        arena_init(&arena, ARENA_BYTES);
        rc = step_page(&from, &changed, pg, &arena, app, days);
    } while (!rc && from);
    if (!rc)
        rc = step_versions(&archived, pg, app, days);
    if (changed || archived)
        log_event(log, MIRE_LOG_INFO, "idle.step", LOG_TEXT("app", app->slug), LOG_TEXT("way", app->idle),
                  LOG_NUMBER("issues", changed), LOG_NUMBER("versions", archived));
    return rc;
}

static int read_apps(struct idle_app **out, size_t *count, struct pg *pg, struct arena *arena)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    return rc ? rc : rows_idle_apps(out, count, tx, arena);
}

int idle_step(struct pg *pg, const struct log *log, int days)
{
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct idle_app *apps = NULL;
    size_t count = 0;
    arena_init(&arena, ARENA_BYTES);
    int rc = days ? read_apps(&apps, &count, pg, &arena) : 0;
    for (size_t i = 0; !rc && i < count; i++)
        rc = step_app(pg, log, &apps[i], days);
    if (rc)
        log_event(log, MIRE_LOG_WARN, "idle.step", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in an hour, tries again."));
    return rc;
}

static int print_app(struct pg_tx *tx, FILE *out, const struct idle_app *app, int days, int ahead)
{
    int64_t from = 0, due = 0, versions = 0;
    int32_t since = days > ahead ? days - ahead : 0;
    int rc;
    do {
        MIRE_SCOPED(arena_fini) struct arena arena;
        int64_t *issues;
        size_t count;
        arena_init(&arena, ARENA_BYTES);
        rc = rows_idle_issues(&issues, &count, &from, tx, &arena, app, since);
        due += rc ? 0 : (int64_t)count;
    } while (!rc && from);
    if (!rc)
        rc = rows_idle_versions_count(&versions, tx, app->app, since);
    if (!rc)
        fprintf(out, "%-24s %s %" PRId64 " issues, and archives %" PRId64 " versions, without reports for %d days\n",
                app->slug, deletes(app) ? "deletes" : "archives", due, versions, days);
    return rc;
}

int idle_print(struct pg_tx *tx, FILE *out, int days, int ahead)
{
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct idle_app *apps = NULL;
    size_t count = 0;
    arena_init(&arena, ARENA_BYTES);
    int rc = days ? rows_idle_apps(&apps, &count, tx, &arena) : 0;
    for (size_t i = 0; !rc && i < count; i++)
        rc = print_app(tx, out, &apps[i], days, ahead);
    return rc;
}
