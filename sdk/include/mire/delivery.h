/*
 * mire/delivery.h - when, how and whether anything leaves the device.
 *
 *     mire_options_set_consent_required(options, 1);     nothing leaves until the user has said yes
 *     mire_start(options);
 *     ...
 *     mire_set_consent(MIRE_CONSENT_GIVEN);              once: the answer is kept with the reports
 *     mire_set_network(MIRE_NETWORK_METERED);            as the system tells
 *
 * A report stays in the store until the server has said that it holds it durably, and is sent again under the same
 * identifier until then, so that it arrives and counts once. What is sent, and where each rule comes from, stands in
 * docs/delivery.md. All of it happens on one thread of the library, of low priority ("mire-worker"), which is where the
 * functions that are given here are called. They may call the library, but not mire_start and mire_stop, and should
 * return soon: mire_stop waits for them.
 */
#ifndef MIRE_DELIVERY_H
#define MIRE_DELIVERY_H

#include <mire/mire.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- whether ---- */

/* What the user has said about reports. */
enum mire_consent {
    MIRE_CONSENT_UNKNOWN = 0, /* nothing yet */
    MIRE_CONSENT_GIVEN = 1,
    MIRE_CONSENT_REFUSED = 2
};

/*
 * Does it take the user's consent for anything to leave? Default: it does not.
 *
 *   required  0: reports are sent unless the user has refused
 *             else: until MIRE_CONSENT_GIVEN nothing is sent, and the server is not asked for the rollout either;
 *                   reports are kept as the store's caps allow
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_consent_required(mire_options *options, int required);

/*
 * Tell what the user has said. It is kept in the store, so it holds for all processes of the app and for later starts,
 * until it is told anew.
 *
 * MIRE_CONSENT_REFUSED deletes every report that waits, within moments, and each later one as it comes, whether consent
 * is required or not; they are counted as lost for "consent". A transfer that is under way may still arrive. Watching
 * goes on, for the app's own use of it ends with mire_stop; what it keeps stays on the device.
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STATE (not started), MIRE_E_STORE (not kept: nothing has changed).
 * Thread: any; writes a small file.  Signal handler: no.
 */
MIRE_API enum mire_err mire_set_consent(enum mire_consent consent);

/* What was told last; MIRE_CONSENT_UNKNOWN also when not started. Thread: any; reads a small file. */
MIRE_API enum mire_consent mire_get_consent(void);

/* ---- when ---- */

/* What lies between the device and the server. */
enum mire_network {
    MIRE_NETWORK_UNMETERED = 0, /* all that waits is sent; so it is until something else is told */
    MIRE_NETWORK_METERED = 1, /* each byte costs: what is small is sent (4 KiB: session records and short reports), and
                                 why a run was killed */
    MIRE_NETWORK_NONE = 2     /* there is none: nothing is tried */
};

/*
 * Tell how the network is, as often as it changes. Kept over mire_stop, not over the process.
 * Cost: a store and a wake-up of the library's thread; unknown values are ignored.  Thread: any.  Signal handler: no.
 */
MIRE_API void mire_set_network(enum mire_network network);

/*
 * How many bytes may be sent in a day (of UTC), restarts and failed tries included. When they are used up reports wait
 * for the next day; a report that is larger by itself is dropped and counted as "big". Default 4 MiB.
 *
 *   bytes  65536..4294967295, or 0: no limit. A request counts as its body and 512 bytes
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_daily_bytes(mire_options *options, uint32_t bytes);

/*
 * How long to wait after a failure. It doubles with each more in a row, and a random share of it, up to half, is left
 * out, so that devices do not come back together. What the server asks for (Retry-After) holds where it is longer, up
 * to a day, and over restarts.
 *
 *   first_ms, limit_ms   1..86400000, first_ms <= limit_ms; default 2000 and 900000
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_retry_ms(mire_options *options, uint32_t first_ms, uint32_t limit_ms);

/* ---- how ---- */

