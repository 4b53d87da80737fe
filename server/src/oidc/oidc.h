/*
 * oidc.h - sign-in by an OpenID provider: the code flow of OpenID Connect Core 1.0 with PKCE (RFC 7636).
 *
 *     /-/oidc/start     oidc_begin:  a secret for the browser's cookie -> state, nonce, verifier; the provider's address
 *     the provider      asks the person, and leads the browser back
 *     /-/oidc/callback  oidc_finish: state and issuer (RFC 9207) -> code for ID token -> signature, claims -> person
 *
 * State, nonce and verifier are hashes of the secret in the cookie, which no page can read: nothing is stored here.
 * The provider's configuration and keys are kept for an hour, and read again when a token names a new key.
 *
 * Threads: any. oidc_begin and oidc_finish may wait for the provider, up to 10 s a request.
 */
#ifndef MIRE_OIDC_OIDC_H
#define MIRE_OIDC_OIDC_H

#include "base/arena.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_OIDC_COOKIE  640 /* room for the cookie's value, with NUL */
#define MIRE_OIDC_LASTS_S 600 /* a sign-in may stay at the provider so long */
#define MIRE_OIDC_WHY     240
#define MIRE_OIDC_GROUPS  512 /* of one person that are looked at */

struct oidc_options {
    const char *issuer, *client_id; /* all texts are borrowed */
    const char *client_secret;      /* "": the client is a public one */
    const char *scopes;             /* "openid profile email" */
    const char *groups_claim;       /* its name, or names with dots between: realm_access.roles; "": nobody asks */
    const char *ca_file;            /* certificates that are trusted; "": those of the system */
    const char *name;               /* of the provider, as people read it */
    const struct log *log;
    int64_t (*now_us)(void); /* wall clock */
    int most;                /* requests that may wait for the provider at once; more are OIDC_BUSY */
};

struct oidc;

/* 0 or a fault. Talks to nobody yet. */
int oidc_new(struct oidc **out, const struct oidc_options *options);
void oidc_free(struct oidc *oidc);

/* Requests to the provider end at once, from now on. */
void oidc_stop(struct oidc *oidc);

const char *oidc_name(const struct oidc *oidc);

enum oidc_outcome {
    OIDC_DONE = 0,
    OIDC_UNREACHABLE = 1, /* the provider does not answer, or not as one */
    OIDC_STALE,           /* the browser began no such sign-in, or too long ago */
    OIDC_REFUSED,         /* the provider or the person said no */
    OIDC_UNTRUSTED,       /* a check failed: another issuer, a forged, old or replayed token */
    OIDC_BUSY,            /* too many wait for the provider */
};

/* "unreachable", "stale" ...; static. */
const char *oidc_outcome_name(enum oidc_outcome outcome);

/*
 * Lead a browser to the provider.
 *
 *   cookie_out    secret for the browser, MIRE_OIDC_LASTS_S long
 *   location_out  the provider's address, in the arena
 *   why           filled unless the result is OIDC_DONE
 *   base          scheme and host under which the browser reaches this server
 *   next          path to go to afterwards; what is no path of this server is taken as "/"
 *
 * An enum oidc_outcome, or a fault.
 */
int oidc_begin(char cookie_out[MIRE_OIDC_COOKIE], const char **location_out, char why[MIRE_OIDC_WHY], struct oidc *oidc,
               struct arena *arena, const char *base, const char *next);

/* The cookie that the browser brings back; NULL: there is none. */
struct oidc_return {
    const char *cookie, *base;
    const char *state, *code, *issuer, *error;
};

struct oidc_person {
    const char *subject; /* issuer, space, sub: the person, for ever */
    const char *name;    /* a name that an account may have, lower case */
    const char **groups;
    size_t group_count;
};

/* Where a browser with this cookie is to go on: a path of this server. In the arena; NULL: no memory. */
const char *oidc_next(struct arena *arena, const char *cookie);

/* End a sign-in. Texts of *out are in the arena. An enum oidc_outcome with `why`, or a fault. */
int oidc_finish(struct oidc_person *out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct arena *arena,
                const struct oidc_return *back);

/* Where the provider ends its own session. In the arena; NULL: it has no such address, or was not read. Does not wait. */
const char *oidc_leave(struct oidc *oidc, struct arena *arena, const char *base);

/* Read the provider's configuration and keys now. An enum oidc_outcome with `why`, or a fault. */
int oidc_try(char why[MIRE_OIDC_WHY], struct oidc *oidc);

/* --- the setting oidc_roles: "GROUP = ROLE, GROUP = ROLE @ APP, ..." ------------------------------------------------ */

struct oidc_role {
    const char *group;
    const char *role; /* viewer, triager, admin, server */
    const char *app;  /* slug; "": every app */
};

/* NULL, or what is wrong with it, static. *out and its texts are in the arena. */
const char *oidc_roles_parse(struct oidc_role **out, size_t *count, struct arena *arena, const char *setting);

/* Is it an issuer that may be asked: https, or http on loopback; no query? */
bool oidc_issuer_is_good(const char *issuer);

#endif
