/*
 * hits.h - how often each issue happened, as comparisons count it (model/change.h), and which versions there are to compare.
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
    double hits_sq;   /* over the devices, the square of each one's hits */
    double events;    /* weighted, with the suppressed ones */
    double waited_ms; /* the same */
};

/* Of every issue that has reports in the view, by number. Honours app, span, version and kind. */
int rows_hits_read(struct issue_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct view *view);

struct version_sessions {
    const char *version;
    double sessions; /* weighted */
};

/* Versions with sessions on days that the span touches, newest first by the natural order. Honours app and version. */
int rows_version_sessions_read(struct version_sessions **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view);

/* Sessions on days that the span touches, weighted. Honours app and version. */
int rows_session_count_read(double *out, struct pg_tx *tx, const struct view *view);

#endif
