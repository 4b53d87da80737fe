/*
 * matrix.c - Tencent Matrix's iOS reports of lags and crashes, and its call trees of power, disk and frames.
 *
 *     dump_type                                       event
 *     2001 foreground, 2002 background main block     hang, in the foreground, background
 *     2003 CPU                                        cpu, of the threads that used most
 *     2007 launch, 2009 block + too many threads      hang, at launch; hang, with the number of threads
 *     2010 blocked and killed                         hang, killed in it
 *     2011 power, 2013 disk I/O, 2014 FPS             power, disk, frames
 *     2005 self-defined, 2000 none, 10000 test        captured by the app; test
 *
 * dump_type wins over the name. The file is KSCrash's (ksreport.h), with these differences: the first thread with index
 * 0 is the stack that the ring held (frames with repeat_count), the second the main thread as it was at the end; the
 * thread that `crashed` is Matrix's own monitor and never the culprit. No length of a hang is in it.
 */
#include "decode/ksreport.h"
#include "decode/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RING_MS 50 /* between two samples of Matrix's ring */

enum matrix_dump {
    DUMP_FOREGROUND = 2001,
    DUMP_BACKGROUND = 2002,
    DUMP_CPU = 2003,
    DUMP_LAUNCH = 2007,
    DUMP_THREADS = 2009,
    DUMP_KILLED = 2010,
    DUMP_POWER = 2011,
    DUMP_DISK = 2013,
    DUMP_FRAMES = 2014,
    DUMP_TEST = 10000,
};

static bool has_trees(const struct json *json)
{
    return json_kind(json, 0) == MIRE_JSON_OBJECT && json_member(json, 0, "dump_type") &&
           json_member(json, 0, "stack_string");
}

bool matrix_is(const struct json *json)
{
    if (has_trees(json))
        return true;
    uint32_t crash = kscrash_is(json) ? look_root(json, "crash") : 0;
    return crash &&
           (look(json, crash, "error", "user_reported", "dump_type") || look_one(json, crash, "threads_profile"));
}

/* ---- lags ---- */

/* Matrix's own thread, which took the report. */
static bool is_monitor(struct ks *ks, uint32_t thread)
{
    return look_flag(ks->json, look_one(ks->json, thread, "crashed")) ||
           look_flag(ks->json, look_one(ks->json, thread, "current_thread"));
}

static uint32_t tree_frame(void *context, uint32_t at, bool caller)
{
    struct ks *ks = context;
    const struct json *json = ks->json;
    struct fact address = look_number(json, look_one(json, at, "instruction_address"));
    const char *symbol = look_text(ks->b, json, at, "object_name"); /* it holds the symbol, not the module */
    bool named = symbol[0] && strcmp(symbol, "???") != 0 && strcmp(symbol, "<redacted>") != 0;
    if (!address.known)
        return MIRE_BUILD_NONE;
    const struct report_names *names = named ? build_name(ks->b, symbol, "", 0) : NULL;
    uint64_t inside = caller && address.value ? address.value - 1 : address.value;
    struct fact begin = look_number(json, look_one(json, at, "image_address"));
    if (modules_find(&ks->modules, inside) || !begin.known || begin.value > inside)
        return modules_frame(&ks->modules, address.value, caller, names);
    /* An older pod writes the module into each node. */
    const char *module = look_text(ks->b, json, at, "image_name");
    const struct report_image image = {.name = module, .load = begin.value, .from_start = true};
    const struct report_frame frame = {.image = strcmp(module, "???") ? build_image(ks->b, &image) : -1,
                                       .found = MIRE_FOUND_FRAME_POINTER,
                                       .offset = strcmp(module, "???") ? inside - begin.value : inside,
                                       .names = names};
    return build_frame(ks->b, &frame);
}

/* The content of the ring, as a tree: [{profile: {stack_string: [tree]}, index: 0}]. */
static uint64_t read_profile(struct ks *ks)
{
    const struct json *json = ks->json;
    uint32_t profiles = look_one(json, ks->crash, "threads_profile");
    uint32_t at = profiles + 1;
    uint64_t counted = 0;
    const struct tree_format format = {
        .count = "sample", .children = "child", .unit_ms = RING_MS, .context = ks, .frame = tree_frame};
    for (uint32_t i = 0; i < look_count(json, profiles); i++, at = json_next(json, at)) {
        uint64_t more;
        if (look_number(json, look_one(json, at, "index")).value)
            continue;
        tree_samples(&more, ks->b, json, look(json, at, "profile", "stack_string", NULL), &format);
        counted += more;
    }
    if (counted)
        ks->b->report->event.period_ms = RING_MS;
    return counted;
}

