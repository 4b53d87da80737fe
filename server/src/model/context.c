/* context.c - see context.h. */
#include "model/context.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/text.h"

#include <string.h>

int context_hash(uint8_t out[MIRE_USER_HASH], struct arena *arena, const char *id)
{
    uint8_t hash[MIRE_SHA256];
    const char *salted = arena_printf(arena, "mire:%s", id);

    if (!salted)
        return MIRE_FAULT_MEMORY;
    hash_sha256(hash, salted, strlen(salted));
    memcpy(out, hash, MIRE_USER_HASH);
    return 0;
}

int context_user(uint8_t out[MIRE_USER_HASH], struct arena *arena, const char *user)
{
    bool is_hash = strlen(user) == 2 * MIRE_USER_HASH && hex_parse(out, user, MIRE_USER_HASH);
    return is_hash ? 0 : context_hash(out, arena, user);
}

bool context_is_tag_name(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    return len && !name[len] && len <= MIRE_TAG_NAME_MAX;
}

const char *context_tag(struct arena *arena, const char *name, const char *value)
{
    const char *whole = arena_printf(arena, "%s=%s", name, value);
    return whole ? arena_copy(arena, whole, text_cut(whole, strlen(whole), MIRE_TAG_MAX)) : NULL;
}

static const struct report_tag *find_tag(const struct report_context *context, const char *name, size_t len)
{
    for (size_t i = 0; i < context->tag_count; i++)
        if (strlen(context->tags[i].name) == len && !memcmp(context->tags[i].name, name, len))
            return &context->tags[i];
    return NULL;
}

int context_tags(const char **out, size_t *count_out, struct arena *arena, const struct report_context *context,
                 const char *names)
{
    size_t len, count = 0;

    for (size_t n = 0; *names && n < MIRE_TAGS_KEPT; n++, names += len + (names[len] == ' ')) {
        len = strcspn(names, " ");
        const struct report_tag *tag = find_tag(context, names, len);
        out[n] = tag ? context_tag(arena, tag->name, tag->value) : "";
        if (!out[n])
            return MIRE_FAULT_MEMORY;
        count = tag ? n + 1 : count;
    }
    *count_out = count;
    return 0;
}
