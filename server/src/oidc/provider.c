/* provider.c - the provider's configuration (OpenID Connect Discovery 1.0) and its key set, read and kept. */
#include "oidc/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"

#include <stdio.h>
#include <string.h>

#define S          UINT64_C(1000000000)
#define LASTS_S    3600  /* then it is read again */
#define HOLDS_S    86400 /* so long it serves while the provider does not answer */
#define AGAIN_S    3     /* after a failure */
#define NEW_KEYS_S 3     /* after its keys were read */
#define KEPT_BYTES (4u << 20)

bool oidc_read(struct json *json, const char *text, size_t len)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    return json_read(json, &fault, text, len, &limits) == MIRE_JSON_OK && json_kind(json, 0) == MIRE_JSON_OBJECT;
}

const char *oidc_member(struct arena *arena, const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);
    if (!at || json_kind(json, at) != MIRE_JSON_STRING)
        return "";
    char *text = arena_alloc(arena, json_size(json, at) + 1);
    size_t len = text ? json_text(text, json, at) : 0;
    if (!text)
        return NULL;
    text[len] = '\0';
    return strlen(text) == len ? text : "";
}

static bool is_on_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (!strncmp(host, names[i], len) && (!host[len] || strchr(":/", host[len])))
            return true;
    }
    return false;
}

bool oidc_issuer_is_good(const char *issuer)
{
    if (strpbrk(issuer, "?# ") || strlen(issuer) > 500)
        return false;
    return (!strncmp(issuer, "https://", 8) && issuer[8] && issuer[8] != '/') ||
           (!strncmp(issuer, "http://", 7) && is_on_loopback(issuer + 7));
}

/* An address that the provider names is of the same kind as its own: https stays https. */
static bool endpoint_is_good(const struct oidc *oidc, const char *url)
{
    bool is_plain = !strncmp(oidc->options.issuer, "http:", 5);
    return !strncmp(url, "https://", 8) || (is_plain && !strncmp(url, "http://", 7) && is_on_loopback(url + 7));
}

static bool list_has(const struct json *json, const char *name, const char *text)
{
    uint32_t list = json_member(json, 0, name);
    if (!list || json_kind(json, list) != MIRE_JSON_ARRAY)
        return false;
    uint32_t at = list + 1;
    for (uint32_t i = 0; i < json_size(json, list); i++, at = json_next(json, at))
        if (json_kind(json, at) == MIRE_JSON_STRING && json_is(json, at, text))
            return true;
    return false;
}

/* Reads the provider's configuration. OIDC_DONE, OIDC_UNREACHABLE with `why`, or a fault. */
static int take_configuration(struct provider *out, char why[MIRE_OIDC_WHY], const struct oidc *oidc,
                              struct arena *arena, const struct json *json)
{
    const char *optional[] = {oidc_member(arena, json, 0, "userinfo_endpoint"),
                              oidc_member(arena, json, 0, "end_session_endpoint")};
    const char *needed[] = {oidc_member(arena, json, 0, "authorization_endpoint"),
                            oidc_member(arena, json, 0, "token_endpoint"), oidc_member(arena, json, 0, "jwks_uri")};
    static const char *const names[] = {"authorization_endpoint", "token_endpoint", "jwks_uri"};
    const char *methods = "token_endpoint_auth_methods_supported";
    const char *issuer = oidc_member(arena, json, 0, "issuer");
    if (!issuer || !optional[0] || !optional[1])
        return MIRE_FAULT_MEMORY;
    if (strcmp(issuer, oidc->options.issuer) != 0) {
        snprintf(why, MIRE_OIDC_WHY, "the provider calls itself \"%.150s\"; set oidc_issuer to that", issuer);
        return OIDC_UNREACHABLE;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!needed[i])
            return MIRE_FAULT_MEMORY;
        if (endpoint_is_good(oidc, needed[i]))
            continue;
        snprintf(why, MIRE_OIDC_WHY, "its configuration has no good %s", names[i]);
        return OIDC_UNREACHABLE;
    }
    uint32_t sends = json_member(json, 0, "authorization_response_iss_parameter_supported");
    *out = (struct provider){.issuer = issuer,
                             .authorization = needed[0],
                             .token = needed[1],
                             .jwks_uri = needed[2],
                             .userinfo = endpoint_is_good(oidc, optional[0]) ? optional[0] : "",
                             .end_session = endpoint_is_good(oidc, optional[1]) ? optional[1] : "",
                             .takes_basic =
                                 !json_member(json, 0, methods) || list_has(json, methods, "client_secret_basic"),
                             .sends_issuer = sends && json_kind(json, sends) == MIRE_JSON_TRUE,
                             .read_ns = clock_mono_ns()};
    return OIDC_DONE;
}

/* GET a JSON object. *out has its text. */
static int get_object(struct text *out, struct json *json, char why[MIRE_OIDC_WHY], struct oidc *oidc, const char *url)
{
    long status = 0;
    int rc = oidc_call(out, &status, why, oidc, &(struct oidc_call){.url = url});
    if (rc)
        return rc;
    if (status == 200 && oidc_read(json, out->bytes ? out->bytes : "", out->len))
        return OIDC_DONE;
    snprintf(why, MIRE_OIDC_WHY, "%.150s answers %ld%s", url, status, status == 200 ? ", but no JSON object" : "");
    return OIDC_UNREACHABLE;
}

