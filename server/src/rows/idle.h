/*
 * idle.h - issues and versions of an app that had no report for a long time.
 *
 *     app.idle = keep     they stay
 *                archive  an issue is ignored until its next report, and a version leaves the list of versions
 *                delete   an issue leads to the issue "other" of its kind, which takes its counters; versions as above
 */
#ifndef MIRE_ROWS_IDLE_H
#define MIRE_ROWS_IDLE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_IDLE_PAGE 100 /* issues looked at, and changed, in one transaction */

struct idle_app {
    int32_t app;
    const char *slug, *idle; /* archive or delete */
};

/* The apps that do not keep them, by number. 0 or a fault. */
int rows_idle_apps(struct idle_app **out, size_t *count, struct pg_tx *tx, struct arena *arena);

/*
 * Of the next MIRE_IDLE_PAGE issues behind *from those that are due: they, and the issues shown as them, have no report
 * and no counter since `days` days, nobody set their state since, and no tree of theirs is shown elsewhere. An issue
 * that is due for its archive is open.
 *
 *   from  number of the last issue looked at; 0: none was, and afterwards: there are no more
 */
int rows_idle_issues(int64_t **out, size_t *count, int64_t *from, struct pg_tx *tx, struct arena *arena,
                     const struct idle_app *app, int32_t days);

/* The members of an issue_row that the issue "other" of the same kind has in common with this one. 0 or a fault. */
int rows_idle_kind(struct issue_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue);

/*
 * Let an issue, and those shown as it, lead to `other`, which takes their counters; their trees are deleted. The caller
 * holds the app's row (rows_alias_begin). 0 or a fault.
 */
int rows_idle_delete(struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue, int64_t other);

/* Take versions without reports and sessions since `days` days off the list, and put others on it again. 0 or a fault. */
int rows_idle_versions(int64_t *archived_out, struct pg_tx *tx, int32_t app, int32_t days);

/* The number of versions that rows_idle_versions would take off the list. 0 or a fault. */
int rows_idle_versions_count(int64_t *out, struct pg_tx *tx, int32_t app, int32_t days);

#endif
