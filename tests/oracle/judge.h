/*
 * judge.h - holds what a heap reader says against what the program itself said (truth.h).
 *
 * Every block and page must be there with its size and whole stack, nothing else may be; what a call in flight was
 * about to change may be as before or as after. Blocks whose stack has no site of the program's are the runtime's own
 * and are left alone.
 */
#ifndef MIRE_TESTS_ORACLE_JUDGE_H
#define MIRE_TESTS_ORACLE_JUDGE_H

#include "heapread/read.h"
#include "oracle/truth.h"

struct verdict {
    uint32_t blocks, pages; /* that were to be there and are */
    uint32_t in_flight;     /* slots and spans with a call under way */
    uint32_t wrong;         /* differences */
    char first[256];        /* the first one, in words */
};

/* Judges one run. `truth` is unchanging, the program being dead. Returns false if memory is short. */
bool judge(struct verdict *out, const struct heap_reader *reader, const struct truth *truth);

#endif
