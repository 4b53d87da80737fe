/* unwind.c - see unwind.h. */
#include "capture/unwind.h"

#include "capture/fold.h"
#include "unwind/unwind.h"

_Static_assert((int)UNWOUND_PC == MIRE_FOUND_PC && (int)UNWOUND_FP == MIRE_FOUND_FP &&
                   (int)UNWOUND_CFI == MIRE_FOUND_CFI && (int)UNWOUND_SIGNAL == MIRE_FOUND_SIGNAL &&
                   (int)UNWOUND_LINK == MIRE_FOUND_LR,
               "a sample uses the same numbers");

#define HELD_MAX 64

/* The frames of a walk on their way into a sample. */
struct gathering {
    struct fold fold;
    uint64_t stack_address;
    size_t used_bytes;
    const struct script_place *script; /* frames of the script that are left, innermost first */
    uint32_t script_left;
    const struct modules *modules;
    bool vm, vm_native;  /* see struct stack_snapshot */
    uint32_t held_count; /* native frames further out than the machine's: more of the machine's may follow */
    struct fold_frame held[HELD_MAX];
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

/* ---- frames that a virtual machine told ---- */

/* Code without a module was made at run time. */
static bool is_machine(const struct gathering *gathering, uint64_t pc)
{
    const struct module *module = mire__modules_find(gathering->modules, pc);

    return !module || !module->is_image || module->is_vm;
}

static void add_held(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->held_count; i++)
        mire__fold_add(&gathering->fold, &gathering->held[i]);
    gathering->held_count = 0;
}

static void add_vm(struct gathering *gathering)
{
    for (; gathering->script_left > 0; gathering->script++, gathering->script_left--)
        mire__fold_add(&gathering->fold,
                       &(struct fold_frame){gathering->script->pc, gathering->script->into, MIRE_FOUND_SCRIPT});
}

/* All that was told stands where the machine's innermost frame is; of native code that it calls, only that further in
 * than all of it and that further out is kept. */
static void join_frame(struct gathering *gathering, const struct unwound *frame)
{
    if (!is_machine(gathering, frame->pc)) {
        if (gathering->held_count == HELD_MAX)
            add_held(gathering);
        gathering->held[gathering->held_count++] = (struct fold_frame){frame->pc, frame->into, frame->by};
        return;
    }
    if (gathering->script_left > 0 && gathering->vm_native)
        add_held(gathering);
    gathering->held_count = 0;
    add_vm(gathering);
}

static void end_join(struct sample *out, struct gathering *gathering)
{
    if (gathering->script_left > 0) { /* no frame of the machine was reached */
        if (gathering->vm_native || (out->flags & MIRE_SAMPLE_BROKEN))
            add_held(gathering);
        add_vm(gathering);
    }
    add_held(gathering);
    out->flags &= (uint8_t)~MIRE_SAMPLE_BROKEN; /* what was told is whole */
}

static void add_frame(void *context, const struct unwound *frame)
{
    struct gathering *gathering = context;

    stretch(gathering, frame);
    if (gathering->vm) {
        join_frame(gathering, frame);
        return;
    }
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
    gathering.modules = modules;
    gathering.vm = snapshot->vm;
    gathering.vm_native = snapshot->vm_native;
    gathering.held_count = 0;
    if (!mire__unwind_copy(&copy, modules, add_frame, &gathering))
        out->flags |= MIRE_SAMPLE_BROKEN;
    if (gathering.vm)
        end_join(out, &gathering);
    while (gathering.script_left > 0) /* of evaluations whose frames the walk did not reach */
        add_evaluation(&gathering);
    mire__fold_end(out, &gathering.fold);
    return gathering.used_bytes;
}
