/* sampler.c - see sampler.h. */
#include "capture/sampler.h"

#include "capture/grab.h"
#include "capture/handler.h"
#include "platform/platform.h"
#include "script/vm_stack.h"

#include <string.h>

#define MODULES_STALE_NS MIRE_NS_PER_S /* a module that took another's place is noticed after that long */
#define STACK_COPY_LEAST (8 * 1024)
#define STACK_COPY_FIRST (2 * STACK_COPY_LEAST)
#define TRIES            3 /* names of a script that changes while it is read */

enum mire_err mire__sampler_open(struct sampler *sampler)
{
    sampler->snapshot.wanted_bytes = STACK_COPY_FIRST;
    return mire__grab_open(sampler);
}

void mire__sampler_close(struct sampler *sampler)
{
    mire__grab_close(sampler);
}

/* Is every frame in a module that is known? Code outside was loaded, or made, since the list was read. */
static bool all_known(const struct sample *sample, const struct modules *modules)
{
    return !(sample->flags & MIRE_SAMPLE_BROKEN) && sample->depth > 0 &&
           mire__modules_find(modules, sample->pc[0]) != NULL;
}

static bool box_has(const struct blackbox *box, const struct image *image, const char *path)
{
    for (uint32_t i = mire__blackbox_image_count(box); i-- > 0;) {
        const struct image *known = &box->images[i];

        if (known->start == image->start && known->end == image->end &&
            strcmp(mire__blackbox_image_path(box, i), path) == 0)
            return true;
    }
    return false;
}

static void note_image(void *context, const struct module *module, const struct module_facts *facts)
{
    struct blackbox *box = context;
    struct image image = {.start = module->start,
                          .end = module->end,
                          .load = module->load,
                          .base = facts->base,
                          .id_size = facts->id_size};

    memcpy(image.id, facts->id, sizeof(image.id));
    if (facts->path[0] && !box_has(box, &image, facts->path))
        mire__blackbox_add_image(box, &image, facts->path);
}

void mire__sampler_look(struct sampler *sampler, struct blackbox *box)
{
    mire__modules_read(&sampler->modules, box ? note_image : NULL, box);
    mire__script_look(&sampler->script, &sampler->modules);
}

/*
 * How much stack to copy the next time: what the last sample used and a quarter more, and never much less than what was
 * copied before, for a thread that goes in and out. The rest is read while the thread runs on.
 */
static size_t wanted_bytes(size_t copied, size_t used)
{
    size_t slow = copied - copied / 8, wanted = used + used / 4 + STACK_COPY_LEAST;

    wanted = wanted > slow ? wanted : slow;
    return wanted < MIRE_STACK_COPY_BYTES ? wanted : MIRE_STACK_COPY_BYTES;
}

/* stale_ns: how old the list of modules may be. */
static void unwind_snapshot(struct sample *out, struct sampler *sampler, struct blackbox *box, uint64_t stale_ns)
{
    uint64_t begin_ns = mire__now_ns();
    size_t used_bytes;

    sampler->snapshot.script = sampler->script.places;
    sampler->snapshot.script_count = sampler->script.place_count;
    if (begin_ns - sampler->modules.read_ns > stale_ns)
        mire__sampler_look(sampler, box);
    used_bytes = mire__unwind(out, &sampler->snapshot, &sampler->modules);
    if (!all_known(out, &sampler->modules)) {
        mire__sampler_look(sampler, box);
        out->flags &= (uint8_t) ~(MIRE_SAMPLE_BROKEN | MIRE_SAMPLE_CUT);
        used_bytes = mire__unwind(out, &sampler->snapshot, &sampler->modules);
    }
    sampler->snapshot.wanted_bytes = wanted_bytes(sampler->snapshot.wanted_bytes, used_bytes);
    sampler->cost.unwind_sum_ns += mire__now_ns() - begin_ns;
}

/* The answer of the thread's virtual machine; false if there is none. Without a box its names have no place. */
static bool name_vm(struct sampler *sampler, struct blackbox *box, bool asked)
{
    const struct vm_stack *stack = asked ? mire__vm_stack_answer() : NULL;
    struct script *script = &sampler->script;

    if (stack && stack->native)
        sampler->held = false; /* native code goes on while the machine stops threads */
    sampler->snapshot.vm = stack && box;
    sampler->turn = stack ? stack->turn : "";
    if (!sampler->snapshot.vm)
        return false;
    sampler->snapshot.vm_native = stack->native;
    script->place_count = 0;
    for (uint32_t i = 0; i < stack->count && script->place_count < MIRE_SCRIPT_FRAMES_MAX; i++) {
        const struct vm_frame *frame = &stack->frames[i];
        uint32_t line = frame->line < MIRE_SCRIPT_LINE_MAX ? frame->line : 0;
        int number = mire__blackbox_add_script(box, MIRE_LANGUAGE_JAVA, stack->text + frame->name_at,
                                               stack->text + frame->file_at);

        if (number >= 0)
            script->places[script->place_count++] =
                (struct script_place){.pc = MIRE_SCRIPT_PC(number, line), .into = line};
    }
    return true;
}

