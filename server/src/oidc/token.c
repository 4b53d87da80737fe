/*
 * token.c - is an ID token the provider's, for us, of now, and of this sign-in? OpenID Connect Core 1.0, 3.1.3.7.
 *
 * RSA and ECDSA are checked by cjose, Ed25519 by libsodium. The algorithm must be one of the table, and the key one that
 * this algorithm is for: neither `none` nor a MAC under a public key is ever considered.
 */
#include "oidc/inside.h"

#include "base/fault.h"
#include "base/scope.h"

#include <cjose/cjose.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX   65536
#define RSA_MIN     256 /* bytes of a modulus */
#define SUBJECT_MAX 255

static const struct algorithm {
    const char *name, *type, *curve; /* curve NULL: none */
} algorithms[] = {
    {"RS256", "RSA", NULL},   {"RS384", "RSA", NULL},      {"RS512", "RSA", NULL},   {"PS256", "RSA", NULL},
    {"PS384", "RSA", NULL},   {"PS512", "RSA", NULL},      {"ES256", "EC", "P-256"}, {"ES384", "EC", "P-384"},
    {"ES512", "EC", "P-521"}, {"EdDSA", "OKP", "Ed25519"},
};

static const struct algorithm *find_algorithm(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (!strcmp(algorithms[i].name, name))
            return &algorithms[i];
    return NULL;
}

/* The bytes of base64url, NUL-terminated, in the arena; NULL: it is none. */
static char *decode(size_t *len_out, struct arena *arena, const char *text, size_t len)
{
    char *out = arena_alloc(arena, len + 1);
    size_t got = 0;
    const char *end;
    if (!out ||
        sodium_base642bin((unsigned char *)out, len, text, len, NULL, &got, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) ||
        end != text + len)
        return NULL;
    out[got] = '\0';
    *len_out = got;
    return out;
}

/* --- the signature ----------------------------------------------------------------------------------------------- */

struct signed_token {
    const char *text;
    size_t head_len, payload_len; /* of the first part, and of the second */
    const struct algorithm *algorithm;
    const char *kid; /* "": none */
};

/* Is it a text of base64url? */
static bool is_plain(const char *text)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return *text && strspn(text, all) == strlen(text);
}

static bool ed25519_fits(struct arena *arena, const struct signed_token *token, const char *x)
{
    const char *signature = token->text + token->head_len + 1 + token->payload_len + 1;
    size_t key_len, signature_len;
    char *key = decode(&key_len, arena, x, strlen(x));
    char *bytes = decode(&signature_len, arena, signature, strlen(signature));
    return key && bytes && key_len == crypto_sign_PUBLICKEYBYTES && signature_len == crypto_sign_BYTES &&
           !crypto_sign_verify_detached((const unsigned char *)bytes, (const unsigned char *)token->text,
                                        token->head_len + 1 + token->payload_len, (const unsigned char *)key);
}

/* `jwk` holds nothing but the public part. */
static bool cjose_fits(const struct signed_token *token, const char *jwk)
{
    cjose_err err;
    cjose_jwk_t *key = cjose_jwk_import(jwk, strlen(jwk), &err);
    cjose_jws_t *jws = key ? cjose_jws_import(token->text, strlen(token->text), &err) : NULL;
    const char *alg = jws ? cjose_header_get(cjose_jws_get_protected(jws), CJOSE_HDR_ALG, &err) : NULL;
    bool fits = alg && !strcmp(alg, token->algorithm->name) && cjose_jws_verify(jws, key, &err);
    if (jws)
        cjose_jws_release(jws);
    if (key)
        cjose_jwk_release(key);
    return fits;
}

