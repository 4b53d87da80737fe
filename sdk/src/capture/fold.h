/*
 * fold.h - the frames of one stack as they are found, innermost first: however many there are, both ends stay.
 *
 *     leaf  A B A B A B ... A B  run main      as it is
 *     leaf  A B  run main                      recursion through one to MIRE_FOLD_CYCLE_MAX functions stands once
 *     the innermost half of MIRE_DEPTH_MAX, ..., the outermost half      where still more frames are left
 *
 * So stacks of any depth meet at their outermost frames. What was left out is counted, by either way. Private to
 * capture/. Pure.
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
    bool unfolded;   /* recursion stays as it is */
    uint32_t count;  /* frames so far, without those folded */
    uint32_t lost;   /* of those beyond the inner half the first so many are overwritten */
    uint32_t folded; /* frames that recursion added */
    struct fold_frame inner[MIRE_FOLD_HALF], outer[MIRE_FOLD_HALF];
};

/* The next frame further out. */
void mire__fold_add(struct fold *fold, const struct fold_frame *frame);

/* Fill in the sample's depth, frames and counts; sets MIRE_SAMPLE_CUT where frames were left out in the middle. */
void mire__fold_end(struct sample *out, const struct fold *fold);

#endif
