/* test_metrickit.c - payloads of MetricKit as reports of Mire, from documents that were written for the test. */
#include "support/imports.h"

#define CHAIN(one, offset_one, two, offset_two)                                                                   \
    "{\"binaryName\":\"" one "\",\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-000000000001\",\"address\":4295033000," \
    "\"offsetIntoBinaryTextSegment\":" offset_one ",\"sampleCount\":1,\"subFrames\":[{\"binaryName\":\"" two      \
    "\",\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-000000000002\",\"address\":6442455000,"                          \
    "\"offsetIntoBinaryTextSegment\":" offset_two ",\"sampleCount\":1}]}"
#define PAYLOAD(tree, per_thread)                                                                                      \
    "{\"timeStampBegin\":\"2020-10-12 03:59:00 +0000\",\"timeStampEnd\":\"2020-10-12 04:59:00\",\"hangDiagnostics\":[" \
    "{\"version\":\"1.0.0\",\"diagnosticMetaData\":{\"hangDuration\":\"1,250 ms\",\"appVersion\":\"4.2\","             \
    "\"osVersion\":\"iPhone OS 17.1 (21B74)\",\"platformArchitecture\":\"arm64\"},\"callStackTree\":"                  \
    "{\"callStackPerThread\":" per_thread ",\"callStacks\":[{\"threadAttributed\":true,\"callStackRootFrames\":[" tree \
    "]}]}}],\"diskWriteExceptionDiagnostics\":[{\"diagnosticMetaData\":{\"writesCaused\":\"2,000 byte\"},"             \
    "\"callStackTree\":{\"callStacks\":[]}}]}"

static void metrickit_tells_the_direction_and_the_offset_by_its_frames(void **state)
{
    struct imported r;
    (void)state;
    /* Chains are leaf first; the value is the module's address: a multiple of a page. */
    read_it(&r, PAYLOAD(CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944"), "true"));
    assert_int_equal(r.count, 2);
    assert_int_equal(r.reports[0]->event.duration_ms, 1250);
    assert_int_equal(r.reports[0]->event.begin_wall_ms.value, 1602478740000);
    assert_string_equal(r.reports[0]->device.os_version, "17.1");
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Shop+168 < libdyld.dylib+4055");
    assert_string_equal(r.reports[1]->event.trigger, "disk");
    assert_int_equal(r.reports[1]->event.disk.write_bytes, 2000);
    read_in_pieces(&r);
    /* The value is the offset: what is left is a multiple of a page. The entry stands at the root here. */
    read_it(&r, PAYLOAD(CHAIN("libdyld.dylib", "168", "Shop", "4056"), "true"));
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Shop+4056 < libdyld.dylib+167");
    read_in_pieces(&r);
    /* Neither: nobody can name it. Trees of counts have their entry at the root. */
    read_it(&r, PAYLOAD(CHAIN("Shop", "123", "Other", "77"), "false"));
    assert_true(import_notes(r.reports[0], "2 frames have neither"));
    assert_true(import_notes(r.reports[0], "counts, not times"));
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Other+6442455000 < Shop+4295032999");
    read_in_pieces(&r);
}

#define KIT_TREE(tree) \
    "{\"callStackPerThread\":true,\"callStacks\":[{\"threadAttributed\":true,\"callStackRootFrames\":[" tree "]}]}"

/* The form of iOS 27: one diagnostic in a result, with what is around it in an environment. */
static void metrickit_tells_a_kill_for_memory(void **state)
{
    static const char *const forms[] = {
        "{\"timeStampEnd\":\"2026-10-12 04:59:00\",\"memoryExceptionDiagnostics\":[{\"diagnosticMetaData\":{"
        "\"appVersion\":\"4.2\",\"osVersion\":\"iPhone OS 27.0 (24A1)\"},\"callStackTree\":" KIT_TREE(
            CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944")) "}]}",
        "{\"environment\":{\"applicationVersion\":\"4.2\",\"osVersion\":\"iPhone OS 27.0 (24A1)\"},\"result\":{"
        "\"memoryException\":{\"_0\":{\"callStackTree\":" KIT_TREE(
            CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944")) "}}}}"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct imported r;
        read_it(&r, forms[i]);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.reports[0]->kind, MIRE_REPORT_MEMORY);
        assert_string_equal(r.reports[0]->memory.trigger, "foom");
        assert_string_equal(r.reports[0]->exit.verdict, "foom");
        assert_string_equal(r.reports[0]->app.version, "4.2");
        assert_string_equal(r.reports[0]->device.os_version, "27.0");
        assert_int_equal(r.reports[0]->thread_count, 1);
        assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->threads[0].node),
                            "Shop+168 < libdyld.dylib+4055");
        read_in_pieces(&r);
    }
}

