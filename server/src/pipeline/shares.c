/* shares.c - see shares.h. */
#include "pipeline/shares.h"

#include "base/fault.h"
#include "base/grow.h"
#include "rollout/rollout.h"
#include "rows/document.h"
#include "wire/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 16 /* rollouts of one query */

void shares_fini(struct shares *shares)
{
    for (size_t i = 0; i < MIRE_SHARES_APPS; i++)
        free(shares->apps[i].rows);
}

static const struct shares_row *find(const struct shares_app *of, int plugin, uint32_t ppm)
{
    for (size_t i = 0; i < of->count; i++)
        if (of->rows[i].plugin == plugin && of->rows[i].ppm == ppm)
            return &of->rows[i];
    return NULL;
}

/* Add the new shares of a rollout. */
static int add_rollout(struct shares_app *of, struct arena *arena, const char *text, int64_t since_us)
{
    struct rollout rollout;

    if (rollout_parse(&rollout, arena, text))
        return 0; /* rules of an older server, which have no shares today */
    for (size_t i = 0; i < rollout.count; i++)
        for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++) {
            const struct rule_plugin *rule = &rollout.rules[i].plugins[plugin];
            if (!rule->known || find(of, plugin, rule->ppm))
                continue;
            if (!GROW(of))
                return MIRE_FAULT_MEMORY;
            of->rows[of->count++] = (struct shares_row){plugin, rule->ppm, since_us};
        }
    return 0;
}

/* Read the rollouts that were made since the last time. */
static int read_on(struct shares_app *of, struct pg_tx *tx, struct arena *arena)
{
    size_t count = AT_ONCE;
    int rc = 0;

    while (!rc && count == AT_ONCE) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        rc = rows_rollouts_since(&rows, tx, of->app, of->version, AT_ONCE);
        count = rc ? 0 : pg_row_count(rows);
        for (size_t i = 0; !rc && i < count; i++) {
            rc = add_rollout(of, arena, pg_text(rows, i, 2), pg_time(rows, i, 1));
            if (!rc)
                of->version = pg_int(rows, i, 0);
        }
    }
    return rc;
}

/* The entry of the app; otherwise the least recently used entry. */
static int find_app(struct shares_app **out, struct shares *shares, struct arena *arena, int32_t app)
{
    struct shares_app *oldest = &shares->apps[0];

    for (size_t i = 0; i < MIRE_SHARES_APPS; i++) {
        struct shares_app *of = &shares->apps[i];
        if (of->app == app)
            oldest = of;
        if (of->app == app)
            break;
        if (of->used < oldest->used)
            oldest = of;
    }
    *out = oldest;
    oldest->used = ++shares->now;
    if (oldest->app == app)
        return 0;
    oldest->app = 0;
    oldest->count = 0;
    oldest->version = 0;
    int rc = add_rollout(oldest, arena, rollout_default, INT64_MIN);
    if (!rc)
        oldest->app = app;
    return rc;
}

static int plugin_named(const char *name)
{
    int plugin = 0;
    while (plugin < MIRE_PLUGINS && strcmp(mire__plugin_name(plugin), name) != 0)
        plugin++;
    return plugin;
}

static bool was_given(const struct shares_app *of, const struct report_probability *said, int64_t received_us)
{
    const struct shares_row *row = find(of, plugin_named(said->plugin), (uint32_t)lround(said->p * MIRE_WIRE_PPM_MAX));
    return row && row->since_us <= received_us;
}

static bool all_given(const struct shares_app *of, const struct report *report, int64_t received_us)
{
    for (size_t i = 0; i < report->sampling_count; i++)
        if (report->sampling[i].p < 1 && !was_given(of, &report->sampling[i], received_us))
            return false;
    return true;
}

int shares_believe(size_t *refused_out, struct report *report, struct shares *shares, struct pg_tx *tx,
                   struct arena *arena, int32_t app, int64_t received_us)
{
    bool is_sampled = false;
    struct shares_app *of;

    *refused_out = 0;
    for (size_t i = 0; i < report->sampling_count; i++)
        is_sampled |= report->sampling[i].p < 1;
    if (!is_sampled)
        return 0;
    int rc = find_app(&of, shares, arena, app);
    if (rc || all_given(of, report, received_us))
        return rc;
    rc = read_on(of, tx, arena);
    struct report_probability *given = arena_array(arena, report->sampling_count, sizeof *given);
    if (rc || !given)
        return rc ? rc : MIRE_FAULT_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < report->sampling_count; i++)
        if (report->sampling[i].p >= 1 || was_given(of, &report->sampling[i], received_us))
            given[count++] = report->sampling[i];
    *refused_out = report->sampling_count - count;
    report->sampling = given;
    report->sampling_count = count;
    return 0;
}
