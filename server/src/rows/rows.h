/*
 * rows.h - the conventions of the folder. Functions ending in _read write nothing.
 *
 * Every call runs inside a transaction that the caller began, so that several calls see one snapshot. Texts and arrays
 * lie in the arena. Result: 0 or a fault (base/fault.h); READ_NONE if a named thing does not exist.
 * Counters are summed over all slots, so the same statements serve one machine and many.
 */
#ifndef MIRE_ROWS_ROWS_H
#define MIRE_ROWS_ROWS_H

enum { READ_NONE = 1 };

#define MIRE_TREND_PARTS      24
#define MIRE_SERIES_MAX       12    /* versions drawn as lines */
#define MIRE_VERSIONS_MAX     100   /* versions listed */
#define MIRE_FACET_MAX        200   /* values of a facet */
#define MIRE_VALUES_MAX       10    /* values of a distribution */
#define MIRE_TOP_MAX          10    /* issues of an overview */
#define MIRE_GROUP_ISSUES_MAX 100   /* issues shown of one group */
#define MIRE_WAITING_MAX      10000 /* waiting reports are counted up to here */

#endif
