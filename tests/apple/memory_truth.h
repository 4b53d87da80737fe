/* memory_truth.h - the live blocks of memory_app.c, in a file that outlives it. Each slot changes under its own mark. */
#ifndef MIRE_TEST_MEMORY_TRUTH_H
#define MIRE_TEST_MEMORY_TRUTH_H

#define TRUTH_SLOTS 4096
#define TRUTH_SITES 10
#define TRUTH_NAME  16

struct truth_slot {
    _Atomic unsigned changing; /* 1: a call is in flight, and the rest uncertain */
    unsigned site;
    unsigned long address, size; /* 0: no block */
};

struct memory_truth {
    _Atomic unsigned long calls;
    char sites[TRUTH_SITES][TRUTH_NAME];
    struct truth_slot slots[TRUTH_SLOTS];
};

#endif
