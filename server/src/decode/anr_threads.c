/* anr_threads.c - see anr.h: threads with their stacks, and which of them waits for which. */
#include "decode/anr.h"

#include "wire/limits.h"
#include "base/text.h"

#include <stdio.h>

#define LOCKS_MAX 8192
#define CYCLE_MAX 8 /* threads a sentence names */

static struct anr_thread *thread_at(const struct anr *anr, size_t at)
{
    return (struct anr_thread *)anr->threads.rows + at;
}

/* ---- one thread ---- */

/* The kernel's letter for a state of the runtime: running or not. */
static char letter_of(const struct line_span *state)
{
    return span_begins(state, "Run") || span_begins(state, "RUN") || span_begins(state, "Susp") ? 'R'
           : state->len                                                                         ? 'S'
                                                                                                : '?';
}

/*
 * "name" daemon prio=5 tid=11 Waiting
 * "name" prio=10 (not attached)
 * "name" sysTid=18571
 *
 * A name may contain quotes; the last quote before an attribute ends the name.
 */
static bool read_header(struct anr_thread *out, struct build *build, const struct line_span *line)
{
    static const char *const ends[] = {"\" prio=", "\" daemon prio=", "\" sysTid=", "\" tid="};
    const char *end = NULL;
    if (line->len < 2 || *line->at != '"')
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !end; i++)
        end = span_find_last(line, ends[i]);
    if (!end || end == line->at)
        return false;
    struct line_span rest = {end + 1, (size_t)(line->at + line->len - end - 1)};
    *out = (struct anr_thread){.state = '?', .owner = -1};
    out->name = build_text(build, line->at + 1, (size_t)(end - line->at - 1));
    span_number_of(&out->sys_tid, &rest, "sysTid=", 10);
    const char *tid = span_find(&rest, " tid=");
    if (tid) {
        span_cut(&rest, tid, strlen(" tid="));
        span_number(&out->art_tid, &rest, 10);
        span_trim(&rest);
        out->state = letter_of(&rest);
    }
    return true;
}

/* "| sysTid=20232 nice=-10", "| state=S schedstat=( ... )" */
static void read_attributes(struct anr_thread *thread, const struct line_span *line)
{
    const char *state = span_find(line, " state=");
    if (!thread->sys_tid)
        span_number_of(&thread->sys_tid, line, "sysTid=", 10);
    if (state && state + 7 < line->at + line->len && ((state[7] | 0x20) >= 'a' && (state[7] | 0x20) <= 'z'))
        thread->state = state[7];
}

/* "<0x0b7a434d> (a java.lang.String) held by thread 3"; older: "held by tid=3 (name)" */
static void read_monitor(struct anr_thread *thread, struct line_span line)
{
    if (!span_take(&line, "<0x") || !span_number(&thread->monitor, &line, 16))
        thread->monitor = 0;
    if (!span_number_of(&thread->held_by, &line, " held by thread ", 10) &&
        !span_number_of(&thread->held_by, &line, " held by threadid=", 10))
        span_number_of(&thread->held_by, &line, " held by tid=", 10);
}

static void read_lock(struct anr *anr, struct anr_thread *thread, struct line_span line)
{
    uint64_t monitor;
    if (span_take(&line, "waiting to lock ")) {
        if (!thread->waits)
            read_monitor(thread, line);
        thread->waits = true;
    } else if (span_take(&line, "locked <0x") && span_number(&monitor, &line, 16)) {
        struct anr_lock *lock = build_push(&anr->build, &anr->locks, sizeof *lock, LOCKS_MAX);
        if (lock)
            *lock = (struct anr_lock){monitor, anr->threads.count - 1};
    }
}

static void add_frame(struct anr *anr, uint32_t frame)
{
    if (anr->frame_count < MIRE_BACKTRACE_MAX)
        anr->frames[anr->frame_count++] = frame;
    else
        anr->deeper++;
}

static void end_stack(struct anr *anr)
{
    if (anr->threads.count && anr->frame_count)
        thread_at(anr, anr->threads.count - 1)->node = build_stack(&anr->build, anr->frames, anr->frame_count);
    anr->frame_count = 0;
}

/* A line below a thread's header. */
static void read_line(struct anr *anr, struct line_span line)
{
    struct anr_thread *thread = thread_at(anr, anr->threads.count - 1);
    uint32_t frame;
    span_trim(&line);
    if (!line.len)
        return;
    if (*line.at == '|')
        read_attributes(thread, &line);
    else if (span_take(&line, "- "))
        read_lock(anr, thread, line);
    else if (span_begins(&line, "kernel: "))
        anr->kernel_frames++;
    else if (backtrace_java(&frame, &anr->build, line) || backtrace_native(&frame, &anr->modules, line))
        add_frame(anr, frame);
}

static bool ends_dump(const struct line_span *line)
{
    return span_begins(line, "----- ") || span_begins(line, "+++ ") || span_begins(line, "*** ***");
}

void anr_read_threads(struct anr *anr, struct text_lines *lines)
{
    struct line_span line;
    struct text_lines before = *lines;
    bool inside = false; /* a thread; a blank line ends it */
    for (; lines_next(&line, lines); before = *lines) {
        struct anr_thread thread;
        if (ends_dump(&line)) {
            *lines = before;
            break;
        }
        if (read_header(&thread, &anr->build, &line)) {
            end_stack(anr);
            struct anr_thread *row = build_push(&anr->build, &anr->threads, sizeof *row, MIRE_WIRE_THREADS_MAX + 1);
            inside = row != NULL;
            if (row)
                *row = thread;
        } else if (!line.len) {
            end_stack(anr);
            inside = false;
        } else if (inside) {
            read_line(anr, line);
        }
    }
    end_stack(anr);
}

/* ---- all threads ---- */

