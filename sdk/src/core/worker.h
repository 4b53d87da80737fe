/*
 * worker.h - the thread for everything that takes time: recovering dead blackboxes, hooking new modules, sending.
 *
 * It sleeps until its bell rings or a send is due. All signals are blocked in it and its niceness is raised. Private to
 * core/.
 */
#ifndef MIRE_CORE_WORKER_H
#define MIRE_CORE_WORKER_H

#include "core/variant.h"

#include <pthread.h>

/* Why the bell rings; bits. */
enum mire__bell { MIRE_BELL_STOP = 1, MIRE_BELL_SEND = 2, MIRE_BELL_REHOOK = 4, MIRE_BELL_GONE = 8 };

struct worker {
    struct store *store;
    struct upload *sender; /* NULL: nothing is sent */
    mire_log_fn *log;      /* may be NULL */
    void *log_context;
    bool (*on_gone)(
        void); /* MIRE_BELL_GONE rang: stop everything but the worker. True: the worker is to end, unjoined */
    pthread_t thread;
    _Atomic uint32_t bell; /* anyone sets bits (release), the worker takes them (acquire) */
};

/*
 * Start the thread; the first five fields are filled in. It recovers dead blackboxes first.
 * Returns MIRE_OK, MIRE_E_SYSTEM.
 */
enum mire_err mire__worker_start(struct worker *worker);

/* Thread: any; never blocks. */
void mire__worker_ring(struct worker *worker, enum mire__bell why);

/* Cancel a transfer and join. */
void mire__worker_stop(struct worker *worker);

#endif
