/* unwind.c - see unwind.h. */
#include "capture/unwind.h"

#include "capture/fold.h"
#include "unwind/unwind.h"

_Static_assert((int)UNWOUND_PC == MIRE_FOUND_PC && (int)UNWOUND_FP == MIRE_FOUND_FP &&
                   (int)UNWOUND_CFI == MIRE_FOUND_CFI && (int)UNWOUND_SIGNAL == MIRE_FOUND_SIGNAL &&
                   (int)UNWOUND_LINK == MIRE_FOUND_LR,
               "a sample uses the same numbers");

/* The frames of a walk on their way into a sample. */
struct gathering {
    struct fold fold;
    uint64_t stack_address;
    size_t used_bytes;
    const struct script_place *script; /* frames of the script that are left, innermost first */
    uint32_t script_left;
};

/* The stack that is used up to the end of a frame. */
static void stretch(struct gathering *gathering, const struct unwound *frame)
{
    uint64_t used = frame->caller_sp - gathering->stack_address;

    if (frame->caller_sp != 0 && used <= MIRE_STACK_COPY_BYTES && used > gathering->used_bytes)
        gathering->used_bytes = (size_t)used;
}

/* The script's frames up to the end of an evaluation. */
static void add_evaluation(struct gathering *gathering)
{
    bool last = false;

    for (; gathering->script_left > 0 && !last; gathering->script++, gathering->script_left--) {
        const struct script_place *place = gathering->script;

        last = place->mark != 0;
        mire__fold_add(&gathering->fold, &(struct fold_frame){place->pc, place->into, MIRE_FOUND_SCRIPT});
    }
}

/* Does the innermost evaluation that is left lie in this frame's part of the stack? */
static bool evaluates(const struct gathering *gathering, const struct unwound *frame)
{
    for (uint32_t i = 0; i < gathering->script_left; i++)
        if (gathering->script[i].mark)
            return gathering->script[i].mark >= frame->sp && gathering->script[i].mark < frame->caller_sp;
    return false;
}

static void add_frame(void *context, const struct unwound *frame)
{
    struct gathering *gathering = context;

    stretch(gathering, frame);
    if (frame->has_caller && evaluates(gathering, frame))
        add_evaluation(gathering);
    mire__fold_add(&gathering->fold, &(struct fold_frame){frame->pc, frame->into, frame->by});
}

size_t mire__unwind(struct sample *out, const struct stack_snapshot *snapshot, struct modules *modules)
{
    const struct stack_copy copy = {&snapshot->regs, snapshot->stack_address, snapshot->stack, snapshot->stack_size};
    struct gathering gathering;

    gathering.fold.unfolded = snapshot->unfolded;
    gathering.fold.count = gathering.fold.lost = gathering.fold.folded = 0;
    gathering.stack_address = snapshot->stack_address;
    gathering.used_bytes = 0;
    gathering.script = snapshot->script;
    gathering.script_left = snapshot->script_count;
    if (!mire__unwind_copy(&copy, modules, add_frame, &gathering))
        out->flags |= MIRE_SAMPLE_BROKEN;
    while (gathering.script_left > 0) /* of evaluations whose frames the walk did not reach */
        add_evaluation(&gathering);
    mire__fold_end(out, &gathering.fold);
    return gathering.used_bytes;
}
