/*
 * populations.h - the memory of processes: those of an issue, and healthy ones. Versions apply, and spans widened to
 * UTC days.
 */
#ifndef MIRE_ROWS_POPULATIONS_H
#define MIRE_ROWS_POPULATIONS_H

#include "base/arena.h"
#include "model/population.h"
#include "model/view.h"

struct pg_tx;

/* The processes of an issue; and the healthy processes of these operating systems in the versions with the issue. */
int rows_issue_memory_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           int64_t issue);
int rows_issue_healthy_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                            int64_t issue, const char **systems, size_t system_count);

/* The healthy processes of a system and a device class; NULL: of all. */
int rows_healthy_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      const char *os, const char *device_class);

struct healthy_row {
    const char *version, *os, *device_class;
    int64_t last_us;
};

/* Versions, systems and device classes with healthy processes, newest first; at most MIRE_FACET_MAX. The app applies. */
int rows_healthy_versions_read(struct healthy_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view);

#endif
