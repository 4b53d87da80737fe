/* tower.h - calls a function on a stack of a given height: see tower.c. */
#ifndef MIRE_TESTS_TOWER_H
#define MIRE_TESTS_TOWER_H

/* Call `top` with `height` frames on the stack, from the one called here to top's own. Thread: any. */
long tower_fp(int height, long (*top)(long));
long tower_cfi(int height, long (*top)(long));

#endif
