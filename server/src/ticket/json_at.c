/* json_at.c - see json_at.h. */
#include "ticket/json_at.h"

#include <inttypes.h>

uint32_t json_at(const struct json *json, uint32_t at, ...)
{
    va_list names;
    const char *name;
    bool is_found = true;

    va_start(names, at);
    while (is_found && (name = va_arg(names, const char *))) {
        at = json_kind(json, at) == MIRE_JSON_OBJECT ? json_member(json, at, name) : 0;
        is_found = at != 0;
    }
    va_end(names);
    return at;
}

const char *json_at_text(struct arena *arena, const struct json *json, uint32_t at)
{
    uint64_t number;

    if (at && json_u64(&number, json, at))
        return arena_printf(arena, "%" PRIu64, number);
    if (!at || json_kind(json, at) != MIRE_JSON_STRING)
        return "";
    char *text = arena_alloc(arena, json_size(json, at) + 1u);
    if (text)
        text[json_text(text, json, at)] = '\0';
    return text;
}
