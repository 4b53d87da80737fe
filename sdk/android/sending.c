/* sending.c - see sending.h. */
#include "android/sending.h"

#include "platform/platform.h"

#include <string.h>

#define LOCAL_NS (5 * MIRE_NS_PER_S)
#define LOOK_NS  (100 * MIRE_NS_PER_MS) /* between two looks whether the request is cancelled */

enum sending_state {
    SENDING_IDLE,
    SENDING_WANTED,    /* a request waits for Java's thread */
    SENDING_READING,   /* which copies it */
    SENDING_TAKEN,     /* and sends it */
    SENDING_ANSWERING, /* and writes into the response */
    SENDING_DONE
};
#define CLOSED 0x100u /* beside the state, so that closing changes the word that is waited for */

static struct {
    _Atomic uint32_t state;      /* futex word */
    const mire_request *request; /* valid from WANTED to READING */
    mire_response *response;     /* valid from WANTED to ANSWERING */
} sending;

static bool change(uint32_t from, uint32_t to)
{
    uint32_t now = atomic_load(&sending.state);

    do {
        if ((now & ~CLOSED) != from)
            return false;
    } while (!atomic_compare_exchange_weak(&sending.state, &now, (now & CLOSED) | to));
    mire__futex_wake(&sending.state);
    return true;
}

/* Is the request given up? Not while Java's thread uses it. */
static bool leave(const mire_request *request, uint32_t state)
{
    if (!(state & CLOSED) && !request->is_cancelled(request))
        return false;
    return change(SENDING_WANTED, SENDING_IDLE) || change(SENDING_TAKEN, SENDING_IDLE);
}

void mire__sending_transport(void *context, const mire_request *request, mire_response *response)
{
    uint32_t state;

    (void)context;
    sending.request = request;
    sending.response = response;
    change(SENDING_IDLE, SENDING_WANTED);
    while (((state = atomic_load(&sending.state)) & ~CLOSED) != SENDING_DONE && !leave(request, state))
        mire__futex_wait(&sending.state, state, mire__now_ns() + LOOK_NS);
    change(SENDING_DONE, SENDING_IDLE);
}

struct local_request {
    mire_request request; /* first */
    uint64_t until_ns;
};

static int is_late(const mire_request *request)
{
    return mire__now_ns() >= ((const struct local_request *)request)->until_ns;
}

/* A request that the thread answers by itself: no network. */
static void ask(const char *method, const char *what, mire_response *response)
{
    static const char *const none[] = {NULL};
    const struct local_request wanted = {{.method = method, .url = what, .headers = none, .is_cancelled = is_late},
                                         mire__now_ns() + LOCAL_NS};

    mire__sending_transport(NULL, &wanted.request, response);
}

size_t mire__sending_trace(void *context, const char *run, void *out, size_t cap)
{
    mire_response response = {.body = out, .body_cap = cap};

    (void)context;
    ask("TRACE", run, &response);
    if (response.status != 200)
        return 0;
    return response.body_size < cap ? response.body_size : cap;
}

void mire__sending_gauges(void *context)
{
    mire_response response = {.body = NULL};

    (void)context;
    ask("GAUGES", "", &response);
}

void mire__sending_open(void)
{
    atomic_fetch_and(&sending.state, ~CLOSED);
}

void mire__sending_close(void)
{
    atomic_fetch_or(&sending.state, CLOSED);
    mire__futex_wake(&sending.state); /* at most two threads wait */
    mire__futex_wake(&sending.state);
}

const mire_request *mire__sending_await(void)
{
    uint32_t state;

    while (!((state = atomic_load(&sending.state)) & CLOSED)) {
        if (state == SENDING_WANTED && change(SENDING_WANTED, SENDING_READING))
            return sending.request;
        mire__futex_wait(&sending.state, state, UINT64_MAX);
    }
    return NULL;
}

void mire__sending_read_done(void)
{
    change(SENDING_READING, SENDING_TAKEN);
}

static void take_text(char *out, size_t cap, const char *text)
{
    if (text)
        mire__text_copy(out, cap, text);
}

static void fill(mire_response *out, const struct sending_answer *answer)
{
    size_t size = answer->body_size < out->body_cap ? answer->body_size : out->body_cap;

    out->status = answer->status;
    take_text(out->retry_after, sizeof(out->retry_after), answer->retry_after);
    take_text(out->date, sizeof(out->date), answer->date);
    take_text(out->etag, sizeof(out->etag), answer->etag);
    if (size > 0)
        memcpy(out->body, answer->body, size);
    out->body_size = answer->whole_size;
}

void mire__sending_answer(const struct sending_answer *answer)
{
    if (!change(SENDING_TAKEN, SENDING_ANSWERING))
        return;
    if (answer)
        fill(sending.response, answer);
    change(SENDING_ANSWERING, SENDING_DONE);
}
