/*
 * mire/delivery.h - when, how and whether anything leaves the device.
 *
 *     mire_options_set_consent_required(options, 1);     nothing leaves until the user has said yes
 *     mire_start(options);
 *     ...
 *     mire_set_consent(MIRE_CONSENT_GIVEN);              once: the answer is kept with the reports
 *     mire_set_network(MIRE_NETWORK_METERED);            as the system reports
 *
 * A report stays in the store until the server confirms that it is stored durably. Until then the library sends it
 * again under the same identifier, so that it counts once. docs/delivery.md lists all data that is sent.
 *
 * Thread: sending happens on one library thread of low priority ("mire-worker"). The library calls the callbacks that
 * are set here on that thread. A callback may call the library, except mire_start and mire_stop. It should return
 * soon, because mire_stop waits for it.
 */
#ifndef MIRE_DELIVERY_H
#define MIRE_DELIVERY_H

#include <mire/mire.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- consent ---- */

/* The user's decision about reports. */
enum mire_consent {
    MIRE_CONSENT_UNKNOWN = 0, /* not asked yet */
    MIRE_CONSENT_GIVEN = 1,
    MIRE_CONSENT_REFUSED = 2
};

/*
 * Set whether the library needs the user's consent before it sends anything. Default: 0.
 *
 *   required  0: reports are sent unless the user has refused
 *             not 0: before MIRE_CONSENT_GIVEN nothing is sent, and the server is not asked for the rollout. Reports
 *             wait in the store, within its limits
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_consent_required(mire_options *options, int required);

/*
 * Store the user's decision. It holds for all processes of the app and for later starts, until the next call.
 *
 * MIRE_CONSENT_REFUSED deletes all waiting reports at once, and each later report as it is made, whether consent is
 * required or not. They are counted as dropped for "consent". A transfer in progress may still arrive. Watching
 * continues until mire_stop; its data stays on the device.
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STATE (not started), MIRE_E_STORE (the decision cannot be stored).
 * Thread: any; writes a small file.  Signal handler: no.
 */
MIRE_API enum mire_err mire_set_consent(enum mire_consent consent);

/*
 * Returns the stored decision; MIRE_CONSENT_UNKNOWN if not started.
 * Thread: any; reads a small file.  Signal handler: no.
 */
MIRE_API enum mire_consent mire_get_consent(void);

/* ---- network and limits ---- */

/* The network between the device and the server. */
enum mire_network {
    MIRE_NETWORK_UNMETERED = 0, /* default: all reports are sent */
    MIRE_NETWORK_METERED = 1,   /* only reports of up to 4 KiB are sent, session records among them, and the reports of
                                   killed runs */
    MIRE_NETWORK_NONE = 2       /* nothing is sent */
};

/*
 * Tell the library about the network, whenever it changes. The value survives mire_stop, but not the process. Unknown
 * values are ignored. Reports have it as the tag network.
 * Cost: some stores and one wake-up of the library's thread.  Thread: any.  Signal handler: no.
 */
MIRE_API void mire_set_network(enum mire_network network);

/*
 * Limit the bytes sent in one day (UTC). Failed requests count, and the count survives restarts. Beyond the limit,
 * reports wait for the next day. A report that is larger than the limit is dropped and counted as "big".
 *
 *   bytes  65536..4294967295, default 4 MiB; 0: no limit. A request counts as its body plus 512 bytes
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_daily_bytes(mire_options *options, uint32_t bytes);

/*
 * Set the wait after a failed request. The wait doubles with each failure in a row, from first_ms up to limit_ms. The
 * library shortens each wait by a random part of up to one half, so that devices do not return all at once. A longer
 * wait that the server asks for (Retry-After, up to a day) takes precedence, and survives restarts.
 *
 *   first_ms, limit_ms   milliseconds, 1..86400000, first_ms <= limit_ms; default 2000 and 900000
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_retry_ms(mire_options *options, uint32_t first_ms, uint32_t limit_ms);

/* ---- transport ---- */

/*
 * Allow plain http to servers on other machines. By default mire_start accepts only https, and http to a loopback
 * address, and returns MIRE_E_ARG for other servers.
 *
 *   allowed  0 or not 0
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_plain_http(mire_options *options, int allowed);

/*
 * On Apple's systems: send reports by a background NSURLSession. The system then continues a transfer while the app is
 * suspended, and for an hour after the app has ended; it starts no app for the answer. A report whose answer was not
 * read is sent again, and counts once. The system follows redirects of such a transfer without asking, so the server's
 * URL must not redirect. No effect on other systems, or with mire_options_set_transport.
 *
 *   background  0, the default: transfers end with the app
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL).
 */
