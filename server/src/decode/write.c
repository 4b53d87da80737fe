/*
 * write.c - one function a section, in the order of the schema. Unknown facts are left out.
 */
#include "decode/write_inside.h"

#include "document/exit.h"

#include "base/id.h"
#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 3 /* of zstd: stored reports are read more often than written */

static void put_hex(struct json_writer *w, const char *key, const uint8_t *bytes, size_t len)
{
    char hex[2 * MIRE_BUILD_ID_MAX + 1];
    hex_format(hex, bytes, len);
    if (len)
        json_write_text(w, key, hex);
}

static void write_head(struct json_writer *w, const struct report *report)
{
    const struct report_app *app = &report->app;
    const struct report_device *device = &report->device;
    json_write_u64(w, MIRE_NAME_MIRE, MIRE_WIRE_VERSION);
    json_write_text(w, MIRE_NAME_ID, report->id);
    json_write_text(w, MIRE_NAME_KIND,
                    report->kind == MIRE_REPORT_MEMORY    ? MIRE_NAME_MEMORY
                    : report->kind == MIRE_REPORT_SESSION ? MIRE_NAME_SESSION
                                                          : MIRE_NAME_EVENT);
    json_write_open(w, MIRE_NAME_APP, '{');
    json_write_text(w, MIRE_NAME_NAME, app->name);
    json_write_text(w, MIRE_NAME_VERSION, app->version);
    put_text(w, MIRE_NAME_BUILD, app->build);
    put_text(w, MIRE_NAME_CHANNEL, app->channel);
    json_write_close(w, '}');
    json_write_open(w, MIRE_NAME_DEVICE, '{');
    put_hex(w, MIRE_NAME_INSTALL, device->install, sizeof device->install);
    json_write_text(w, MIRE_NAME_OS, device->os);
    put_text(w, MIRE_NAME_OS_VERSION, device->os_version);
    put_text(w, MIRE_NAME_MODEL, device->model);
    put_text(w, MIRE_NAME_CLASS, device->class_name);
    json_write_text(w, MIRE_NAME_ARCH, device->arch);
    put_fact(w, MIRE_NAME_CPU_COUNT, device->cpu_count);
    put_fact(w, MIRE_NAME_MEMORY_BYTES, device->memory_bytes);
    json_write_close(w, '}');
}

/* All digits: a share may be small. */
static void write_share(struct json_writer *w, const struct report_probability *row)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.9g", row->p);
    json_write_raw(w, row->plugin, digits);
}

static void write_origin(struct json_writer *w, const struct report *report)
{
    const struct report_process *process = &report->process;
    if (report->sdk_name[0]) {
        json_write_open(w, MIRE_NAME_SDK, '{');
        json_write_text(w, MIRE_NAME_NAME, report->sdk_name);
        json_write_text(w, MIRE_NAME_VERSION, report->sdk_version);
        json_write_close(w, '}');
    }
    if (report->sampling_count) {
        json_write_open(w, MIRE_NAME_SAMPLING, '{');
        for (size_t i = 0; i < report->sampling_count; i++)
            write_share(w, &report->sampling[i]);
        json_write_close(w, '}');
    }
    json_write_open(w, MIRE_NAME_PROCESS, '{');
    json_write_u64(w, MIRE_NAME_PID, process->pid);
    json_write_text(w, MIRE_NAME_NAME, process->name);
    put_text(w, MIRE_NAME_PATH, process->path);
    put_fact(w, MIRE_NAME_START_WALL_MS, process->start_wall_ms);
    put_fact(w, MIRE_NAME_START_NS, process->start_ns);
    put_fact(w, MIRE_NAME_THREAD_COUNT, process->thread_count);
    put_fact(w, MIRE_NAME_CPU_USER_MS, process->cpu_user_ms);
    put_fact(w, MIRE_NAME_CPU_SYSTEM_MS, process->cpu_system_ms);
    put_fact(w, MIRE_NAME_RSS_BYTES, process->rss_bytes);
    json_write_close(w, '}');
}

