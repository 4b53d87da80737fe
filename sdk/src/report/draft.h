/*
 * draft.h - the data of a report: one lane's event, its stacks in one trie, their threads, and the two verdicts.
 * Private to report/.
 *
 *     ring      sample of the lane's own thread --.                   .-- leaves, whose
 *               sample of another thread ---------+--> trie, images --+
 *     others    owner of the lock, busy threads --'                   '-- threads
 */
#ifndef MIRE_REPORT_DRAFT_H
#define MIRE_REPORT_DRAFT_H

#include "report/blame.h"
#include "report/hot.h"
#include "report/perf_map.h"
#include "report/report.h"
#include "report/script_rows.h"
#include "report/trie.h"

#define MIRE_DRAFT_THREADS_MAX (MIRE_OTHERS_MAX + MIRE_RING_SAMPLES)

/* Another thread, as a row of the report. */
struct draft_thread {
    uint32_t tid;
    const struct other *other; /* NULL: known from samples only */
    const struct sample *sample;
    uint32_t node; /* the leaf of its stack */
};

struct draft {
    const struct blackbox *box;
    const struct lane *lane;
    struct event event;
    struct trie trie;
    struct hot hot;
    struct blame blame;
    uint32_t sample_count;
    uint32_t leaves[MIRE_RING_SAMPLES]; /* node of each sample */
    uint32_t whose[MIRE_RING_SAMPLES];  /* 0: the lane's own thread's, otherwise 1 + index into threads */
    uint32_t wait_node;                 /* the leaf of the loop's wait; 0: unknown */
    uint32_t thread_count;
    struct draft_thread threads[MIRE_DRAFT_THREADS_MAX];
    uint32_t image_count;
    uint32_t images[MIRE_IMAGES_MAX];  /* index in the box of each used image */
    int32_t image_no[MIRE_IMAGES_MAX]; /* the reverse; -1: unused */
    struct script_rows scripts;
    struct perf_map perf;
    const struct report_attached *attached; /* NULL: nothing */
    char id[MIRE_STORE_ID_LENGTH + 1];
};

/*
 * Gather the data. The draft borrows from the box.
 *   told  borrowed; NULL for none
 * Returns as mire__report_build. Call mire__draft_fini after any result.
 */
enum mire_err mire__draft_init(struct draft *draft, const struct blackbox *box, uint32_t lane,
                               const struct report_attached *attached);
void mire__draft_fini(struct draft *draft);

#endif