/* Could this key of the set have signed it? */
static bool key_is_candidate(struct arena *arena, const struct json *set, uint32_t key,
                             const struct signed_token *token)
{
    const char *type = oidc_member(arena, set, key, "kty"), *use = oidc_member(arena, set, key, "use");
    const char *alg = oidc_member(arena, set, key, "alg"), *kid = oidc_member(arena, set, key, "kid");
    const char *curve = oidc_member(arena, set, key, "crv");
    if (!type || !use || !alg || !kid || !curve)
        return false;
    if (strcmp(type, token->algorithm->type) != 0 || (*use && strcmp(use, "sig") != 0) ||
        (*alg && strcmp(alg, token->algorithm->name) != 0) || (*token->kid && strcmp(kid, token->kid) != 0))
        return false;
    return !token->algorithm->curve || !strcmp(curve, token->algorithm->curve);
}

static bool key_fits(struct arena *arena, const struct json *set, uint32_t key, const struct signed_token *token)
{
    const char *type = token->algorithm->type;
    bool is_rsa = !strcmp(type, "RSA"), is_okp = !strcmp(type, "OKP");
    const char *first = oidc_member(arena, set, key, is_rsa ? "n" : "x");
    const char *second = is_okp ? "AA" : oidc_member(arena, set, key, is_rsa ? "e" : "y");
    if (!first || !second || !is_plain(first) || !is_plain(second))
        return false;
    if (is_okp)
        return ed25519_fits(arena, token, first);
    if (is_rsa && strlen(first) * 3 / 4 < RSA_MIN)
        return false;
    const char *jwk = is_rsa ? arena_printf(arena, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}", first, second)
                             : arena_printf(arena, "{\"kty\":\"EC\",\"crv\":\"%s\",\"x\":\"%s\",\"y\":\"%s\"}",
                                            token->algorithm->curve, first, second);
    return jwk && cjose_fits(token, jwk);
}

/* Is one of the keys the one? */
static enum token_outcome check_signature(struct arena *arena, const struct signed_token *token, const char *keys)
{
    MIRE_SCOPED(json_fini) struct json set;
    bool is_candidate = false;
    json_init(&set);
    uint32_t list = oidc_read(&set, keys, strlen(keys)) ? json_member(&set, 0, "keys") : 0;
    if (!list || json_kind(&set, list) != MIRE_JSON_ARRAY)
        return TOKEN_NEW_KEY;
    uint32_t at = list + 1;
    for (uint32_t i = 0; i < json_size(&set, list); i++, at = json_next(&set, at)) {
        if (json_kind(&set, at) != MIRE_JSON_OBJECT || !key_is_candidate(arena, &set, at, token))
            continue;
        is_candidate = true;
        if (key_fits(arena, &set, at, token))
            return TOKEN_GOOD;
    }
    return is_candidate && *token->kid ? TOKEN_BAD : TOKEN_NEW_KEY;
}

/* The parts of the token, and its algorithm. NULL, or what is wrong. */
static const char *read_head(struct signed_token *out, struct arena *arena, const char *token)
{
    MIRE_SCOPED(json_fini) struct json json;
    const char *first = strchr(token, '.'), *second = first ? strchr(first + 1, '.') : NULL;
    size_t len;
    json_init(&json);
    if (strlen(token) > TOKEN_MAX || !second || strchr(second + 1, '.'))
        return "the ID token is no signed token";
    *out = (struct signed_token){
        .text = token, .head_len = (size_t)(first - token), .payload_len = (size_t)(second - first - 1)};
    char *head = decode(&len, arena, token, out->head_len);
    if (!head || !oidc_read(&json, head, len))
        return "the ID token has no header";
    if (json_member(&json, 0, "crit"))
        return "the ID token needs an extension";
    const char *name = oidc_member(arena, &json, 0, "alg");
    out->kid = oidc_member(arena, &json, 0, "kid");
    out->algorithm = name ? find_algorithm(name) : NULL;
    return out->algorithm && out->kid ? NULL : "the ID token is not signed by an algorithm that is taken";
}

/* --- the claims -------------------------------------------------------------------------------------------------- */