/*
 * May reports go over plain http beyond this machine? By default mire_start refuses such a server with MIRE_E_ARG:
 * only https, and http to a loopback address, are taken.
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_plain_http(mire_options *options, int allowed);

/*
 * Whom to trust beside, or instead of, what the system trusts. A server that shows neither is not talked to: reports
 * wait.
 *
 *   ca_file  PEM file of certificate authorities, in place of the system's; 1..4000 bytes
 *   pins     "sha256//BASE64", several separated by ";": the server's public key must be one of these, whoever has
 *            signed its certificate; 1..1023 bytes. Name the next key too before it is needed. Made by
 *              openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
 *                openssl dgst -sha256 -binary | openssl base64
 *
 * Return MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_ca_file(mire_options *options, const char *ca_file);
MIRE_API enum mire_err mire_options_set_pins(mire_options *options, const char *pins);

/*
 * Sees each report before it is sent, and may keep it from being sent. It cannot change it: what it sees is what the
 * server gets. A report whose transfer failed is shown again.
 *
 *   json  UTF-8, not NUL-terminated, borrowed until it returns; schema/wire says what is in it
 *
 * Returns 0: send it; else it is dropped, and counted as "filtered".
 */
typedef int mire_before_send_fn(void *context, const char *json, size_t size);

/* NULL for nobody, the default. `context` is borrowed until mire_stop. Returns MIRE_OK, MIRE_E_ARG. */
MIRE_API enum mire_err mire_options_set_before_send(mire_options *options, mire_before_send_fn *before_send,
                                                    void *context);

/* A request to the server. All of it is borrowed until the transport returns. */
typedef struct mire_request {
    const char *method;         /* "POST" or "GET" */
    const char *url;            /* whole */
    const char *const *headers; /* "Name: value", NULL after the last */
    const void *body;           /* of a POST */
    size_t body_size;
    int (*is_cancelled)(const struct mire_request *request); /* not 0: give up now, mire_stop waits */
} mire_request;

/* What comes back: zeros at first but `body` and `body_cap`. */
typedef struct mire_response {
    int status;           /* of HTTP; 0 if no answer came */
    char retry_after[64]; /* values of these headers, "" where absent */
    char date[64];
    char etag[72];
    char *body; /* room for `body_cap` bytes of the answer's body; what does not fit is left out, and counts */
    size_t body_cap, body_size;
} mire_response;

/* Send the request, wait for the answer and fill in the response. Redirects are not followed. */
typedef void mire_transport_fn(void *context, const mire_request *request, mire_response *response);

/*
 * Who carries requests, in place of libcurl: the app has a network stack of its own. Its rules for TLS are its own; so
 * is its time limit. NULL for libcurl, the default. `context` is borrowed until mire_stop.
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_transport(mire_options *options, mire_transport_fn *transport, void *context);

/* ---- what the app supplies besides ---- */

/* Returns milliseconds since 1970-01-01 UTC. */
typedef uint64_t mire_clock_fn(void *context);

/*
 * The wall clock that delivery goes by: Retry-After, the day of the daily bytes. An app that knows the time better than
 * the device does can say it. It may jump: no wait grows by that, and none is longer than a day. Everything else, all
 * that is captured among it, is timed by the system's clocks, for it is compared with what the kernel and other
 * processes say. NULL for the system's, the default. `context` is borrowed until mire_stop.
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_clock(mire_options *options, mire_clock_fn *clock, void *context);

/* As malloc, realloc and free of the C library, but for the context; never called with size 0. */
typedef struct mire_allocator {
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *block, size_t size);
    void (*release)(void *context, void *block);
    void *context;
} mire_allocator;

/*
 * Whose heap the library uses: for the store, for making reports and for sending them. Called on the library's threads
 * and on those that call it, several at a time. Watching and noting memory use no heap at all: what they need is mapped
 * at mire_start. libcurl and zstd keep to the C library's. Holds for the process from mire_start on; another one is
 * taken at the next mire_start only. NULL for the C library's, the default.
 *
 * Returns MIRE_OK, MIRE_E_ARG (one of the three functions is NULL).
 */
MIRE_API enum mire_err mire_options_set_allocator(mire_options *options, const mire_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
