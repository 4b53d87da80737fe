/*
 * identify.c - who asks: a key, a person by token, cookie or proxy, or the user of this machine.
 */
#include "access/inside.h"

#include "access/cookie.h"
#include "access/dsn.h"
#include "access/origin.h"
#include "base/clock.h"
#include "base/fault.h"

#include <string.h>

const char *access_app_of(const struct request *request)
{
    static const char of_app[] = "/api/v1/apps/{app}";
    return !strncmp(request->route->pattern, of_app, sizeof of_app - 1) ? request_param(request, 0) : "";
}

/* The result of a lookup of a key. */
struct looked_up {
    struct access_key key;
    struct access_account account;
    enum access_role role;
    bool has_key, has_account, is_fresh, has_accounts;
    uint64_t seen_ns;
};

/* By the keys that were read last: the key of `hash`, or else the account of `name`. */
static void look_up(struct looked_up *out, struct access *access, const uint8_t *hash, const char *name,
                    const char *slug)
{
    *out = (struct looked_up){.has_key = false};
    pthread_mutex_lock(&access->mutex);
    const struct access_keys *keys = access->keys;
    const struct access_key *key = keys && hash ? access_keys_find(keys, hash) : NULL;
    const struct access_account *account = NULL;
    if (key) {
        out->key = *key;
        out->has_key = true;
        atomic_store_explicit(&keys->used[key - keys->rows], true, memory_order_relaxed);
        account = key->account_id ? access_account_find(keys, key->account_id) : NULL;
    }
    if (keys && name)
        account = access_account_named(keys, name);
    if (account) {
        out->account = *account;
        out->has_account = true;
        out->role = access_role_in(keys, account, slug);
    }
    out->has_accounts = keys && keys->accounts.count;
    out->seen_ns = access->loaded_ns;
    out->is_fresh = access_is_fresh(access);
    pthread_mutex_unlock(&access->mutex);
}

/* The same by keys that hold. 0, ASKER_LATER, MIRE_HTTP_BLOCKS, or a fault. */
static int find(struct looked_up *out, struct access *access, const struct request *request, const uint8_t *hash,
                const char *name)
{
    const char *slug = access_app_of(request);
    look_up(out, access, hash, name, slug);
    bool is_found = !name || out->has_account;
    if (hash)
        is_found = out->has_key;
    if (is_found && out->is_fresh)
        return 0;
    if (!request->may_block)
        return is_found || !out->seen_ns || access_may_seek(access) ? MIRE_HTTP_BLOCKS : ASKER_LATER;
    int rc = access_load(access, out->seen_ns);
    if (!rc)
        look_up(out, access, hash, name, slug);
    return rc;
}

static void grant(struct request *request, const struct looked_up *found, const char *via)
{
    bool is_person = found->has_account;
    request->grant.via = via;
    request->grant.role = (int)found->role;
    request->grant.app_id = found->key.app_id;
    request->grant.key_id = is_person ? 0 : found->key.key_id;
    request->grant.account_id = found->account.account_id;
    request->grant.credential_id = is_person ? found->key.key_id : 0;
    request->grant.who = is_person ? arena_strdup(request->arena, found->account.name)
                                   : arena_printf(request->arena, "key %lld", (long long)found->key.key_id);
    if (!request->grant.who)
        request->grant.who = "";
}

/* The key, or credential, of `secret`. */
static int by_secret(struct asker *out, struct access *access, struct request *request, const char *secret,
                     bool is_cookie)
{
    struct looked_up found;
    uint8_t hash[MIRE_KEY_HASH];
    size_t len = strlen(secret);
    if (!key_is_wellformed(secret, len))
        return ASKER_REFUSED;
    key_hash(hash, secret, len);
    int rc = find(&found, access, request, hash, NULL);
    if (rc)
        return rc;
    const struct access_key *key = &found.key;
    bool is_over = key->expires_us && key->expires_us <= access->options.now_us();
    bool has_no_account = key->account_id && !found.has_account;
    if (!found.has_key || is_over || key->is_sign_in != is_cookie || has_no_account)
        return ASKER_REFUSED;
    if (found.has_account && found.role > key->most)
        found.role = key->most;
    out->key = *key;
    out->role = found.role;
    out->is_person = found.has_account;
    grant(request, &found, !found.has_account ? "key" : is_cookie ? "sign-in" : "token");
    return ASKER_KNOWN;
}

/* The person whom a trusted proxy names; one who is new gets an account. */
static int by_proxy(struct asker *out, struct access *access, struct request *request, const char *name)
{
    struct looked_up found;
    int rc = find(&found, access, request, NULL, name);
    if (!rc && !found.has_account) {
        rc = access->options.arrive ? access->options.arrive(access->options.context, name) : MIRE_FAULT_BROKEN;
        access_forget(access);
        if (!rc)
            rc = find(&found, access, request, NULL, name);
    }
    if (rc)
        return rc;
    if (!found.has_account) /* it is disabled, or no name */
        return ASKER_REFUSED;
    out->role = found.role;
    out->is_person = true;
    grant(request, &found, "proxy");
    return ASKER_KNOWN;
}

/* Something in front of us passed the request on. */
static bool is_forwarded(const struct request *request)
{
    static const char *const traces[] = {"X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        if (request_header(request, traces[i]))
            return true;
    return false;
}

/* The user of this machine, who needs no account while there is none. */
static int by_nothing(struct asker *out, struct access *access, struct request *request)
{
    enum access_mode mode = access->options.mode;
    struct looked_up found;
    if (mode == MIRE_MODE_SINGLE && http_peer_is_loopback(&request->peer) && !is_forwarded(request)) {
        int rc = find(&found, access, request, NULL, NULL);
        if (rc)
            return rc;
        if (found.has_accounts)
            return ASKER_UNKNOWN;
    } else if (mode != MIRE_MODE_OPEN) {
        return ASKER_UNKNOWN;
    }
    out->role = MIRE_ACCESS_ADMIN;
    out->is_person = true;
    request->grant.role = MIRE_ACCESS_ADMIN;
    request->grant.who = "local user";
    request->grant.via = "local";
    return ASKER_KNOWN;
}

int access_identify(struct asker *out, struct access *access, struct request *request)
{
    char secret[MIRE_KEY_TEXT];
    const char *bearer = dsn_is_of(request) ? dsn_key(secret, request) : request_bearer(request);
    const char *header = access->options.proxy_user_header;
    int rc = ASKER_REFUSED;
    *out = (struct asker){.role = MIRE_ACCESS_NOBODY};
    request->grant = (struct http_grant){.who = "", .via = "nobody"};
    access_client_of(&request->grant.client, access, request);
    access_country_of(request->grant.country, access, request);
    if (bearer)
        return by_secret(out, access, request, bearer, false);
    if (cookie_read(secret, request, access_is_secure(access, request)))
        rc = by_secret(out, access, request, secret, true);
    if (rc != ASKER_REFUSED) /* a cookie that is over is as good as none */
        return rc;
    const char *name =
        header && *header && access_is_proxy(access, &request->peer) ? request_header(request, header) : NULL;
    if (name && name != request_header_last(request, header)) /* one of them may be the client's own */
        return ASKER_REFUSED;
    return name && *name ? by_proxy(out, access, request, name) : by_nothing(out, access, request);
}
