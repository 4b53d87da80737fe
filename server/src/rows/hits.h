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
    double hits;      /* weighted days on which a device had it */
    double hits_sq;   /* sum over the devices of their hits squared */
    double events;    /* weighted, with the suppressed ones */
    double waited_ms; /* the same */
};

/* Every issue with reports in the view, by number. App, span, version and kind of the view apply. */
int rows_hits_read(struct issue_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct view *view);

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
