/*
 * explain.h - whether one value of a facet explains that a rate changed: a version, a system, a model of device.
 *
 * The value explains the change if all of this holds:
 *   1. The value has two thirds of the growth or more. Growth: the hits after, less the hits that those before would lead to.
 *   2. That share is twice its share of the hits of all other issues on the same side, or more. New versions are first on
 *      new devices, and so are all their issues.
 *   3. Fisher's exact test (1922), one-sided, holds the value's share of this hits against its share of the others'
 *      hits; and, if the issue has thirty independent hits or more on the other side, against its share of these. Both
 *      values of p, times the number of values that were tried for all changes (Bonferroni), are at most 5 %.
 * Among several values, the one with the smallest share of the others' hits is the most specific, and is shown. For a change
 * for the better the sides are exchanged. Pure. Thread: any.
 */
#ifndef MIRE_MODEL_EXPLAIN_H
#define MIRE_MODEL_EXPLAIN_H

#include "model/change.h"
#include "model/context.h"

#define MIRE_EXPLAIN_SHARE 0.67 /* of the growth */
#define MIRE_EXPLAIN_LIFT  2    /* growth's share through the others' share, at least */
#define MIRE_EXPLAIN_P     0.05 /* after Bonferroni */

enum explain_facet {
    EXPLAIN_VERSION,
    EXPLAIN_OS,
    EXPLAIN_SYSTEM, /* an operating system in a version */
    EXPLAIN_MODEL,
    EXPLAIN_CLASS,
    EXPLAIN_CHANNEL,
    EXPLAIN_COUNTRY,
    EXPLAIN_TAGS, /* the first of the tags that the app keeps */
    EXPLAIN_FACETS = EXPLAIN_TAGS + MIRE_TAGS_KEPT,
};

/* Weighted hits, and the sum over the devices of each one's squared. */
struct explain_hits {
    double hits, hits_sq;
};

/* A value of a facet: hits of the issue on both sides, and of all other issues on the side that the change is of. */
struct explain_value {
    enum explain_facet facet;
    const char *text;
    struct explain_hits before, after, others;
};

struct explained {
    const struct explain_value *value; /* NULL: none explains it */
    double share;                      /* of the growth */
    double of_others;                  /* its share of the other issues' hits */
};

/*
 *   values  all values of all facets, of the hits, or of the part of them that is kept on a side
 *   tried   values of all changes that are explained together
 */
void explain_change(struct explained *out, const struct rate_change *change, const struct explain_value *values,
                    size_t count, size_t tried);

/* "version", "os", "system", "model", "class", "channel", "country", "tag"; static. */
const char *explain_facet_name(enum explain_facet facet);

/* P(X >= x): X of `drawn` balls out of `of` + `others_of`, of which x + `others` are marked (hypergeometric). */
double explain_fisher(double x, double of, double others, double others_of);

#endif
