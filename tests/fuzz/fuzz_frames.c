/* Stacks in the form of issue_tree.frames: reading is bounded, and a stack written again reads the same. */
#include "model/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct frame_line *lines, size_t count)
{
    if (count > MIRE_FRAMES_MAX)
        abort();
    for (size_t i = 0; i < count; i++)
        if (!*lines[i].function || strpbrk(lines[i].function, "\t\n") || strchr(lines[i].image, '\n'))
            abort();
}

/* Write the lines again, as one stack of a report, innermost first. */
static char *written(struct arena *arena, const struct frame_line *lines, size_t count)
{
    struct resolved_location locations[MIRE_FRAMES_MAX] = {{.function = ""}};
    struct resolved_node nodes[MIRE_FRAMES_MAX + 1] = {{.parent = 0}};
    const struct resolved doc = {.locations = locations, .nodes = nodes};

    for (size_t i = 0; i < count; i++) {
        locations[i] =
            (struct resolved_location){.function = lines[i].function, .image = lines[i].image, .role = lines[i].role};
        nodes[count - i] = (struct resolved_node){.parent = (uint32_t)(count - i - 1), .location = (uint32_t)i};
    }
    return frames_format(arena, &doc, (uint32_t)count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct frame_line *lines, *again;
    size_t count, again_count;

    arena_init(&arena, (size_t)64 << 20);
    char *text = arena_alloc(&arena, size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (frames_parse(&lines, &count, &arena, text) != 0)
        abort();
    check(lines, count);
    const char *first = written(&arena, lines, count);
    if (frames_parse(&again, &again_count, &arena, first) != 0 || again_count != count)
        abort();
    check(again, again_count);
    for (size_t i = 0; i < count; i++)
        if (again[i].role != lines[i].role || strlen(again[i].image) != strlen(lines[i].image))
            abort();
    if (strcmp(first, written(&arena, again, again_count)) != 0)
        abort();
    arena_fini(&arena);
    return 0;
}
