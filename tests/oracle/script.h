/*
 * script.h - the oracle's program: random calls drawn from a seed, each told in the truth file before and after.
 *
 *     app TRUTH SEED CALLS PLUGINS     CALLS each worker makes before the program kills itself;
 *                                      0: goes on until it is killed
 *
 * One to four workers share the slots, so blocks are freed by other threads than asked for them. The first worker also
 * starts threads that end at once, forks children that go on with copies of everything, and loads and unloads modules.
 */
#ifndef MIRE_TESTS_ORACLE_SCRIPT_H
#define MIRE_TESTS_ORACLE_SCRIPT_H

#include "oracle/sites.h"
#include "oracle/truth.h"

#include <pthread.h>
#include <stdbool.h>

struct worker {
    pthread_t thread;
    uint32_t number; /* 0..TRUTH_WORKERS_MAX - 1 */
    uint32_t calls;  /* to make, 0 for ever */
    uint64_t draw;
    struct truth *truth;
    int file; /* one page at least, to be mapped */
    struct oracle_call call;
};

/* A number below `bound`, which is not 0. */
uint32_t script_below(struct worker *worker, uint32_t bound);

/* What went wrong is kept in the truth file, and the program ends. */
_Noreturn void script_complain(struct truth *truth, const char *what);

/* One turn: a slot is filled, emptied or reallocated. */
void script_turn(struct worker *worker);

/* A slot is filled, reallocated or emptied from site `site`, if that fits it. */
void script_turn_at(struct worker *worker, uint32_t site);

/* Their sites (spans.c), numbered downwards from the last that a stack can tell. */
enum { SITE_MMAP = 0xff, SITE_MREMAP = 0xfe, SITE_MMAP_FIXED = 0xfd, SITE_MPROTECT = 0xfc };
void *oracle_mmap(size_t bytes, int flags, int file);
void *oracle_mmap_fixed(void *where, size_t bytes, int flags);
void *oracle_mremap(void *old, size_t old_bytes, size_t bytes);
int oracle_mprotect(void *where, size_t bytes);

/* One call of the mmap family on a span of the worker's own. */
void script_map(struct worker *worker);

/* Threads, children and modules: the first worker's alone. */
void script_visit(struct worker *worker);  /* a thread that makes a few turns and ends */
void script_fork(struct worker *worker);   /* a child that allocates, frees what it inherited, and ends */
void script_plugin(struct worker *worker); /* a module is loaded, used or unloaded */

#endif
