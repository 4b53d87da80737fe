/*
 * person.c - the name and the groups that claims tell. Pure.
 *
 * A name is shown to people who give roles, so it must not look like somebody else's address: an address of e-mail is
 * taken only where the provider has verified it; of others the part before the @ is.
 */
#include "oidc/inside.h"

#include "base/fault.h"
#include "base/id.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 100 /* room is left for a number behind it */

/* Characters of a name, lower case; others become "-". "" if none is left. */
static const char *fold(struct arena *arena, const char *text)
{
    char out[NAME_MAX_LEN + 1];
    size_t len = 0;
    for (; *text && len < NAME_MAX_LEN; text++) {
        char c = (char)tolower((unsigned char)*text);
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain || (len && strchr("._@+-", c)))
            out[len++] = c;
        else if (len && out[len - 1] != '-')
            out[len++] = '-';
    }
    while (len && out[len - 1] == '-')
        len--;
    out[len] = '\0';
    return arena_strdup(arena, out);
}

static bool is_true(const struct json *claims, const char *name)
{
    uint32_t at = json_member(claims, 0, name);
    return at && (json_kind(claims, at) == MIRE_JSON_TRUE ||
                  (json_kind(claims, at) == MIRE_JSON_STRING && json_is(claims, at, "true")));
}

/* The part of a name before an @. */
static const char *before_at(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strcspn(text, "@"));
}

int person_of(struct oidc_person *out, struct arena *arena, const char *issuer, const struct json *claims)
{
    const char *sub = oidc_member(arena, claims, 0, "sub"), *email = oidc_member(arena, claims, 0, "email");
    const char *preferred = oidc_member(arena, claims, 0, "preferred_username");
    *out = (struct oidc_person){.groups = arena_array(arena, MIRE_OIDC_GROUPS, sizeof *out->groups)};
    if (!sub || !email || !preferred || !out->groups)
        return MIRE_FAULT_MEMORY;
    bool is_verified = *email && is_true(claims, "email_verified");
    const char *candidate = is_verified ? email : before_at(arena, *preferred ? preferred : email);
    if (!candidate)
        return MIRE_FAULT_MEMORY;
    out->name = fold(arena, candidate);
    out->subject = arena_printf(arena, "%s %s", issuer, sub);
    if (out->name && !*out->name) {
        uint8_t hash[16];
        char hex[9];
        hash_blake2b(hash, sizeof hash, sub, strlen(sub));
        hex_format(hex, hash, 4);
        out->name = arena_printf(arena, "person-%s", hex);
    }
    return out->name && out->subject ? 0 : MIRE_FAULT_MEMORY;
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

/* The claim of that name, or the one that the names between its dots lead to. 0: there is none. */
static uint32_t find_claim(const struct json *claims, const char *path)
{
    char part[MIRE_JSON_NAME_MAX + 1];
    uint32_t at = strlen(path) <= MIRE_JSON_NAME_MAX ? json_member(claims, 0, path) : 0;
    if (at)
        return at;
    for (;;) {
        size_t len = strcspn(path, ".");
        if (len > MIRE_JSON_NAME_MAX || json_kind(claims, at) != MIRE_JSON_OBJECT)
            return 0;
        memcpy(part, path, len);
        part[len] = '\0';
        at = json_member(claims, at, part);
        if (!at || !path[len])
            return at;
        path += len + 1;
    }
}

static void add_group(struct oidc_person *out, struct arena *arena, const struct json *claims, uint32_t at)
{
    if (json_kind(claims, at) != MIRE_JSON_STRING || out->group_count == MIRE_OIDC_GROUPS)
        return;
    char *text = arena_alloc(arena, json_size(claims, at) + 1);
    if (!text)
        return;
    size_t len = json_text(text, claims, at);
    text[len] = '\0';
    if (strlen(text) == len)
        out->groups[out->group_count++] = text;
}

bool person_add_groups(struct oidc_person *out, struct arena *arena, const char *claim, const struct json *claims)
{
    uint32_t at = find_claim(claims, claim);
    if (!at)
        return false;
    if (json_kind(claims, at) != MIRE_JSON_ARRAY) {
        add_group(out, arena, claims, at);
        return true;
    }
    uint32_t one = at + 1;
    for (uint32_t i = 0; i < json_size(claims, at); i++, one = json_next(claims, one))
        add_group(out, arena, claims, one);
    return true;
}
