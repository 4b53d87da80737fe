/*
 * mire_trace.c - the member "trace" of Mire's own format: the system's account of the end of the run, an ANR's text or a
 * tombstone. The other decoders read it; its stacks then join those of the report.
 *
 *     images, java, frames, nodes   behind the report's own, with their numbers shifted
 *     threads                       a thread that the report has already gets the trace's stack and lock, others follow
 *     the thread that hung          one more sample, without weight; the only one where the report has no stack
 *
 * A trace that cannot be read, or has no room, is left out with a note: the report stands without it.
 */
#include "decode/anr.h"
#include "decode/mire.h"
#include "decode/proto.h"
#include "decode/tombstone.h"

#include <stdio.h>
#include <string.h>

struct join {
    struct report *report;
    const struct report *trace;
    struct arena *arena;
    int32_t *image_of;      /* number in the report of each image of the trace */
    uint32_t frames, nodes; /* added to numbers of rows */
};

typedef enum decode_outcome trace_decode_fn(struct report *out, struct arena *arena, struct decode_fault *fault,
                                            const char *bytes, size_t len);

/* Bytes up to the last field that is whole: the device cuts a long trace. */
static size_t whole_fields(const char *bytes, size_t len)
{
    struct proto message = proto_of(bytes, len);
    struct proto_field field;
    size_t whole = 0;
    while (proto_next(&field, &message))
        whole = proto_place(&message);
    return whole;
}

static trace_decode_fn *decoder_of(const char *bytes, size_t *len)
{
    size_t head = *len < MIRE_FOREIGN_HEAD ? *len : MIRE_FOREIGN_HEAD;
    if (anr_begins(bytes, head))
        return anr_decode;
    if (tombstone_text_begins(bytes, head))
        return tombstone_text_decode;
    if (!tombstone_begins(bytes, head))
        return NULL;
    *len = whole_fields(bytes, *len);
    return tombstone_decode;
}

/* ---- tables ---- */

/* Rows of the report, then `more`; NULL: no memory. */
static void *append(struct arena *arena, const void *rows, size_t count, const void *more, size_t more_count,
                    size_t size)
{
    char *all = arena_array(arena, count + more_count, size);
    if (all && count)
        memcpy(all, rows, count * size);
    if (all && more_count)
        memcpy(all + count * size, more, more_count * size);
    return all;
}

static int32_t find_java_image(const struct report *report)
{
    for (size_t i = 0; i < report->image_count; i++)
        if (report->images[i].java)
            return (int32_t)i;
    return -1;
}

static bool join_images(struct join *join)
{
    struct report *report = join->report;
    int32_t java = find_java_image(report);
    struct report_image *images = append(join->arena, report->images, report->image_count, join->trace->images,
                                         join->trace->image_count, sizeof *images);
    join->image_of = arena_array(join->arena, join->trace->image_count, sizeof *join->image_of);
    if (!images || !join->image_of)
        return false;
    size_t count = report->image_count;
    for (size_t i = 0; i < join->trace->image_count; i++) {
        bool same = join->trace->images[i].java && java >= 0;
        join->image_of[i] = same ? java : (int32_t)count;
        if (!same)
            images[count++] = join->trace->images[i];
    }
    report->images = images;
    report->image_count = count;
    return true;
}

static bool join_frames(struct join *join)
{
    struct report *report = join->report;
    const struct report *trace = join->trace;
    struct report_frame *frames =
        append(join->arena, report->frames, report->frame_count, trace->frames, trace->frame_count, sizeof *frames);
    struct report_node *nodes =
        append(join->arena, report->nodes, report->node_count, trace->nodes + 1, trace->node_count - 1, sizeof *nodes);
    struct report_java *java =
        append(join->arena, report->java, report->java_count, trace->java, trace->java_count, sizeof *java);
    if (!frames || !nodes || !java)
        return false;
    for (struct report_frame *frame = frames + report->frame_count;
         frame < frames + report->frame_count + trace->frame_count; frame++) {
        if (frame->image >= 0 && trace->images[frame->image].java)
            frame->offset += report->java_count;
        frame->image = frame->image >= 0 ? join->image_of[frame->image] : -1;
    }
    for (size_t i = report->node_count; i < report->node_count + trace->node_count - 1; i++) {
        nodes[i].parent = nodes[i].parent ? nodes[i].parent + join->nodes : 0;
        nodes[i].frame += join->frames;
    }
    report->frames = frames;
    report->frame_count += trace->frame_count;
    report->nodes = nodes;
    report->node_count += trace->node_count - 1;
    report->java = java;
    report->java_count += trace->java_count;
    return true;
}

