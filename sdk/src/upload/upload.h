/*
 * upload.h - sealed reports leave the store: one POST each, over one connection a round, the most valuable first;
 * deleted only when the server has named the report in its answer.
 *
 * A report whose answer is lost is sent again under the same id; the server takes it once. What the server refuses is
 * dropped and counted. When it wants to be left alone (Retry-After), that is kept in the store and holds for every
 * process and the next start. Nothing is asked of the server while the user's consent is lacking or there is no
 * network; docs/delivery.md has the rules.
 *
 * There is no thread in here: the owner's worker calls mire__upload_round when it is due.
 */
#ifndef MIRE_UPLOAD_UPLOAD_H
#define MIRE_UPLOAD_UPLOAD_H

#include "mire/delivery.h"
#include "store/store.h"

#include <stdatomic.h>

#define MIRE_RETRY_FIRST_MS 2000u
#define MIRE_RETRY_LIMIT_MS (15u * 60 * 1000)
#define MIRE_DAILY_BYTES    (4u << 20)

#define MIRE_REQUEST_BYTES 512u       /* what a request is taken to cost beside its body */
#define MIRE_METERED_BYTES (4u << 10) /* a report up to this size is small */

/* What is asked of the server. */
struct upload_request {
    const char *path; /* "/api/v1/...", query and all */
    const void *body; /* POSTed, zstd-compressed JSON; NULL: GET */
    size_t size;
    const char *etag; /* of a GET: what we have; "" for nothing */
};

/* What came back. */
struct upload_answer {
    int status;                       /* HTTP status, 0 if none came */
    char retry_after[64];             /* the header's value, "" if there was none */
    char date[64];                    /* the same: the server's clock */
    char etag[MIRE_STORE_ETAG_BYTES]; /* the same */
    char problem[128];                /* why no answer came, or why it does not count, in words; "" if all is well */
    char *text;                       /* where the body goes: borrowed, `cap` bytes; NULL: nowhere */
    size_t cap, size;                 /* size: of the whole body, also where only `cap` of it are kept */
};

/*
 * How a request gets to the server: libcurl, the app, or a test's. `send` waits for the answer; it must come back
 * soon after `*cancel` is true. It fills in the answer, whose `text` and `cap` are the caller's.
 */
struct transport {
    void (*send)(void *context, struct upload_answer *answer, const struct upload_request *request,
                 const atomic_bool *cancel);
    void *context;
};

/* What delivery goes by; the public setters in mire/delivery.h tell of each. Zeros and NULLs where nothing is set. */
struct upload_options {
    const char *url, *key;      /* of the server; NULL: there is none */
    const char *ca_file, *pins; /* NULL: whom the system trusts */
    bool consent_required, plain_http;
    uint32_t daily_bytes; /* 0: no limit */
    uint32_t retry_first_ms, retry_limit_ms;
    mire_before_send_fn *before_send;
    void *before_send_context;
    mire_transport_fn *transport; /* NULL: libcurl */
    void *transport_context;
    const _Atomic uint32_t *network; /* enum mire_network; NULL: unmetered. Any thread writes; relaxed */
};

#define MIRE_UPLOAD_OPTIONS_INIT                                                                                      \
    {                                                                                                                 \
        .daily_bytes = MIRE_DAILY_BYTES, .retry_first_ms = MIRE_RETRY_FIRST_MS, .retry_limit_ms = MIRE_RETRY_LIMIT_MS \
    }

struct upload;

/*
 * Talk to the server: reports that are in `store` go to <url>/api/v1/reports.
 *
 *   upload_out  owned by the caller; NULL unless MIRE_OK
 *   store       borrowed until close
 *   options     url and key are set; texts are copied, contexts and `network` are borrowed until close
 *   transport   a test's; NULL for the options'
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM (libcurl does not start).
 */
enum mire_err mire__upload_open(struct upload **upload_out, struct store *store, const struct upload_options *options,
                                const struct transport *transport);

/* Thread: none may be in mire__upload_round. NULL is fine. */
void mire__upload_close(struct upload *upload);

/* The time, on a clock that jumps and on one that does not. */
struct upload_now {
    uint64_t wall_ms; /* since 1970 */
    uint64_t boot_ms; /* since the machine started, sleep included */
};

/* What one round did. */
struct upload_tally {
    uint32_t sent, refused, broken, filtered; /* reports */
    uint32_t waiting;                         /* still in the store */
    struct upload_answer last;                /* of the last POST; status 0 and no problem if there was none */
};

/*
 * Send every report that is in the store and may be sent now, until one has to wait. Where the user has refused, drop
 * them.
 *
 *   tally_out  may be NULL
 *
 * Returns in how many milliseconds another round makes sense, UINT64_MAX when nothing waits for time alone.
 * Thread: one at a time; takes as long as the network does.
 */
uint64_t mire__upload_round(struct upload *upload, struct upload_tally *tally_out, const struct upload_now *now);

/* May the server be asked for anything, as far as user and network go? */
bool mire__upload_may_ask(struct upload *upload);

/*
 * GET a small document, unless the server wants to be left alone, or may not be asked.
 *
 *   answer  its `text` and `cap` are the caller's
 *   path    as in upload_request
 *   etag    of the document we have, "" for none
 *
 * Returns FETCH_NEW (text holds it), FETCH_SAME (what we have is right), FETCH_NONE (the server has none: 404), or
 * FETCH_LATER (no answer, another status, or it does not fit; see the answer).
 * Thread: as mire__upload_round, and not during it.
 */
enum upload_fetch { FETCH_NEW, FETCH_SAME, FETCH_NONE, FETCH_LATER };
enum upload_fetch mire__upload_fetch(struct upload *upload, struct upload_answer *answer, const char *path,
                                     const char *etag, const struct upload_now *now);

/* Make a round that runs, and all later ones, end soon; or let them run again. Thread: any. */
void mire__upload_cancel(struct upload *upload, bool cancel);

#endif