static void write_crumbs(struct json_writer *w, const struct report_context *context)
{
    if (!context->crumb_count)
        return;
    json_write_open(w, MIRE_NAME_CRUMBS, '{');
    COLUMN(w, MIRE_NAME_AT_MS, json_write_u64, context->crumbs, context->crumb_count, at_ms);
    COLUMN(w, MIRE_NAME_TEXTS, json_write_text, context->crumbs, context->crumb_count, text);
    json_write_close(w, '}');
}

static void write_context(struct json_writer *w, const struct report_context *context)
{
    bool any = context->state || context->scene || context->user || context->tag_count || context->crumb_count;
    if (!any)
        return;
    json_write_open(w, MIRE_NAME_CONTEXT, '{');
    put_text(w, MIRE_NAME_STATE, context->state);
    put_text(w, MIRE_NAME_SCENE, context->scene);
    put_text(w, MIRE_NAME_USER, context->user);
    if (context->user_hashed)
        json_write_bool(w, MIRE_NAME_USER_HASHED, true);
    if (context->tag_count)
        json_write_open(w, MIRE_NAME_TAGS, '{');
    for (size_t i = 0; i < context->tag_count; i++)
        json_write_text(w, context->tags[i].name, context->tags[i].value);
    if (context->tag_count)
        json_write_close(w, '}');
    write_crumbs(w, context);
    json_write_close(w, '}');
}

