/*
 * boxes.h - makes a blackbox with sample content, in the state that the check thread leaves.
 */
#ifndef MIRE_TESTS_BOXES_H
#define MIRE_TESTS_BOXES_H

#include "ring/blackbox.h"

#include <stdlib.h>
#include <string.h>

#define BOX_EXE_LOAD  0x555555554000ull
#define BOX_LIBC_LOAD 0x7ffff7dc0000ull

static inline struct blackbox_facts box_facts(void)
{
    struct blackbox_facts facts = {
        .pid = 4711,
        .cpu_count = 2,
        .memory_bytes = 8ull << 30,
        .start_mono_ns = 5 * MIRE_NS_PER_S,
        .start_wall_ms = 1763685000000ull,
        .sampling_ppm = {250000},
    };
    mire__text_copy(facts.app_name, sizeof(facts.app_name), "mapview");
    mire__text_copy(facts.app_version, sizeof(facts.app_version), "8.0.38");
    mire__text_copy(facts.install, sizeof(facts.install), "00112233445566778899aabbccddeeff");
    mire__text_copy(facts.os, sizeof(facts.os), "linux");
    mire__text_copy(facts.arch, sizeof(facts.arch), "x86_64");
    mire__text_copy(facts.process_name, sizeof(facts.process_name), "mapview");
    mire__text_copy(facts.exe_path, sizeof(facts.exe_path), "/usr/bin/mapview");
    return facts;
}

/* A box with two images and an ended hang of three seconds without samples. free() it. */
static inline struct blackbox *box_new(void)
{
    static const uint8_t id[16] = {0x01, 0x9a, 0xa1, 0xb2, 0xc3, 0xd4, 0x7e, 0x5f, 0x8a, 0x6b, 1, 2, 3, 4, 5, 6};
    struct blackbox *box = calloc(1, sizeof(*box));
    struct blackbox_facts facts = box_facts();
    struct image exe = {.start = BOX_EXE_LOAD, .end = BOX_EXE_LOAD + 0x100000, .load = BOX_EXE_LOAD, .id_size = 20};
    struct image libc = {.start = BOX_LIBC_LOAD, .end = BOX_LIBC_LOAD + 0x1e0000, .load = BOX_LIBC_LOAD};
    struct event hang = {
        .state = MIRE_EVENT_ENDED,
        .gate = MIRE_GATE_POLL,
        .foreground = MIRE_GROUND_UNKNOWN,
        .thread_name = "mapview",
        .tid = 4711,
        .threshold_ms = 2000,
        .period_ms = 50,
        .begin_ns = 105 * MIRE_NS_PER_S,
        .last_seen_ns = 108 * MIRE_NS_PER_S,
        .end_ns = 108 * MIRE_NS_PER_S,
        .process = {.thread_count = 4, .rss_bytes = 1 << 20},
    };

    memcpy(hang.id, id, sizeof(id));
    memset(exe.id, 0xab, 20);
    mire__blackbox_init(box, &facts);
    mire__blackbox_add_image(box, &exe, "/usr/bin/mapview");
    mire__blackbox_add_image(box, &libc, "/lib/libc.so.6");
    mire__ring_reset(&box->lanes[0].ring, 1);
    mire__blackbox_set_event(box, 0, &hang);
    return box;
}

/* Fill a sample with a stack: pcs innermost first, ended by 0. */
static inline void box_stack(struct sample *sample, uint64_t t_ns, uint32_t tid, const uint64_t *pc)
{
    memset(sample, 0, sizeof(*sample));
    sample->t_ns = t_ns;
    sample->tid = tid;
    sample->state = 'S';
    sample->syscall = 35;
    for (; pc[sample->depth] && sample->depth < MIRE_DEPTH_MAX; sample->depth++) {
        sample->pc[sample->depth] = pc[sample->depth];
        sample->found[sample->depth] = sample->depth ? MIRE_FOUND_CFI : MIRE_FOUND_PC;
    }
}

/* Add a stack of a thread to the first lane. */
static inline void box_sample_of(struct blackbox *box, uint32_t tid, uint64_t t_ns, uint64_t weight_ns,
                                 const uint64_t *pc)
{
    box_stack(mire__ring_reserve(&box->lanes[0].ring), t_ns, tid, pc);
    mire__ring_append(&box->lanes[0].ring, weight_ns);
}

/* Add a stack of the lane's own thread. */
static inline void box_sample(struct blackbox *box, uint64_t t_ns, uint64_t weight_ns, const uint64_t *pc)
{
    box_sample_of(box, 0, t_ns, weight_ns, pc);
}

#endif
