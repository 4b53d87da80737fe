/*
 * loop_apple.c - see loop.h. Run loops report their turns (gate/run_loop.h), but for those that run in a mode of the
 * app's own. Such a loop is known by its stack: it sleeps in the kernel, called by CoreFoundation itself.
 *
 *     mach_msg2_trap  mach_msg ...   __CFRunLoopServiceMachPort  __CFRunLoopRun      the loop waits
 *     mach_msg2_trap  mach_msg ...   some other library          __CFRunLoopDoSource1   the work sleeps
 */
#include "capture/loop.h"

#include <CoreFoundation/CoreFoundation.h>
#include <mach/mach.h>
#include <string.h>

void mire__loop_begin(struct loop *loop, struct check *check, uint32_t lane)
{
    (void)check;
    (void)lane;
    memset(loop, 0, sizeof(*loop));
}

void mire__loop_note(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view)
{
    (void)loop;
    (void)check;
    (void)lane;
    (void)view;
}

/* Are both addresses code of one module? */
static bool shares_module(const struct check *check, uint64_t pc, const void *function)
{
    const struct modules *modules = &check->sampler->modules;
    const struct module *module = mire__modules_find(modules, pc);

    return module && module == mire__modules_find(modules, mire__arch_bare((uintptr_t)function));
}

enum loop_sleep mire__loop_judge(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view,
                                 const struct sample *sample)
{
    uint32_t frame = 0;

    (void)loop;
    (void)lane;
    (void)view;
    if (!(sample->flags & MIRE_SAMPLE_BLOCKED))
        return LOOP_AWAKE;
    while (frame < sample->depth && shares_module(check, sample->pc[frame], (const void *)mach_msg))
        frame++;
    return frame > 0 && frame < sample->depth &&
                   shares_module(check, sample->pc[frame], (const void *)CFRunLoopRunInMode)
               ? LOOP_WAITS
               : LOOP_INSIDE;
}