static void write_images(struct json_writer *w, const struct report *report)
{
    json_write_open(w, MIRE_NAME_IMAGES, '[');
    for (size_t i = 0; i < report->image_count; i++) {
        const struct report_image *image = &report->images[i];
        json_write_open(w, NULL, '{');
        json_write_text(w, MIRE_NAME_NAME, image->name);
        put_hex(w, MIRE_NAME_ID, image->id, image->id_len);
        put_text(w, MIRE_NAME_ARCH, image->arch);
        json_write_u64(w, MIRE_NAME_LOAD, image->load);
        put_some(w, MIRE_NAME_BASE, image->base);
        put_fact(w, MIRE_NAME_SIZE, image->size);
        if (image->tie != MIRE_TIE_UNKNOWN)
            json_write_bool(w, MIRE_NAME_OWN, image->tie == MIRE_TIE_SAME);
        if (image->from_start)
            json_write_bool(w, MIRE_NAME_FROM_START, true);
        if (image->java)
            json_write_bool(w, MIRE_NAME_JAVA, true);
        put_text(w, MIRE_NAME_SCRIPT, image->script);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static bool knows_functions(const struct report *report)
{
    for (size_t i = 0; i < report->frame_count; i++)
        if (report->frames[i].into)
            return true;
    return false;
}

static void write_frames(struct json_writer *w, const struct report *report, const struct write_names *names)
{
    json_write_open(w, MIRE_NAME_FRAMES, '{');
    COLUMN(w, MIRE_NAME_IMAGE, json_write_i64, report->frames, report->frame_count, image);
    COLUMN(w, MIRE_NAME_OFFSET, json_write_u64, report->frames, report->frame_count, offset);
    COLUMN(w, MIRE_NAME_FOUND, json_write_u64, report->frames, report->frame_count, found);
    if (knows_functions(report))
        COLUMN(w, MIRE_NAME_INTO, json_write_u64, report->frames, report->frame_count, into);
    write_names_of_frames(w, report, names);
    json_write_close(w, '}');
}

static void write_nodes(struct json_writer *w, const struct report *report)
{
    json_write_open(w, MIRE_NAME_NODES, '{');
    json_write_open(w, MIRE_NAME_UP, '[');
    for (size_t n = 1; n < report->node_count; n++)
        json_write_u64(w, NULL, n - report->nodes[n].parent);
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_FRAME, '[');
    for (size_t n = 1; n < report->node_count; n++)
        json_write_u64(w, NULL, report->nodes[n].frame);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

/* One letter a sample. */
static void write_letters(struct json_writer *w, const char *key, const struct report_event *event, bool loss)
{
    char *letters = calloc(event->sample_count + 1, 1);
    bool any = false;
    w->failed |= !letters;
    for (size_t i = 0; letters && i < event->sample_count; i++) {
        letters[i] = loss ? event->samples[i].loss : event->samples[i].state;
        any |= letters[i] != (loss ? '.' : '?');
    }
    if (letters && any)
        json_write_text(w, key, letters);
    free(letters);
}

static void write_samples(struct json_writer *w, const struct report_event *event)
{
    size_t count = event->sample_count;
    bool system_call = false, thread = false, folded = false, skipped = false;
    for (size_t i = 0; i < count; i++) {
        system_call |= event->samples[i].syscall >= 0;
        thread |= event->samples[i].thread != 0;
        folded |= event->samples[i].folded != 0;
        skipped |= event->samples[i].skipped != 0;
    }
    json_write_open(w, MIRE_NAME_SAMPLES, '{');
    put_some(w, MIRE_NAME_PERIOD_MS, event->period_ms);
    COLUMN(w, MIRE_NAME_AT_MS, json_write_u64, event->samples, count, at_ms);
    COLUMN(w, MIRE_NAME_WEIGHT_MS, json_write_u64, event->samples, count, weight_ms);
    COLUMN(w, MIRE_NAME_NODE, json_write_u64, event->samples, count, node);
    write_letters(w, MIRE_NAME_STATE, event, false);
    if (system_call)
        COLUMN(w, MIRE_NAME_SYSCALL, json_write_i64, event->samples, count, syscall);
    if (thread)
        COLUMN(w, MIRE_NAME_THREAD, json_write_u64, event->samples, count, thread);
    write_letters(w, MIRE_NAME_LOSS, event, true);
    if (folded)
        COLUMN(w, MIRE_NAME_FOLDED, json_write_u64, event->samples, count, folded);
    if (skipped)
        COLUMN(w, MIRE_NAME_SKIPPED, json_write_u64, event->samples, count, skipped);
    json_write_close(w, '}');
}

static void write_lock(struct json_writer *w, const struct report_lock *lock)
{
    if (!lock->known)
        return;
    json_write_open(w, MIRE_NAME_LOCK, '{');
    json_write_u64(w, MIRE_NAME_ADDRESS, lock->address);
    put_fact(w, MIRE_NAME_OWNER_TID, lock->owner_tid);
    json_write_close(w, '}');
}

static void write_loads(struct json_writer *w, const struct report_event *event)
{
    write_lock(w, &event->lock);
    if (event->cpu.known) {
        json_write_open(w, MIRE_NAME_CPU, '{');
        json_write_u64(w, MIRE_NAME_WINDOW_MS, event->cpu.window_ms);
        json_write_u64(w, MIRE_NAME_PERCENT, event->cpu.percent);
        put_fact(w, MIRE_NAME_LIMIT_PERCENT, event->cpu.limit_percent);
        json_write_close(w, '}');
    }
    if (event->disk.known) {
        json_write_open(w, MIRE_NAME_DISK, '{');
        json_write_u64(w, MIRE_NAME_WINDOW_MS, event->disk.window_ms);
        json_write_u64(w, MIRE_NAME_READ_BYTES, event->disk.read_bytes);
        json_write_u64(w, MIRE_NAME_WRITE_BYTES, event->disk.write_bytes);
        put_fact(w, MIRE_NAME_LIMIT_BYTES, event->disk.limit_bytes);
        json_write_close(w, '}');
    }
    if (event->frames.known) {
        json_write_open(w, MIRE_NAME_FRAMES, '{');
        put_fact(w, MIRE_NAME_WINDOW_MS, event->frames.window_ms);
        put_fact(w, MIRE_NAME_PERIOD_US, event->frames.period_us);
        json_write_u64(w, MIRE_NAME_TICKS, event->frames.ticks);
        json_write_u64(w, MIRE_NAME_DROPPED, event->frames.dropped);
        put_fact(w, MIRE_NAME_LONGEST_MS, event->frames.longest_ms);
        json_write_close(w, '}');
    }
    if (event->suppressed.count) {
        json_write_open(w, MIRE_NAME_SUPPRESSED, '{');
        json_write_u64(w, MIRE_NAME_COUNT, event->suppressed.count);
        put_fact(w, MIRE_NAME_DURATION_MS, event->suppressed.duration_ms);
        json_write_close(w, '}');
    }
}

static void write_watched(struct json_writer *w, const struct report_watched *thread)
{
    if (!thread->tid.known)
        return;
    json_write_open(w, MIRE_NAME_THREAD, '{');
    put_fact(w, MIRE_NAME_TID, thread->tid);
    put_text(w, MIRE_NAME_NAME, thread->name);
    put_fact(w, MIRE_NAME_CPU_MS, thread->cpu_ms);
    put_fact(w, MIRE_NAME_VOLUNTARY_SWITCHES, thread->voluntary_switches);
    put_fact(w, MIRE_NAME_INVOLUNTARY_SWITCHES, thread->involuntary_switches);
    put_fact(w, MIRE_NAME_MAJOR_FAULTS, thread->major_faults);
    put_fact(w, MIRE_NAME_READ_BYTES, thread->read_bytes);
    put_fact(w, MIRE_NAME_WRITE_BYTES, thread->write_bytes);
    json_write_close(w, '}');
}

static void write_choices(struct json_writer *w, const struct report_event *event)
{
    if (event->blame.known) {
        json_write_open(w, MIRE_NAME_BLAME, '{');
        json_write_u64(w, MIRE_NAME_NODE, event->blame.node);
        json_write_u64(w, MIRE_NAME_SHARE_PPM, event->blame.share_ppm);
        json_write_close(w, '}');
    }
    if (event->hot.known) {
        json_write_open(w, MIRE_NAME_HOT, '{');
        json_write_u64(w, MIRE_NAME_NODE, event->hot.node);
        json_write_u64(w, MIRE_NAME_RUN, event->hot.run);
        json_write_open(w, MIRE_NAME_REPEAT, '[');
        for (size_t i = 0; i < event->hot.repeat_count; i++)
            json_write_u64(w, NULL, event->hot.repeat[i]);
        json_write_close(w, ']');
        json_write_close(w, '}');
    }
}

static void write_event(struct json_writer *w, const struct report *report)
{
    const struct report_event *event = &report->event;
    json_write_open(w, MIRE_NAME_EVENT, '{');
    json_write_u64(w, MIRE_NAME_BEGIN_NS, event->begin_ns);
    put_fact(w, MIRE_NAME_BEGIN_WALL_MS, event->begin_wall_ms);
    json_write_u64(w, MIRE_NAME_DURATION_MS, event->duration_ms);
    put_some(w, MIRE_NAME_THRESHOLD_MS, event->threshold_ms);
    put_text(w, MIRE_NAME_TRIGGER, event->trigger);
    put_text(w, MIRE_NAME_NAME, event->name);
    json_write_bool(w, MIRE_NAME_OPEN, event->open);
    if (event->launch)
        json_write_bool(w, MIRE_NAME_LAUNCH, true);
    if (event->foreground_known)
        json_write_bool(w, MIRE_NAME_FOREGROUND, event->foreground);
    put_some(w, MIRE_NAME_LATE_MS, event->late_ms);
    put_some(w, MIRE_NAME_SUSPENDED_MS, event->suspended_ms);
    put_some(w, MIRE_NAME_BEGIN_SLACK_MS, event->begin_slack_ms);
    put_some(w, MIRE_NAME_END_SLACK_MS, event->end_slack_ms);
    put_some(w, MIRE_NAME_UNSURE_MS, event->unsure_ms);
    put_some(w, MIRE_NAME_WAIT_NODE, event->wait_node);
    json_write_text(w, MIRE_NAME_GATE, gate_name(event->gate));
    put_text(w, MIRE_NAME_GUESS, event->guess);
    write_loads(w, event);
    write_watched(w, &event->thread);
    write_samples(w, event);
    write_choices(w, event);
    json_write_close(w, '}');
}

static void write_threads(struct json_writer *w, const struct report *report)
{
    json_write_open(w, MIRE_NAME_THREADS, '[');
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct report_thread *thread = &report->threads[i];
        const char state[2] = {thread->state, '\0'};
        json_write_open(w, NULL, '{');
        json_write_u64(w, MIRE_NAME_TID, thread->tid);
        put_text(w, MIRE_NAME_NAME, thread->name);
        put_text(w, MIRE_NAME_ROLE, thread->role);
        put_fact(w, MIRE_NAME_CPU_MS, thread->cpu_ms);
        json_write_u64(w, MIRE_NAME_NODE, thread->node);
        json_write_text(w, MIRE_NAME_STATE, state);
        json_write_i64(w, MIRE_NAME_SYSCALL, thread->syscall);
        write_lock(w, &thread->lock);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void write_cost(struct json_writer *w, const struct report_cost *cost)
{
    json_write_open(w, MIRE_NAME_COST, '{');
    put_some(w, MIRE_NAME_SAMPLES, cost->samples);
    put_some(w, MIRE_NAME_STOPPED_MAX_NS, cost->stopped_max_ns);
    put_some(w, MIRE_NAME_STOPPED_SUM_NS, cost->stopped_sum_ns);
    put_some(w, MIRE_NAME_UNWIND_SUM_NS, cost->unwind_sum_ns);
    put_some(w, MIRE_NAME_WATCH_CPU_US, cost->watch_cpu_us);
    put_fact(w, MIRE_NAME_WAKEUPS, cost->wakeups);
    put_fact(w, MIRE_NAME_STORED_BYTES, cost->stored_bytes);
    put_fact(w, MIRE_NAME_PERIOD_RAISED, cost->period_raised);
    json_write_close(w, '}');
}

static void write_rest(struct json_writer *w, const struct report *report)
{
    exit_write(w, MIRE_NAME_EXIT, &report->exit);
    write_cost(w, &report->cost);
    if (report->bucket_count) {
        json_write_open(w, MIRE_NAME_TURNS, '{');
        COLUMN(w, MIRE_NAME_FROM_MS, json_write_u64, report->buckets, report->bucket_count, from_ms);
        COLUMN(w, MIRE_NAME_COUNT, json_write_u64, report->buckets, report->bucket_count, count);
        json_write_close(w, '}');
    }
    write_numbers(w, MIRE_NAME_DROPS, report->drops, report->drop_count);
    if (!report->note_count)
        return;
    json_write_open(w, MIRE_NAME_NOTES, '[');
    for (size_t i = 0; i < report->note_count; i++)
        json_write_text(w, NULL, report->notes[i]);
    json_write_close(w, ']');
}

/* All that a session record does not have. */
static void write_body(struct json_writer *w, const struct report *report, const struct write_names *names)
{
    write_images(w, report);
    write_java(w, report);
    write_scripts(w, report, names);
    write_frames(w, report, names);
    write_nodes(w, report);
    write_threads(w, report);
    if (report->kind == MIRE_REPORT_MEMORY)
        report_write_memory(w, &report->memory);
    else
        write_event(w, report);
    write_rest(w, report);
}

int report_write(char **text_out, size_t *len_out, const struct report *report)
{
    struct json_writer w;
    struct write_names names;
    json_write_begin(&w);
    if (!write_names_find(&names, report)) {
        write_names_free(&names);
        return -1;
    }
    json_write_open(&w, NULL, '{');
    write_head(&w, report);
    write_origin(&w, report);
    write_context(&w, &report->context);
    if (report->kind == MIRE_REPORT_SESSION)
        report_write_session(&w, &report->session);
    else
        write_body(&w, report, &names);
    json_write_close(&w, '}');
    write_names_free(&names);
    if (w.failed) {
        free(w.text);
        return -1;
    }
    *text_out = w.text;
    *len_out = w.len;
    return 0;
}

int report_pack(unsigned char **bytes_out, size_t *len_out, const struct report *report)
{
    char *text;
    size_t len;
    if (report_write(&text, &len, report))
        return -1;
    size_t room = ZSTD_compressBound(len);
    unsigned char *bytes = malloc(room);
    size_t packed = bytes ? ZSTD_compress(bytes, room, text, len, LEVEL) : 0;
    free(text);
    if (!bytes || ZSTD_isError(packed)) {
        free(bytes);
        return -1;
    }
    *bytes_out = bytes;
    *len_out = packed;
    return 0;
}
