/*
 * stacks.h - makes reports from readable stacks, outermost first: "main@/opt/app run@/opt/app", and finds their
 * feature.
 */
#ifndef MIRE_TESTS_STACKS_H
#define MIRE_TESTS_STACKS_H

#include "feature/feature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stacks {
    struct arena arena;
    struct resolved doc;
    struct report report;
    struct resolved_location locations[256];
    struct resolved_node nodes[256];
    struct report_sample samples[64];
    struct report_image images[16];
    struct rules *rules;
};

static inline struct stacks *stacks_new(void)
{
    struct rules_fault fault;
    struct stacks *s = calloc(1, sizeof *s);
    arena_init(&s->arena, 64 << 20);
    s->doc = (struct resolved){MIRE_RESOLVED_NOTHING, .locations = s->locations, .nodes = s->nodes,
                               .samples = s->samples, .node_count = 1};
    s->report.event.trigger = "busy";
    s->report.event.name = "";
    s->report.images = s->images;
    s->report.device.arch = "x86_64";
    s->report.process.path = "/usr/bin/redis-server";
    s->report.event.duration_ms = 3000;
    assert_int_equal(rules_builtin(&s->rules, &fault), MIRE_RULES_OK);
    return s;
}

static inline void stacks_free(struct stacks *s)
{
    rules_free(s->rules);
    arena_fini(&s->arena);
    free(s);
}

static inline const char *image(struct stacks *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < s->report.image_count; i++)
        if (!strcmp(s->images[i].name, path))
            return base;
    s->images[s->report.image_count].script = "";
    s->images[s->report.image_count++].name = path;
    return base;
}

/* Add the frame of a script, "name@script:path". */
static inline uint32_t script_place(struct stacks *s, const char *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    image(s, "python");
    for (size_t i = 0; i < s->report.image_count; i++)
        if (!strcmp(s->images[i].name, "python"))
            s->images[i].script = "python";
    s->locations[s->doc.location_count] = (struct resolved_location){
        .function = name, .image = slash ? slash + 1 : path, .file = path, .line = 7, .named = true, .script = true};
    return (uint32_t)s->doc.location_count++;
}

/* Add a function "name@path", or "+1234@path" without a symbol. */
static inline uint32_t location(struct stacks *s, const char *text)
{
    const char *at = strrchr(text, '@');
    if (!strncmp(at + 1, "script:", 7))
        return script_place(s, arena_copy(&s->arena, text, (size_t)(at - text)), arena_strdup(&s->arena, at + 8));
    const char *base = image(s, arena_strdup(&s->arena, at + 1));
    struct resolved_location *p = &s->locations[s->doc.location_count];
    bool named = text[0] != '+';
    char *name = arena_copy(&s->arena, text, (size_t)(at - text));
    *p = (struct resolved_location){.function = named ? name : arena_printf(&s->arena, "%s%s", base, name),
                                    .image = base,
                                    .file = named ? "file.c" : "",
                                    .line = 7,
                                    .named = named};
    return (uint32_t)s->doc.location_count++;
}

/* Add a stack; returns its node. */
static inline uint32_t stack_node(struct stacks *s, const char *stack)
{
    char text[1024];
    uint32_t parent = 0;
    snprintf(text, sizeof text, "%s", stack);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        s->nodes[s->doc.node_count] = (struct resolved_node){parent, location(s, word)};
        parent = (uint32_t)s->doc.node_count++;
    }
    return parent;
}

static inline void sample(struct stacks *s, uint32_t weight_ms, char state, const char *stack)
{
    uint32_t parent = stack_node(s, stack);
    s->samples[s->doc.sample_count++] =
        (struct report_sample){.weight_ms = weight_ms, .node = parent, .state = state, .syscall = -1, .loss = '.'};
    s->report.event.sample_count = s->doc.sample_count;
}

/* Mark the last sample's stack as incomplete; `loss` is a letter of the schema. */
static inline void lacks(struct stacks *s, char loss)
{
    s->samples[s->doc.sample_count - 1].loss = loss;
}

static inline struct feature find(struct stacks *s)
{
    struct feature feature;
    assert_int_equal(feature_find(&feature, &s->arena, &s->doc, &s->report, s->rules, NULL), 0);
    return feature;
}

#define R    "@/usr/bin/redis-server "
#define LIBC "@/lib/x86_64-linux-gnu/libc.so.6 "
#define MIRE "@/usr/local/lib/libmire-preload.so "
#define LOOP                                                                                                      \
    "main" R "aeMain" R "aeProcessEvents" R "connSocketEventHandler" R "readQueryFromClient" R "processCommand" R \
    "call" R

#endif