MIRE_API enum mire_err mire_options_set_background(mire_options *options, int background);

/*
 * Set the trusted certificate authorities, and the accepted public keys. If the server's certificate does not match,
 * nothing is sent and reports wait.
 *
 *   ca_file  path of a PEM file with certificate authorities that replace the system's; 1..4000 bytes
 *   pins     "sha256//BASE64", several separated by ";": the server's public key must be one of these, in addition to
 *            the check of its certificate; 1..1023 bytes. Include the next key before the server changes to it. Print
 *            the pin of a certificate by
 *              openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
 *                openssl dgst -sha256 -binary | openssl base64
 *
 * Return MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_ca_file(mire_options *options, const char *ca_file);
MIRE_API enum mire_err mire_options_set_pins(mire_options *options, const char *pins);

/*
 * Inspects each report before it is sent, and can drop it. It cannot change the report. After a failed transfer the
 * report is shown again.
 *
 *   json  the report as sent: UTF-8, not NUL-terminated; schema/wire documents it. Valid until the callback returns
 *
 * Returns 0 to send the report; not 0 to drop it, counted as "filtered".
 */
typedef int mire_before_send_fn(void *context, const char *json, size_t size);

/*
 * Set the callback mire_before_send_fn; NULL, the default: none. `context` must stay valid until mire_stop.
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_before_send(mire_options *options, mire_before_send_fn *before_send,
                                                    void *context);

/* A request to the server. All pointers are valid until the transport returns. */
typedef struct mire_request {
    const char *method;                                      /* "POST" or "GET" */
    const char *url;                                         /* the complete URL */
    const char *const *headers;                              /* "Name: value"; the array ends with NULL */
    const void *body;                                        /* of a POST; NULL for a GET */
    size_t body_size;                                        /* bytes */
    int (*is_cancelled)(const struct mire_request *request); /* not 0: give up at once, because mire_stop waits */
} mire_request;

/* The response. The library sets `body` and `body_cap`, and all other fields to 0. */
typedef struct mire_response {
    int status;           /* HTTP status; 0 if there was no response */
    char retry_after[64]; /* values of these headers; "" if absent */
    char date[64];
    char etag[72];
    char *body;       /* buffer of `body_cap` bytes for the body; further bytes are discarded */
    size_t body_cap;  /* bytes */
    size_t body_size; /* size of the whole body, which may be more than body_cap */
} mire_response;

/* Sends the request, waits for the response and fills it in. It must not follow redirects. */
typedef void mire_transport_fn(void *context, const mire_request *request, mire_response *response);

/*
 * Set the function that transfers requests, for an app with a network stack of its own. It replaces libcurl, and is
 * then responsible for TLS and for time limits; mire_options_set_ca_file and _set_pins have no effect.
 *
 *   transport  NULL, the default: libcurl
 *   context    must stay valid until mire_stop
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_transport(mire_options *options, mire_transport_fn *transport, void *context);

/* ---- clock and heap ---- */

/* Returns the time in milliseconds since 1970-01-01 UTC. */
typedef uint64_t mire_clock_fn(void *context);

/*
 * Set the wall clock that delivery uses for Retry-After and for the day of the byte limit, for an app that knows the
 * time better than the device. The clock may jump: no wait becomes longer than a day. Captured data, and the header that
 * sends the device's clock to the server, always use the system's clocks.
 *
 *   clock    NULL, the default: the system's wall clock
 *   context  must stay valid until mire_stop
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_clock(mire_options *options, mire_clock_fn *clock, void *context);

/* Functions like malloc, realloc and free, with a context. They are never called with size 0. */
typedef struct mire_allocator {
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *block, size_t size);
    void (*release)(void *context, void *block);
    void *context;
} mire_allocator;

/*
 * Set the heap that the library uses for its store, for making reports and for sending them. Monitoring uses no heap:
 * mire_start maps all the memory that it needs. libcurl and zstd use the C library's heap.
 *
 *   allocator  copied; NULL, the default: the C library's heap. It takes effect at the next mire_start
 *
 * Thread: the functions are called on the library's threads and on threads that call the library, several at a time.
 * Returns MIRE_OK, MIRE_E_ARG (options or one of the three functions is NULL).
 */
MIRE_API enum mire_err mire_options_set_allocator(mire_options *options, const mire_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