#define KIT_INSTALL "0123456789abcdef0123456789abcdef"
#define KIT_RUN(pid, start, seen, verdict) \
    "{\"pid\":" pid ",\"start_wall_ms\":" start ",\"seen_wall_ms\":" seen verdict "}"
#define KIT_KNOWN(runs) "{\"mire\":{\"install\":\"" KIT_INSTALL "\",\"runs\":[" runs "]},"
#define KIT_PERIOD      "\"timeStampBegin\":\"2020-10-12 03:00:00\",\"timeStampEnd\":\"2020-10-12 05:00:00\","
#define KIT_CRASH(meta)                                                                                               \
    "\"crashDiagnostics\":[{\"diagnosticMetaData\":{\"signal\":11," meta "\"appVersion\":\"4.2\"},\"callStackTree\":" \
    "{\"callStacks\":[]}}]}"
#define KIT_HANG(meta)                                                                                 \
    "\"hangDiagnostics\":[{\"diagnosticMetaData\":{\"hangDuration\":\"2 sec\"," meta "\"appVersion\":" \
    "\"4.2\"},\"callStackTree\":{\"callStacks\":[]}}]}"
/* The first ended a day before the period, the second within it by itself, the third within it by a kill; one lasts. */
#define KIT_EARLY KIT_RUN("70", "1602300000000", "1602390000000", ",\"verdict\":\"crash\"")
#define KIT_QUIT  KIT_RUN("71", "1602471700000", "1602471800000", ",\"verdict\":\"user_quit\"")
#define KIT_DEAD  KIT_RUN("72", "1602471900000", "1602472000000", ",\"verdict\":\"crash\"")
#define KIT_LASTS KIT_RUN("73", "1602472100000", "1602478700000", "")
#define KIT_RUNS  KIT_EARLY "," KIT_QUIT "," KIT_DEAD "," KIT_LASTS

static void metrickit_joins_a_diagnostic_to_its_run(void **state)
{
    static const struct {
        const char *text;
        uint64_t pid, start_ms, begin_ms; /* begin: where the run tells it, else the period's end */
    } cases[] = {
        {KIT_KNOWN(KIT_RUNS) KIT_PERIOD KIT_CRASH(""), 72, 1602471900000, 1602472000000},
        {KIT_KNOWN(KIT_RUNS) KIT_PERIOD KIT_CRASH("\"pid\":72,"), 72, 1602471900000, 1602472000000},
        {KIT_KNOWN(KIT_RUNS) KIT_PERIOD KIT_CRASH("\"pid\":71,"), 71, 0, 1602478800000}, /* it quit */
        {KIT_KNOWN(KIT_RUNS) KIT_PERIOD KIT_HANG("\"pid\":73,"), 73, 1602472100000, 1602478800000},
        {KIT_KNOWN(KIT_RUNS) KIT_PERIOD KIT_HANG(""), 0, 0, 1602478800000}, /* of three runs */
        {KIT_KNOWN("") KIT_PERIOD KIT_CRASH(""), 0, 0, 1602478800000},
        {KIT_KNOWN(KIT_DEAD "," KIT_DEAD) KIT_PERIOD KIT_CRASH(""), 0, 0, 1602478800000},
    };
    char ids[2][64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct imported r;
        read_it(&r, cases[i].text);
        const struct report *report = r.reports[0];
        assert_int_equal(r.count, 1);
        assert_int_equal(report->process.pid, cases[i].pid);
        assert_int_equal(report->process.start_wall_ms.value, cases[i].start_ms);
        assert_int_equal(report->event.begin_wall_ms.value, cases[i].begin_ms);
        assert_int_equal(report->device.install[1], 0x23);
        snprintf(ids[i % 2], sizeof ids[0], "%s", report->id);
        read_in_pieces(&r);
    }
    struct imported again, wrong;
    read_it(&again, KIT_KNOWN(KIT_LASTS) KIT_PERIOD KIT_CRASH("")); /* handed out once more, in a later run */
    assert_string_equal(again.reports[0]->id + 14, ids[0] + 14);
    read_in_pieces(&again);
    read_it(&wrong, "{\"mire\":{\"install\":\"" KIT_INSTALL KIT_INSTALL "\",\"runs\":7}," KIT_PERIOD KIT_CRASH(""));
    assert_int_equal(wrong.reports[0]->device.install[1], 0);
    assert_true(import_notes(wrong.reports[0], "no installation"));
    read_in_pieces(&wrong);
}

