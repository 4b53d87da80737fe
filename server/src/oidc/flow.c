/*
 * flow.c - a sign-in from its beginning to its end.
 *
 *     cookie   TIME.SECRET.NEXT      seconds in hex, 64 hex digits, a path of this server
 *     state    BLAKE2b("state" SECRET)       in the address, seen by the provider
 *     nonce    BLAKE2b("nonce" SECRET)       in the address, comes back in the token
 *     verifier BLAKE2b("verifier" SECRET)    its SHA-256 in the address; itself with the code
 *
 * One of them tells nothing of the others, and none tells the secret.
 */
#include "oidc/inside.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"
#include "base/text.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET_DIGITS 64
#define HASH_TEXT     65
#define NEXT_MAX      512
#define CODE_MAX      4096

int oidc_new(struct oidc **out, const struct oidc_options *options)
{
    struct oidc *oidc = calloc(1, sizeof *oidc);
    if (!oidc)
        return MIRE_FAULT_MEMORY;
    oidc->options = *options;
    pthread_mutex_init(&oidc->mutex, NULL);
    arena_init(&oidc->kept, 4u << 20);
    arena_init(&oidc->kept_keys, 4u << 20);
    *out = oidc;
    return 0;
}

void oidc_free(struct oidc *oidc)
{
    if (!oidc)
        return;
    arena_fini(&oidc->kept);
    arena_fini(&oidc->kept_keys);
    pthread_mutex_destroy(&oidc->mutex);
    free(oidc);
}

void oidc_stop(struct oidc *oidc)
{
    atomic_store(&oidc->is_stopping, true);
}

const char *oidc_name(const struct oidc *oidc)
{
    return oidc->options.name;
}

const char *oidc_outcome_name(enum oidc_outcome outcome)
{
    static const char *const names[] = {"done", "unreachable", "stale", "refused", "untrusted", "busy"};
    return names[outcome];
}

/* --- the secret in the cookie ------------------------------------------------------------------------------------- */

static void derive(char out[HASH_TEXT], const char *what, const char *secret)
{
    uint8_t hash[32];
    char text[16 + SECRET_DIGITS + 1];
    snprintf(text, sizeof text, "%s %.64s", what, secret);
    hash_blake2b(hash, sizeof hash, text, strlen(text));
    hex_format(out, hash, sizeof hash);
}

/* A path of this server, in characters that a cookie and a header may hold. */
static bool next_is_good(const char *next)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/?=&%:+!*@$";
    size_t len = strlen(next);
    return len < NEXT_MAX && next[0] == '/' && next[1] != '/' && strspn(next, plain) == len;
}

static void make_cookie(char out[MIRE_OIDC_COOKIE], int64_t now_us, const char *next)
{
    uint8_t secret[SECRET_DIGITS / 2];
    char digits[SECRET_DIGITS + 1];
    random_fill(secret, sizeof secret);
    hex_format(digits, secret, sizeof secret);
    snprintf(out, MIRE_OIDC_COOKIE, "%llx.%s.%s", (unsigned long long)(now_us / 1000000), digits,
             next_is_good(next) ? next : "/");
}

/* The secret of a cookie that is young enough; NULL: it has none. */
static const char *secret_of(const char *cookie, int64_t now_us)
{
    static const char hex[] = "0123456789abcdef";
    char *end;
    if (!cookie)
        return NULL;
    long long made_s = strtoll(cookie, &end, 16), now_s = now_us / 1000000;
    if (*end != '.' || end == cookie || made_s > now_s + OIDC_SKEW_S || now_s - made_s > MIRE_OIDC_LASTS_S)
        return NULL;
    return strspn(end + 1, hex) == SECRET_DIGITS && end[1 + SECRET_DIGITS] == '.' ? end + 1 : NULL;
}

const char *oidc_next(struct arena *arena, const char *cookie)
{
    const char *secret = cookie ? strchr(cookie, '.') : NULL;
    const char *next = secret ? strchr(secret + 1, '.') : NULL;
    return arena_strdup(arena, next && next_is_good(next + 1) ? next + 1 : "/");
}

