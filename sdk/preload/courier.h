/*
 * courier.h - the thread of mire-run that sends reports from the store while the program runs.
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
    uint32_t user;                  /* user for file access on the thread; 0: that of this process */
    void (*on_look)(void *context); /* called at each look at the store, on the thread; may be NULL */
    void (*on_end)(void *context);  /* called when the program has ended and its reports are sealed; may be NULL */
    void *context;
    const char *session;       /* name of the open session; borrowed */
    struct run_session *keeps; /* the session, which this thread ends; NULL: another courier does */
    uint64_t ended_ns;         /* CLOCK_MONOTONIC, end of the program; written before `ending`, like the next two */
    uint32_t stays;            /* first process of a service that stays behind; 0: none */
    bool goes_on;              /* the program was killed, and the remaining processes continue its session */
    struct session_sum share;  /* keeps NULL: counts for the session, after the thread is joined; size 0: none */
    struct remote remote;
    pthread_t thread;
    _Atomic uint32_t ending;     /* main writes (release), the thread reads (acquire); a futex word */
    struct blackbox_facts facts; /* facts of the program that are known before it runs */
    struct evidence_start next;  /* the same, with which earlier runs are compared */
    struct report_ended ended;   /* the end of the program; written before `ending` */
    struct report_unkept unkept; /* of recovered runs; the thread's until it is joined */
    struct upload_tally total;   /* the thread's until it is joined; `waiting` is of the last round */
};

/* Open the connection to the server of the options, if there is one. Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM. */
enum mire_err courier_open(struct courier *courier, const mire_options *options);

/*
 * Start the thread, which first recovers dead blackboxes. The fields above `thread` are set. Returns MIRE_OK,
 * MIRE_E_SYSTEM.
 */
enum mire_err courier_start(struct courier *courier);

/*
 * The program has ended: recover its blackbox, send reports for at most `patience_ms`, and stop. Afterwards `total` may
 * be read.
 */
void courier_finish(struct courier *courier, uint64_t patience_ms);

#endif