/* The stack that repeated in the ring is the hottest, with the repeat of each frame in it. */
static void keep_hot(struct ks *ks, const struct ks_stack *stack)
{
    size_t depth = 0;
    uint32_t *repeat;
    for (uint32_t node = stack->node; node && depth < stack->count; depth++)
        node = ((const struct report_node *)ks->b->nodes.rows)[node].parent;
    if (!stack->repeats || !stack->node || depth != stack->count || depth > 512)
        return;
    repeat = arena_array(ks->b->arena, depth, sizeof *repeat);
    ks->b->failed |= !repeat;
    if (!repeat)
        return;
    memcpy(repeat, stack->repeats, depth * sizeof *repeat);
    ks->b->report->event.hot = (struct report_hot){
        .known = true, .node = stack->node, .run = repeat[0], .repeat_count = depth, .repeat = repeat};
}

/* The stack of the main thread: the ring's, or as it was at the end. `samples`: no tree was there. */
static void read_main(struct ks *ks, uint32_t thread, bool samples)
{
    struct ks_stack stack;
    ks_stack(&stack, ks, thread);
    uint32_t times = stack.repeats && stack.count ? stack.repeats[0] : 1;
    const struct report_sample sample = {.weight_ms = times < 100000 ? times * RING_MS : RING_MS,
                                         .node = stack.node,
                                         .state = '?',
                                         .syscall = -1,
                                         .loss = '.',
                                         .skipped = stack.skipped};
    if (samples)
        build_sample(ks->b, &sample);
    keep_hot(ks, &stack);
}

static void read_lag_threads(struct ks *ks)
{
    const struct json *json = ks->json;
    uint32_t threads = look_one(json, ks->crash, "threads"), count = look_count(json, threads), at = threads + 1;
    bool main_seen = false, tree = read_profile(ks) > 0;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct fact index = look_number(json, look_one(json, at, "index"));
        bool handled = look_is(json, look_one(json, at, "name"), "HandledThread");
        listed += !handled;
        if (!main_seen && (handled || (index.known && index.value == 0))) {
            main_seen = true;
            read_main(ks, at, !tree);
            continue;
        }
        ks_thread(ks, at, is_monitor(ks, at) ? "monitor" : index.known && !index.value ? "main, at the end" : "");
    }
    ks->b->report->process.thread_count = (struct fact){listed, listed != 0};
    ks->b->report->event.thread = (struct report_watched){.tid = {0, true}, .name = "main"};
}

/* Threads by their use of the processor, in percent. */
static void read_cpu_threads(struct ks *ks)
{
    const struct json *json = ks->json;
    struct report_cpu *cpu = &ks->b->report->event.cpu;
    uint32_t threads = look_one(json, ks->crash, "threads"), count = look_count(json, threads), at = threads + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct fact usage = look_number(json, look_one(json, at, "cpu_usage"));
        uint32_t before = ks->b->threads.count;
        if (!usage.known || look_is(json, look_one(json, at, "name"), "HandledThread"))
            continue;
        ks_thread(ks, at, "");
        if (ks->b->threads.count == before)
            break;
        const struct report_thread *rows = ks->b->threads.rows;
        const struct report_sample sample = {.weight_ms = usage.value < UINT32_MAX ? (uint32_t)usage.value : 0,
                                             .node = rows[before].node,
                                             .state = 'R',
                                             .syscall = -1,
                                             .thread = before + 1,
                                             .loss = '.'};
        build_sample(ks->b, &sample);
        cpu->percent += usage.value < UINT32_MAX - cpu->percent ? usage.value : 0;
    }
    cpu->known = true;
    build_note(ks->b, "samples weigh percent of a core; the duration is unknown");
}

