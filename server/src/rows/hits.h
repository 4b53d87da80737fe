/*
 * hits.h - hits of each issue for comparisons (model/change.h), and the versions that can be compared.
 */
#ifndef MIRE_ROWS_HITS_H
#define MIRE_ROWS_HITS_H

#include "base/arena.h"
#include "model/view.h"

struct pg_tx;

struct issue_hits {
    int64_t issue; /* as it is shown */
    int64_t reports, devices;
    double hits;    /* weighted days on which a device had it */
    double hits_sq; /* sum over the devices of their hits squared */
    double events;  /* weighted, with the suppressed ones */
};

/* Every issue with reports in the view, by number: only its reports are counted. App, span, version and kind of the view
 * apply. */
int rows_hits_read(struct issue_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct view *view);

/*
 * Count devices, hits and events of some issues, and their reports again: of days whose reports are no longer kept nothing
 * is known. Exact while an issue has at most 256 devices, then an estimate (rollup/distinct.h). A device weighs as much as
 * the reports of its day do on average.
 *
 *   hits    by number; an issue that is not among `issues` stays as it is
 *   issues  by number
 *
 * 0 or a fault.
 */
int rows_hits_count(struct issue_hits *hits, size_t count, struct pg_tx *tx, const struct view *view,
                    const int64_t *issues, size_t issue_count);

struct version_sessions {
    const char *version;
    double sessions; /* weighted */
};

/* Versions with sessions on the days of the span, newest first by the natural order. App and version apply. */
int rows_version_sessions_read(struct version_sessions **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view);

/* Weighted sessions on the days of the span. App and version apply. */
int rows_session_count_read(double *out, struct pg_tx *tx, const struct view *view);

#endif
