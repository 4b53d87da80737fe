/*
 * ips_text.c - the text of spindump, as hangs, stackshots and reports of CPU and disk use have it.
 *
 *     Command:     Shop                       what it is about
 *     Event:       hang                       hang, cpu usage, disk writes, Timed Out Runloop Hang ...
 *     Duration:    9.85s
 *     Steps:       99 (100ms sampling interval)
 *
 *     Process:     Shop [312]                 those of other processes are passed over
 *       Thread 0x1f4   DispatchQueue "com.apple.main-thread"(1)   49 samples (1-49)   priority 46
 *         49  start + 2236 (dyld + 33712) [0x1ad...]
 *           49  main + 64 (Shop + 8192) [0x100...]          two spaces a level; * before the number: in the kernel
 *             30  -[Cart total] + 12 (Shop + 9000)
 *
 *     Binary Images:
 *       0x100000000 - 0x100123fff  Shop (4.2) <0A1B2C3D-...> /var/containers/.../Shop
 *
 * The main thread's tree becomes the samples; of each other thread the way of the largest counts is kept.
 */
#include "decode/ips.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024

struct line {
    const char *text;
    size_t len;
};

struct dump_level {
    size_t indent;
    uint32_t node;
    uint64_t own;
};

struct row { /* a line of a tree */
    size_t indent;
    uint64_t count;
    const char *name, *image;
    uint64_t offset;
    bool kernel;
};

struct spindump {
    struct ips *ips;
    struct build *b;
    struct apple_modules modules; /* of the list at the end, by name */
    const char *at, *end;
    uint64_t pid;
    bool has_pid, in_target, in_tree, main_thread, pending_there, any;
    uint32_t period_ms;
    struct row pending;
    struct dump_level levels[DEPTH_MAX];
    size_t depth;
    struct report_thread thread;
    uint64_t heaviest;
};

static bool next_line(struct spindump *d, struct line *out)
{
    if (d->at >= d->end)
        return false;
    const char *end = memchr(d->at, '\n', (size_t)(d->end - d->at));
    const char *stop = end ? end : d->end;
    *out = (struct line){d->at, (size_t)(stop - d->at)};
    if (out->len && out->text[out->len - 1] == '\r')
        out->len--;
    d->at = end ? end + 1 : d->end;
    return true;
}

/* The value of "Key:   value", NULL if the line is another. */
static const char *value_of(struct spindump *d, const struct line *line, const char *key)
{
    size_t len = strlen(key);
    if (line->len <= len || strncmp(line->text, key, len) || line->text[len] != ':')
        return NULL;
    size_t at = len + 1;
    while (at < line->len && (line->text[at] == ' ' || line->text[at] == '\t'))
        at++;
    return build_text(d->b, line->text + at, line->len - at);
}

/* ---- the list of modules, at the end ---- */

/* "0x100000000 - 0x100123fff  Shop (4.2) <UUID> /path": only what the frames need. */
static void read_image(struct spindump *d, const struct line *line)
{
    const char *text = build_text(d->b, line->text, line->len);
    const char *at = strstr(text, "0x");
    const char *id = strchr(text, '<'), *close = id ? strchr(id, '>') : NULL, *path = close ? strchr(close, '/') : NULL;
    if (!at || at - text > 8 || !close)
        return;
    char *after;
    struct apple_module module = {.begin = strtoull(at, &after, 16)};
    const char *dash = strstr(after, "- ");
    uint64_t last = dash && dash < id ? strtoull(dash + 2, NULL, 16) : 0;
    module.size = last > module.begin ? last - module.begin + 1 : 0;
    module.id_len = read_id(module.id, build_text(d->b, id + 1, (size_t)(close - id - 1)));
    module.name = path ? path : "";
    if (module.name[0])
        modules_add(&d->modules, &module);
}

