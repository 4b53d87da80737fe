/*
 * spine.h - what tells one record's stacks from another's: the functions on the way in that hold most of the time.
 *
 *     main - run - dispatch - load - parse - { copy 30 %, scan 40 %, free 30 % }
 *     '------------- spine ----------------'
 *
 * From the outermost frame on, as long as one function holds at least MIRE_SPINE_PERCENT of all weight: surely. What
 * varies from sample to sample, and from one hang to the next, lies further in and is left out. A function that holds a
 * bit less now may hold a bit more the next time; so the spine goes on, not surely, down to MIRE_SPINE_LIKELY_PERCENT.
 * Where the outermost frames already differ (endless recursion, code that cannot be unwound to its end) it is read from
 * the innermost frame out.
 *
 * A function is where it begins within its image, and the image is its build id; so neither an address layout nor
 * another place in the same function makes another spine. Where no call frame information tells the beginning, two
 * places closer than MIRE_SPINE_DRIFT_BYTES are one.
 *
 * Pure: the memory is the caller's, nothing is kept.
 */
#ifndef MIRE_RING_SPINE_H
#define MIRE_RING_SPINE_H

#include "ring/blackbox.h"

#define MIRE_SPINE_PERCENT        60
#define MIRE_SPINE_LIKELY_PERCENT 40
#define MIRE_SPINE_DRIFT_BYTES    32

struct spine_function {
    uint64_t at;    /* its beginning, or a place in it, less the image's load bias; 0 in none */
    uint32_t image; /* hash of the image's build id, or of its path; 0: in none */
    uint32_t known; /* 1: `at` is the beginning */
};

struct spine {
    uint32_t sure;    /* functions that hold enough, 0..depth */
    uint32_t depth;   /* and those that likely do, 0..MIRE_DEPTH_MAX */
    uint32_t deepest; /* frames of the deepest sample */
    uint32_t inward;  /* 1: read from the innermost frame out */
    struct spine_function functions[MIRE_DEPTH_MAX];
};

/*
 * The spine of a ring's samples.
 *   box   whose images the samples' addresses lie in
 *   ring  of one of its lanes; may be empty
 */
void mire__spine_find(struct spine *out, const struct blackbox *box, const struct ring *ring);

/*
 * Are they the same? What is sure of one is in the other, likely at least. Spines of which nothing is sure are not the
 * same: nothing is known of them.
 */
bool mire__spine_same(const struct spine *one, const struct spine *other);

/*
 * A number for what is sure of the spine; it holds across processes and restarts, never 0. Places without a known
 * function are rounded, so that a drift across a boundary of MIRE_SPINE_DRIFT_BYTES makes another number: compare
 * spines where both are at hand.
 *   seed  what else tells records apart, as their trigger
 */
uint64_t mire__spine_number(const struct spine *spine, uint64_t seed);

#endif
