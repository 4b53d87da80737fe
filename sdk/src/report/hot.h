/*
 * hot.h - which stack of a hang stands for it. Private to report/.
 */
#ifndef MIRE_REPORT_HOT_H
#define MIRE_REPORT_HOT_H

#include "ring/ring.h"

struct hot {
    uint32_t sample; /* index in the ring */
    uint32_t run;    /* samples in its row; 0: there is no stack at all */
    uint32_t depth;
    uint32_t repeat[MIRE_DEPTH_MAX]; /* for each of its frames, innermost first: samples it stands in */
};

/*
 * The stack whose innermost function stands innermost most often in a row; of equals the most recent. Samples without a
 * stack end a row. Only the lane's own thread's samples count: those of thread 0 or `tid`.
 */
void mire__hot_find(struct hot *out, const struct ring *ring, uint32_t tid);

#endif
