/* openid.c - see openid.h. */
#include "daemon/openid.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"

#include <errno.h>
#include <string.h>

static int wrong(FILE *out, const char *setting, const char *value, const char *what)
{
    if (out)
        fprintf(out, "%s = %s: %s\n", setting, value, what);
    return 1;
}

int openid_check(const struct config *config, FILE *out)
{
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct oidc_role *roles;
    size_t count;
    char secret[MIRE_SETTING_MAX];
    const char *issuer = config_text(config, MIRE_SET_OIDC_ISSUER);
    const char *file = config_text(config, MIRE_SET_OIDC_CLIENT_SECRET_FILE);
    const char *mapping = config_text(config, MIRE_SET_OIDC_ROLES);
    int bad = 0;

    arena_init(&arena, 1 << 20);
    const char *fault = oidc_roles_parse(&roles, &count, &arena, mapping);
    if (fault)
        bad += wrong(out, "oidc_roles", mapping, fault);
    if (!*issuer)
        return bad;
    if (!oidc_issuer_is_good(issuer))
        bad += wrong(out, "oidc_issuer", issuer,
                     "must be https://..., as the provider's configuration names itself; http:// on loopback alone");
    if (!*config_text(config, MIRE_SET_OIDC_CLIENT_ID))
        bad += wrong(out, "oidc_client_id", "", "must be the name of this client at the provider");
    if (config_secret(secret, config, MIRE_SET_OIDC_CLIENT_SECRET_FILE))
        bad += wrong(out, "oidc_client_secret_file", file, errno ? strerror(errno) : "its first line is empty");
    explicit_bzero(secret, sizeof secret);
    if (!config_is_loopback(config) && !*config_text(config, MIRE_SET_PUBLIC_URL))
        bad += wrong(out, "public_url", "", "must be the address to which the provider leads browsers back");
    if (!strcmp(config_text(config, MIRE_SET_SIGN_IN), "no"))
        bad += wrong(out, "sign_in", "no", "nobody signs in; take oidc_issuer out, or set it to yes");
    return bad;
}

static void *try_once(void *context)
{
    struct openid *openid = context;
    char why[MIRE_OIDC_WHY] = "";

    if (!oidc_try(why, openid->oidc)) /* it logs a failure itself */
        log_event(openid->log, MIRE_LOG_INFO, "oidc.ready");
    return NULL;
}

/* Without asking it. 0 or a fault. */
static int make(struct openid *openid, const struct config *config, const struct log *log)
{
    const char *issuer = config_text(config, MIRE_SET_OIDC_ISSUER);
    int most = (int)config_number(config, MIRE_SET_HANDLERS) / 2;

    *openid = (struct openid){.log = log};
    if (!*issuer)
        return 0;
    arena_init(&openid->arena, 1 << 20);
    if (config_secret(openid->secret, config, MIRE_SET_OIDC_CLIENT_SECRET_FILE) ||
        oidc_roles_parse(&openid->roles, &openid->role_count, &openid->arena, config_text(config, MIRE_SET_OIDC_ROLES)))
        return MIRE_FAULT_SYSTEM;
    const struct oidc_options options = {.issuer = issuer,
                                         .client_id = config_text(config, MIRE_SET_OIDC_CLIENT_ID),
                                         .client_secret = openid->secret,
                                         .scopes = config_text(config, MIRE_SET_OIDC_SCOPES),
                                         .groups_claim =
                                             openid->role_count ? config_text(config, MIRE_SET_OIDC_GROUPS_CLAIM) : "",
                                         .ca_file = config_text(config, MIRE_SET_OIDC_CA_FILE),
                                         .name = config_text(config, MIRE_SET_OIDC_NAME),
                                         .log = log,
                                         .now_us = clock_wall_us,
                                         .most = most ? most : 1};
    return oidc_new(&openid->oidc, &options);
}

int openid_start(struct openid *openid, const struct config *config, const struct log *log)
{
    int rc = make(openid, config, log);

    if (!rc && openid->oidc)
        openid->is_trying = !pthread_create(&openid->trying, NULL, try_once, openid);
    return rc;
}

int openid_try(char why[MIRE_OIDC_WHY], const struct config *config, const struct log *log)
{
    struct openid openid;
    int rc = make(&openid, config, log);

    snprintf(why, MIRE_OIDC_WHY, "%s", rc ? fault_name(rc) : "");
    if (!rc)
        rc = oidc_try(why, openid.oidc);
    openid_stop(&openid);
    return rc;
}

void openid_stop(struct openid *openid)
{
    if (!openid->oidc)
        return;
    oidc_stop(openid->oidc);
    if (openid->is_trying)
        pthread_join(openid->trying, NULL);
    oidc_free(openid->oidc);
    arena_fini(&openid->arena);
    explicit_bzero(openid->secret, sizeof openid->secret);
}
