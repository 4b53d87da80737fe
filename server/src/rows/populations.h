/*
 * populations.h - what processes hold: those of an issue, and healthy ones. Versions are honoured; spans are widened to UTC days.
 */
#ifndef MIRE_ROWS_POPULATIONS_H
#define MIRE_ROWS_POPULATIONS_H

#include "base/arena.h"
#include "model/population.h"
#include "model/view.h"

struct pg_tx;

/* What the processes of an issue held, and what healthy ones of the versions it was seen on hold. */
int read_issue_memory(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      int64_t issue);
int read_issue_healthy(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                       int64_t issue);

/* What healthy processes of a device class hold; NULL: of all classes. */
int read_healthy(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                 const char *device_class);

struct healthy_row {
    const char *version, *device_class;
    int64_t last_us;
};

/* Versions and device classes that healthy processes told of, newest first; at most MIRE_FACET_MAX. Honours the app.
 */
int read_healthy_versions(struct healthy_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                          const struct view *view);

#endif