static size_t ends_with(const struct report *report, const char *verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < report->session.end_count; i++)
        count += !strcmp(report->session.ends[i].verdict, verdict);
    return count;
}

static void metrickit_counts_how_runs_ended(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r,
            "{\"timeStampBegin\":\"2020-10-12 00:00:00 +0000\",\"timeStampEnd\":\"2020-10-13 00:00:00 +0000\","
            "\"appVersion\":\"4.2\",\"metaData\":{\"appBuildVersion\":\"42\",\"osVersion\":\"iPhone OS 17.1 (21B74)\","
            "\"deviceType\":\"iPhone15,2\"},\"applicationExitMetrics\":{\"backgroundExitData\":{"
            "\"cumulativeNormalAppExitCount\":90,\"cumulativeMemoryPressureExitCount\":3},\"foregroundExitData\":{"
            "\"cumulativeMemoryResourceLimitExitCount\":2,\"cumulativeAppWatchdogExitCount\":1,"
            "\"cumulativeBadAccessExitCount\":0}}}");
    const struct report *report = r.reports[0];
    assert_int_equal(r.count, 1);
    assert_int_equal(report->kind, MIRE_REPORT_SESSION);
    assert_int_equal(report->session.end_count, 64);
    assert_int_equal(ends_with(report, "foom"), 2);
    assert_int_equal(ends_with(report, "watchdog_kill"), 1);
    assert_int_equal(ends_with(report, "background_kill"), 3);
    assert_int_equal(ends_with(report, "clean_exit"), 58);
    assert_int_equal(report->session.ends[0].seen_wall_ms.value, 1602547200000);
    assert_string_equal(report->device.model, "iPhone15,2");
    read_in_pieces(&r);
}

#define KIT_EXITS(os, foreground)                                                                           \
    "\"appVersion\":\"4.2\",\"metaData\":{\"osVersion\":\"iPhone OS " os "\"},\"applicationExitMetrics\":{" \
    "\"backgroundExitData\":{\"cumulativeNormalAppExitCount\":1},\"foregroundExitData\":{" foreground "}}}"
#define KIT_LIMIT(n)    "\"cumulativeMemoryResourceLimitExitCount\":" n
#define KIT_UNSEEN(pid) KIT_RUN(pid, "1602471900000", "1602475000000", ",\"verdict\":\"os_kill\"")

/* KIT_QUIT and KIT_DEAD are a normal exit and a crash of the period. */
static void metrickit_counts_only_exits_that_no_run_of_libmire_explains(void **state)
{
    static const struct {
        const char *runs, *text;
        size_t fooms, ends; /* reports of a run; ends in a session record */
    } cases[] = {
        {KIT_RUNS, KIT_EXITS("17.1", "\"cumulativeBadAccessExitCount\":1"), 0, 0},
        {KIT_RUNS, KIT_EXITS("17.1", "\"cumulativeBadAccessExitCount\":3"), 0, 2},
        {KIT_RUNS, KIT_EXITS("17.1", KIT_LIMIT("1")), 0, 1},
        {"", KIT_EXITS("17.1", KIT_LIMIT("1")), 0, 2},
        {KIT_RUNS "," KIT_UNSEEN("74"), KIT_EXITS("17.1", KIT_LIMIT("1")), 1, 0},
        {KIT_RUNS "," KIT_UNSEEN("74"), KIT_EXITS("27.0", KIT_LIMIT("1")), 0, 0}, /* has a diagnostic of it */
        {KIT_RUNS "," KIT_UNSEEN("74"), KIT_EXITS("17.1", KIT_LIMIT("2")), 0, 1}, /* which of them is it? */
        {KIT_RUNS "," KIT_UNSEEN("74") "," KIT_UNSEEN("75"), KIT_EXITS("17.1", KIT_LIMIT("1")), 0, 0},
        {KIT_RUNS "," KIT_UNSEEN("74") "," KIT_UNSEEN("75"), KIT_EXITS("17.1", KIT_LIMIT("2")), 2, 0},
        {KIT_RUNS "," KIT_UNSEEN("74"), KIT_EXITS("17.1", KIT_LIMIT("1") ",\"cumulativeAppWatchdogExitCount\":1"), 0,
         1},
    };
    char text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct imported r;
        size_t ends = 0, fooms = 0;
        snprintf(text, sizeof text, "{\"mire\":{\"install\":\"" KIT_INSTALL "\",\"runs\":[%s]}," KIT_PERIOD "%s",
                 cases[i].runs, cases[i].text);
        read_it(&r, text);
        for (size_t k = 0; k < r.count; k++) {
            const struct report *report = r.reports[k];
            assert_int_equal(report->device.install[1], 0x23);
            if (report->kind == MIRE_REPORT_SESSION) {
                ends += report->session.end_count;
                continue;
            }
            fooms++;
            assert_int_equal(report->kind, MIRE_REPORT_MEMORY);
            assert_string_equal(report->exit.verdict, "foom");
            assert_in_range(report->process.pid, 74, 75);
            assert_int_equal(report->memory.taken_wall_ms.value, 1602475000000);
            assert_true(import_notes(report, "libmire's own verdict on the run: os_kill"));
        }
        assert_int_equal(fooms, cases[i].fooms);
        assert_int_equal(ends, cases[i].ends);
        read_in_pieces(&r);
    }
}