/* main, by name and the runtime's first number; otherwise the thread with the process's number. */
static size_t find_main(const struct anr *anr)
{
    for (size_t i = 0; i < anr->threads.count; i++)
        if (thread_at(anr, i)->art_tid == 1 && !strcmp(thread_at(anr, i)->name, "main"))
            return i;
    for (size_t i = 0; i < anr->threads.count; i++)
        if (anr->pid && thread_at(anr, i)->sys_tid == anr->pid)
            return i;
    for (size_t i = 0; i < anr->threads.count; i++)
        if (thread_at(anr, i)->art_tid == 1 || !strcmp(thread_at(anr, i)->name, "main"))
            return i;
    return SIZE_MAX;
}

/* By the number in the dump, otherwise by the thread that lists the lock as locked. */
static int32_t find_owner(const struct anr *anr, size_t waiter)
{
    const struct anr_thread *thread = thread_at(anr, waiter);
    const struct anr_lock *locks = anr->locks.rows;
    if (!thread->waits)
        return -1;
    for (size_t i = 0; thread->held_by && i < anr->threads.count; i++)
        if (thread_at(anr, i)->art_tid == thread->held_by)
            return (int32_t)i;
    for (size_t i = 0; thread->monitor && i < anr->locks.count; i++)
        if (locks[i].monitor == thread->monitor && locks[i].thread != waiter)
            return (int32_t)locks[i].thread;
    return -1;
}

/* The first thread of a cycle on the path from `from`; -1: no cycle. */
static int32_t find_cycle(const struct anr *anr, int32_t from)
{
    int32_t slow = from, fast = from;
    do {
        slow = slow < 0 ? -1 : thread_at(anr, (size_t)slow)->owner;
        fast = fast < 0 ? -1 : thread_at(anr, (size_t)fast)->owner;
        fast = fast < 0 ? -1 : thread_at(anr, (size_t)fast)->owner;
    } while (fast >= 0 && slow != fast);
    if (fast < 0)
        return -1;
    for (slow = from; slow != fast; fast = thread_at(anr, (size_t)fast)->owner)
        slow = thread_at(anr, (size_t)slow)->owner;
    return slow;
}

static void note_cycle(struct anr *anr, int32_t first)
{
    char text[400];
    size_t len = 0;
    int32_t at = first;
    for (int i = 0; i < CYCLE_MAX && len < sizeof text; i++) {
        const struct anr_thread *thread = thread_at(anr, (size_t)at);
        len += (size_t)snprintf(text + len, sizeof text - len, "\"%.*s\" waits for <0x%08llx>, held by ",
                                TEXT_CUT(thread->name, 40), (unsigned long long)thread->monitor);
        at = thread->owner;
        if (at == first)
            break;
    }
    build_note(&anr->build, "lock cycle: %s\"%.*s\"", len < sizeof text ? text : "",
               TEXT_CUT(thread_at(anr, (size_t)at)->name, 40));
}

/* Report each cycle once, for its first thread in the dump. */
static void note_cycles(struct anr *anr)
{
    for (int32_t i = 0; i < (int32_t)anr->threads.count; i++) {
        int32_t first = find_cycle(anr, i);
        int32_t least = first;
        if (first < 0)
            continue;
        for (int32_t at = thread_at(anr, (size_t)first)->owner; at != first; at = thread_at(anr, (size_t)at)->owner)
            least = at < least ? at : least;
        if (least == i)
            note_cycle(anr, i);
    }
}

/* The kernel's number, as in the report's threads; the runtime's number if the dump has no other. */
static uint64_t tid_of(const struct anr_thread *thread)
{
    uint64_t tid = thread->sys_tid ? thread->sys_tid : thread->art_tid;
    return tid <= UINT32_MAX ? tid : 0;
}

static struct report_lock lock_of(const struct anr *anr, const struct anr_thread *thread)
{
    struct report_lock lock = {.known = thread->waits, .address = thread->monitor};
    if (thread->owner >= 0)
        lock.owner_tid = (struct fact){tid_of(thread_at(anr, (size_t)thread->owner)), true};
    return lock;
}

void anr_finish_threads(struct anr *anr)
{
    struct report *report = anr->build.report;
    anr->main = find_main(anr);
    for (size_t i = 0; i < anr->threads.count; i++)
        thread_at(anr, i)->owner = find_owner(anr, i);
    note_cycles(anr);
    for (size_t i = 0; i < anr->threads.count; i++) {
        const struct anr_thread *thread = thread_at(anr, i);
        struct report_lock lock = lock_of(anr, thread);
        if (i == anr->main) {
            report->event.thread.tid = (struct fact){tid_of(thread), true};
            report->event.thread.name = thread->name;
            report->event.lock = lock;
            continue;
        }
        build_thread(&anr->build, &(struct report_thread){.tid = tid_of(thread),
                                                          .name = thread->name,
                                                          .role = "",
                                                          .node = thread->node,
                                                          .state = thread->state,
                                                          .syscall = -1,
                                                          .lock = lock});
    }
    report->process.thread_count = (struct fact){anr->threads.count, true};
    if (anr->deeper)
        build_note(&anr->build, "%zu frames of stacks deeper than %d frames are left out", anr->deeper,
                   MIRE_BACKTRACE_MAX);
}

void anr_add_sample(struct anr *anr, uint32_t duration_ms)
{
    if (anr->main >= anr->threads.count)
        return;
    const struct anr_thread *main = thread_at(anr, anr->main);
    build_sample(&anr->build, &(struct report_sample){.at_ms = duration_ms,
                                                      .weight_ms = duration_ms ? duration_ms : 1,
                                                      .node = main->node,
                                                      .state = main->state,
                                                      .syscall = -1,
                                                      .loss = '.'});
}
