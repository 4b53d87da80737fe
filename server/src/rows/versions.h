/*
 * versions.h - the versions of an app for the list of versions: first sight, reports, issues, channels. rates.h has the
 * rates of versions.
 */
#ifndef MIRE_ROWS_VERSIONS_H
#define MIRE_ROWS_VERSIONS_H

#include "base/arena.h"
#include "model/view.h"

struct pg_tx;

struct version_facts {
    const char *version;
    int64_t first_seen_us; /* when the first report was received */
    int64_t reports;       /* in the view, without the kinds that are counted apart */
    double events;         /* the same, weighted */
    int64_t opened;        /* issues whose first report was of this version */
    int64_t resolved;      /* issues that were resolved in this version and are resolved now */
    int64_t regressed;     /* issues that a report of this version opened again */
};

/* Every version of the app, newest first by the natural order. Honours app, span, version and kind. 0 or a fault. */
int rows_version_facts_read(struct version_facts **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view);

struct version_channel {
    const char *version, *channel;
    double sessions; /* weighted */
};

/* Sessions on days that the span touches, by version and channel; most first. Honours app, span and version. */
int rows_version_channels_read(struct version_channel **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view);

#endif
