/*
 * truth.h - the record that the oracle's program keeps of its blocks and mappings. It is a mapped file that is right at
 * every instant, so it can be read after the program was killed anywhere.
 *
 * A slot is one block. It has two descriptions: the current state, `blocks[state & 1]`, and the state after the call in
 * flight. Address 0 means no block. A thread claims a slot by compare-and-swap:
 *
 *     IDLE ─▶ CLAIMED ─▶ CALLING ─▶ IDLE, with the other description current if the call succeeded
 *
 * Only while a slot is CALLING may the monitor have either description, or neither. Spans are mappings, described in
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

enum truth_phase { TRUTH_IDLE = 0, TRUTH_CLAIMED = 2, TRUTH_CALLING = 4 }; /* | index of the current description */

/*
 * A stack as a number: the site that calls the allocator in the low byte, and above it the steps that led to it, the
 * innermost lowest, as digits 1..3 of two bits each.
 */
#define TRUTH_STEPS_MAX      12u
#define TRUTH_STEP(stack, k) ((stack) << 2 | ((k) + 1))

struct truth_block {
    uint64_t address, size;
    uint32_t stack;
    uint32_t release; /* enum oracle_release: function that frees it */
};

struct truth_slot {
    _Atomic uint32_t state;
    struct truth_block blocks[2];
};

struct truth_pages {
    uint64_t address;                 /* of the first page */
    uint32_t kind;                    /* enum truth_kind */
    uint32_t stack[TRUTH_SPAN_PAGES]; /* of each page; 0: not mapped */
};

enum truth_kind { TRUTH_ANONYMOUS, TRUTH_SHARED, TRUTH_FILE };

struct truth_span {
    _Atomic uint32_t state;
    struct truth_pages pages[2];
};

/* Code of the program that may be in a stack, by its address in the file. */
struct truth_code {
    uint64_t start;
    uint32_t what; /* 0..2 a step; TRUTH_SITE + n site n; TRUTH_NEITHER */
    uint32_t unused;
};
#define TRUTH_SITE    0x100u
#define TRUTH_NEITHER 0x200u

struct truth {
    _Atomic uint32_t ready; /* 1: the script has begun */
    _Atomic uint32_t calls; /* number of calls so far */
    uint32_t slots_count;
    uint32_t codes_count;
    struct truth_code codes[TRUTH_CODES_MAX]; /* ascending; the last one is the end of the one before it */
    char complaint[160];                      /* error of a call, "": none */
    struct truth_span spans[TRUTH_SPANS];
    struct truth_slot slots[TRUTH_SLOTS_MAX];
};

#endif
