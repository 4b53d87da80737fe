/* tombstone.c - see tombstone.h. */
#include "decode/tombstone.h"
#include "decode/anr.h"
#include "decode/proto.h"
#include "decode/when.h"

#include "wire/limits.h"
#include "base/text.h"

#include <stdio.h>

enum {
    TOMB_ARCH = 1,
    TOMB_FINGERPRINT,
    TOMB_TIMESTAMP = 4,
    TOMB_PID,
    TOMB_TID,
    TOMB_COMMAND = 9,
    TOMB_SIGNAL,
    TOMB_MESSAGE = 14,
    TOMB_CAUSE,
    TOMB_THREAD,
    TOMB_MAPPING,
    TOMB_LOG,
    TOMB_FD,
    TOMB_UPTIME
};
enum { SIGNAL_NUMBER = 1, SIGNAL_NAME, SIGNAL_CODE, SIGNAL_HAS_ADDRESS = 8, SIGNAL_ADDRESS };
enum { THREAD_ID = 1, THREAD_NAME, THREAD_REGISTER, THREAD_FRAME, THREAD_MEMORY };
enum {
    FRAME_REL_PC = 1,
    FRAME_PC,
    FRAME_SP,
    FRAME_FUNCTION,
    FRAME_FUNCTION_OFFSET,
    FRAME_FILE,
    FRAME_FILE_OFFSET,
    FRAME_BUILD_ID
};

struct tombstone {
    struct build build;
    struct backtrace_modules modules;
    struct proto message;
    struct build_list threads;
    struct tombstone_crash crash;
    size_t place;
    const char *wrong;
    const char *command;
    uint32_t frames[MIRE_BACKTRACE_MAX];
    size_t registers, memory, mappings, logs, fds, deeper;
    bool has_event;
};

/* ---- the event, of either form ---- */

void tombstone_finish(struct build *build, const struct tombstone_crash *crash, const struct tombstone_thread *threads,
                      size_t count)
{
    struct report *report = build->report;
    struct report_event *event = &report->event;
    event->trigger = "crash";
    event->name = crash->java ? crash->message : crash->signal_name;
    event->threshold_ms = 1;
    event->open = true;
    if (crash->wall_ms)
        event->begin_wall_ms = (struct fact){crash->wall_ms, true};
    if (crash->wall_ms && crash->uptime_ms.known && crash->uptime_ms.value < crash->wall_ms)
        report->process.start_wall_ms = (struct fact){crash->wall_ms - crash->uptime_ms.value, true};
    report->exit.known = true;
    report->exit.verdict = crash->signal.value == 6 ? "abort" : "crash";
    report->exit.confidence_ppm = 1000000;
    report->exit.signal = crash->signal;
    report->exit.code = crash->code;
    report->exit.address = crash->address;
    report->process.pid = crash->pid <= UINT32_MAX ? crash->pid : 0;
    report->process.thread_count = (struct fact){count, true};
    event->thread.tid = (struct fact){crash->tid <= UINT32_MAX ? crash->tid : 0, true};
    for (size_t i = 0; i < count; i++) {
        if (threads[i].tid == crash->tid && !build->samples.count) {
            event->thread.name = threads[i].name;
            build_sample(build, &(struct report_sample){
                                    .weight_ms = 1, .node = threads[i].node, .state = 'R', .syscall = -1, .loss = '.'});
            continue;
        }
        build_thread(build, &(struct report_thread){.tid = threads[i].tid <= UINT32_MAX ? threads[i].tid : 0,
                                                    .name = threads[i].name,
                                                    .role = "",
                                                    .node = threads[i].node,
                                                    .state = '?',
                                                    .syscall = -1});
    }
    if (!build->samples.count)
        build_note(build, "the crashed thread has no stack in it");
    if (crash->message[0] && !crash->java)
        build_note(build, "abort message: %.*s", TEXT_CUT(crash->message, 400));
}

/* ---- protobuf ---- */

static bool refuse(struct tombstone *t, size_t place, const char *what)
{
    if (!t->wrong) {
        t->wrong = what;
        t->place = place;
    }
    return false;
}

static bool ended(struct tombstone *t, const struct proto *message)
{
    return !message->wrong || refuse(t, proto_place(message), message->wrong);
}

static const char *text_of(struct tombstone *t, const struct proto_field *field)
{
    return field->wire == PROTO_BYTES ? build_text(&t->build, (const char *)field->bytes, field->len) : "";
}

static bool read_signal(struct tombstone *t, struct proto message)
{
    struct proto_field field;
    bool has_address = false;
    while (proto_next(&field, &message)) {
        if (field.number == SIGNAL_NUMBER)
            t->crash.signal = (struct fact){field.value, true};
        else if (field.number == SIGNAL_NAME)
            t->crash.signal_name = text_of(t, &field);
        else if (field.number == SIGNAL_CODE)
            t->crash.code = (struct fact){field.value, true};
        else if (field.number == SIGNAL_HAS_ADDRESS)
            has_address = field.value != 0;
        else if (field.number == SIGNAL_ADDRESS)
            t->crash.address.value = field.value;
    }
    t->crash.address.known = has_address;
    return ended(t, &message);
}

static bool read_cause(struct tombstone *t, struct proto message)
{
    struct proto_field field;
    while (proto_next(&field, &message))
        if (field.number == 1) {
            const char *cause = text_of(t, &field);
            build_note(&t->build, "cause: %.*s", TEXT_CUT(cause, 400));
        }
    return ended(t, &message);
}

