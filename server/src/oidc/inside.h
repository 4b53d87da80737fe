/*
 * inside.h - what the files of oidc/ share.
 */
#ifndef MIRE_OIDC_INSIDE_H
#define MIRE_OIDC_INSIDE_H

#include "base/text.h"
#include "json/json.h"
#include "oidc/oidc.h"

#include <pthread.h>
#include <stdatomic.h>

#define OIDC_SKEW_S 120 /* by which the provider's clock may differ from ours */

/* The provider's configuration; absent addresses are "". */
struct provider {
    const char *issuer, *authorization, *token, *jwks_uri, *userinfo, *end_session;
    const char *keys;  /* its key set, as JSON */
    bool takes_basic;  /* the client's secret goes into the header, not into the body */
    bool sends_issuer; /* answers of authorization name the issuer, always */
    uint64_t read_ns;  /* monotonic; 0: never */
    uint64_t keys_read_ns;
};

struct oidc {
    struct oidc_options options;
    _Atomic int waiting;
    _Atomic bool is_stopping;
    pthread_mutex_t mutex;    /* one reads the provider's configuration */
    struct provider provider; /* all below are guarded by mutex; texts in `kept` and `kept_keys` */
    struct arena kept, kept_keys;
    uint64_t failed_ns; /* monotonic; the last try failed then */
    char failed_why[MIRE_OIDC_WHY];
};

/* call.c: one request. */
struct oidc_call {
    const char *url;
    const char *form;          /* body of a POST; NULL: a GET */
    const char *user, *secret; /* HTTP Basic; NULL: none */
    const char *bearer;        /* NULL: none */
};

/* OIDC_DONE with *status and the body, or OIDC_UNREACHABLE with `why`, or a fault. */
int oidc_call(struct text *out, long *status, char why[MIRE_OIDC_WHY], struct oidc *oidc, const struct oidc_call *call);

/* Append name=value of a form or a query, escaped, with & before it if it is not the first. */
void oidc_add_pair(struct text *out, const char *name, const char *value);

/*
 * provider.c: a copy of the configuration, its texts in the arena, read again if it is old; `wants_new_keys`: so are
 * the keys, if they are older than some seconds. OIDC_DONE, OIDC_UNREACHABLE with `why`, or a fault.
 */
int oidc_provider(struct provider *out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct arena *arena,
                  bool wants_new_keys);

/* The same without waiting: OIDC_BUSY if it is old, or being read. */
int oidc_provider_kept(struct provider *out, struct oidc *oidc, struct arena *arena);

/* Where the provider ends a session, as it was read last; NULL: it was not read, or is being read. Does not wait. */
const char *oidc_end_session(struct oidc *oidc, struct arena *arena);

/* The text of a member, in the arena; "" if it is none, or has a zero in it. NULL: no memory. */
const char *oidc_member(struct arena *arena, const struct json *json, uint32_t object, const char *name);

/* Read an object. False: it is none. */
bool oidc_read(struct json *json, const char *text, size_t len);

/* token.c: what a token must say. */
struct token_wanted {
    const char *issuer, *client_id, *nonce;
    int64_t now_s;
};

enum token_outcome {
    TOKEN_GOOD = 0,
    TOKEN_BAD,     /* `why` has the reason */
    TOKEN_NEW_KEY, /* no key of the set is the token's: the set may be old */
};

/* Check signature and claims of an ID token; *claims_out: its claims as JSON, in the arena. Pure. */
enum token_outcome token_check(const char **claims_out, const char **why_out, struct arena *arena, const char *token,
                               const char *keys, const struct token_wanted *wanted);

/* person.c: the person whom the claims describe. 0 or MIRE_FAULT_MEMORY. Groups are added by person_add_groups. */
int person_of(struct oidc_person *out, struct arena *arena, const char *issuer, const struct json *claims);

/* True: the claims have the claim of groups, or so many that they are elsewhere. */
bool person_add_groups(struct oidc_person *out, struct arena *arena, const char *claim, const struct json *claims);

#endif
