/*
 * worker.h - the thread for all slow work: sealing events, recovering dead blackboxes, hooking new modules, requesting
 * the rollout, sending.
 *
 * It sleeps until it is woken or a deadline comes. All signals are blocked in it and its niceness is raised. Private to
 * core/.
 */
#ifndef MIRE_CORE_WORKER_H
#define MIRE_CORE_WORKER_H

#include "core/remote.h"
#include "core/variant.h"
#include "exit/evidence.h"

#include <pthread.h>

/* Reasons to wake the worker; bits. */
enum mire__wake_reason {
    MIRE_WAKE_STOP = 1,
    MIRE_WAKE_SEND = 2,
    MIRE_WAKE_REHOOK = 4,
    MIRE_WAKE_GONE = 8,
    MIRE_WAKE_LOOK = 16,
    MIRE_WAKE_KEEP = 32,
    MIRE_WAKE_DELIVERY = 64, /* the user's decision or the network has changed */
    MIRE_WAKE_UNKEPT = 128,  /* a report could not be stored */
    MIRE_WAKE_MOVED = 256,   /* the store has moved to another directory */
    MIRE_WAKE_SEAL = 512     /* an ended event waits to be sealed */
};

struct worker {
    struct store *store;
    struct upload *sender; /* NULL: nothing is sent */
    const struct mire_options *options;
    mire_log_fn *log; /* may be NULL */
    void *log_context;
    /* MIRE_WAKE_GONE: stop everything but the worker. True: the worker must end, and is not joined. */
    bool (*on_gone)(void);
    /* MIRE_WAKE_SEAL: seal the events that wait. */
    void (*on_seal)(void);
    /* A new rollout document is in the store. False: call again soon. */
    bool (*on_rollout)(void);
    mire_clock_fn *clock; /* NULL: the system's */
    void *clock_context;
    struct remote remote;
    const struct losses *losses; /* of this process; NULL: none */
    struct blackbox *box;        /* of this process; NULL: none */
    bool recovers;               /* recover dead processes; false: mire-run does */
    _Atomic uint32_t recovered;  /* 1: the runs that ended before are judged, or another process does it */
    bool settles;                /* make records of ended sessions; false: mire-run does */
    _Atomic uint32_t *end_mark;  /* of mire__thread_mark_end; NULL: none */
    uint64_t rollout_mark;       /* of the document obeyed last, mire__store_rollout_mark */
    /* MIRE_WAKE_LOOK, or its time has come: look at the process. Returns the time of the next look. */
    uint64_t (*on_look)(void);
    /* MIRE_WAKE_KEEP, or its time has come: maintain the memory tables. Returns the next time. */
    uint64_t (*on_keep)(struct worker *worker);
    struct evidence_start next; /* this run, with which earlier ones are compared */
    pthread_t thread;
    size_t stack_bytes;    /* of the thread */
    _Atomic uint32_t tid;  /* of the thread; 0: it has not begun yet */
    _Atomic uint32_t wake; /* any thread sets bits (release), the worker takes them (acquire) */
};

/*
 * Start the thread. The fields above `thread` are set; the others are zeros, or as a stop has left them. The thread
 * first recovers dead blackboxes, if `recovers`.
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM.
 */
enum mire_err mire__worker_start(struct worker *worker);

/* Wake the worker for a reason. Thread: any; never blocks. */
void mire__worker_wake(struct worker *worker, enum mire__wake_reason why);

/* Is the caller the worker itself? */
bool mire__worker_is_self(const struct worker *worker);

/* Cancel a transfer and join the thread. */
void mire__worker_stop(struct worker *worker);

/* The same without a system call, in a program that has confined itself. Returns at until_ns at the latest. */
void mire__worker_end_quietly(struct worker *worker, uint64_t until_ns);

#endif
