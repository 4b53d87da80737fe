/* written.h - a report that a decoder made is written, and the written text must be a report. */
#ifndef MIRE_FUZZ_WRITTEN_H
#define MIRE_FUZZ_WRITTEN_H

#include "decode/decode.h"
#include "decode/write.h"

#include <stdlib.h>

/* Abort if the written report is refused. False: out of memory. */
static bool written_is_a_report(const struct report *report)
{
    struct decode_fault fault;
    struct report back;
    struct arena arena;
    char *text;
    size_t len;
    if (report_write(&text, &len, report))
        return false;
    arena_init(&arena, 512u << 20);
    if (len <= MIRE_DECODE_PLAIN_MAX &&
        decode_report(&back, &arena, &fault, "mire", "identity", text, len) != MIRE_DECODE_OK)
        abort();
    arena_fini(&arena);
    free(text);
    return true;
}

#endif
