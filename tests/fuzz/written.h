/* written.h - a report that a decoder made is written, and the written text must be a report. */
#ifndef MIRE_FUZZ_WRITTEN_H
#define MIRE_FUZZ_WRITTEN_H

#include "decode/decode.h"
#include "decode/write.h"

#include <stdlib.h>
#include <string.h>

/* Abort if the written report is refused; one that has no identifier yet gets one. False: out of memory. */
static bool written_is_a_report(const struct report *report)
{
    struct decode_fault fault;
    struct report back, made = *report;
    struct arena arena;
    char *text;
    size_t len;
    if (!made.id[0])
        memcpy(made.id, "00000000-0000-8000-8000-000000000000", sizeof made.id);
    if (report_write(&text, &len, &made))
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
