/* heap_file.c - see heap_file.h. The SDK's own reader and report builder do the work. */
#include "cli/heap_file.h"

#include "base/scope.h"
#include "heapread/read.h"
#include "report/memory.h"

#include <stdlib.h>
#include <string.h>

/* A damaged file, or one without the name of its program, is shown all the same. */
static void say_unknown(struct blackbox_facts *facts, const struct heap_facts *run)
{
    *facts = (struct blackbox_facts){.pid = run->pid,
                                     .start_ticks = run->start_ticks,
                                     .start_mono_ns = run->start_mono_ns,
                                     .start_wall_ms = run->start_wall_ms,
                                     .app_name = "unknown",
                                     .process_name = "unknown"};
}

bool heap_file_is(const char *bytes, size_t len)
{
    uint64_t magic;
    if (len < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == MIRE_HEAP_MAGIC;
}

const char *heap_file_report(char **text_out, size_t *len_out, const char *bytes, size_t len)
{
    struct memory_said said = {.trigger = HEAP_FILE_TRIGGER,
                               .id = "00000000-0000-7000-8000-000000000000",
                               .ground = MIRE_GROUND_UNKNOWN,
                               .caps = MIRE_MEMORY_CAPS_ALL};
    struct blackbox_facts facts;
    struct trail_row rows[MIRE_TRAIL_ROWS];
    struct heap_facts run;
    size_t extra_len;

    MIRE_SCOPED(free_memory) struct heap_reader *reader = malloc(sizeof *reader);
    if (!reader)
        return "out of memory";
    switch (mire__read_open(reader, bytes, len)) {
    case MIRE_READ_OK:
        break;
    case MIRE_READ_SHORT:
        return "these memory tables are cut";
    case MIRE_READ_VERSION:
        return "these memory tables are of another version of the library";
    default:
        return "these are no memory tables";
    }
    mire__read_facts(&run, reader);
    const void *extra = mire__read_extra(&extra_len, reader);
    if (!mire__extra_facts(&facts, extra, extra_len))
        say_unknown(&facts, &run);
    said.facts = &facts;
    said.trail = rows;
    said.trail_rows = mire__extra_trail(rows, &said.footprint_peak_bytes, extra, extra_len);
    said.taken_ns = run.seen_ns;
    switch (mire__memory_json(text_out, len_out, reader, &said)) {
    case MIRE_OK:
        return NULL;
    case MIRE_E_FULL:
        return "these memory tables hold more than a report may";
    default:
        return "out of memory";
    }
}
