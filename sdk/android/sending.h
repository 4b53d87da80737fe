/*
 * sending.h - requests of the library that a thread of Java answers, because the virtual machine has the network stack, its
 * trusted certificates and the user's proxy, and the system's records of ended runs.
 *
 *     mire-worker                                mire-send (Java)
 *     mire__sending_transport: hands over   -->  mire__sending_await
 *                              sleeps            mire__sending_read        under READING: the request is still valid
 *                              returns      <--  mire__sending_answer      under ANSWERING
 *
 * One request at a time. The worker leaves a request when it is cancelled; an answer to such a request is discarded.
 */
#ifndef MIRE_ANDROID_SENDING_H
#define MIRE_ANDROID_SENDING_H

#include <mire/delivery.h>

#include <stdbool.h>

/* A mire_transport_fn; the context is not used. Thread: the library's worker. */
void mire__sending_transport(void *context, const mire_request *request, mire_response *response);

/*
 * A mire_trace_fn: the request "TRACE" for a run, whose trace is the answer's body. It is given up after 5 s. Thread: as above.
 */
size_t mire__sending_trace(void *context, const char *run, void *out, size_t cap);

/* A mire_gauges_fn: the request "GAUGES", which is answered when that thread has told them. Thread, end: as above. */
void mire__sending_gauges(void *context);

/* From now on mire__sending_await waits. Thread: that of mire_start, before it. */
void mire__sending_open(void);

/* mire__sending_await returns NULL from now on, and requests have no answer. Thread: any. */
void mire__sending_close(void);

/*
 * Wait for the next request. It is valid until mire__sending_read_done, and the worker waits for that call.
 * Returns NULL if there will be none. Thread: mire-send.
 */
const mire_request *mire__sending_await(void);
void mire__sending_read_done(void);

/* The answer; texts are cut to their room. NULL: no answer. Thread: mire-send, once after mire__sending_read_done. */
struct sending_answer {
    int status;
    const char *retry_after, *date, *etag; /* NULL: absent */
    const void *body;
    size_t body_size;  /* bytes there are */
    size_t whole_size; /* bytes that the server sent */
};
void mire__sending_answer(const struct sending_answer *answer);

#endif
