/*
 * tombstone_text.c - see tombstone.h.
 *
 *     *** *** *** ***
 *     Build fingerprint: '...'   ABI: 'arm64'   Timestamp: ...          debuggerd
 *     Tombstone maker: 'xCrash 2.4.6'   Crash type: 'native' ...        xCrash
 *     pid: 21533, tid: 21560, name: worker  >>> com.example.app <<<     a thread begins
 *     signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
 *     Abort message: '...'
 *     backtrace:
 *         #00 pc 0000000000012345  /path/lib.so (function+12) (BuildId: ...)
 *     java stacktrace:
 *     java.lang.RuntimeException: ...
 *         at com.example.Work.step(Work.java:12)
 *     --- --- --- ---                                                   the next thread
 */
#include "decode/anr.h"
#include "decode/tombstone.h"
#include "decode/when.h"

#include "wire/limits.h"
#include "base/text.h"

#include <stdio.h>

struct tomb_text {
    struct anr *anr; /* its build and modules are the report's; its frames the stack being read */
    struct build *build;
    struct build_list threads;
    struct tombstone_crash crash;
    const char *type, *process, *fingerprint, *abi, *os_version, *model, *app_version, *reason;
    uint64_t start_ms;
    bool begun;      /* a thread */
    bool exception;  /* lines of "java stacktrace:" */
    size_t left_out; /* lines of sections that are not read */
};

/* 'x' without its quotes, behind "Key: ". */
static bool take_value(const char **out, struct build *build, struct line_span line, const char *key)
{
    if (!span_take(&line, key))
        return false;
    span_trim(&line);
    if (line.len > 1 && *line.at == '\'') {
        span_skip(&line, 1);
        line.len -= line.at[line.len - 1] == '\'';
    }
    *out = build_text(build, line.at, line.len);
    return true;
}

/* ---- a thread ---- */

static struct tombstone_thread *last_thread(const struct tomb_text *t)
{
    return t->threads.count ? (struct tombstone_thread *)t->threads.rows + (t->threads.count - 1) : NULL;
}

static void end_stack(struct tomb_text *t)
{
    struct tombstone_thread *thread = last_thread(t);
    if (thread && t->anr->frame_count && !thread->node)
        thread->node = build_stack(t->build, t->anr->frames, t->anr->frame_count);
    t->anr->frame_count = 0;
}

static void begin_thread(struct tomb_text *t, uint64_t tid, const char *name)
{
    end_stack(t);
    struct tombstone_thread *row = build_push(t->build, &t->threads, sizeof *row, MIRE_WIRE_THREADS_MAX + 1);
    if (row)
        *row = (struct tombstone_thread){tid, name, 0};
}

/* "pid: 21533, tid: 21560, name: worker  >>> com.example.app <<<"; an ANR has "pid: N  >>> process <<<" */
static bool read_pid(struct tomb_text *t, struct line_span line)
{
    uint64_t pid, tid;
    if (!span_take(&line, "pid: ") || !span_number(&pid, &line, 10))
        return false;
    const char *open = span_find(&line, ">>> "), *close = span_find(&line, " <<<");
    if (open && close && close > open && !t->process[0])
        t->process = build_text(t->build, open + 4, (size_t)(close - open - 4));
    if (!t->crash.pid)
        t->crash.pid = pid;
    if (!span_take(&line, ", tid: ") || !span_number(&tid, &line, 10))
        return true;
    span_take(&line, ", name: ");
    struct line_span name = {line.at, open ? (size_t)(open - line.at) : line.len};
    if (open && open < line.at)
        name.len = 0;
    span_trim(&name);
    if (!t->begun)
        t->crash.tid = tid;
    t->begun = true;
    begin_thread(t, tid, build_text(t->build, name.at, name.len));
    return true;
}

/* "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0" */
static bool read_signal(struct tomb_text *t, struct line_span line)
{
    uint64_t value;
    if (!span_take(&line, "signal ") || !span_number(&value, &line, 10))
        return false;
    if (t->crash.signal.known)
        return true;
    t->crash.signal = (struct fact){value, true};
    const char *open = span_find(&line, "("), *close = span_find(&line, ")");
    if (open && close && close > open)
        t->crash.signal_name = build_text(t->build, open + 1, (size_t)(close - open - 1));
    if (span_number_of(&value, &line, ", code ", 10))
        t->crash.code = (struct fact){value, true};
    else if (span_number_of(&value, &line, ", code -", 10))
        t->crash.code = (struct fact){0 - value, true};
    if (span_number_of(&value, &line, "fault addr 0x", 16))
        t->crash.address = (struct fact){value, true};
    return true;
}

static void add_frame(struct tomb_text *t, uint32_t frame)
{
    if (t->anr->frame_count < MIRE_BACKTRACE_MAX)
        t->anr->frames[t->anr->frame_count++] = frame;
    else
        t->anr->deeper++;
}

/* Below "java stacktrace:": the exception, its frames, and of those that caused it the last one's frames. */
static void read_exception(struct tomb_text *t, struct line_span line)
{
    uint32_t frame;
    if (!line.len) {
        t->exception = t->anr->frame_count == 0;
        if (!t->exception)
            end_stack(t);
    } else if (backtrace_java(&frame, t->build, line)) {
        add_frame(t, frame);
    } else if (span_begins(&line, "... ")) {
        return;
    } else {
        bool cause = span_take(&line, "Caused by: ");
        if (cause)
            build_note(t->build, "the stack is that of the exception that caused \"%.*s\"",
                       TEXT_CUT(t->crash.message, 200));
        if (cause || !t->crash.message[0]) {
            t->crash.message = build_text(t->build, line.at, line.len);
            t->anr->frame_count = 0;
        }
    }
}

