/*
 * idle.h - issues and versions of an app that had no report for a long time.
 *
 *     app.idle = keep     no change
 *                archive  an issue is ignored until its next report, and a version leaves the list of versions
 *                delete   an issue leads to the issue "other" of its kind, which takes the counters; versions as in archive
 */
#ifndef MIRE_ROWS_IDLE_H
#define MIRE_ROWS_IDLE_H

#include "base/arena.h"
#include "model/rows.h"
#include "pg/pg.h"

#define MIRE_IDLE_PAGE 100 /* issues examined and changed in one transaction */

struct idle_app {
    int32_t app;
    const char *slug, *idle; /* archive or delete */
};

/*
 * A report is stored in an issue that is open when it is looked up, and archiving asks for reports that are stored: the
 * lock between the two is one of an app, held until the transaction ends. A worker shares it before it looks up issues;
 * rows_idle_alone waits for the batches that have it, while later ones wait for the caller. 0 or a fault.
 */
int rows_idle_share(struct pg_tx *tx, int32_t app);
int rows_idle_alone(struct pg_tx *tx, int32_t app);

/* The apps with archive or delete, by number. 0 or a fault. */
int rows_idle_apps(struct idle_app **out, size_t *count, struct pg_tx *tx, struct arena *arena);

/*
 * Find the due issues among the next MIRE_IDLE_PAGE issues after *from. A due issue, and the issues shown as it, had no
 * report, no counter and no change of state for `days` days, and none of its trees is shown as another issue. Only open
 * issues are due for the archive. A report may come at any time: rows_idle_still, alone, finds the issues that are
 * still due.
 *
 *   from  number of the last examined issue; 0: begin; 0 on return: no more issues
 */
int rows_idle_issues(int64_t **out, size_t *count, int64_t *from, struct pg_tx *tx, struct arena *arena,
                     const struct idle_app *app, int32_t days);

/*
 * Of these issues those that are due still, in place. It locks their rows; the caller holds the app's row
 * (rows_alias_begin) and is alone. 0 or a fault.
 */
int rows_idle_still(int64_t *issues, size_t *count, struct pg_tx *tx, const struct idle_app *app, int32_t days);

/* Fill the members of an issue_row that the issue "other" of the same kind shares with this one. 0 or a fault. */
int rows_idle_kind(struct issue_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue);

/*
 * Let an issue, and the issues shown as it, lead to `other`, which takes the counters; the trees are deleted. The
 * caller has locked the app's row (rows_alias_begin). 0 or a fault.
 */
int rows_idle_delete(struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue, int64_t other);

/* Archive versions without reports and sessions for `days` days, and restore the others to the list. 0 or a fault. */
int rows_idle_versions(int64_t *archived_out, struct pg_tx *tx, int32_t app, int32_t days);

/* The number of versions that rows_idle_versions would archive. 0 or a fault. */
int rows_idle_versions_count(int64_t *out, struct pg_tx *tx, int32_t app, int32_t days);

#endif
