/* fold.c - see fold.h. A complete round of a cycle is folded; an incomplete one behind it stays. */
#include "capture/fold.h"

static struct fold_frame *slot(struct fold *fold, uint32_t index)
{
    return index < MIRE_FOLD_HALF ? &fold->inner[index] : &fold->outer[index % MIRE_FOLD_HALF];
}

static uint64_t function_of(const struct fold_frame *frame)
{
    return frame->into ? frame->pc - frame->into : frame->pc & ~(uint64_t)31;
}

/*
 * Do the kept frames have two rounds of the cycle, without the innermost frame? The innermost frame shows the thread's
 * position and stays.
 */
static bool has_rounds(const struct fold *fold, uint32_t period)
{
    uint32_t first = fold->lost ? MIRE_FOLD_HALF + fold->lost : 1;

    return fold->count >= first + 2 * period;
}

/* Are the last 2 * period frames the same functions twice? Frames of signal handlers are no recursion. */
static bool repeats(struct fold *fold, uint32_t period)
{
    for (uint32_t i = 1; i <= period; i++) {
        const struct fold_frame *one = slot(fold, fold->count - i), *other = slot(fold, fold->count - i - period);

        if (function_of(one) != function_of(other) || one->found == MIRE_FOUND_SIGNAL)
            return false;
    }
    return true;
}

void mire__fold_add(struct fold *fold, const struct fold_frame *frame)
{
    *slot(fold, fold->count++) = *frame;
    if (fold->count > fold->lost + MIRE_DEPTH_MAX)
        fold->lost = fold->count - MIRE_DEPTH_MAX;
    for (uint32_t period = 1; period <= MIRE_FOLD_CYCLE_MAX && !fold->unfolded; period++) {
        if (has_rounds(fold, period) && repeats(fold, period)) {
            fold->count -= period;
            fold->folded += period;
            return;
        }
    }
}

void mire__fold_end(struct sample *out, const struct fold *fold)
{
    out->depth = 0;
    out->folded = fold->folded;
    out->skipped = 0;
    for (uint32_t i = 0; i < fold->count; i++) {
        const struct fold_frame *frame = slot((struct fold *)(uintptr_t)fold, i);

        if (i >= MIRE_FOLD_HALF && i < MIRE_FOLD_HALF + fold->lost) {
            out->skipped++;
            continue;
        }
        out->pc[out->depth] = frame->pc;
        out->into[out->depth] = frame->into;
        out->found[out->depth++] = (uint8_t)frame->found;
    }
    if (out->skipped)
        out->flags |= MIRE_SAMPLE_CUT;
}
