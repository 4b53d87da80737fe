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

static enum decode_outcome adopt(struct foreign *foreign, whole_decoder decode, const char *bytes, size_t len)
{
    struct report report;
    enum decode_outcome outcome = decode(&report, foreign->arena, foreign->fault, bytes, len);

    if (outcome)
        return outcome;
    return foreign_report(foreign, &report, "", wall_of(&report));
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