/* "    /system/lib64/libc.so (BuildId: 1122...)": xCrash tells them below the stack. */
static bool read_build_id(struct tomb_text *t, struct line_span line)
{
    const char *open = span_find(&line, " (BuildId: ");
    struct report_image *images = t->build->images.rows;
    if (!open || !line.len || *line.at == '#')
        return false;
    const char *path = build_text(t->build, line.at, (size_t)(open - line.at));
    struct line_span id = {open + 11, (size_t)(line.at + line.len - open - 11)};
    size_t digits = 0;
    while (digits < id.len && digit_of(id.at[digits]) < 16)
        digits++;
    for (size_t i = 0; i < t->build->images.count; i++)
        if (images[i].name == path && !images[i].id_len)
            images[i].id_len = backtrace_build_id(images[i].id, id.at, digits);
    return true;
}

/* ---- lines ---- */

static void read_time(uint64_t *ms_out, const char *text)
{
    bool zone;
    uint64_t ms;
    if (!*ms_out && text[0] && when_parse(&ms, &zone, text, strlen(text)))
        *ms_out = ms;
}

static bool read_key(struct tomb_text *t, struct line_span line)
{
    const char *value;
    const struct {
        const char *key;
        const char **text;
    } keys[] = {{"Crash type:", &t->type},
                {"App ID:", &t->process},
                {"App version:", &t->app_version},
                {"Build fingerprint:", &t->fingerprint},
                {"ABI:", &t->abi},
                {"OS version:", &t->os_version},
                {"Model:", &t->model},
                {"Subject:", &t->reason},
                {"Abort message:", &t->crash.message}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (take_value(&value, t->build, line, keys[i].key)) {
            *keys[i].text = (*keys[i].text)[0] ? *keys[i].text : value;
            return true;
        }
    if (take_value(&value, t->build, line, "Crash time:") || take_value(&value, t->build, line, "Timestamp:"))
        return read_time(&t->crash.wall_ms, value), true;
    if (take_value(&value, t->build, line, "Start time:"))
        return read_time(&t->start_ms, value), true;
    if (take_value(&value, t->build, line, "Cause:"))
        return build_note(t->build, "cause: %.*s", TEXT_CUT(value, 400)), true;
    return read_pid(t, line) || read_signal(t, line);
}

static void read_line(struct tomb_text *t, struct line_span line, struct text_lines *lines)
{
    uint32_t frame;
    if (span_begins(&line, "DALVIK THREADS")) {
        anr_read_threads(t->anr, lines);
        return;
    }
    span_trim(&line);
    if (t->exception) {
        read_exception(t, line);
    } else if (span_begins(&line, "java stacktrace:")) {
        t->exception = t->crash.java = true;
    } else if (span_begins(&line, "--- ---")) {
        end_stack(t);
    } else if (backtrace_native(&frame, &t->anr->modules, line)) {
        add_frame(t, frame);
    } else if (!line.len) {
        end_stack(t); /* a further stack of the thread is not read: it has one */
    } else if (!read_key(t, line) && !read_build_id(t, line)) {
        t->left_out++;
    }
}

static void take_device(struct tomb_text *t)
{
    struct report *report = t->build->report;
    report->device.os_version = t->os_version;
    report->device.model = t->model;
    anr_fingerprint(t->build, t->fingerprint);
    report->device.arch = anr_arch(t->abi);
    anr_process(t->build, t->process);
    report->app.version = t->app_version;
    if (t->start_ms)
        report->process.start_wall_ms = (struct fact){t->start_ms, true};
    if (t->left_out)
        build_note(t->build, "%zu lines are left out: registers, memory, maps, logs, open files", t->left_out);
}

/* The dump of an ANR inside. */
static void finish_anr(struct tomb_text *t)
{
    struct report *report = t->build->report;
    report->process.pid = t->crash.pid <= UINT32_MAX ? t->crash.pid : 0;
    t->anr->pid = t->crash.pid;
    anr_finish_threads(t->anr);
    anr_set_event(t->anr, &(struct anr_subject){t->reason, t->crash.wall_ms, t->crash.wall_ms != 0, true});
}

enum decode_outcome tombstone_text_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                          const char *bytes, size_t len)
{
    struct tomb_text t = {.type = "",
                          .process = "",
                          .fingerprint = "",
                          .abi = "",
                          .os_version = "",
                          .model = "",
                          .app_version = "",
                          .reason = ""};
    struct text_lines lines = lines_of(bytes, len);
    struct line_span line;
    t.anr = arena_alloc(arena, sizeof *t.anr);
    if (!t.anr)
        return MIRE_DECODE_NO_MEMORY;
    t.build = t.anr->modules.build = &t.anr->build;
    t.crash.signal_name = t.crash.message = "";
    build_begin(t.build, out, arena);
    while (lines_next(&line, &lines))
        read_line(&t, line, &lines);
    end_stack(&t);
    if (!t.threads.count && !t.anr->threads.count && !t.build->failed) {
        fault->position = (size_t)(lines.last - lines.begin);
        snprintf(fault->text, sizeof fault->text,
                 "line %zu: the text ends without a thread: \"pid: N, tid: N, name: ...\" or DALVIK THREADS",
                 lines.number);
        return MIRE_DECODE_MALFORMED;
    }
    take_device(&t);
    if (t.anr->threads.count)
        finish_anr(&t);
    else
        tombstone_finish(t.build, &t.crash, t.threads.rows, t.threads.count);
    return build_end(t.build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
}
