/*
 * blame.h - the device's own choice of the function to blame. Private to report/.
 *
 *     main 100 % > loop 100 % > render 97 % > text 35 %       the path ends at render: below it the time is spread,
 *                                           > lines 31 %      so the costly function is in the middle of every stack
 *                                           > fills 31 %
 *
 * A way that ends in main, in a thread's first function or in the loop names nobody: the work below is spread, and the
 * report has no verdict of the device.
 */
#ifndef MIRE_REPORT_BLAME_H
#define MIRE_REPORT_BLAME_H

#include "ring/blackbox.h"

#define MIRE_BLAME_PERCENT 60 /* of the time that the ring covers */

struct blame {
    uint32_t sample;    /* index in the ring of a sample that contains it */
    uint32_t frame;     /* of that sample; the innermost is 0 */
    uint32_t share_ppm; /* of the time that the ring covers; 0: no function is to blame */
};

/*
 * Find the deepest function of the path: from the outermost frames of all samples inwards, as long as one function
 * holds MIRE_BLAME_PERCENT of the weight of all samples, including those without a stack. A recursive function is one
 * step.
 *   box   of the ring: its images identify the C library's frames
 *   wait  stack of the loop's wait; NULL: it is not known
 */
void mire__blame_find(struct blame *out, const struct ring *ring, const struct blackbox *box,
                      const struct sample *wait);

#endif
