/*
 * truth.h - what the oracle's program holds, as it says itself: a mapped file that is right at every instant, so that
 * it can be read when the program was killed in the middle of anything.
 *
 * A slot is one block. Its two descriptions are what holds now, `blocks[state & 1]`, and what is to hold after the call
 * under way; an address of 0 says that there is no block. Whoever wants to work on a slot claims it by
 * compare-and-swap:
 *
 *     IDLE ─▶ CLAIMED ─▶ CALLING ─▶ IDLE, the other description now holding if the call did what was asked
 *
 * Only while a slot is CALLING may the monitor know of either description, or of neither. Spans are mappings, told in
 * the same way page by page; each belongs to one thread.
 */
#ifndef MIRE_TESTS_ORACLE_TRUTH_H
#define MIRE_TESTS_ORACLE_TRUTH_H

#include <stdatomic.h>
#include <stdint.h>

#define TRUTH_SLOTS_MAX   32768u
#define TRUTH_WORKERS_MAX 5u
#define TRUTH_SPANS       (TRUTH_WORKERS_MAX * 12u)
#define TRUTH_SPAN_PAGES  24u
#define TRUTH_PAGE_BYTES  4096u
#define TRUTH_CODES_MAX   64u

enum truth_phase { TRUTH_IDLE = 0, TRUTH_CLAIMED = 2, TRUTH_CALLING = 4 }; /* | index of what holds */

/*
 * How a stack is told: the site that calls the allocator in the low byte, above it the steps that led there, innermost
 * lowest, in digits 1..3 of two bits each.
 */
#define TRUTH_STEPS_MAX      12u
#define TRUTH_STEP(stack, k) ((stack) << 2 | ((k) + 1))

struct truth_block {
    uint64_t address, size;
    uint32_t stack;
    uint32_t release; /* enum oracle_release: what has to take it back */
};

struct truth_slot {
    _Atomic uint32_t state;
    struct truth_block blocks[2];
};

struct truth_pages {
    uint64_t address;                 /* of the first */
    uint32_t kind;                    /* enum truth_kind */
    uint32_t stack[TRUTH_SPAN_PAGES]; /* of each page; 0: not mapped */
};

enum truth_kind { TRUTH_ANONYMOUS, TRUTH_SHARED, TRUTH_FILE };

struct truth_span {
    _Atomic uint32_t state;
    struct truth_pages pages[2];
};

/* Code of the program that can stand in a stack, by its address in the file. */
struct truth_code {
    uint64_t start;
    uint32_t what; /* 0..2 a step; TRUTH_SITE + n site n; TRUTH_NEITHER */
    uint32_t unused;
};
#define TRUTH_SITE    0x100u
#define TRUTH_NEITHER 0x200u

struct truth {
    _Atomic uint32_t ready; /* the script has begun */
    _Atomic uint32_t calls; /* made so far */
    uint32_t slots_count;
    uint32_t codes_count;
    struct truth_code codes[TRUTH_CODES_MAX]; /* ascending; the last one only ends the one before */
    char complaint[160];                      /* what a call did that it must not, "" while all is well */
    struct truth_span spans[TRUTH_SPANS];
    struct truth_slot slots[TRUTH_SLOTS_MAX];
};

#endif