static void read_dump_type(struct ks *ks, uint64_t dump)
{
    struct report_event *event = &ks->b->report->event;
    switch (dump) {
    case DUMP_BACKGROUND:
    case DUMP_FOREGROUND:
        event->foreground_known = true;
        event->foreground = dump == DUMP_FOREGROUND;
        break;
    case DUMP_LAUNCH:
        event->launch = true;
        break;
    case DUMP_THREADS:
        event->guess = "blocked_many_threads";
        break;
    case DUMP_KILLED:
        event->open = true;
        ks->b->report->exit =
            (struct report_exit){.known = true, .verdict = "watchdog_kill", .confidence_ppm = 1000000};
        break;
    case DUMP_CPU:
        event->trigger = "cpu";
        break;
    case DUMP_POWER:
        event->trigger = "power";
        break;
    case DUMP_DISK:
        event->trigger = "disk";
        break;
    case DUMP_FRAMES:
        event->trigger = "frames";
        break;
    case DUMP_TEST:
        event->trigger = "test";
        break;
    default:
        event->trigger = "call";
        break;
    }
}

static enum decode_outcome read_lag(struct ks *ks, uint32_t user)
{
    const struct json *json = ks->json;
    struct fact dump = look_number(json, look_one(json, user, "dump_type"));
    if (!dump.known)
        dump = look_number(json, look_one(json, user, "name"));
    uint32_t status = look_one(json, user, "snapshot_status");
    read_dump_type(ks, dump.value);
    ks->b->report->event.gate = MIRE_GATE_POLL;
    if (dump.value == DUMP_CPU)
        read_cpu_threads(ks);
    else
        read_lag_threads(ks);
    if (dump.value != DUMP_CPU)
        build_note(ks->b, "how long it lasted is not in Matrix's file");
    if (status && (int64_t)look_number(json, status).value < 0)
        build_note(ks->b, "other threads could not be stopped (snapshot_status %" PRId64 ")",
                   (int64_t)look_number(json, status).value);
    return ks_end(ks, build_printf(ks->b, "matrix %" PRIu64, dump.value));
}

/* ---- trees of power, disk, frames ---- */

/* Where the roots of a tree are innermost frames: as Matrix does of power, and where frames of the thread's entry are
 * at the other end. */
static bool is_from_leaf(uint64_t dump)
{
    return dump == DUMP_POWER;
}

static enum decode_outcome read_trees(struct ks *ks)
{
    const struct json *json = ks->json;
    struct fact dump = look_number(json, look_root(json, "dump_type"));
    struct report_event *event = &ks->b->report->event;
    uint32_t trees = look_root(json, "stack_string");
    uint32_t custom = look_root(json, "custom_info");
    uint64_t counted = 0;
    const struct tree_format format = {.count = "sample",
                                       .children = "child",
                                       .from_leaf = is_from_leaf(dump.value),
                                       .unit_ms = 1,
                                       .context = ks,
                                       .frame = tree_frame};
    if (json_kind(json, trees) != MIRE_JSON_ARRAY)
        return foreign_wrong(ks->foreign, "/stack_string", "must be a list of trees");
    read_dump_type(ks, dump.value);
    event->name = build_string(ks->b, json, look_one(json, custom, "scene"));
    if (!event->name[0])
        event->name = build_string(ks->b, json, look_root(json, "scene"));
    event->frames.longest_ms = look_number(json, look_one(json, custom, "frame_interval"));
    event->frames.known = dump.value == DUMP_FRAMES && event->frames.longest_ms.known;
    tree_samples(&counted, ks->b, json, trees, &format);
    if (dump.value == DUMP_FRAMES)
        build_note(ks->b, "weights are 1 ms a sample; Matrix takes one each 1 or 2 ms");
    else
        build_note(ks->b, "weights are counts, not times");
    return ks_end(ks, build_printf(ks->b, "matrix %" PRIu64, dump.value));
}

enum decode_outcome matrix_document(struct foreign *foreign, const struct json *json)
{
    struct build b;
    struct ks ks;
    if (!ks_begin(&ks, foreign, &b, json))
        return MIRE_DECODE_NO_MEMORY;
    b.report->sdk_name = "Matrix";
    b.report->sdk_version = look_text(&b, json, ks.report, "version");
    if (has_trees(json))
        return read_trees(&ks);
    uint32_t user = ks.error ? look_one(json, ks.error, "user_reported") : 0;
    if (user)
        return read_lag(&ks, user);
    return kscrash_rest(&ks);
}