static void read_images(struct spindump *d)
{
    const char *begin = d->at;
    struct line line;
    size_t count = 0;
    bool inside = false;
    for (const char *at = d->at; at && at < d->end; at = memchr(at, '\n', (size_t)(d->end - at)), at = at ? at + 1 : at)
        count++;
    if (!modules_begin(&d->modules, d->b, NULL, count < 4096 ? count : 4096))
        return;
    while (next_line(d, &line)) {
        if (memmem(line.text, line.len, "Binary Images:", 14))
            inside = true;
        else if (inside)
            read_image(d, &line);
    }
    d->at = begin;
}

/* The module that a frame calls by its base name. */
static struct apple_module *module_named(struct spindump *d, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < d->modules.count; i++) {
        const char *path = d->modules.rows[i].name;
        size_t whole = strlen(path);
        if (whole >= len && !strcmp(path + whole - len, name) && (whole == len || path[whole - len - 1] == '/'))
            return &d->modules.rows[i];
    }
    return NULL;
}

/* ---- the tree ---- */

/* "  *49  name + 12 (image + 345) [0x...]". */
static bool read_row(struct row *out, struct spindump *d, const struct line *line)
{
    const char *text = line->text, *end = line->text + line->len;
    size_t indent = 0;
    while (text < end && (*text == ' ' || *text == '*'))
        out->kernel = *text++ == '*';
    indent = (size_t)(text - line->text);
    const char *digits = text;
    while (text < end && isdigit((unsigned char)*text))
        text++;
    if (text == digits || text - digits > 9 || end - text < 3 || text[0] != ' ')
        return false;
    out->indent = indent;
    out->count = strtoull(digits, NULL, 10);
    while (text < end && *text == ' ')
        text++;
    const char *name = text;
    /* The last "(image + offset)": names hold brackets themselves. */
    const char *open = NULL;
    for (const char *at = text; at + 1 < end; at++)
        if (at[0] == ' ' && at[1] == '(' && memmem(at, (size_t)(end - at), " + ", 3))
            open = at;
    const char *plus = open ? memmem(open, (size_t)(end - open), " + ", 3) : NULL;
    if (!plus) {
        out->name = build_text(d->b, name, (size_t)(end - name));
        out->image = "";
        out->offset = 0;
        return true;
    }
    out->image = build_text(d->b, open + 2, (size_t)(plus - open - 2));
    out->offset = strtoull(plus + 3, NULL, 10);
    const char *within = memmem(name, (size_t)(open - name), " + ", 3); /* "sym + 12" */
    for (const char *more = within; more; more = memmem(more + 3, (size_t)(open - more - 3), " + ", 3))
        within = more;
    out->name = build_text(d->b, name, (size_t)((within ? within : open) - name));
    return true;
}

static uint32_t frame_of(struct spindump *d, const struct row *row, bool caller)
{
    struct apple_module *module = row->image[0] ? module_named(d, row->image) : NULL;
    struct report_image image = {.name = row->image, .from_start = true};
    bool nameless = !strcmp(row->name, "???") || !row->name[0];
    int32_t number = -1;
    if (module)
        number = modules_image(&d->modules, module);
    else if (row->image[0])
        number = build_image(d->b, &image);
    const struct report_frame frame = {.image = number,
                                       .found = caller ? MIRE_FOUND_FRAME_POINTER : MIRE_FOUND_PC,
                                       .offset = caller && row->offset ? row->offset - 1 : row->offset,
                                       .names = nameless ? NULL : build_name(d->b, row->name, "", 0)};
    return number < 0 && nameless ? MIRE_BUILD_NONE : build_frame(d->b, &frame);
}

static void leave(struct spindump *d)
{
    const struct dump_level *level = &d->levels[--d->depth];
    uint64_t weight = level->own * d->period_ms;
    const struct report_sample sample = {.weight_ms = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX,
                                         .node = level->node,
                                         .state = '?',
                                         .syscall = -1,
                                         .loss = '.'};
    if (!level->own)
        return;
    if (d->main_thread)
        build_sample(d->b, &sample);
    else if (level->own > d->heaviest) {
        d->heaviest = level->own;
        d->thread.node = level->node;
    }
}

