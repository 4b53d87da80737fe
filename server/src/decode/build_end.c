/* build_end.c - see build.h: an empty report, its notes, and the lists that it gets at the end. */
#include "decode/build_context.h"

#include "base/id.h"
#include "base/text.h"
#include "wire/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void build_begin(struct build *build, struct report *report, struct arena *arena)
{
    *build = (struct build){.arena = arena, .java_image = -1};
    random_fill(build->key, sizeof build->key);
    build->report = report ? report : &build->own;
    *build->report = (struct report){
        .app = {.name = "", .version = "", .build = "", .channel = "public"},
        .device = {.os = "", .os_version = "", .model = "", .class_name = "", .arch = ""},
        .sdk_name = "",
        .sdk_version = "",
        .process = {.name = "", .path = ""},
        .exit = {.verdict = ""},
        .event = {.trigger = "busy", .name = "", .guess = "", .thread = {.name = ""}},
        .memory = {.trigger = "", .name = "", .footprint_from = ""},
    };
    struct report_node *root = build_push(build, &build->nodes, sizeof *root, 1); /* no look-up finds it */
    if (root)
        *root = (struct report_node){0, 0};
}

void build_note(struct build *build, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    size_t len = text_vformat(text, sizeof text, format, args);
    va_end(args);
    const char *const *notes = build->notes.rows;
    const char *line = build_text(build, text, len);
    for (size_t i = 0; i < build->notes.count; i++)
        if (!strcmp(notes[i], line))
            return;
    const char **row = build->notes.count < MIRE_WIRE_NOTES_MAX
                           ? build_push(build, &build->notes, sizeof *row, MIRE_WIRE_NOTES_MAX)
                           : NULL;
    if (row)
        *row = line;
}

static void note_losses(struct build *build)
{
    const struct {
        const struct build_list *list;
        const char *name;
    } lists[] = {
        {&build->images, "images"},        {&build->frames, "frames"},   {&build->nodes, "stack nodes"},
        {&build->names, "names"},          {&build->scripts, "names"},   {&build->java, "names"},
        {&build->samples, "samples"},      {&build->threads, "threads"}, {&build->categories, "memory categories"},
        {&build->stacks, "memory stacks"}, {&build->tags, "tags"},       {&build->crumbs, "breadcrumbs"}};
    size_t others = build->all_lost;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        others -= lists[i].list->lost;
        if (lists[i].list->lost)
            build_note(build, "%zu %s are left out: the report has more than Mire keeps", lists[i].list->lost,
                       lists[i].name);
    }
    if (others)
        build_note(build, "%zu rows of the file are left out: it has more than Mire reads", others);
}

static int by_time(const void *a, const void *b)
{
    const struct report_sample *x = a, *y = b;
    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

/* qsort is not stable, but is asked for only where the order is wrong. */
static void order_samples(const struct build_list *samples)
{
    struct report_sample *rows = samples->rows;
    for (size_t i = 1; i < samples->count; i++) {
        if (rows[i].at_ms < rows[i - 1].at_ms) {
            qsort(rows, samples->count, sizeof *rows, by_time);
            return;
        }
    }
}

/* Sums stay at the most that fits. */
static void sum_held(struct memory *memory)
{
    memory->known = true;
    for (size_t i = 0; i < memory->category_count; i++) {
        uint64_t held = memory->categories[i].held_bytes;
        if (!memory_is_beside(&memory->categories[i]))
            memory->held_bytes = held > UINT64_MAX - memory->held_bytes ? UINT64_MAX : memory->held_bytes + held;
    }
}

static bool end_memory(struct build *build)
{
    struct memory *memory = &build->report->memory;
    memory->categories = build->categories.rows;
    memory->category_count = build->categories.count;
    memory->stacks = build->stacks.rows;
    memory->stack_count = build->stacks.count;
    if (build->report->kind == MIRE_REPORT_MEMORY && !memory->known)
        sum_held(memory);
    return !memory->known || memory_arrange(memory, build->arena) == 0;
}

/* Numbers that no system gives are left out, so that the report can be written. */
static void bound_exit(struct build *build)
{
    struct report_exit *exit = &build->report->exit;
    int64_t code = (int64_t)exit->code.value; /* signed */
    if (exit->code.known && (code < INT32_MIN || code > INT32_MAX)) {
        build_note(build, "the signal's code is left out: it has more than 32 bits");
        exit->code = (struct fact){0};
    }
    if (exit->signal.known && exit->signal.value > UINT32_MAX) {
        build_note(build, "the signal's number is left out: it has more than 32 bits");
        exit->signal = (struct fact){0};
    }
}

bool build_end(struct build *build)
{
    struct report *report = build->report;
    bound_exit(build);
    build_end_context(build);
    note_losses(build);
    order_samples(&build->samples);
    report->notes = build->notes.rows;
    report->note_count = build->notes.count;
    report->images = build->images.rows;
    report->image_count = build->images.count;
    report->scripts = build->scripts.rows;
    report->script_count = build->scripts.count;
    report->java = build->java.rows;
    report->java_count = build->java.count;
    report->frames = build->frames.rows;
    report->frame_count = build->frames.count;
    report->nodes = build->nodes.rows;
    report->node_count = build->nodes.count;
    report->threads = build->threads.rows;
    report->thread_count = build->threads.count;
    report->event.samples = build->samples.rows;
    report->event.sample_count = build->samples.count;
    return !build->failed && end_memory(build) && !build->failed;
}
