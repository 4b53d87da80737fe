/* held.c - see held.h. */
#include "support/held.h"

#include "report/memory.h"

#include <stdlib.h>

char *held_json(size_t *len_out, const void *bytes, size_t size)
{
    static struct heap_reader reader;
    struct trail_row rows[MIRE_TRAIL_ROWS];
    struct blackbox_facts facts;
    struct memory_said said = {.trigger = "test",
                               .id = "019aa1b2-c3d4-7e5f-8a6b-0123456789ab",
                               .facts = &facts,
                               .taken_ns = UINT64_MAX,
                               .ground = MIRE_GROUND_UNKNOWN,
                               .trail = rows,
                               .caps = MIRE_MEMORY_CAPS_ALL};
    const void *extra;
    size_t extra_size;
    char *text;

    if (mire__read_open(&reader, bytes, size) != MIRE_READ_OK)
        return NULL;
    extra = mire__read_extra(&extra_size, &reader);
    mire__extra_facts(&facts, extra, extra_size);
    said.trail_rows = mire__extra_trail(rows, &said.footprint_peak_bytes, extra, extra_size);
    if (mire__memory_json(&text, len_out, &reader, &said) != MIRE_OK)
        return NULL;
    return text;
}