/* iOS 27's DiagnosticReport: times since 2001, modules once, amounts with their unit. */
#define KIT_REPORT(name, diagnostic)                                                                                  \
    "{\"timeRange\":{\"begin\":813800000,\"end\":813803600},\"environment\":{\"pid\":71,\"osVersion\":{"              \
    "\"platform\":\"iOS\",\"number\":\"27.0\",\"buildNumber\":\"24A1\"},\"applicationVersion\":\"4.2\","              \
    "\"bundleIdentifier\":\"com.example.shop\"},\"" name "\":{" diagnostic                                            \
    "\"callStackTree\":{\"callStackPerThread\":true,\"binaryInfo\":[{\"uuid\":\"0A1B2C3D-0000-4000-8000-000000000001" \
    "\",\"name\":\"Shop\"},{\"uuid\":\"0A1B2C3D-0000-4000-8000-000000000002\",\"name\":\"libdyld.dylib\"}],"          \
    "\"callStackThreads\":[{\"threadAttributed\":true,\"rootFrames\":[{\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-"     \
    "000000000001\",\"address\":4295033000,\"offsetIntoBinaryTextSegment\":168,\"sampleCount\":1,\"subFrames\":[{"    \
    "\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-000000000002\",\"address\":6442455000,\"offsetIntoBinaryTextSegment\":" \
    "4056,\"sampleCount\":1,\"subFrames\":[]}]}]}]}}}"

