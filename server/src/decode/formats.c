/*
 * formats.c - the formats that can be taken in: a new one is a file and a row. The first row that fits is the format,
 * so a row whose recogniser asks for less stands further down.
 */
#include "decode/formats.h"

#include <string.h>

/* Mire's own documents have a number under "mire". */
static bool is_mire(const struct json *json)
{
    uint32_t version = json_kind(json, 0) == MIRE_JSON_OBJECT ? json_member(json, 0, "mire") : 0;
    return version && json_kind(json, version) == MIRE_JSON_UINT;
}

const struct format formats[] = {
    {.name = MIRE_FORMAT_MIRE, .media_type = "application/vnd.mire.report+json", .title = "Mire", .is = is_mire},
    {.name = "matrix",
     .media_type = "application/vnd.matrix.ios+json",
     .title = "Tencent Matrix, iOS",
     .is = matrix_is,
     .document = matrix_document},
    {.name = "matrix-memory",
     .media_type = "application/vnd.matrix.memory+json",
     .title = "Tencent Matrix, memory",
     .is = matrix_memory_is,
     .document = matrix_memory_document},
    {.name = "matrix-android",
     .media_type = "application/vnd.matrix.android+json",
     .title = "Tencent Matrix, Android",
     .is = matrix_android_is,
     .document = matrix_android_document},
    {.name = "kscrash",
     .media_type = "application/vnd.kscrash+json",
     .title = "KSCrash 2 and 3",
     .is = kscrash_is,
     .document = kscrash_document},
    {.name = "metrickit",
     .media_type = "application/vnd.apple.metrickit+json",
     .title = "Apple MetricKit",
     .is = metrickit_is,
     .document = metrickit_document},
    {.name = "ips",
     .media_type = "application/vnd.apple.ips",
     .title = "Apple .ips",
     .begins = ips_begins,
     .whole = ips_whole},
    {.name = "spindump",
     .media_type = "application/vnd.apple.spindump",
     .title = "Apple spindump",
     .begins = spindump_begins,
     .whole = spindump_whole},
    {.name = "sentry-envelope",
     .media_type = "application/x-sentry-envelope",
     .title = "Sentry envelope",
     .begins = envelope_begins,
     .whole = envelope_whole},
    {.name = "sentry",
     .media_type = "application/vnd.sentry.event+json",
     .title = "Sentry event",
     .is = sentry_is,
     .document = sentry_document},
    {.name = "tombstone-text",
     .media_type = "text/vnd.android.tombstone",
     .title = "Android tombstone in text, xCrash",
     .begins = tombstone_text_begins,
     .whole = tombstone_text_whole,
     .ids = "tombstone"},
    {.name = "exit-info",
     .media_type = "text/vnd.android.exit-info",
     .title = "Android ApplicationExitInfo",
     .begins = aei_begins,
     .whole = aei_whole},
    {.name = "anr",
     .media_type = "text/vnd.android.anr",
     .title = "Android ANR",
     .begins = anr_begins,
     .whole = anr_whole},
    {.name = "heap-text",
     .media_type = "text/vnd.gperftools.heap",
     .title = "Heap profile in text (gperftools)",
     .begins = heap_text_begins,
     .whole = heap_text_whole},
    {.name = "otlp-profiles",
     .media_type = "application/vnd.opentelemetry.profiles",
     .title = "OpenTelemetry profiles",
     .begins = otlp_begins,
     .whole = otlp_whole},
    {.name = "tombstone",
     .media_type = "application/vnd.android.tombstone",
     .title = "Android tombstone",
     .begins = tombstone_begins,
     .whole = tombstone_whole},
    {.name = "pprof",
     .media_type = "application/vnd.google.pprof",
     .title = "pprof, heapprofd",
     .begins = pprof_begins,
     .whole = pprof_whole},
};
const size_t format_count = sizeof formats / sizeof *formats;

const struct format *format_find(const char *name)
{
    for (size_t i = 0; i < format_count; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}
