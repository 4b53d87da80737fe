/*
 * hot.h - the most typical stack of an event. Private to report/.
 */
#ifndef MIRE_REPORT_HOT_H
#define MIRE_REPORT_HOT_H

#include "ring/ring.h"

struct hot {
    uint32_t sample; /* index in the ring */
    uint32_t run;    /* consecutive samples with its innermost function; 0: there is no stack */
    uint32_t depth;
    uint32_t repeat[MIRE_DEPTH_MAX]; /* for each frame, innermost first: number of samples that contain it */
};

/*
 * The stack whose innermost function is the innermost one in most consecutive samples; of equals the latest. A sample
 * without a stack ends a series. Only samples of the lane's own thread count: those of thread 0 or `tid`.
 */
void mire__hot_find(struct hot *out, const struct ring *ring, uint32_t tid);

#endif