/*
 * Counts as cost of unwinding. Returns whether the names could be read.
 *   asked  mire__vm_stack_ask said true
 */
static bool name_script(struct sampler *sampler, struct blackbox *box, bool asked)
{
    uint64_t begin_ns = mire__now_ns();
    bool named = name_vm(sampler, box, asked) || mire__script_name(&sampler->script, box);

    sampler->cost.unwind_sum_ns += mire__now_ns() - begin_ns;
    return named;
}

static void begin(struct sample *out, struct sampler *sampler)
{
    memset(out, 0, offsetof(struct sample, pc));
    sampler->turn = "";
    sampler->held = sampler->snapshot.vm = false;
    out->syscall = -1;
    out->t_ns = mire__now_ns();
    sampler->cost.samples++;
}

void mire__sampler_take(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box)
{
    bool asked;

    begin(out, sampler);
    mire__script_aim(&sampler->script, tid);
    sampler->held = mire__vm_stack_serves(tid);
    asked = mire__vm_stack_ask(tid);
    for (int i = 0; i < TRIES; i++) {
        out->flags = 0;
        out->syscall = -1;
        out->loss = mire__grab(out, sampler, tid);
        if (out->loss != MIRE_LOSS_NONE || name_script(sampler, box, asked))
            break;
    }
    if (out->loss == MIRE_LOSS_NONE)
        unwind_snapshot(out, sampler, box, MODULES_STALE_NS);
    else
        out->flags |= MIRE_SAMPLE_SILENT;
}

/* The call that led to an address without code has pushed its return address, or put it into the link register. */
static void leave_nowhere(struct regs *regs)
{
    uint64_t *sp = &regs->value[mire__arch.sp];
    uint8_t code;

    if (mire__peek(&code, regs->pc, sizeof(code)) == sizeof(code))
        return;
    if (mire__arch.link != MIRE_NO_REG)
        regs->pc = mire__arch_bare(regs->value[mire__arch.link]);
    else if (mire__peek(&regs->pc, *sp, sizeof(regs->pc)) == sizeof(regs->pc))
        *sp += sizeof(regs->pc);
}

void mire__sampler_take_given(struct sample *out, struct sampler *sampler, uint32_t tid, const struct regs *regs,
                              struct blackbox *box)
{
    struct stack_snapshot *snapshot = &sampler->snapshot;

    begin(out, sampler);
    out->state = 'R';
    snapshot->regs = *regs;
    leave_nowhere(&snapshot->regs);
    snapshot->wanted_bytes = MIRE_STACK_COPY_BYTES;
    mire__script_aim(&sampler->script, tid);
    mire__snapshot_as_copy_stack(snapshot);
    mire__sampler_as_copy_script(sampler);
    name_script(sampler, box, false);
    unwind_snapshot(out, sampler, box, MODULES_STALE_NS);
}

void mire__sampler_take_callers(struct sample *out, struct sampler *sampler, const uintptr_t *callers, uint32_t count,
                                struct blackbox *box)
{
    begin(out, sampler);
    out->state = 'R';
    mire__sampler_look(sampler, box);
    for (uint32_t i = 0; i < count && i < MIRE_DEPTH_MAX && callers[i]; i++) {
        out->pc[i] = callers[i] - 1; /* inside the call */
        out->into[i] = 0;
        out->found[i] = MIRE_FOUND_FP;
        out->depth++;
    }
}

bool mire__sampler_take_asleep(struct sample *out, struct sampler *sampler, uint32_t tid, struct blackbox *box)
{
    begin(out, sampler);
    if (sampler->modules.read_ns == 0)
        mire__sampler_look(sampler, NULL);
    mire__script_aim(&sampler->script, tid);
    if (!mire__grab_asleep(out, sampler, tid))
        return false;
    name_script(sampler, box, false);
    unwind_snapshot(out, sampler, NULL, UINT64_MAX);
    return true;
}