static void metrickit_of_ios_27_is_read(void **state)
{
    static const struct {
        const char *text, *trigger, *verdict, *name;
        uint32_t ms;
    } cases[] = {
        {KIT_REPORT("hangDiagnostic", "\"hangDuration\":{\"value\":2500,\"unit\":\"ms\"},"), "busy", "", "", 2500},
        {KIT_REPORT("hangDiagnostic", "\"hangDuration\":{\"value\":2.5,\"unit\":{\"symbol\":\"s\"}},"), "busy", "", "",
         2500},
        {KIT_REPORT(
             "cpuExceptionDiagnostic",
             "\"totalCPUTime\":{\"value\":9,\"unit\":\"s\"},\"totalSampledTime\":{\"value\":12,\"unit\":\"s\"},"),
         "cpu", "", "", 12000},
        {KIT_REPORT("appLaunchDiagnostic", "\"launchDuration\":{\"value\":7,\"unit\":\"s\"},"), "busy", "", "", 7000},
        {KIT_REPORT("crashDiagnostic", "\"exceptionType\":\"EXC_BAD_ACCESS\",\"signal\":\"SIGSEGV\","), "crash",
         "crash", "EXC_BAD_ACCESS", 0},
        {KIT_REPORT("crashDiagnostic", "\"signal\":6,"), "crash", "abort", "SIGABRT", 0},
        {KIT_REPORT("crashDiagnostic", "\"terminationCategory\":\"watchdog\","), "busy", "watchdog_kill", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct imported r;
        read_it(&r, cases[i].text);
        assert_int_equal(r.count, 1);
        const struct report *report = r.reports[0];
        assert_string_equal(report->event.trigger, cases[i].trigger);
        assert_string_equal(report->event.name, cases[i].name);
        assert_int_equal(report->event.duration_ms, cases[i].ms);
        assert_string_equal(report->exit.known ? report->exit.verdict : "", cases[i].verdict);
        assert_int_equal(report->event.begin_wall_ms.value, 1792110800000);
        assert_int_equal(report->process.pid, 71);
        assert_string_equal(report->device.os, "ios");
        assert_string_equal(report->device.os_version, "27.0");
        assert_string_equal(report->app.version, "4.2");
        assert_string_equal(import_stack(&r, report, report->event.samples[0].node), "Shop+168 < libdyld.dylib+4055");
        read_in_pieces(&r);
    }
}

/* A day in the two forms; that of MXMetricPayload without its braces. */
#define KIT_OLD                                                                                        \
    "\"timeStampBegin\":\"2026-10-12 00:00:00 +0000\",\"timeStampEnd\":\"2026-10-13 00:00:00 +0000\"," \
    "\"appVersion\":\"4.2\",\"metaData\":{\"osVersion\":\"iPhone OS 18.1 (22B1)\"},\"cpuMetrics\":{\"" \
    "cumulativeCPUTime\":\"100 sec\",\"cumulativeCPUInstructions\":\"100 kiloinstructions\"},\"memory" \
    "Metrics\":{\"peakMemoryUsage\":\"200,000 kB\"},\"gpuMetrics\":{\"cumulativeGPUTime\":\"20 sec\"}" \
    ",\"applicationLaunchMetrics\":{\"histogrammedTimeToFirstDrawKey\":{\"histogramNumBuckets\":3,\"h" \
    "istogramValue\":{\"0\":{\"bucketCount\":1,\"bucketStart\":\"300 ms\",\"bucketEnd\":\"400 ms\"},"  \
    "\"1\":{\"bucketCount\":4,\"bucketStart\":\"1,000 ms\",\"bucketEnd\":\"1,010 ms\"},\"2\":{\"bucke" \
    "tCount\":2,\"bucketStart\":\"3,000 ms\",\"bucketEnd\":\"3,010 ms\"}}}},\"applicationTimeMetrics"  \
    "\":{\"cumulativeForegroundTime\":\"700 sec\",\"cumulativeBackgroundTime\":\"40 sec\"},\"animatio" \
    "nMetrics\":{\"scrollHitchTimeRatio\":\"50 ms per s\"},\"applicationResponsivenessMetrics\":{\"hi" \
    "stogrammedAppHangTime\":{\"histogramNumBuckets\":2,\"histogramValue\":{\"0\":{\"bucketCount\":50" \
    ",\"bucketStart\":\"250 ms\",\"bucketEnd\":\"500 ms\"},\"1\":{\"bucketCount\":3,\"bucketStart\":"  \
    "\"2 sec\",\"bucketEnd\":\"4 sec\"}}}}"
#define KIT_NEW                                                                                        \
    "{\"timeRange\":{\"begin\":\"2026-10-12T00:00:00Z\",\"end\":\"2026-10-13T00:00:00Z\"},\"environme" \
    "nt\":{\"latestApplicationVersion\":\"4.2\",\"osVersion\":{\"platform\":\"iOS\",\"number\":\"27.0" \
    "\"}},\"stateEntries\":[],\"intervalEntries\":[{\"duration\":{\"value\":60,\"unit\":\"s\"},\"valu" \
    "es\":[{\"cpuTimeMetric\":{\"value\":{\"value\":1,\"unit\":\"s\"}}}]},{\"states\":[],\"duration\"" \
    ":{\"value\":86400,\"unit\":\"s\"},\"values\":[{\"cpuTimeMetric\":{\"value\":{\"value\":100,\"uni" \
    "t\":\"s\"}}},{\"peakMemory\":{\"_0\":{\"value\":{\"value\":200,\"unit\":\"MB\"}}}},{\"gpuTimeMet" \
    "ric\":{\"value\":{\"value\":20,\"unit\":\"s\"}}},{\"timeToFirstDrawMetric\":{\"histogram\":{\"bu" \
    "ckets\":[{\"count\":4,\"lowerBound\":{\"value\":1000,\"unit\":\"ms\"},\"upperBound\":{\"value\":" \
    "1010,\"unit\":\"ms\"}},{\"count\":1,\"lowerBound\":{\"value\":300,\"unit\":\"ms\"},\"upperBound"  \
    "\":{\"value\":400,\"unit\":\"ms\"}},{\"count\":2,\"lowerBound\":{\"value\":3000,\"unit\":\"ms\"}" \
    ",\"upperBound\":{\"value\":3010,\"unit\":\"ms\"}}]}}},{\"totalForegroundTimeMetric\":{\"value\":" \
    "{\"value\":700,\"unit\":\"s\"}}},{\"totalBackgroundTimeMetric\":{\"value\":{\"value\":40,\"unit"  \
    "\":\"s\"}}},{\"hitchTimeMetric\":{\"totalAnimationTime\":{\"value\":20,\"unit\":\"s\"},\"totalHi" \
    "tchTime\":{\"value\":1,\"unit\":\"s\"}}},{\"hangTimeMetric\":{\"histogram\":{\"buckets\":[{\"cou" \
    "nt\":50,\"lowerBound\":{\"value\":250,\"unit\":\"ms\"},\"upperBound\":{\"value\":500,\"unit\":\"" \
    "ms\"}},{\"count\":3,\"lowerBound\":{\"value\":2000,\"unit\":\"ms\"},\"upperBound\":{\"value\":40" \
    "00,\"unit\":\"ms\"}}]}}},{\"foregroundTerminationMetric\":{\"normalTerminationCount\":1,\"memory" \
    "LimitTerminationCount\":2}},{\"backgroundTerminationMetric\":{\"systemPressureTerminationCount\"" \
    ":3,\"fileLockTerminationCount\":1}}]}]}"

static void metrickit_tells_a_day_without_libmire(void **state)
{
    static const char *const forms[] = {"{" KIT_OLD "}", KIT_NEW};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct imported r;
        read_it(&r, forms[i]);
        assert_int_equal(r.count, 1);
        const struct report *report = r.reports[0];
        const struct report_session *session = &report->session;
        assert_int_equal(report->kind, MIRE_REPORT_SESSION);
        assert_string_equal(report->app.version, "4.2");
        assert_string_equal(report->device.os_version, i ? "27.0" : "18.1");
        assert_int_equal(session->begin_wall_ms.value, 1791763200000);
        assert_int_equal(session->duration_ms.value, 740000);
        assert_int_equal(session->foreground_ms.value, 700000);
        assert_true(session->loop);
        assert_int_equal(session->hang_count, 3);
        assert_int_equal(session->hang_ms, 9000);
        assert_int_equal(session->launch_ms.value, 1005);
        assert_int_equal(session->cpu_ms.value, 100000);
        assert_int_equal(session->footprint_peak_bytes.value, 200000000);
        assert_int_equal(session->frames_dropped.value * 19, session->frames_drawn.value);
        assert_int_equal(session->end_count, i ? 7 : 0);
        assert_int_equal(ends_with(report, "foom"), i ? 2 : 0);
        assert_int_equal(ends_with(report, "background_kill"), i ? 4 : 0);
        read_in_pieces(&r);
    }
}

