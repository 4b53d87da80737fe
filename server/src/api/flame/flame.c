/* flame.c - merges call trees. Frames are columns in order of creation, so a parent comes before its children. */
#include "api/flame/flame.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "api/flame/flame_tree.h"

static uint64_t stirred(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

uint64_t flame_path_hash(uint64_t parent, const char *name, const char *image)
{
    unsigned char le[8];

    for (int i = 0; i < 8; i++)
        le[i] = (unsigned char)(parent >> 8 * i);
    uint64_t h = fnv_bytes(MIRE_HASH_START, le, sizeof le);
    h = fnv_bytes(h, image, strlen(image) + 1);
    return stirred(fnv_bytes(h, name, strlen(name) + 1));
}

/* Tables: open addressing, power of two, at most half full; 0 is empty, otherwise index + 1. */

static int table_grow(uint32_t **slots, size_t *size, size_t used, uint64_t (*hash_of)(const void *, size_t),
                      const void *owner)
{
    if (*size >= 2 * (used + 1))
        return 0;
    size_t bigger = *size ? *size * 2 : 256;
    uint32_t *fresh = calloc(bigger, sizeof *fresh);
    if (!fresh)
        return -1;
    for (size_t i = 0; i < used; i++) {
        size_t at = hash_of(owner, i) & (bigger - 1);
        while (fresh[at])
            at = (at + 1) & (bigger - 1);
        fresh[at] = (uint32_t)i + 1;
    }

    free(*slots);
    *slots = fresh;
    *size = bigger;
    return 0;
}

static uint64_t text_hash(const void *owner, size_t i)
{
    const struct flame_names *names = owner;
    return stirred(fnv_text(MIRE_HASH_START, names->text[i]));
}

static int64_t names_number(struct flame_names *names, const char *text)
{
    if (table_grow(&names->slots, &names->size, names->count, text_hash, names) != 0)
        return -1;
    size_t at = stirred(fnv_text(MIRE_HASH_START, text)) & (names->size - 1);
    for (; names->slots[at]; at = (at + 1) & (names->size - 1))
        if (strcmp(names->text[names->slots[at] - 1], text) == 0)
            return names->slots[at] - 1;
    if (names->count == names->cap) {
        size_t cap = names->cap ? names->cap * 2 : 256;
        char **more = realloc(names->text, cap * sizeof *more);
        if (!more)
            return -1;
        names->text = more;
        names->cap = cap;
    }
    if (!(names->text[names->count] = strdup(text)))
        return -1;
    names->slots[at] = (uint32_t)++names->count;
    return (int64_t)names->count - 1;
}

static void names_fini(struct flame_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
    free(names->slots);
}

static uint64_t key_hash(uint32_t parent, uint32_t name, uint32_t image)
{
    return stirred(fnv_step(0, (uint64_t)parent << 32 | name) ^ image);
}

static uint64_t frame_hash(const void *owner, size_t i)
{
    const struct flame_frame *f = &((const struct flame *)owner)->frames[i];
    return key_hash(f->parent, f->name, f->image);
}

/* The child of `parent` with that function; a missing one is added. Returns its index, -1 without memory. */
static int64_t frame_child(struct flame *flame, uint32_t parent, uint32_t name, uint32_t image, enum role role)
{
    if (table_grow(&flame->slots, &flame->size, flame->count, frame_hash, flame) != 0)
        return -1;
    size_t at = key_hash(parent, name, image) & (flame->size - 1);
    for (; flame->slots[at]; at = (at + 1) & (flame->size - 1)) {
        const struct flame_frame *f = &flame->frames[flame->slots[at] - 1];
        if (f->parent == parent && f->name == name && f->image == image)
            return flame->slots[at] - 1;
    }

    if (flame->count == flame->cap) {
        size_t cap = flame->cap ? flame->cap * 2 : 1024;
        struct flame_frame *more = realloc(flame->frames, cap * sizeof *more);
        if (!more)
            return -1;
        flame->frames = more;
        flame->cap = cap;
    }
    flame->frames[flame->count] =
        (struct flame_frame){.parent = parent, .name = name, .image = image, .role = (uint8_t)role};
    flame->slots[at] = (uint32_t)++flame->count;
    return (int64_t)flame->count - 1;
}

struct flame *flame_new(size_t frames_max)
{
    struct flame *flame = calloc(1, sizeof *flame);
    if (!flame)
        return NULL;
    flame->max = frames_max;
    int64_t all = names_number(&flame->names, "all"), none = names_number(&flame->images, "");
    if (all != 0 || none != 0 || frame_child(flame, MIRE_FLAME_NO_PARENT, 0, 0, MIRE_ROLE_DISPATCH) != 0) {
        flame_free(flame);
        return NULL;
    }

    return flame;
}

void flame_free(struct flame *flame)
{
    if (!flame)
        return;
    names_fini(&flame->names);
    names_fini(&flame->images);
    free(flame->frames);
    free(flame->slots);
    free(flame);
}

size_t flame_count(const struct flame *flame)
{
    return flame->count;
}

int flame_add_nodes(struct flame *flame, uint32_t *map, const unsigned char *used, const struct resolved *doc)
{
    for (size_t n = 1; n < doc->node_count; n++) {
        if (!used[n])
            continue;
        const struct resolved_location *location = &doc->locations[doc->nodes[n].location];
        int64_t name = names_number(&flame->names, location->function);
        int64_t image = names_number(&flame->images, location->image);
        if (name < 0 || image < 0)
            return -1;
        int64_t frame = frame_child(flame, map[doc->nodes[n].parent], (uint32_t)name, (uint32_t)image, location->role);
        if (frame < 0)
            return -1;
        map[n] = (uint32_t)frame;
    }
    return 0;
}

/* The frame of a thread by its name without a number: "worker" for "worker-12", so that the threads of a pool are one.
 * Returns the frame, -1 without memory. */
static int64_t thread_frame(struct flame *flame, const struct resolved *doc, uint32_t thread)
{
    char text[64];
    const char *name = thread ? doc->threads[thread - 1].name : doc->thread.name;
    size_t len = strnlen(name, sizeof text - 1);
    size_t plain = len;

    while (plain && strchr("0123456789", name[plain - 1]))
        plain--;
    while (plain && plain < len && strchr("-_#:. ", name[plain - 1]))
        plain--;
    memcpy(text, name, len);
    text[plain ? plain : len] = '\0';

    const char *unnamed = thread ? "unnamed thread" : "watched thread";
    int64_t number = names_number(&flame->names, len ? text : unnamed);
    return number < 0 ? -1 : frame_child(flame, 0, (uint32_t)number, 0, MIRE_ROLE_THREAD);
}

/* The frame of samples without a stack, if there are any. 0, -1 without memory. */
static int add_nothing(uint32_t *frame_out, struct flame *flame, const struct resolved *doc, uint32_t thread,
                       uint32_t top)
{
    bool any = false;

    *frame_out = top;
    for (size_t s = 0; s < doc->sample_count; s++)
        any |= doc->samples[s].thread == thread && !doc->samples[s].node;
    if (!any)
        return 0;
    int64_t name = names_number(&flame->names, "(no stack)");
    int64_t frame = name < 0 ? -1 : frame_child(flame, top, (uint32_t)name, 0, MIRE_ROLE_UNKNOWN);
    *frame_out = (uint32_t)frame;
    return frame < 0 ? -1 : 0;
}

/* Add the samples of one thread below `top`. */
static int add_thread(struct flame *flame, uint32_t *map, unsigned char *used, const struct resolved *doc,
                      uint32_t thread, uint32_t top, double weight)
{
    memset(used, 0, doc->node_count);
    map[0] = top;
    for (size_t s = 0; s < doc->sample_count; s++)
        for (uint32_t n = doc->samples[s].thread == thread ? doc->samples[s].node : 0; n != 0 && !used[n];
             n = doc->nodes[n].parent)
            used[n] = 1;
    int rc = flame_add_nodes(flame, map, used, doc);
    if (rc == 0 && (rc = add_nothing(&map[0], flame, doc, thread, top)) != 0)
        return rc;
    for (size_t s = 0; rc == 0 && s < doc->sample_count; s++)
        if (doc->samples[s].thread == thread)
            flame->frames[map[doc->samples[s].node]].self += (double)doc->samples[s].weight_ms * weight;
    return rc;
}

/* The threads of the samples, in the order of their first sample. */
static size_t threads_of(uint32_t *out, const struct resolved *doc)
{
    size_t count = 0;

    for (size_t s = 0; s < doc->sample_count; s++) {
        size_t i = 0;
        while (i < count && out[i] != doc->samples[s].thread)
            i++;
        if (i == count)
            out[count++] = doc->samples[s].thread;
    }
    return count;
}

int flame_add(struct flame *flame, const struct resolved *doc, double weight)
{
    uint32_t *map = calloc(doc->node_count, sizeof *map);
    unsigned char *used = calloc(doc->node_count, 1);
    uint32_t *threads = calloc(doc->thread_count + 1, sizeof *threads);
    int rc = -1;

    if (!map || !used || !threads)
        goto free_all;
    size_t count = threads_of(threads, doc);
    bool one = count == 0 || (count == 1 && threads[0] == 0);
    rc = FLAME_FULL;
    if (flame->count + (doc->node_count + 1) * (one ? 1 : count) > flame->max)
        goto free_all;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        int64_t top = one ? 0 : thread_frame(flame, doc, threads[i]);
        rc = top < 0 ? -1 : add_thread(flame, map, used, doc, threads[i], (uint32_t)top, weight);
    }
free_all:
    free(threads);
    free(used);
    free(map);
    return rc;
}