/* A text, or one of an array of texts. */
static bool names(const struct json *json, uint32_t at, const char *text, uint32_t *count_out)
{
    bool is_array = json_kind(json, at) == MIRE_JSON_ARRAY, found = false;
    *count_out = is_array ? json_size(json, at) : 1;
    uint32_t one = is_array ? at + 1 : at;
    for (uint32_t i = 0; i < *count_out; i++, one = json_next(json, one)) {
        MIRE_SCOPED(arena_fini) struct arena arena;
        arena_init(&arena, 1 << 16);
        size_t len = json_kind(json, one) == MIRE_JSON_STRING ? json_size(json, one) : 0;
        char *bytes = len ? arena_alloc(&arena, len) : NULL;
        size_t got = bytes ? json_text(bytes, json, one) : 0;
        found |= got && got == strlen(text) && !memcmp(bytes, text, got);
    }
    return found;
}

/* A time in seconds; 0: there is none. */
static double time_of(const struct json *json, const char *name)
{
    uint32_t at = json_member(json, 0, name);
    double value = at ? json_double(json, at) : 0;
    return value > 0 && value < 1e12 ? value : 0;
}

static const char *check_times(const struct json *json, int64_t now_s)
{
    double now = (double)now_s;
    if (time_of(json, "exp") + OIDC_SKEW_S <= now)
        return "the ID token has expired, or a clock is wrong: the provider's or this server's";
    if (time_of(json, "iat") <= 0)
        return "the ID token does not say when it was made";
    if (time_of(json, "iat") > now + OIDC_SKEW_S || time_of(json, "nbf") > now + OIDC_SKEW_S)
        return "the ID token is of the future: a clock is wrong, the provider's or this server's";
    return NULL;
}

static const char *check_claims(struct arena *arena, const struct json *json, const struct token_wanted *wanted)
{
    const char *issuer = oidc_member(arena, json, 0, "iss"), *nonce = oidc_member(arena, json, 0, "nonce");
    const char *subject = oidc_member(arena, json, 0, "sub"), *party = oidc_member(arena, json, 0, "azp");
    uint32_t audience = json_member(json, 0, "aud"), count = 0;
    if (!issuer || !nonce || !subject || !party)
        return "there is no memory";
    if (strcmp(issuer, wanted->issuer) != 0)
        return "the ID token is of another issuer";
    if (!audience || !names(json, audience, wanted->client_id, &count))
        return "the ID token is for another client";
    if ((count > 1 || *party) && strcmp(party, wanted->client_id) != 0)
        return "the ID token was made for another client";
    if (strcmp(nonce, wanted->nonce) != 0)
        return "the ID token is of another sign-in";
    if (!*subject || strlen(subject) > SUBJECT_MAX)
        return "the ID token names nobody";
    return check_times(json, wanted->now_s);
}

enum token_outcome token_check(const char **claims_out, const char **why_out, struct arena *arena, const char *token,
                               const char *keys, const struct token_wanted *wanted)
{
    MIRE_SCOPED(json_fini) struct json json;
    struct signed_token parts;
    size_t len;
    json_init(&json);
    if ((*why_out = read_head(&parts, arena, token)))
        return TOKEN_BAD;
    enum token_outcome outcome = check_signature(arena, &parts, keys);
    *why_out = outcome == TOKEN_NEW_KEY ? "the ID token is signed by none of the provider's keys"
                                        : "the signature of the ID token is wrong";
    if (outcome)
        return outcome;
    char *claims = decode(&len, arena, token + parts.head_len + 1, parts.payload_len);
    *why_out = "the ID token has no claims";
    if (!claims || strlen(claims) != len || !oidc_read(&json, claims, len))
        return TOKEN_BAD;
    *claims_out = claims;
    *why_out = check_claims(arena, &json, wanted);
    return *why_out ? TOKEN_BAD : TOKEN_GOOD;
}