/* A row is entered when the next one is known: only one with rows below it is a caller. */
static void enter_pending(struct spindump *d, size_t next_indent)
{
    const struct row *row = &d->pending;
    if (!d->pending_there)
        return;
    d->pending_there = false;
    while (d->depth && d->levels[d->depth - 1].indent >= row->indent)
        leave(d);
    if (d->depth == DEPTH_MAX)
        return;
    uint32_t parent = d->depth ? d->levels[d->depth - 1].node : 0;
    if (d->depth) {
        struct dump_level *above = &d->levels[d->depth - 1];
        above->own -= row->count < above->own ? row->count : above->own;
    }
    uint32_t frame = frame_of(d, row, next_indent > row->indent);
    d->levels[d->depth++] = (struct dump_level){row->indent, build_node(d->b, parent, frame), row->count};
}

static void end_tree(struct spindump *d)
{
    enter_pending(d, 0);
    while (d->depth)
        leave(d);
    if (d->in_tree && !d->main_thread)
        build_thread(d->b, &d->thread);
    d->in_tree = false;
}

/* "  Thread 0x1f4   DispatchQueue "com.apple.main-thread"(1)   Thread name "x"   49 samples (1-49)". */
static void begin_thread(struct spindump *d, const struct line *line)
{
    const char *text = build_text(d->b, line->text, line->len);
    const char *name = strstr(text, "Thread name \""), *queue = strstr(text, "DispatchQueue \"");
    const char *from = "";
    if (name)
        from = name + strlen("Thread name \"");
    else if (queue)
        from = queue + strlen("DispatchQueue \"");
    end_tree(d);
    d->main_thread = !d->any;
    d->any = true;
    d->in_tree = true;
    d->heaviest = 0;
    d->thread = (struct report_thread){.tid = strtoull(strstr(text, "Thread 0x") + 7, NULL, 16) & UINT32_MAX,
                                       .name = build_text(d->b, from, strcspn(from, "\"")),
                                       .role = "",
                                       .state = '?',
                                       .syscall = -1};
    if (d->main_thread) {
        d->b->report->event.thread.tid = (struct fact){d->thread.tid, true};
        d->b->report->event.thread.name = d->thread.name;
    }
}

/* "Process:         Shop [312]": is it the one that the file is about? */
static void begin_process(struct spindump *d, const char *value)
{
    const char *open = strrchr(value, '[');
    uint64_t pid = open ? strtoull(open + 1, NULL, 10) : 0;
    size_t len = open ? (size_t)(open - value) : strlen(value);
    while (len && value[len - 1] == ' ')
        len--;
    const char *name = d->b->report->process.name;
    end_tree(d);
    d->in_target = d->has_pid ? pid == d->pid : !name[0] || (strlen(name) == len && !strncmp(name, value, len));
}

static void read_tree_line(struct spindump *d, const struct line *line)
{
    struct row row = {0};
    size_t space = 0;
    while (space < line->len && line->text[space] == ' ')
        space++;
    if (line->len - space > 9 && !strncmp(line->text + space, "Thread 0x", 9)) {
        begin_thread(d, line);
        return;
    }
    if (!d->in_tree)
        return;
    if (line->len == space || !read_row(&row, d, line)) {
        if (line->len == space)
            end_tree(d);
        return;
    }
    enter_pending(d, row.indent);
    d->pending = row;
    d->pending_there = true;
}

/* ---- the lines in front ---- */

static void read_event(struct spindump *d, const char *value)
{
    struct report_event *event = &d->b->report->event;
    event->guess = value;
    if (strstr(value, "cpu usage"))
        event->trigger = "cpu";
    else if (strstr(value, "disk writes"))
        event->trigger = "disk";
    event->gate = MIRE_GATE_PING;
}

/* "UIKit-runloop-Shop: timeout 9850ms". */
static void read_reason(struct spindump *d, const char *value)
{
    const char *timeout = strstr(value, "timeout ");
    struct fact ms = timeout ? read_amount(timeout + 8) : (struct fact){0};
    if (ms.known && !d->b->report->event.duration_ms && ms.value < 604800000)
        d->b->report->event.duration_ms = (uint32_t)ms.value;
    if (value[0])
        build_note(d->b, "reason: %s", value);
}