/* --- to the provider --------------------------------------------------------------------------------------------- */

static const char *callback_of(struct arena *arena, const char *base)
{
    return arena_printf(arena, "%s/-/oidc/callback", base);
}

static const char *authorize_at(struct arena *arena, const struct oidc *oidc, const struct provider *provider,
                                const char *base, const char *secret)
{
    MIRE_SCOPED(text_fini) struct text query = {0};
    char state[HASH_TEXT], nonce[HASH_TEXT], verifier[HASH_TEXT], challenge[48];
    uint8_t hash[MIRE_SHA256];
    const char *callback = callback_of(arena, base);
    derive(state, "state", secret);
    derive(nonce, "nonce", secret);
    derive(verifier, "verifier", secret);
    hash_sha256(hash, verifier, strlen(verifier));
    sodium_bin2base64(challenge, sizeof challenge, hash, sizeof hash, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    oidc_add_pair(&query, "response_type", "code");
    oidc_add_pair(&query, "client_id", oidc->options.client_id);
    oidc_add_pair(&query, "redirect_uri", callback ? callback : "");
    oidc_add_pair(&query, "scope", oidc->options.scopes);
    oidc_add_pair(&query, "state", state);
    oidc_add_pair(&query, "nonce", nonce);
    oidc_add_pair(&query, "code_challenge", challenge);
    oidc_add_pair(&query, "code_challenge_method", "S256");
    if (!callback || text_failed(&query))
        return NULL;
    return arena_printf(arena, "%s%c%.*s", provider->authorization, strchr(provider->authorization, '?') ? '&' : '?',
                        (int)query.len, query.bytes);
}

/* One more waits for the provider. False: too many do. */
static bool enter(struct oidc *oidc)
{
    if (atomic_fetch_add(&oidc->waiting, 1) < oidc->options.most)
        return true;
    atomic_fetch_sub(&oidc->waiting, 1);
    return false;
}

static void leave(struct oidc *oidc)
{
    atomic_fetch_sub(&oidc->waiting, 1);
}

static int busy(char why[MIRE_OIDC_WHY])
{
    snprintf(why, MIRE_OIDC_WHY, "too many sign-ins wait for the provider");
    return OIDC_BUSY;
}

int oidc_begin(char cookie_out[MIRE_OIDC_COOKIE], const char **location_out, char why[MIRE_OIDC_WHY], struct oidc *oidc,
               struct arena *arena, const char *base, const char *next)
{
    struct provider provider;
    int64_t now_us = oidc->options.now_us();
    int rc = oidc_provider_kept(&provider, oidc, arena);
    if (rc == OIDC_BUSY && enter(oidc)) {
        rc = oidc_provider(&provider, why, oidc, arena, false);
        leave(oidc);
    }
    if (rc)
        return rc == OIDC_BUSY ? busy(why) : rc;
    make_cookie(cookie_out, now_us, next);
    *location_out = authorize_at(arena, oidc, &provider, base, secret_of(cookie_out, now_us));
    return *location_out ? OIDC_DONE : MIRE_FAULT_MEMORY;
}

/* --- and back ---------------------------------------------------------------------------------------------------- */

static int fail(char why[MIRE_OIDC_WHY], enum oidc_outcome outcome, const char *text)
{
    snprintf(why, MIRE_OIDC_WHY, "%s", text);
    return outcome;
}

/* Is this the browser that began, and the provider that it was led to? */
static int check_return(const char **secret_out, char why[MIRE_OIDC_WHY], const struct oidc *oidc,
                        const struct provider *provider, const struct oidc_return *back)
{
    char state[HASH_TEXT];
    const char *secret = *secret_out = secret_of(back->cookie, oidc->options.now_us());
    if (!secret)
        return fail(why, OIDC_STALE, "this browser began no sign-in, or more than ten minutes ago");
    derive(state, "state", secret);
    if (!back->state || strlen(back->state) != strlen(state) || sodium_memcmp(back->state, state, strlen(state)))
        return fail(why, OIDC_STALE, "the state is of another sign-in");
    if (back->issuer ? strcmp(back->issuer, provider->issuer) != 0 : provider->sends_issuer)
        return fail(why, OIDC_UNTRUSTED, "the answer is of another issuer");
    if (back->error) {
        text_format(why, MIRE_OIDC_WHY, "the provider answers \"%.*s\"", TEXT_CUT(back->error, 60));
        return OIDC_REFUSED;
    }
    if (!back->code || !*back->code || strlen(back->code) > CODE_MAX)
        return fail(why, OIDC_UNTRUSTED, "the answer has no code");
    return OIDC_DONE;
}

/* The code becomes tokens. */
static int redeem(struct json *json, struct text *answer, char why[MIRE_OIDC_WHY], struct oidc *oidc,
                  const struct provider *provider, struct arena *arena, const struct oidc_return *back,
                  const char *secret)
{
    MIRE_SCOPED(text_fini) struct text form = {0}, user = {0}, password = {0};
    const struct oidc_options *options = &oidc->options;
    const char *callback = callback_of(arena, back->base);
    char verifier[HASH_TEXT];
    bool has_secret = *options->client_secret != '\0', is_basic = has_secret && provider->takes_basic;
    long status = 0;
    derive(verifier, "verifier", secret);
    oidc_add_pair(&form, "grant_type", "authorization_code");
    oidc_add_pair(&form, "code", back->code);
    oidc_add_pair(&form, "redirect_uri", callback ? callback : "");
    oidc_add_pair(&form, "code_verifier", verifier);
    if (!is_basic)
        oidc_add_pair(&form, "client_id", options->client_id);
    if (has_secret && !is_basic)
        oidc_add_pair(&form, "client_secret", options->client_secret);
    /* RFC 6749, 2.3.1: both are escaped as in a form before they are put together. */
    oidc_add_pair(&user, "", options->client_id);
    oidc_add_pair(&password, "", options->client_secret);
    text_append(&form, "", 1);
    text_append(&user, "", 1);
    text_append(&password, "", 1);
    if (!callback || text_failed(&form) || text_failed(&user) || text_failed(&password))
        return MIRE_FAULT_MEMORY;
    int rc = oidc_call(answer, &status, why, oidc,
                       &(struct oidc_call){.url = provider->token,
                                           .form = form.bytes,
                                           .user = is_basic ? user.bytes + 1 : NULL,
                                           .secret = is_basic ? password.bytes + 1 : NULL});
    if (rc)
        return rc;
    bool is_object = oidc_read(json, answer->bytes ? answer->bytes : "", answer->len);
    if (status == 200 && is_object)
        return OIDC_DONE;
    const char *error = is_object ? oidc_member(arena, json, 0, "error") : "";
    text_format(why, MIRE_OIDC_WHY, "the provider does not take the code: %ld %.*s%s", status,
                TEXT_CUT(error ? error : "", 60),
                error && !strcmp(error, "invalid_client") ? "; check oidc_client_id and oidc_client_secret_file" : "");
    return status >= 500 ? OIDC_UNREACHABLE : OIDC_REFUSED;
}

static int check_token(const char **claims_out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct provider *provider,
                       struct arena *arena, const char *token, const char *secret)
{
    char nonce[HASH_TEXT];
    const char *reason = "";
    const struct token_wanted wanted = {.issuer = provider->issuer,
                                        .client_id = oidc->options.client_id,
                                        .nonce = nonce,
                                        .now_s = oidc->options.now_us() / 1000000};
    derive(nonce, "nonce", secret);
    enum token_outcome outcome = token_check(claims_out, &reason, arena, token, provider->keys, &wanted);
    if (outcome == TOKEN_NEW_KEY) { /* the provider may have changed its keys */
        int rc = oidc_provider(provider, why, oidc, arena, true);
        if (rc)
            return rc;
        outcome = token_check(claims_out, &reason, arena, token, provider->keys, &wanted);
    }
    return outcome ? fail(why, OIDC_UNTRUSTED, reason) : OIDC_DONE;
}

/* Groups that the token lacks, of the provider's own answer about the person. */
static int ask_for_groups(struct oidc_person *person, char why[MIRE_OIDC_WHY], struct oidc *oidc,
                          const struct provider *provider, struct arena *arena, const char *access_token)
{
    MIRE_SCOPED(text_fini) struct text answer = {0};
    MIRE_SCOPED(json_fini) struct json json;
    long status = 0;
    json_init(&json);
    int rc =
        oidc_call(&answer, &status, why, oidc, &(struct oidc_call){.url = provider->userinfo, .bearer = access_token});
    if (rc)
        return rc;
    if (status != 200 || !oidc_read(&json, answer.bytes ? answer.bytes : "", answer.len))
        return fail(why, OIDC_UNREACHABLE, "the provider does not tell about the person");
    const char *sub = oidc_member(arena, &json, 0, "sub"), *own = strchr(person->subject, ' ') + 1;
    if (!sub || strcmp(sub, own) != 0)
        return fail(why, OIDC_UNTRUSTED, "the provider's answer is about another person");
    person_add_groups(person, arena, oidc->options.groups_claim, &json);
    return OIDC_DONE;
}

static int finish(struct oidc_person *out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct arena *arena,
                  const struct oidc_return *back)
{
    MIRE_SCOPED(text_fini) struct text answer = {0};
    MIRE_SCOPED(json_fini) struct json tokens;
    MIRE_SCOPED(json_fini) struct json claims;
    struct provider provider;
    const char *secret, *text = "";
    json_init(&tokens);
    json_init(&claims);
    int rc = oidc_provider(&provider, why, oidc, arena, false);
    if (!rc)
        rc = check_return(&secret, why, oidc, &provider, back);
    if (!rc)
        rc = redeem(&tokens, &answer, why, oidc, &provider, arena, back, secret);
    const char *id_token = rc ? "" : oidc_member(arena, &tokens, 0, "id_token");
    const char *access_token = rc ? "" : oidc_member(arena, &tokens, 0, "access_token");
    if (!rc && (!id_token || !access_token))
        rc = MIRE_FAULT_MEMORY;
    if (!rc)
        rc = check_token(&text, why, oidc, &provider, arena, id_token, secret);
    if (!rc && !oidc_read(&claims, text, strlen(text)))
        rc = MIRE_FAULT_BROKEN;
    if (!rc)
        rc = person_of(out, arena, provider.issuer, &claims);
    if (rc || !*oidc->options.groups_claim || person_add_groups(out, arena, oidc->options.groups_claim, &claims) ||
        !*provider.userinfo || !*access_token)
        return rc;
    return ask_for_groups(out, why, oidc, &provider, arena, access_token);
}

int oidc_finish(struct oidc_person *out, char why[MIRE_OIDC_WHY], struct oidc *oidc, struct arena *arena,
                const struct oidc_return *back)
{
    if (!enter(oidc))
        return busy(why);
    int rc = finish(out, why, oidc, arena, back);
    leave(oidc);
    return rc;
}

const char *oidc_leave(struct oidc *oidc, struct arena *arena, const char *base)
{
    MIRE_SCOPED(text_fini) struct text query = {0};
    const char *back = arena_printf(arena, "%s/-/sign-in", base), *end = oidc_end_session(oidc, arena);
    if (!back || !end || !*end)
        return NULL;
    oidc_add_pair(&query, "client_id", oidc->options.client_id);
    oidc_add_pair(&query, "post_logout_redirect_uri", back);
    if (text_failed(&query))
        return NULL;
    return arena_printf(arena, "%s%c%.*s", end, strchr(end, '?') ? '&' : '?', (int)query.len, query.bytes);
}

int oidc_try(char why[MIRE_OIDC_WHY], struct oidc *oidc)
{
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct provider provider;
    arena_init(&arena, 4u << 20);
    return oidc_provider(&provider, why, oidc, &arena, false);
}
