/*
 * exchange.h - one HTTP exchange with a host that a person named.
 *
 * Addresses of this machine and of private networks are refused, unless allowed: an admin of an app could otherwise
 * make the server call hosts that only the server can reach. The address is checked when the connection is made, so
 * neither a name that resolves to another address the second time nor a redirect gets round it; redirects are not
 * followed, and no proxy is used. Time and size are bounded. Threads: any; each call has a connection of its own.
 */
#ifndef MIRE_ALERT_EXCHANGE_H
#define MIRE_ALERT_EXCHANGE_H

#include "alert/hook.h"
#include "base/text.h"

#define MIRE_EXCHANGE_S 20 /* an exchange takes at most so long, ten seconds of them to connect */

struct exchange_ask {
    const char *url;
    const char *const *headers; /* NULL-ended lines; may be NULL */
    const char *body;           /* of a POST; NULL: a GET */
    size_t most;                /* bytes of an answer */
};

struct exchange_answer {
    long status;             /* 0: none came */
    int64_t wait_s;          /* Retry-After; 0: none */
    struct text body;        /* the caller frees it */
    bool is_cut;             /* the answer was longer than `most` */
    bool may_be_taken;       /* the receiver may have read the request, whatever came of it */
    char why[MIRE_HOOK_WHY]; /* why there is no answer; "" if there is one */
};

/* Ask, and keep the answer. */
void exchange(struct exchange_answer *out, const struct hook_options *options, const struct exchange_ask *ask);

#endif