/* libmire has told the usage of its own runs: nothing is counted twice. */
static void metrickit_adds_no_usage_to_that_of_libmire(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, "{\"mire\":{\"install\":\"" KIT_INSTALL "\",\"runs\":[]}," KIT_OLD "}");
    assert_int_equal(r.count, 0);
    assert_int_equal(r.outcome, MIRE_DECODE_OK);
    import_done(&r);
}

static void deep_trees_are_read_without_recursion(void **state)
{
    size_t depth = 900;
    char *text = calloc(depth + 8, 160), *at = text;
    (void)state;
    at += sprintf(at, "{\"callStackPerThread\":true,\"callStacks\":[{\"callStackRootFrames\":[");
    for (size_t i = 0; i < depth; i++)
        at += sprintf(at, "{\"binaryName\":\"Shop\",\"address\":%zu,\"offsetIntoBinaryTextSegment\":%zu%s",
                      4294967296 + i, i, i + 1 < depth ? ",\"subFrames\":[" : "}");
    for (size_t i = 1; i < depth; i++)
        at += sprintf(at, "]}");
    sprintf(at, "]}]}");
    struct imported r;
    read_it(&r, text);
    assert_int_equal(r.reports[0]->node_count, depth + 1);
    import_done(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrickit_tells_the_direction_and_the_offset_by_its_frames),
        cmocka_unit_test(metrickit_tells_a_kill_for_memory),
        cmocka_unit_test(metrickit_joins_a_diagnostic_to_its_run),
        cmocka_unit_test(metrickit_counts_how_runs_ended),
        cmocka_unit_test(metrickit_of_ios_27_is_read),
        cmocka_unit_test(metrickit_tells_a_day_without_libmire),
        cmocka_unit_test(metrickit_adds_no_usage_to_that_of_libmire),
        cmocka_unit_test(metrickit_counts_only_exits_that_no_run_of_libmire_explains),
        cmocka_unit_test(deep_trees_are_read_without_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
