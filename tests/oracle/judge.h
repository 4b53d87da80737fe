/*
 * judge.h - compares the tables of a heap reader with the program's own record (truth.h).
 *
 * Every block and page must be in the tables with its size and complete stack, and no other. For a call in flight the
 * state before or after it is right. Blocks whose stack has no site of the program belong to the runtime and are
 * ignored.
 */
#ifndef MIRE_TESTS_ORACLE_JUDGE_H
#define MIRE_TESTS_ORACLE_JUDGE_H

#include "heapread/read.h"
#include "oracle/truth.h"

struct verdict {
    uint32_t blocks, pages; /* expected and found */
    uint32_t in_flight;     /* slots and spans with a call in flight */
    uint32_t wrong;         /* number of differences */
    char first[256];        /* description of the first difference */
};

/* Judge one run. `truth` does not change, since the program is dead. Returns false out of memory. */
bool judge(struct verdict *out, const struct heap_reader *reader, const struct truth *truth);

#endif
