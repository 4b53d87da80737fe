/*
 * openid.h - the settings of the OpenID provider, checked and put to use.
 */
#ifndef MIRE_DAEMON_OPENID_H
#define MIRE_DAEMON_OPENID_H

#include "daemon/config.h"
#include "oidc/oidc.h"

#include <pthread.h>

struct openid {
    struct oidc *oidc; /* NULL: no provider is configured */
    struct oidc_role *roles;
    size_t role_count;
    struct arena arena;
    char secret[MIRE_SETTING_MAX];
    const struct log *log;
    pthread_t trying;
    bool is_trying;
};

/* How many settings are wrong; each is described on `out` (NULL: nowhere). */
int openid_check(const struct config *config, FILE *out);

/* Make it, and ask the provider once, in a thread, so that the log tells at start what is wrong. 0 or a fault. */
int openid_start(struct openid *openid, const struct config *config, const struct log *log);

/* Ask the provider of this configuration once, as `mired doctor` does. 0, or why it fails, as oidc_try. */
int openid_try(char why[MIRE_OIDC_WHY], const struct config *config, const struct log *log);

/* A part that was not started may be stopped. */
void openid_stop(struct openid *openid);

#endif
