/*
 * hot.c - runs are counted by function, not by address: the server knows the addresses of one function.
 */
#include "feature/hot.h"

#include "base/fault.h"
#include "feature/tree.h"

#define NONE        UINT32_MAX
#define COUNTED_MAX 1024 /* frames of a sample that are counted, from the innermost: keeps a hostile report cheap */

static uint32_t leaf_function(const struct resolved *doc, const uint32_t *functions, size_t sample)
{
    uint32_t node = doc->samples[sample].node;
    return node ? functions[doc->nodes[node].location] : NONE;
}

static void choose(struct resolved *doc, const uint32_t *functions)
{
    uint32_t run = 0;
    uint32_t best = 0;
    uint32_t before = NONE;
    doc->hot.thread = tree_heaviest_thread(doc);
    for (size_t i = 0; i < doc->sample_count; i++) {
        if (doc->samples[i].thread != doc->hot.thread)
            continue;
        uint32_t function = leaf_function(doc, functions, i);
        run = function != NONE && function == before ? run + 1 : 1;
        before = function;
        if (function != NONE && run >= best) {
            best = run;
            doc->hot.node = doc->samples[i].node;
            doc->hot.run = run;
        }
    }
}

int hot_find(struct resolved *doc, struct arena *arena, const uint32_t *functions)
{
    choose(doc, functions);
    doc->hot.caller1 = doc->hot.caller2 = -1;
    doc->hot.depth = 0;
    for (uint32_t node = doc->hot.node; node; node = doc->nodes[node].parent)
        doc->hot.depth++;
    uint32_t *repeat = arena_array(arena, doc->hot.depth, sizeof *repeat);
    uint32_t *counts = arena_array(arena, doc->location_count, sizeof *counts); /* per function */
    uint32_t *seen = arena_array(arena, doc->location_count, sizeof *seen);     /* sample + 1 that counted it last */
    if (!repeat || !counts || !seen)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < doc->sample_count; i++) {
        uint32_t node = doc->samples[i].thread == doc->hot.thread ? doc->samples[i].node : 0;
        for (unsigned depth = 0; node && depth < COUNTED_MAX; depth++, node = doc->nodes[node].parent) {
            uint32_t function = functions[doc->nodes[node].location];
            counts[function] += seen[function] != i + 1;
            seen[function] = (uint32_t)i + 1;
        }
    }
    size_t at = 0;
    for (uint32_t node = doc->hot.node; node; node = doc->nodes[node].parent)
        repeat[at++] = counts[functions[doc->nodes[node].location]];
    doc->hot.repeat = repeat;
    return 0;
}

int32_t hot_frame(const struct resolved *doc, const uint32_t *functions, uint32_t function, bool outermost)
{
    int32_t found = -1;
    int32_t at = 0;
    for (uint32_t node = doc->hot.node; node && at < INT32_MAX; node = doc->nodes[node].parent, at++)
        if (functions[doc->nodes[node].location] == function && (found < 0 || outermost))
            found = at;
    return found;
}
