/*
 * courier.h - mire-run's thread that takes reports from the store to the server while the program runs.
 */
#ifndef MIRE_PRELOAD_COURIER_H
#define MIRE_PRELOAD_COURIER_H

#include "core/options.h"
#include "core/remote.h"
#include "preload/run_session.h"
#include "report/report.h"
#include "store/store.h"
#include "upload/upload.h"

#include <pthread.h>

struct courier {
    struct store *store;
    struct upload *upload;          /* NULL: reports stay in the store */
    uint32_t user;                  /* as whom the thread acts on files; 0: as this process */
    void (*on_look)(void *context); /* called each time the store is looked at, on the thread; may be NULL */
    void (*on_end)(void *context);  /* called once the program has ended and all it left is sealed; may be NULL */
    void *context;
    const char *session;       /* name of the session that goes on; borrowed */
    struct run_session *keeps; /* it is this one, and the thread ends it; NULL: somebody else does */
    uint64_t ended_ns;         /* CLOCK_MONOTONIC, when it ended; as the next */
    uint32_t stays;            /* first process of a service that stays behind when it ends, 0: none; likewise */
    bool goes_on;              /* the program was killed, and what stays goes on with its session; likewise */
    struct session_sum share;  /* keeps NULL: what was added to it here, once the thread is joined; size 0: nothing */
    struct remote remote;
    pthread_t thread;
    _Atomic uint32_t ending;     /* main writes (release), the thread reads (acquire); a futex word */
    struct blackbox_facts facts; /* of the program about to run, as far as they are known before */
    struct evidence_start next;  /* the same, to whom runs before are compared */
    struct report_ended ended;   /* the program, once it has; written before `ending` */
    struct report_unkept unkept; /* of the runs that it recovered; the thread's until it is joined */
    struct upload_tally total;   /* the thread's until it is joined; `waiting` is of the last round */
};

/* Open the way to the server that the options name, if they do. Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM. */
enum mire_err courier_open(struct courier *courier, const mire_options *options);

/* Start; the fields above `thread` are filled in. Recovers dead blackboxes first. Returns MIRE_OK, MIRE_E_SYSTEM. */
enum mire_err courier_start(struct courier *courier);

/*
 * The program has ended: recover its blackbox, send what can be sent within `patience_ms`, and stop.
 * Afterwards `total` may be read.
 */
void courier_finish(struct courier *courier, uint64_t patience_ms);

#endif
