/*
 * worker.h - the thread for everything that takes time: recovering dead blackboxes, hooking new modules, asking for the
 * rollout document, sending.
 *
 * It sleeps until its bell rings or something is due. All signals are blocked in it and its niceness is raised. Private
 * to core/.
 */
#ifndef MIRE_CORE_WORKER_H
#define MIRE_CORE_WORKER_H

#include "core/remote.h"
#include "core/variant.h"
#include "exit/evidence.h"

#include <pthread.h>

/* Why the bell rings; bits. */
enum mire__bell {
    MIRE_BELL_STOP = 1,
    MIRE_BELL_SEND = 2,
    MIRE_BELL_REHOOK = 4,
    MIRE_BELL_GONE = 8,
    MIRE_BELL_LOOK = 16,
    MIRE_BELL_KEEP = 32,
    MIRE_BELL_UNKEPT = 128, /* a report could not be kept */
    MIRE_BELL_MOVED = 256,  /* the store has gone on in another directory */
    MIRE_BELL_WAY = 64      /* the user, or the network, may let more through than before, or less */
};

struct worker {
    struct store *store;
    struct upload *sender; /* NULL: nothing is sent */
    mire_log_fn *log;      /* may be NULL */
    void *log_context;
    bool (*on_gone)(
        void); /* MIRE_BELL_GONE rang: stop everything but the worker. True: the worker is to end, unjoined */
    bool (*on_rollout)(void); /* another document is in the store than before. False: tell again soon */
    mire_clock_fn *clock;     /* NULL: the system's */
    void *clock_context;
    struct remote remote;
    const struct losses *losses; /* of this process; NULL: there are none */
    struct blackbox *box;        /* of this process; NULL: none */
    bool recovers;               /* what dead processes left; else somebody does so for us */
    bool settles;                /* sessions that are over become records; else mire-run makes them */
    _Atomic uint32_t *end_mark;  /* of mire__thread_mark_end; NULL: none */
    uint64_t rollout_mark;       /* of the document that was obeyed last, mire__store_rollout_mark */
    uint64_t (*on_look)(void);   /* MIRE_BELL_LOOK rang, or it is time: look at the process. Returns when it is again */
    uint64_t (*on_keep)(struct worker *worker); /* MIRE_BELL_KEEP rang, or it is time. Returns when it is again */
    struct evidence_start next;                 /* this run, to whom those before are compared */
    pthread_t thread;
    size_t stack_bytes;    /* of the thread */
    _Atomic uint32_t tid;  /* of the thread; 0: it has not begun yet */
    _Atomic uint32_t bell; /* anyone sets bits (release), the worker takes them (acquire) */
};

/*
 * Start the thread; the fields above `thread` are filled in, the others zeros, or as a stop has left them. It recovers
 * dead blackboxes first, if it does.
 * Returns MIRE_OK, MIRE_E_SYSTEM.
 */
enum mire_err mire__worker_start(struct worker *worker);

/* Thread: any; never blocks. */
void mire__worker_ring(struct worker *worker, enum mire__bell why);

/* Does the worker itself ask? */
bool mire__worker_is_self(const struct worker *worker);

/* Cancel a transfer and join. */
/* The same without a system call, in a program that has confined itself; comes back at until_ns at the latest. */
void mire__worker_end_quietly(struct worker *worker, uint64_t until_ns);

void mire__worker_stop(struct worker *worker);

#endif
