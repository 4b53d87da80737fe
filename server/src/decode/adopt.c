/*
 * adopt.c - the formats of one report a file, whose decoders make the whole model (build.h), as rows of formats.c. Ids are
 * made by foreign_report like those of all foreign formats.
 */
#include "decode/formats.h"

#include "decode/aei.h"
#include "decode/anr.h"
#include "decode/otlp.h"
#include "decode/pprof.h"
#include "decode/tombstone.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum decode_outcome (*whole_decoder)(struct report *out, struct arena *arena, struct decode_fault *fault,
                                             const char *bytes, size_t len);

/* When it happened: the time that goes into the id. */
static uint64_t wall_of(const struct report *report)
{
    const struct report_session *session = &report->session;
    uint64_t latest = 0;

    if (report->kind == MIRE_REPORT_EVENT)
        return report->event.begin_wall_ms.value;
    if (report->kind == MIRE_REPORT_MEMORY)
        return report->memory.taken_wall_ms.value;
    for (size_t i = 0; i < session->end_count; i++)
        latest = session->ends[i].seen_wall_ms.value > latest ? session->ends[i].seen_wall_ms.value : latest;
    return latest;
}

/*
 * Android writes a crash twice, as text and as a message, and a bug report has both files: one crash. It is known by its
 * time, process and thread, and by the code that ran. "" where a tombstone does not tell all of these.
 */
static void name_crash(char out[128], const struct report *report)
{
    const struct report_event *event = &report->event;
    bool known = report->kind == MIRE_REPORT_EVENT && event->begin_wall_ms.known && event->thread.tid.known &&
                 event->sample_count && event->samples[0].node;

    out[0] = '\0';
    if (!known)
        return;
    const struct report_frame *frame = &report->frames[report->nodes[event->samples[0].node].frame];
    snprintf(out, 128, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64, event->begin_wall_ms.value, report->process.pid,
             event->thread.tid.value, frame->offset);
}

static enum decode_outcome adopt(struct foreign *foreign, whole_decoder decode, const char *bytes, size_t len)
{
    struct report report;
    char own[128] = "";
    enum decode_outcome outcome = decode(&report, foreign->arena, foreign->fault, bytes, len);

    if (outcome)
        return outcome;
    if (decode == tombstone_decode || decode == tombstone_text_decode)
        name_crash(own, &report);
    return foreign_report(foreign, &report, own, wall_of(&report));
}

enum decode_outcome anr_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, anr_decode, bytes, len);
}

enum decode_outcome aei_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, aei_decode, bytes, len);
}

enum decode_outcome tombstone_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, tombstone_decode, bytes, len);
}

enum decode_outcome tombstone_text_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, tombstone_text_decode, bytes, len);
}

enum decode_outcome pprof_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, pprof_decode, bytes, len);
}

enum decode_outcome heap_text_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, heap_text_decode, bytes, len);
}

enum decode_outcome otlp_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    return adopt(foreign, otlp_decode, bytes, len);
}
