/*
 * script.h - the oracle's program: random calls from a seed. Each call is recorded in the truth file before and after.
 *
 *     app TRUTH SEED CALLS PLUGINS     CALLS each worker makes before the program kills itself;
 *                                      0: goes on until it is killed
 *
 * One to four workers share the slots, so a block may be freed by another thread than the one that allocated it. The
 * first worker also starts short-lived threads, forks children that go on with copies of all blocks, and loads and
 * unloads modules.
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
    uint32_t calls;  /* number of calls, 0: unlimited */
    uint64_t draw;
    struct truth *truth;
    int file; /* file to map, one page or more */
    struct oracle_call call;
};

/* A random number below `bound`, which is not 0. */
uint32_t script_below(struct worker *worker, uint32_t bound);

/* Write the error to the truth file, and end the program. */
_Noreturn void script_complain(struct truth *truth, const char *what);

/* Fill, empty or reallocate one slot. */
void script_turn(struct worker *worker);

/* The same from site `site`, if it fits the slot. */
void script_turn_at(struct worker *worker, uint32_t site);

/* Sites of spans.c, numbered downwards from the highest number of a stack. */
enum { SITE_MMAP = 0xff, SITE_MREMAP = 0xfe, SITE_MMAP_FIXED = 0xfd, SITE_MPROTECT = 0xfc };
void *oracle_mmap(size_t bytes, int flags, int file);
void *oracle_mmap_fixed(void *where, size_t bytes, int flags);
void *oracle_mremap(void *old, size_t old_bytes, size_t bytes);
int oracle_mprotect(void *where, size_t bytes);

/* One call of the mmap family on a span of the worker. */
void script_map(struct worker *worker);

/* Threads, children and modules: only for the first worker. */
void script_visit(struct worker *worker);  /* run a thread that makes a few turns */
void script_fork(struct worker *worker);   /* run a child that allocates and frees inherited blocks */
void script_plugin(struct worker *worker); /* load, use or unload a module */

#endif