static void read_os(struct spindump *d, const char *value)
{
    const char *digit = value + strcspn(value, "0123456789");
    size_t name = (size_t)(digit - value);
    while (name && value[name - 1] == ' ')
        name--;
    if (name)
        d->b->report->device.os = os_word(d->b, build_text(d->b, value, name));
    d->b->report->device.os_version = build_text(d->b, digit, strcspn(digit, " "));
}

static void read_version(struct spindump *d, const char *value)
{
    struct report_app *app = &d->b->report->app;
    size_t len = strcspn(value, " ");
    const char *open = strchr(value, '(');
    app->version = build_text(d->b, value, len);
    app->build = open ? build_text(d->b, open + 1, strcspn(open + 1, ")")) : app->build;
}

/* Whether the line was one of those in front. */
static bool read_key(struct spindump *d, const struct line *line)
{
    struct report *report = d->b->report;
    const char *value;
    struct fact amount;
    if ((value = value_of(d, line, "Date/Time"))) {
        d->ips->wall_ms = read_time(value);
    } else if ((value = value_of(d, line, "OS Version"))) {
        read_os(d, value);
    } else if ((value = value_of(d, line, "Command"))) {
        report->process.name = value;
    } else if ((value = value_of(d, line, "Path"))) {
        report->process.path = d->modules.program = value;
    } else if ((value = value_of(d, line, "Identifier"))) {
        report->app.name = value;
    } else if ((value = value_of(d, line, "Version"))) {
        read_version(d, value);
    } else if ((value = value_of(d, line, "Architecture"))) {
        report->device.arch = arch_word(d->b, value);
    } else if ((value = value_of(d, line, "Hardware model"))) {
        report->device.model = value;
    } else if ((value = value_of(d, line, "PID"))) {
        report->process.pid = d->pid = strtoull(value, NULL, 10) & UINT32_MAX;
        d->has_pid = true;
    } else if ((value = value_of(d, line, "Event"))) {
        read_event(d, value);
    } else if ((value = value_of(d, line, "Reason"))) {
        read_reason(d, value);
    } else if ((value = value_of(d, line, "Duration"))) {
        amount = read_amount(value);
        if (amount.known && amount.value < 604800000)
            report->event.duration_ms = (uint32_t)amount.value;
    } else if ((value = value_of(d, line, "Steps"))) {
        const char *open = strchr(value, '(');
        amount = read_amount(open ? open + 1 : "");
        d->period_ms = amount.known && amount.value && amount.value <= 60000 ? (uint32_t)amount.value : 1;
        report->event.period_ms = d->period_ms;
    } else {
        return false;
    }
    return true;
}

enum decode_outcome ips_stackshot(struct ips *ips)
{
    struct spindump *d = arena_alloc(ips->b->arena, sizeof *d);
    struct line line;
    bool front = true;
    if (!d)
        return MIRE_DECODE_NO_MEMORY;
    d->ips = ips;
    d->b = ips->b;
    d->at = ips->text;
    d->end = ips->text + ips->len;
    d->period_ms = 1;
    d->in_target = true;
    read_images(d);
    while (next_line(d, &line) && !d->b->failed) {
        const char *process = value_of(d, &line, "Process");
        if (memmem(line.text, line.len, "Binary Images:", 14))
            break;
        if (process) {
            front = false;
            begin_process(d, process);
        } else if (!(front && read_key(d, &line)) && !front && d->in_target) {
            read_tree_line(d, &line);
        }
    }
    end_tree(d);
    if (!d->any)
        return foreign_malformed(ips->foreign, ips->position, "the text has no thread of the process that it is about");
    if (!d->b->report->event.duration_ms)
        build_note(d->b, "the duration is unknown");
    return ips_end(ips, "stackshot");
}
