/*
 * upload.h - sends sealed reports: one POST each, over one connection per round, the most valuable first. A report is
 * deleted only when the server names it in its answer.
 *
 * If an answer is lost, the report is sent again under the same id, and the server stores it once. A report that the
 * server refuses is dropped and counted. The store keeps a Retry-After of the server, for all processes and the next
 * start. Without the user's consent or a network there are no requests; docs/delivery.md has the rules.
 *
 * This folder has no thread: the owner's worker calls mire__upload_round when it is due.
 */
#ifndef MIRE_UPLOAD_UPLOAD_H
#define MIRE_UPLOAD_UPLOAD_H

#include "mire/delivery.h"
#include "store/store.h"

#include <stdatomic.h>

#define MIRE_RETRY_FIRST_MS 2000u
#define MIRE_RETRY_LIMIT_MS (15u * 60 * 1000)
#define MIRE_DAILY_BYTES    (4u << 20)

#define MIRE_REQUEST_BYTES 512u /* assumed size of a request without its body */

/* A request to the server. */
struct upload_request {
    const char *path; /* "/api/v1/...", with its query */
    const void *body; /* POSTed, zstd-compressed JSON; NULL: GET */
    const char *type; /* of the body: the header line with its media type */
    size_t size;
    const char *etag; /* of a GET: of the known document; "": none */
};

/* The answer. */
struct upload_answer {
    int status;                       /* HTTP status; 0: no answer */
    char retry_after[64];             /* the header's value, "" if there was none */
    char date[64];                    /* the same: the server's clock */
    char etag[MIRE_STORE_ETAG_BYTES]; /* the same */
    char problem[128];                /* a sentence why there is no answer, or no valid one; "" otherwise */
    char *text;                       /* buffer for the body: borrowed, `cap` bytes; NULL: none */
    size_t cap, size;                 /* size: of the whole body, which may be more than cap */
};

/*
 * Transfers requests: by libcurl, by the app, or in a test. `send` waits for the answer and fills it in; the caller
 * sets `text` and `cap`. It must return soon after `*cancel` is true.
 */
struct transport {
    void (*send)(void *context, struct upload_answer *answer, const struct upload_request *request,
                 const atomic_bool *cancel);
    void *context;
};

/* The options of delivery; mire/delivery.h documents each. */
struct upload_options {
    const char *url, *key;      /* of the server; NULL: none */
    const char *ca_file, *pins; /* NULL: the system's certificate authorities */
    bool consent_required, plain_http;
    bool background;      /* Apple's systems: transfers go on while the app is suspended */
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
 * Open the connection of a store to a server: reports go to <url>/api/v1/reports.
 *
 *   upload_out  owned by the caller; NULL unless MIRE_OK
 *   store       borrowed until close
 *   options     url and key are set; texts are copied, contexts and `network` are borrowed until close
 *   transport   of a test; NULL: that of the options
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM (libcurl does not start).
 */
enum mire_err mire__upload_open(struct upload **upload_out, struct store *store, const struct upload_options *options,
                                const struct transport *transport);

/* Close. NULL has no effect. Thread: any, while no thread is in mire__upload_round. */
void mire__upload_close(struct upload *upload);

/* The time, on a clock that jumps and on one that does not. */
struct upload_now {
    uint64_t wall_ms; /* since 1970 */
    uint64_t boot_ms; /* since the machine started, sleep included */
};

/* The results of one round. */
struct upload_tally {
    uint32_t sent, refused, broken, filtered; /* reports */
    uint32_t waiting;                         /* still in the store */
    struct upload_answer last;                /* of the last POST; status 0 and no problem: there was none */
};

/*
 * Send all reports that may be sent now, until one has to wait. If the user has refused, drop them.
 *
 *   tally_out  may be NULL
 *
 * Returns the milliseconds until the next useful round; UINT64_MAX: no report waits for time alone.
 * Thread: one at a time; takes as long as the network.
 */
uint64_t mire__upload_round(struct upload *upload, struct upload_tally *tally_out, const struct upload_now *now);

/* Do consent and network allow a request? */
bool mire__upload_may_ask(struct upload *upload);

/*
 * GET a small document, unless a Retry-After, consent or network forbid it.
 *
 *   answer  the caller sets `text` and `cap`
 *   path    as in upload_request
 *   etag    of the known document, "": none
 *
 * Returns FETCH_NEW (text holds it), FETCH_SAME (the known document is current), FETCH_NONE (404), or FETCH_LATER (no
 * answer, another status, or too large; see the answer).
 * Thread: as mire__upload_round, and not during it.
 */
enum upload_fetch { FETCH_NEW, FETCH_SAME, FETCH_NONE, FETCH_LATER };
enum upload_fetch mire__upload_fetch(struct upload *upload, struct upload_answer *answer, const char *path,
                                     const char *etag, const struct upload_now *now);

/* Make the current round and all later ones end soon; or allow rounds again. Thread: any. */
void mire__upload_cancel(struct upload *upload, bool cancel);

#endif
