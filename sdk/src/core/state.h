/*
 * state.h - the SDK's one global, and the word that says who may touch it. Private to core/.
 *
 *     OFF --mire_start--> BUSY --> ON, ON_IDLE --mire_stop, exit--> BUSY --> OFF
 *                           '---- failed -------------------------------------^
 *
 * The thread that turns OFF, ON or ON_IDLE into BUSY owns everything else in the global until it leaves BUSY. HELD is
 * the same for a moment, between ON and ON: other threads wait for its end, and no call takes it for "not started". In
 * ON_IDLE the worker may run all the same, to ask for the rollout document.
 *
 * A forked child owns nothing: its pid is not `owner_pid`. It may start again, and then leaks inherited resources:
 * libcurl's locks, and those of the allocator, may be held for ever.
 */
#ifndef MIRE_CORE_STATE_H
#define MIRE_CORE_STATE_H

#include "core/monitors.h"
#include "core/options.h"
#include "core/plan.h"
#include "core/worker.h"

enum mire__core_state {
    MIRE_CORE_OFF,
    MIRE_CORE_BUSY,
    MIRE_CORE_HELD, /* a monitor is stopped, or a file is written; the owner goes back to ON or ON_IDLE soon */
    MIRE_CORE_ON,
    MIRE_CORE_ON_IDLE /* started, but watches nothing: sampled out, or switched off by the rollout */
};

struct core {
    _Atomic uint32_t state; /* acquire on entry, release on exit of BUSY and HELD */
    uint32_t owner_pid;
    mire_options options;
    char install[33];
    struct plan plan;      /* of the start */
    uint64_t rollout_mark; /* of the document that made the plan */
    struct store *store;
    struct store_box box;
    _Atomic uint32_t *end_mark; /* in the box: see mire__thread_mark_end; NULL: none */
    struct worker worker;
    bool works;         /* the worker's thread runs */
    bool expects;       /* mire__core_expect_change has prepared */
    uint32_t paused_in; /* the state to go back to */
    struct monitor_context monitors;
    _Atomic uint32_t network; /* enum mire_network; any thread writes, the worker reads; relaxed */
};
extern struct core mire__core;

/* Returns whether the state was `from`; it is `to` then. */
bool mire__core_turn(uint32_t from, uint32_t to);

/* OFF, BUSY, ON or ON_IDLE; HELD only in a forked child, where no thread holds it. */
uint32_t mire__core_settled(void);

/* From ON or ON_IDLE, stored into `from`, to BUSY or HELD. False: not started, or another thread starts or stops. */
bool mire__core_enter(uint32_t *from, uint32_t to);
void mire__core_leave(uint32_t to);

/* The owner's work with files: their descriptors are opened apart from the program's (platform/apart.h). */
void mire__core_apart(void (*work)(void));

/* Leave a sentence in the store for mire-run: "process 12 (name) <words>". Thread: the owner. */
void mire__core_say(const char *words);

/* ---- the process's blackbox (box.c); thread: the owner ---- */

/* Returns MIRE_OK, MIRE_E_STORE, MIRE_E_SYSTEM. */
enum mire_err mire__core_box_open(void);

/*
 * No thread writes into the blackbox any more. If it has losses that are not reported yet, or if `leaves`, its file
 * stays for the next start, which reports its content.
 */
void mire__core_box_close(bool leaves);

#endif
