/* merges.c - see merges.h. */
#include "daemon/merges.h"

#include "api/issues/nearby.h"
#include "api/parts.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/log.h"
#include "rows/alias.h"
#include "rows/audit.h"
#include "rows/fresh.h"
#include "rows/issues.h"
#include "rows/parts.h"

#include <string.h>

#define ARENA_BYTES (256u << 20)
#define HITS        5
#define SPAN_S      (30 * 86400)
#define HOUR_S      3600
#define AUTHOR      "mire"

static bool is_open(const struct issue_summary *issue)
{
    return !strcmp(issue->state, "open") || !strcmp(issue->state, "regressed");
}

/* Merge, unless somebody was faster or has had a say. 1: merged, 0: not, or a fault. */
static int merge(struct pg_tx *tx, struct arena *arena, int32_t app, const struct issue_summary *issue,
                 const struct nearby_hit *into)
{
    const char *reason = arena_printf(arena, "%.0f %% alike: merged by the app's setting", into->score * 100);
    struct alias_act act = {.app = app, .author = AUTHOR, .reason = reason};
    bool memory = issue->subject[0], is_free;
    int rc = reason ? rows_alias_begin(tx, app) : MIRE_FAULT_MEMORY;

    if (!rc)
        rc = rows_fresh_is_free(&is_free, tx, app, issue->issue, into->summary.issue);
    if (rc || !is_free)
        return rc;
    rc = rows_alias_merge(tx, &act, issue->issue, into->summary.issue);
    if (rc)
        return rc < 0 ? rc : 0;
    rc = rows_audit_add(tx, &(struct audit_row){.who = AUTHOR,
                                                .via = "server",
                                                .address = "",
                                                .app = app,
                                                .action = "issue.merge",
                                                .subject = part_issue_name(issue->issue, memory).text,
                                                .after = part_issue_name(into->summary.issue, memory).text,
                                                .reason = reason});
    return rc ? rc : 1;
}

/* Merge into the open issue of a lower number that is most like it, from the app's share on. 0 or a fault. */
static int merge_nearest(struct pg_tx *tx, struct arena *arena, const struct nearby_question *question, double above)
{
    struct nearby_hit hits[HITS];
    size_t got;
    int rc = nearby_find(hits, HITS, &got, question);

    for (size_t i = 0; !rc && i < got && hits[i].score >= above; i++)
        if (hits[i].summary.issue < question->issue->issue && is_open(&hits[i].summary))
            rc = merge(tx, arena, question->view->app, question->issue, &hits[i]);
    return rc < 0 ? rc : 0;
}

/* One new issue. 0 or a fault. */
static int look(struct pg *pg, struct nearby *nearby, struct arena *arena, const struct fresh_issue *fresh,
                int64_t now_us)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t to_s = (now_us / 1000000 / HOUR_S + 1) * HOUR_S;
    struct view view = {.app = fresh->app, .span = {to_s - SPAN_S, to_s}, .now_us = now_us};
    struct issue_summary *summary;
    struct tree_part *trees;
    size_t count, tree_count = 0;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_summaries_read(&summary, &count, tx, arena, &view, &fresh->issue, 1);
    if (!rc && count)
        rc = rows_trees_read(&trees, &tree_count, tx, arena, &view, fresh->issue);
    if (rc || !tree_count || !is_open(summary))
        return rc;
    const struct nearby_question question = {nearby, tx, arena, &view, summary, trees, tree_count};
    rc = merge_nearest(tx, arena, &question, fresh->above);
    return rc ? rc : pg_commit(&tx);
}

static int step(struct merges *merges, struct pg *pg, struct nearby *nearby, struct arena *arena, int64_t now_us)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct arena each;
    struct fresh_issue *fresh;
    int64_t newest = 0;
    size_t count = 0;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);

    if (!rc)
        rc = rows_fresh_list(&fresh, &count, &newest, tx, arena, merges->before);
    pg_end(&tx);
    arena_init(&each, ARENA_BYTES);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = look(pg, nearby, &each, &fresh[i], now_us);
        arena_reset(&each);
    }
    arena_fini(&each);
    if (!rc)
        *merges = (struct merges){.last = newest, .before = merges->last};
    return rc;
}

int merges_step(struct merges *merges, struct pg *pg, struct nearby *nearby, const struct log *log, int64_t now_us)
{
    struct arena arena;

    if (!nearby)
        return 0;
    arena_init(&arena, ARENA_BYTES);
    int rc = step(merges, pg, nearby, &arena, now_us);
    arena_fini(&arena);
    if (rc)
        log_event(log, MIRE_LOG_WARN, "merges.step", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in a minute, tries again."));
    return rc;
}