static bool read_frame(struct tombstone *t, uint32_t *out, struct proto message)
{
    struct backtrace_module module = {.path = ""};
    struct report_names named = {.function = "", .file = ""};
    struct proto_field field;
    uint64_t rel_pc = 0, pc = 0;
    while (proto_next(&field, &message)) {
        if (field.number == FRAME_REL_PC)
            rel_pc = field.value;
        else if (field.number == FRAME_PC)
            pc = field.value;
        else if (field.number == FRAME_FUNCTION)
            named.function = text_of(t, &field);
        else if (field.number == FRAME_FILE)
            module.path = text_of(t, &field);
        else if (field.number == FRAME_FILE_OFFSET)
            module.offset = field.value;
        else if (field.number == FRAME_BUILD_ID && field.wire == PROTO_BYTES)
            module.id_len = backtrace_build_id(module.id, (const char *)field.bytes, field.len);
    }
    int32_t image = backtrace_image(&t->modules, &module);
    if (image >= 0 && pc >= rel_pc)
        ((struct report_image *)t->build.images.rows)[image].load = pc - rel_pc;
    *out = build_named(&t->build, image, image >= 0 ? rel_pc : pc, MIRE_FOUND_PC, &named);
    return ended(t, &message);
}

static bool read_thread(struct tombstone *t, struct proto message)
{
    struct tombstone_thread thread = {.name = ""};
    struct proto_field field;
    size_t depth = 0;
    while (proto_next(&field, &message)) {
        if (field.number == THREAD_ID)
            thread.tid = field.value & UINT32_MAX;
        else if (field.number == THREAD_NAME)
            thread.name = text_of(t, &field);
        else if (field.number == THREAD_REGISTER)
            t->registers++;
        else if (field.number == THREAD_MEMORY)
            t->memory++;
        else if (field.number == THREAD_FRAME && depth == MIRE_BACKTRACE_MAX)
            t->deeper++;
        else if (field.number == THREAD_FRAME && !read_frame(t, &t->frames[depth++], proto_within(&message, &field)))
            return false;
    }
    thread.node = build_stack(&t->build, t->frames, depth);
    struct tombstone_thread *row = build_push(&t->build, &t->threads, sizeof *row, MIRE_WIRE_THREADS_MAX + 1);
    if (row)
        *row = thread;
    return ended(t, &message);
}

/* An entry of the map: the number, and the thread. */
static bool read_entry(struct tombstone *t, struct proto message)
{
    struct proto_field field;
    while (proto_next(&field, &message))
        if (field.number == 2 && !read_thread(t, proto_within(&message, &field)))
            return false;
    return ended(t, &message);
}

static void read_arch(struct tombstone *t, uint64_t arch)
{
    static const char *const names[] = {"arm", "aarch64", "x86", "x86_64", "riscv64"};
    if (arch < sizeof names / sizeof *names)
        t->build.report->device.arch = names[arch];
}

static bool read_field(struct tombstone *t, const struct proto_field *field)
{
    struct proto inner = proto_within(&t->message, field);
    bool zone;
    switch (field->number) {
    case TOMB_ARCH:
        read_arch(t, field->value);
        return true;
    case TOMB_FINGERPRINT:
        anr_fingerprint(&t->build, text_of(t, field));
        return true;
    case TOMB_TIMESTAMP:
        if (!when_parse(&t->crash.wall_ms, &zone, (const char *)field->bytes, field->len))
            t->crash.wall_ms = 0;
        return true;
    case TOMB_PID:
        t->crash.pid = field->value;
        return true;
    case TOMB_TID:
        t->crash.tid = field->value;
        t->has_event = true;
        return true;
    case TOMB_COMMAND:
        t->command = t->command[0] ? t->command : text_of(t, field);
        return true;
    case TOMB_SIGNAL:
        return read_signal(t, inner);
    case TOMB_MESSAGE:
        t->crash.message = text_of(t, field);
        return true;
    case TOMB_CAUSE:
        return read_cause(t, inner);
    case TOMB_THREAD:
        return read_entry(t, inner);
    case TOMB_UPTIME:
        t->crash.uptime_ms = (struct fact){field->value <= UINT32_MAX ? field->value * 1000 : 0, true};
        return true;
    default:
        t->mappings += field->number == TOMB_MAPPING;
        t->logs += field->number == TOMB_LOG;
        t->fds += field->number == TOMB_FD;
        return true;
    }
}

static void note_losses(struct tombstone *t)
{
    build_note(&t->build, "%zu registers, %zu pieces of memory, %zu mappings, %zu logs and %zu open files are left out",
               t->registers, t->memory, t->mappings, t->logs, t->fds);
    if (t->deeper)
        build_note(&t->build, "%zu frames of stacks deeper than %d frames are left out", t->deeper, MIRE_BACKTRACE_MAX);
}

enum decode_outcome tombstone_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                     const char *bytes, size_t len)
{
    struct tombstone *t = arena_alloc(arena, sizeof *t);
    struct proto_field field;
    if (!t)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&t->build, out, arena);
    t->modules.build = &t->build;
    t->message = proto_of(bytes, len);
    t->crash.signal_name = t->crash.message = t->command = "";
    while (!t->wrong && proto_next(&field, &t->message))
        read_field(t, &field);
    ended(t, &t->message);
    if (!t->wrong && !t->has_event)
        refuse(t, len, "this tombstone does not tell which thread crashed");
    if (!t->wrong && !t->threads.count)
        refuse(t, len, "this tombstone has no thread");
    if (t->wrong && !t->build.failed) {
        fault->position = t->place;
        snprintf(fault->text, sizeof fault->text, "%s", t->wrong);
        return MIRE_DECODE_MALFORMED;
    }
    anr_process(&t->build, t->command);
    tombstone_finish(&t->build, &t->crash, t->threads.rows, t->threads.count);
    note_losses(t);
    return build_end(&t->build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
}