/* Number in the report of a node of the trace. */
static uint32_t node_of(const struct join *join, uint32_t node)
{
    return node ? node + join->nodes : 0;
}

/* ---- threads ---- */

static void join_thread(struct report_thread *rows, size_t *count, const struct report_thread *thread)
{
    size_t at = 0;
    while (at < *count && (!thread->tid || rows[at].tid != thread->tid))
        at++;
    if (at == *count) {
        if (*count < MIRE_WIRE_THREADS_MAX)
            rows[(*count)++] = *thread;
        return;
    }
    if (thread->node)
        rows[at].node = thread->node;
    if (!rows[at].name[0])
        rows[at].name = thread->name;
    rows[at].state = thread->state;
    rows[at].syscall = -1;
    if (thread->lock.known)
        rows[at].lock = thread->lock;
}

static bool has_stack(const struct report_event *event)
{
    for (size_t i = 0; i < event->sample_count; i++)
        if (event->samples[i].node)
            return true;
    return false;
}

/* The report was made of the trace alone: nothing of the event was seen. */
static bool is_unseen(const struct report_event *event)
{
    return !event->thread.tid.known && !event->sample_count;
}

static bool is_same_thread(const struct join *join)
{
    const struct fact *own = &join->report->event.thread.tid, *theirs = &join->trace->event.thread.tid;
    return !own->known || (theirs->known && own->value == theirs->value);
}

/* Take the thread, the time and the length of an event that the library has not seen. */
static void take_event(struct join *join)
{
    struct report_event *event = &join->report->event;
    const struct report_event *given = &join->trace->event;
    event->thread = given->thread;
    event->duration_ms = given->duration_ms;
    event->threshold_ms = given->threshold_ms;
    if (given->begin_wall_ms.known)
        event->begin_wall_ms = given->begin_wall_ms;
    if (!event->name[0])
        event->name = given->name;
    if (given->foreground_known) {
        event->foreground = given->foreground;
        event->foreground_known = true;
    }
}

/* The stack at the end of the thread that hung, behind its own samples. */
static bool join_sample(struct join *join)
{
    struct report_event *event = &join->report->event;
    bool alone = !has_stack(event);
    size_t kept = alone ? 0 : event->sample_count;
    struct report_sample last = join->trace->event.samples[0];
    struct report_sample *samples;
    uint32_t before_ms = kept ? event->samples[kept - 1].at_ms : 0;

    last.node = node_of(join, last.node);
    last.at_ms = event->duration_ms > before_ms ? event->duration_ms : before_ms;
    last.weight_ms = 0;
    if (alone)
        last.weight_ms = event->duration_ms ? event->duration_ms : 1;
    last.thread = 0;
    if (kept == MIRE_WIRE_SAMPLES_MAX)
        return true;
    samples = append(join->arena, event->samples, kept, &last, 1, sizeof *samples);
    if (!samples)
        return false;
    event->samples = samples;
    event->sample_count = kept + 1;
    return true;
}

