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

/* Count the settings that are wrong, and describe each on `out` (NULL: nowhere). */
int openid_check(const struct config *config, FILE *out);

/* Set up sign-in. A thread asks the provider once, so that the log names a fault of it at the start. 0 or a fault. */
int openid_start(struct openid *openid, const struct config *config, const struct log *log);

/* Ask the provider of this configuration once, for `mired doctor`. Result and `why` are those of oidc_try. */
int openid_try(char why[MIRE_OIDC_WHY], const struct config *config, const struct log *log);

/* End the thread and free. Allowed without openid_start. */
void openid_stop(struct openid *openid);

#endif
