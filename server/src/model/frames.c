/* frames.c - see frames.h. */
#include "model/frames.h"

#include "base/fault.h"

#include <string.h>

static char *put(char *at, const char *text, char end)
{
    for (; *text; text++)
        *at++ = *text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text;
    *at++ = end;
    return at;
}

char *frames_format(struct arena *arena, const struct resolved *doc, uint32_t node)
{
    size_t len = 1, count = 0;

    for (uint32_t n = node; n && count < MIRE_FRAMES_MAX; n = doc->nodes[n].parent, count++) {
        const struct resolved_location *location = &doc->locations[doc->nodes[n].location];
        len += strlen(role_name(location->role)) + strlen(location->function) + strlen(location->image) + 3;
    }
    char *out = arena_alloc(arena, len), *at = out;
    if (!out)
        return NULL;
    for (uint32_t n = node; count; n = doc->nodes[n].parent, count--) {
        const struct resolved_location *location = &doc->locations[doc->nodes[n].location];
        at = put(at, role_name(location->role), '\t');
        at = put(at, location->function, '\t');
        at = put(at, location->image, '\n');
    }

    *at = '\0';
    return out;
}

int frames_parse(struct frame_line **out, size_t *count, struct arena *arena, const char *text)
{
    char *rest = arena_strdup(arena, text), *line;
    struct frame_line *lines = arena_array(arena, MIRE_FRAMES_MAX, sizeof *lines);

    *count = 0;
    *out = lines;
    if (!rest || !lines)
        return MIRE_FAULT_MEMORY;
    while (*count < MIRE_FRAMES_MAX && (line = strsep(&rest, "\n"))) {
        const char *role = strsep(&line, "\t"), *function = strsep(&line, "\t");
        if (function && *function && line)
            lines[(*count)++] = (struct frame_line){role_of_name(role), function, line};
    }

    return 0;
}

const char *frames_bare(struct arena *arena, const char *image, uint64_t offset)
{
    char digits[16];
    size_t at = sizeof digits, len = strlen(image);

    do
        digits[--at] = "0123456789abcdef"[offset & 15];
    while (offset >>= 4);
    char *name = arena_alloc(arena, len + 3 + sizeof digits - at + 1);
    if (!name)
        return NULL;
    memcpy(name, image, len);
    memcpy(name + len, "+0x", 3);
    memcpy(name + len + 3, digits + at, sizeof digits - at);
    name[len + 3 + sizeof digits - at] = '\0';
    return name;
}