static bool join_threads(struct join *join)
{
    struct report *report = join->report;
    const struct report_event *main = &join->trace->event;
    size_t count = report->thread_count;
    bool same = is_same_thread(join);
    struct report_thread *rows = arena_array(join->arena, count + join->trace->thread_count + 1, sizeof *rows);
    if (!rows)
        return false;
    if (count)
        memcpy(rows, report->threads, count * sizeof *rows);
    for (size_t i = 0; i < join->trace->thread_count; i++) {
        struct report_thread thread = join->trace->threads[i];
        thread.node = node_of(join, thread.node);
        if (same || thread.tid != report->event.thread.tid.value)
            join_thread(rows, &count, &thread);
    }
    if (!same && main->sample_count)
        join_thread(rows, &count,
                    &(struct report_thread){.tid = main->thread.tid.value,
                                            .name = main->thread.name,
                                            .role = "",
                                            .node = node_of(join, main->samples[0].node),
                                            .state = main->samples[0].state,
                                            .syscall = -1,
                                            .lock = main->lock});
    report->threads = rows;
    report->thread_count = count;
    if (same && !report->event.lock.known)
        report->event.lock = main->lock;
    return !same || !main->sample_count || join_sample(join);
}

/* ---- notes ---- */

static bool join_notes(struct report *report, struct arena *arena, const char *const *notes, size_t count)
{
    size_t room = MIRE_WIRE_NOTES_MAX > report->note_count ? MIRE_WIRE_NOTES_MAX - report->note_count : 0;
    count = count < room ? count : room;
    const char **all = append(arena, report->notes, report->note_count, notes, count, sizeof *all);
    if (!all)
        return false;
    report->notes = all;
    report->note_count += count;
    return true;
}

static bool note(struct report *report, struct arena *arena, const char *what, const char *more)
{
    char *text = arena_alloc(arena, strlen(what) + strlen(more) + 1);
    if (!text)
        return false;
    strcat(strcpy(text, what), more);
    const char *const notes[] = {text};
    return join_notes(report, arena, notes, 1);
}

static bool has_room(const struct report *report, const struct report *trace)
{
    return report->image_count + trace->image_count <= MIRE_WIRE_IMAGES_MAX &&
           report->java_count + trace->java_count <= MIRE_WIRE_JAVA_MAX &&
           report->frame_count + trace->frame_count <= MIRE_WIRE_FRAMES_MAX &&
           report->node_count + trace->node_count <= MIRE_WIRE_NODES_MAX;
}

static bool join(struct report *report, const struct report *trace, struct arena *arena)
{
    struct join join = {.report = report,
                        .trace = trace,
                        .arena = arena,
                        .frames = (uint32_t)report->frame_count,
                        .nodes = (uint32_t)report->node_count - 1};
    if (!has_room(report, trace))
        return note(report, arena, "the system's trace is left out: too many frames", "");
    if (is_unseen(&report->event))
        take_event(&join);
    else if (trace->event.name[0] && !note(report, arena, "the system's trace: ", trace->event.name))
        return false;
    return join_images(&join) && join_frames(&join) && join_threads(&join) &&
           join_notes(report, arena, trace->notes, trace->note_count);
}

enum bind_outcome mire_read_trace(struct bind *bind, void *out, uint32_t at)
{
    struct report *report = out, trace;
    struct decode_fault fault = {.text = "no trace of Android"};
    enum decode_outcome outcome = MIRE_DECODE_UNKNOWN;
    size_t len = 0;
    uint8_t *bytes = arena_alloc(bind->arena, (size_t)json_size(bind->json, at) / 2 + 1);
    if (!bytes)
        return MIRE_BIND_NO_MEMORY;
    enum bind_outcome bound = mire_read_hex(bytes, &len, bind, at, 1, MIRE_WIRE_TRACE_MAX);
    if (bound)
        return bound;
    trace_decode_fn *decode = decoder_of((const char *)bytes, &len);
    if (decode)
        outcome = decode(&trace, bind->arena, &fault, (const char *)bytes, len);
    if (outcome == MIRE_DECODE_NO_MEMORY)
        return MIRE_BIND_NO_MEMORY;
    bool done = outcome ? note(report, bind->arena, "the system's trace is left out: ", fault.text)
                        : join(report, &trace, bind->arena);
    return done ? MIRE_BIND_OK : MIRE_BIND_NO_MEMORY;
}
