/*
 * fuzz_foreign.c - a decoder of a foreign format, DECODER, on any bytes; what is a report goes on through symbols,
 * feature and its document and back, as in the worker; written as Mire's own it must be a report. The same bytes must
 * give the same report twice.
 */
#include "decode/aei.h"
#include "decode/anr.h"
#include "decode/otlp.h"
#include "decode/pprof.h"
#include "decode/tombstone.h"
#include "fuzz/go_on.h"
#include "fuzz/written.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool so)
{
    if (!so)
        abort();
}

/* The model's promise: numbers of rows that exist. */
static void check(const struct report *report)
{
    must(report->node_count > 0);
    for (size_t i = 1; i < report->node_count; i++)
        must(report->nodes[i].parent < i && report->nodes[i].frame < report->frame_count);
    for (size_t i = 0; i < report->frame_count; i++) {
        const struct report_frame *frame = &report->frames[i];
        must(frame->image >= -1 && frame->image < (int64_t)report->image_count);
        must(frame->image < 0 || !report->images[frame->image].java || frame->offset < report->java_count);
    }
    for (size_t i = 0; i < report->thread_count; i++)
        must(report->threads[i].node < report->node_count);
    for (size_t i = 0; i < report->event.sample_count; i++)
        must(report->event.samples[i].node < report->node_count &&
             (!i || report->event.samples[i].at_ms >= report->event.samples[i - 1].at_ms));
    for (size_t i = 0; i < report->memory.stack_count; i++)
        must(report->memory.stacks[i].node < report->node_count &&
             report->memory.stacks[i].category < report->memory.category_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena, other;
    struct report report, twice;
    struct decode_fault fault = {0};
    arena_init(&arena, 64 << 20);
    arena_init(&other, 64 << 20);
    enum decode_outcome outcome = DECODER(&report, &arena, &fault, (const char *)data, size);
    must(outcome == MIRE_DECODE_OK || outcome == MIRE_DECODE_NO_MEMORY || fault.text[0]);
    must(fault.position <= size);
    if (outcome == MIRE_DECODE_OK) {
        check(&report);
        (void)written_is_a_report(&report);
        must(DECODER(&twice, &other, &fault, (const char *)data, size) == MIRE_DECODE_OK);
        must(!strcmp(report.id, twice.id) && report.node_count == twice.node_count &&
             report.frame_count == twice.frame_count && report.memory.live_bytes == twice.memory.live_bytes);
        if (report.kind != MIRE_REPORT_SESSION)
            go_on(&report, &arena);
    }
    arena_fini(&other);
    arena_fini(&arena);
    return 0;
}
