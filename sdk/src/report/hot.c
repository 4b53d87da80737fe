/*
 * hot.c - rows of equal innermost functions, and how often the winner's frames stand in the ring.
 */
#include "report/hot.h"

#include <string.h>

static uint64_t identity(uint64_t address, mire__function_fn *function_of, void *context)
{
    uint64_t start = function_of ? function_of(context, address) : 0;
    return start ? start : address;
}

static void longest_row(struct hot *out, const struct ring *ring, mire__function_fn *function_of, void *context)
{
    uint32_t count = mire__ring_count(ring), run = 0;
    uint64_t before = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sample *sample = mire__ring_at(NULL, ring, i);
        if (!sample || sample->depth == 0) {
            run = 0;
            continue;
        }
        uint64_t function = identity(sample->pc[0], function_of, context);
        run = run > 0 && function == before ? run + 1 : 1;
        before = function;
        if (run >= out->run) {
            out->run = run;
            out->sample = i;
            out->depth = sample->depth;
        }
    }
}

static bool stands_in(uint64_t function, const struct sample *sample, mire__function_fn *function_of, void *context)
{
    for (uint32_t i = 0; i < sample->depth; i++)
        if (identity(sample->pc[i], function_of, context) == function)
            return true;
    return false;
}

void mire__hot_find(struct hot *out, const struct ring *ring, mire__function_fn *function_of, void *context)
{
    const struct sample *hot, *other;

    memset(out, 0, sizeof(*out));
    longest_row(out, ring, function_of, context);
    if (out->run == 0)
        return;
    hot = mire__ring_at(NULL, ring, out->sample);
    for (uint32_t frame = 0; frame < out->depth; frame++) {
        uint64_t function = identity(hot->pc[frame], function_of, context);
        for (uint32_t i = 0; (other = mire__ring_at(NULL, ring, i)); i++)
            out->repeat[frame] += stands_in(function, other, function_of, context);
    }
}
