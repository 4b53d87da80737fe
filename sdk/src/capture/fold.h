/*
 * fold.h - shortens a stack of any depth so that both of its ends stay.
 *
 *     leaf  A B A B A B ... A B  run main      frames as found, innermost first
 *     leaf  A B  run main                      recursion over 1 to MIRE_FOLD_CYCLE_MAX functions is kept once
 *     the innermost half of MIRE_DEPTH_MAX, ..., the outermost half      if there are still too many
 *
 * So stacks of any depth share their outermost frames. Frames that are left out are counted. Private to capture/. Pure.
 */
#ifndef MIRE_CAPTURE_FOLD_H
#define MIRE_CAPTURE_FOLD_H

#include "ring/ring.h"

#define MIRE_FOLD_CYCLE_MAX 4
#define MIRE_FOLD_HALF      (MIRE_DEPTH_MAX / 2)

struct fold_frame {
    uint64_t pc;
    uint32_t into;
    uint32_t found;
};

struct fold {
    bool unfolded;   /* recursion is kept as found */
    uint32_t count;  /* frames so far, without folded ones */
    uint32_t lost;   /* frames behind the inner half that are overwritten */
    uint32_t folded; /* frames of recursion that were left out */
    struct fold_frame inner[MIRE_FOLD_HALF], outer[MIRE_FOLD_HALF];
};

/* The next frame further out. */
void mire__fold_add(struct fold *fold, const struct fold_frame *frame);

/* Set the sample's depth, frames and counts, and MIRE_SAMPLE_CUT if frames in the middle were left out. */
void mire__fold_end(struct sample *out, const struct fold *fold);

#endif
