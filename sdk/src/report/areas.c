/* areas.c - see areas.h. */
#include "report/areas.h"

#include "base/alloc.h"
#include "platform/footprint.h"
#include "platform/mine.h"

#include <string.h>

#define BUFFER_BYTES (16u << 10)
#define COUNT_LEAST  256u
#define SLACK_BYTES  (256u << 10) /* the kernel's two counts may differ by this */

struct reading {
    struct areas *areas;
    uint64_t inode, end; /* inode of the previous file mapping; end of the previous mapping */
    uint32_t first;      /* the first area of that file */
    bool library;        /* the file has executable mappings */
    bool refused;        /* no memory */
};

static bool begins_with(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

static enum area_of what_of(const char *path)
{
    if (strcmp(path, "[heap]") == 0)
        return AREA_HEAP;
    if (strcmp(path, "[stack]") == 0)
        return AREA_STACK;
    if (begins_with(path, "/dev/shm/") || begins_with(path, "/memfd:") || begins_with(path, "/SYSV") ||
        begins_with(path, "/dev/zero") || begins_with(path, "[anon_shmem"))
        return AREA_SHARED;
    return path[0] == '/' ? AREA_FILE : AREA_ANONYMOUS;
}

static bool add(struct reading *reading, uint64_t start, uint64_t end, uint64_t held_bytes, enum area_of of)
{
    struct areas *areas = reading->areas;

    if (areas->count == areas->cap) {
        uint32_t cap = areas->cap ? 2 * areas->cap : COUNT_LEAST;
        struct area *list = mire__realloc(areas->list, cap * sizeof(*list));

        reading->refused = !list;
        if (!list)
            return false;
        areas->list = list;
        areas->cap = cap;
    }
    areas->list[areas->count++] = (struct area){start, end, held_bytes, of};
    areas->held_bytes += held_bytes;
    return true;
}

/* Split an area into the library's part and the rest. */
static bool add_parts(struct reading *reading, const struct mapping *mapping, uint64_t held_bytes, enum area_of of)
{
    const struct residence *residence = &reading->areas->residence;
    struct mine_span own[MIRE_MINE_MAX];
    size_t count = mire__mine_within(own, mapping->start, mapping->end);
    uint64_t at = mapping->start, left = held_bytes, part;

    for (size_t i = 0; i < count; i++) {
        if (own[i].start > at) {
            part = left ? mire__residence_held(residence, at, own[i].start - at, of == AREA_SHARED) : 0;
            part = part < left ? part : left;
            left -= part;
            if (!add(reading, at, own[i].start, part, of))
                return false;
        }
        at = own[i].end;
        part = left;
        if (left && at < mapping->end)
            part = mire__residence_held(residence, own[i].start, at - own[i].start, of == AREA_SHARED);
        part = part < left ? part : left;
        left -= part;
        if (!add(reading, own[i].start, at, part, AREA_OWN))
            return false;
    }
    return at == mapping->end || add(reading, at, mapping->end, left, of);
}

/* The file has an executable mapping, so all its mappings belong to a library. */
static void is_library(struct reading *reading)
{
    reading->library = true;
    for (uint32_t i = reading->first; i < reading->areas->count; i++)
        if (reading->areas->list[i].of == AREA_FILE)
            reading->areas->list[i].of = AREA_LIBRARY;
}

static bool on_mapping(void *context, const struct mapping *mapping, const struct mapping_use *use)
{
    struct reading *reading = context;
    enum area_of of = what_of(mapping->path);
    uint64_t held_bytes = use->swapped_bytes + (of == AREA_SHARED ? use->resident_bytes : use->anonymous_bytes);
    bool follows = mapping->start == reading->end, more;

    if (of != AREA_SHARED && use->resident_bytes > use->anonymous_bytes)
        reading->areas->file_bytes += use->resident_bytes - use->anonymous_bytes;
    if (of == AREA_FILE && mapping->inode != reading->inode) {
        reading->inode = mapping->inode;
        reading->first = reading->areas->count;
        reading->library = false;
    }
    /* The zero-initialised data of a library follows the library without a name. */
    if (of == AREA_ANONYMOUS && mapping->path[0] == '\0' && follows && reading->library && mapping->writable)
        of = AREA_LIBRARY;
    if (of == AREA_FILE && reading->library)
        of = AREA_LIBRARY;
    more = add_parts(reading, mapping, held_bytes, of);
    if (of == AREA_FILE && mapping->executable)
        is_library(reading);
    else if (of != AREA_LIBRARY && of != AREA_FILE)
        reading->library = false;
    if (!reading->library && of != AREA_FILE)
        reading->inode = 0;
    reading->end = mapping->end;
    return more;
}

/* The two counts differ if the name of a mapping does not show that its file is in memory. */
static void check_sum(struct areas *areas)
{
    struct footprint footprint;

    mire__footprint(&footprint);
    if (footprint.bytes > areas->held_bytes + SLACK_BYTES)
        areas->held_bytes = footprint.bytes;
}

enum mire_err mire__areas_read(struct areas *out)
{
    struct reading reading = {.areas = out};
    char *buffer = mire__malloc(BUFFER_BYTES);
    bool whole;

    memset(out, 0, sizeof(*out));
    mire__residence_open(&out->residence);
    if (!buffer)
        return MIRE_E_MEMORY;
    whole = mire__smaps_visit(on_mapping, &reading, buffer, BUFFER_BYTES);
    mire__free(buffer);
    if (reading.refused)
        return MIRE_E_MEMORY;
    if (!whole || out->held_bytes == 0)
        return MIRE_E_SYSTEM;
    check_sum(out);
    return MIRE_OK;
}

void mire__areas_fini(struct areas *areas)
{
    mire__residence_close(&areas->residence);
    mire__free(areas->list);
    areas->list = NULL;
    areas->count = areas->cap = 0;
}
