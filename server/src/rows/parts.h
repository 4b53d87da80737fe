/*
 * parts.h - the parts of an issue: its trees, its members, and the acts of people. Span and version apply to reports
 * and events.
 */
#ifndef MIRE_ROWS_PARTS_H
#define MIRE_ROWS_PARTS_H

#include "base/arena.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

struct tree_part {             /* level 3 */
    int64_t tree_id, issue;    /* of the reports' key */
    int32_t tree, caller1;     /* frame of the stack; -1: none */
    int64_t first_us, last_us; /* last_us 0: none in the range */
    const char *frames;        /* model/frames.h */
    int64_t reports;
    double events;
};

/* The kept trees of an issue, most reports first; at most 100. */
int rows_trees_read(struct tree_part **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                    const struct view *view, int64_t issue);

struct member_part { /* an issue that is shown as this one */
    int64_t issue;
    const char *caller1, *caller2, *category, *reason, *state;
    int64_t first_us, reports;
    double events;
    bool memory;
};

/* The issue itself first, then its members, most reports first; at most MIRE_FACET_MAX. */
int rows_members_read(struct member_part **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                      const struct view *view, int64_t issue);

struct act_part { /* one row of issue_alias */
    int64_t act, issue, into;
    int32_t tree;
    const char *kind, *author, *reason, *undone_by, *undone_why;
    int64_t at_us, undone_us; /* undone_us 0: in force */
};

/* The acts on an issue and on its members, newest first; at most MIRE_FACET_MAX. */
int rows_acts_read(struct act_part **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                   int64_t issue);

struct shown_row {
    int64_t issue;
    int32_t tree;
    int64_t shown;
};

/* All of the app's issue_shown, by issue and tree. */
int rows_shown_all_read(struct shown_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

#endif