static int read_configuration(struct oidc *oidc, char why[MIRE_OIDC_WHY])
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    MIRE_SCOPED(json_fini) struct json json;
    struct arena arena;
    struct provider fresh;
    char url[600];
    size_t len = strlen(oidc->options.issuer);
    len -= len && oidc->options.issuer[len - 1] == '/';
    snprintf(url, sizeof url, "%.*s/.well-known/openid-configuration", (int)len, oidc->options.issuer);
    json_init(&json);
    int rc = get_object(&text, &json, why, oidc, url);
    if (rc)
        return rc;
    arena_init(&arena, KEPT_BYTES);
    rc = take_configuration(&fresh, why, oidc, &arena, &json);
    if (rc) {
        arena_fini(&arena);
        return rc;
    }
    fresh.keys = oidc->provider.keys;
    fresh.keys_read_ns = oidc->provider.keys_read_ns;
    arena_fini(&oidc->kept);
    oidc->kept = arena;
    oidc->provider = fresh;
    return OIDC_DONE;
}

static int read_keys(struct oidc *oidc, char why[MIRE_OIDC_WHY])
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    MIRE_SCOPED(json_fini) struct json json;
    json_init(&json);
    int rc = get_object(&text, &json, why, oidc, oidc->provider.jwks_uri);
    if (rc)
        return rc;
    arena_reset(&oidc->kept_keys);
    oidc->provider.keys = arena_copy(&oidc->kept_keys, text.bytes, text.len);
    oidc->provider.keys_read_ns = oidc->provider.keys ? clock_mono_ns() : 0;
    return oidc->provider.keys ? OIDC_DONE : MIRE_FAULT_MEMORY;
}

/* Is what was read at `ns` younger than that? */
static bool is_young(uint64_t ns, uint64_t now_ns, uint64_t seconds)
{
    return ns && now_ns - ns < seconds * S;
}

/* Read what is old. Soon after a failure nobody waits for another one. */
static int refresh(struct oidc *oidc, char why[MIRE_OIDC_WHY], bool wants_new_keys)
{
    uint64_t now_ns = clock_mono_ns();
    const struct provider *have = &oidc->provider;
    bool needs_all = !is_young(have->read_ns, now_ns, LASTS_S);
    bool needs_keys = !is_young(have->keys_read_ns, now_ns, LASTS_S) ||
                      (wants_new_keys && !is_young(have->keys_read_ns, now_ns, NEW_KEYS_S));
    if (!needs_all && !needs_keys)
        return OIDC_DONE;
    int rc = OIDC_UNREACHABLE;
    if (!is_young(oidc->failed_ns, now_ns, AGAIN_S)) {
        rc = needs_all ? read_configuration(oidc, why) : OIDC_DONE;
        if (!rc)
            rc = read_keys(oidc, why);
        oidc->failed_ns = rc ? clock_mono_ns() : 0;
        if (rc == OIDC_UNREACHABLE)
            snprintf(oidc->failed_why, sizeof oidc->failed_why, "%s", why);
        if (rc == OIDC_UNREACHABLE)
            log_event(
                oidc->options.log, MIRE_LOG_WARN, "oidc.unreachable", LOG_TEXT("why", why),
                LOG_TEXT("what", "People cannot sign in through it: check oidc_issuer, and the network path to it."));
    }
    if (rc == OIDC_UNREACHABLE && is_young(have->read_ns, now_ns, HOLDS_S) &&
        is_young(have->keys_read_ns, now_ns, HOLDS_S))
        return OIDC_DONE;
    if (rc == OIDC_UNREACHABLE)
        snprintf(why, MIRE_OIDC_WHY, "%s", oidc->failed_why);
    return rc;
}

/* With the mutex held. 0 or MIRE_FAULT_MEMORY. */
static int copy(struct provider *out, const struct oidc *oidc, struct arena *arena)
{
    const char **texts[] = {&out->issuer,   &out->authorization, &out->token, &out->jwks_uri,
                            &out->userinfo, &out->end_session,   &out->keys};
    *out = oidc->provider;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i] = arena_strdup(arena, *texts[i])))
            return MIRE_FAULT_MEMORY;
    return 0;
}

int oidc_provider(struct provider *out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct arena *arena,
                  bool wants_new_keys)
{
    pthread_mutex_lock(&oidc->mutex);
    int rc = refresh(oidc, why, wants_new_keys);
    if (!rc)
        rc = copy(out, oidc, arena);
    pthread_mutex_unlock(&oidc->mutex);
    return rc;
}

int oidc_provider_kept(struct provider *out, struct oidc *oidc, struct arena *arena)
{
    if (pthread_mutex_trylock(&oidc->mutex))
        return OIDC_BUSY;
    uint64_t now_ns = clock_mono_ns();
    bool is_good =
        is_young(oidc->provider.read_ns, now_ns, LASTS_S) && is_young(oidc->provider.keys_read_ns, now_ns, LASTS_S);
    int rc = is_good ? copy(out, oidc, arena) : OIDC_BUSY;
    pthread_mutex_unlock(&oidc->mutex);
    return rc;
}

const char *oidc_end_session(struct oidc *oidc, struct arena *arena)
{
    if (pthread_mutex_trylock(&oidc->mutex))
        return NULL;
    const char *end = oidc->provider.end_session ? arena_strdup(arena, oidc->provider.end_session) : NULL;
    pthread_mutex_unlock(&oidc->mutex);
    return end;
}
