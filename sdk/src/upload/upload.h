/*
 * upload.h - sealed reports leave the store: one POST each, oldest first, deleted only after a 2xx.
 *
 * A report whose answer is lost is sent again under the same id; the server takes it once. What the server refuses is
 * dropped and counted. When it wants to be left alone (Retry-After), that is kept in the store and holds for every
 * process and the next start.
 *
 * There is no thread in here: the owner's worker calls mire__upload_round when it is due.
 */
#ifndef MIRE_UPLOAD_UPLOAD_H
#define MIRE_UPLOAD_UPLOAD_H

#include "store/store.h"

#include <stdatomic.h>

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
    char etag[MIRE_STORE_ETAG_BYTES]; /* the same */
    char problem[128];                /* why no answer came, in words; "" if one did */
    char *text;                       /* where a GET's body goes: borrowed, `cap` bytes; NULL: nowhere */
    size_t cap, size;                 /* size: of the whole body, also where only `cap` of it are kept */
};

/*
 * How a request gets to the server: the real one (libcurl), or a test's. `send` waits for the answer; it must come back
 * soon after `*cancel` is true. It fills in the answer, whose `text` and `cap` are the caller's.
 */
struct transport {
    void (*send)(void *context, struct upload_answer *answer, const struct upload_request *request,
                 const atomic_bool *cancel);
    void *context;
};

struct upload;

/*
 * Talk to the server at `url` with this key: reports that are in `store` go to <url>/api/v1/reports.
 *
 *   upload_out  owned by the caller; NULL unless MIRE_OK
 *   store       borrowed until close
 *   url, key    copied
 *   transport   copied; NULL for libcurl
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM (libcurl does not start).
 */
enum mire_err mire__upload_open(struct upload **upload_out, struct store *store, const char *url, const char *key,
                                const struct transport *transport);

/* Thread: none may be in mire__upload_round. NULL is fine. */
void mire__upload_close(struct upload *upload);

/* What one round did. */
struct upload_tally {
    uint32_t sent, refused, broken; /* reports */
    uint32_t waiting;               /* still in the store */
    struct upload_answer last;      /* of the last POST; status 0 and no problem if there was none */
};

/*
 * Send every report that is in the store, until one has to wait.
 *
 *   tally_out  may be NULL
 *   now_ms     wall clock
 *
 * Returns in how many milliseconds another round makes sense, UINT64_MAX when nothing waits.
 * Thread: one at a time; takes as long as the network does.
 */
uint64_t mire__upload_round(struct upload *upload, struct upload_tally *tally_out, uint64_t now_ms);

/*
 * GET a small document, unless the server wants to be left alone.
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
                                     const char *etag, uint64_t now_ms);

/* Make a round that runs, and all later ones, end soon; or let them run again. Thread: any. */
void mire__upload_cancel(struct upload *upload, bool cancel);

#endif
