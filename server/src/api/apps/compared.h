/*
 * compared.h - how often each issue happened per session before and after: in two versions, or in two ranges of time
 * (docs/changes.md).
 */
#ifndef MIRE_API_COMPARED_H
#define MIRE_API_COMPARED_H

#include "model/change.h"
#include "model/view.h"
#include "rollup/cell.h"
#include "rows/hits.h"
#include "rows/rates.h"

struct call;

struct compared_side {
    struct view view;
    const char *version; /* NULL: all, of a time; or there is none to compare */
    struct session_sums sums;
    struct cell sessions; /* its session records */
    struct issue_hits *hits;
    size_t count;
};

/* The value of a facet that explains a change. */
struct compared_why {
    const char *facet; /* NULL: none does */
    const char *value;
    double share, of_others; /* of the growth; of the hits of the other issues */
    bool is_sampled;         /* by the newest of the issue's events, which stand for all */
};

struct compared {
    struct rate_change change;
    struct compared_why why;
    int64_t issue;
    double before_events, after_events;
};

/* Worse issues first, then better ones, then the others; the largest change first. Without sessions on both sides
 * nothing is shown. */
struct comparison {
    struct compared_side before, after;
    struct compared *list;
    size_t count;
};

/*
 * Compare the view's version, or the newest if it names none or several, with `against`: a version, "week", or NULL for
 * the version before it. With `before`, that range is compared with the view's: of `against` or, if that is NULL, of the
 * versions that the view names. Uses app, span, version and kind of the view. 0 or a fault.
 */
int compared_read(struct comparison *out, struct call *call, const char *against, const struct span *before);

/* Is it new, worse, better or gone? */
bool compared_is_shown(const struct compared *one);

#endif
