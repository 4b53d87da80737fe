/*
 * grab_apple.c - see grab.h: the thread is suspended, its registers are read and its stack is copied, and it runs again.
 *
 * Invariant: between suspend and resume nothing here allocates, takes a lock or calls the ObjC runtime, for the suspended
 * thread may hold that very lock. The kernel is called alone: thread_get_state, vm_read_overwrite, mach_absolute_time.
 */
#include "capture/grab.h"

#include "capture/handler.h"
#include "capture/signal.h"
#include "platform/platform.h"

#include <mach/mach.h>
#include <mach/thread_status.h>

#ifdef __aarch64__
#define STATE_FLAVOR ARM_THREAD_STATE64
#define STATE_COUNT  ARM_THREAD_STATE64_COUNT
typedef arm_thread_state64_t thread_registers;
#else
#define STATE_FLAVOR x86_THREAD_STATE64
#define STATE_COUNT  x86_THREAD_STATE64_COUNT
typedef x86_thread_state64_t thread_registers;
#endif

enum mire_err mire__grab_open(struct sampler *sampler)
{
    uint32_t probe;

    return mire__peek(&probe, (uintptr_t)&sampler->signal, sizeof(probe)) == sizeof(probe) ? MIRE_OK : MIRE_E_SYSTEM;
}

void mire__grab_close(struct sampler *sampler)
{
    (void)sampler;
}

/* 128 bytes below the stack pointer belong to a leaf function: the red zone. */
void mire__snapshot_as_copy_stack(struct stack_snapshot *snapshot)
{
    snapshot->stack_address = (snapshot->regs.value[mire__arch.sp] - 128) & ~7ull;
    snapshot->stack_size = mire__peek(snapshot->stack, snapshot->stack_address, snapshot->wanted_bytes);
}

void mire__sampler_as_copy_script(struct sampler *sampler)
{
    const struct stack_snapshot *snapshot = &sampler->snapshot;

    mire__script_as_copy(&sampler->script,
                         (struct script_stack){snapshot->stack_address, snapshot->stack_size, snapshot->stack});
}

static enum mire__loss copy_suspended(struct sampler *sampler, uint32_t tid)
{
    thread_registers registers;
    mach_msg_type_number_t count = STATE_COUNT;
    uint64_t begin_ns;
    kern_return_t read;

    if (thread_suspend(tid) != KERN_SUCCESS)
        return MIRE_LOSS_GONE;
    begin_ns = mire__now_ns();
    read = thread_get_state(tid, STATE_FLAVOR, (thread_state_t)&registers, &count);
    if (read == KERN_SUCCESS) {
        mire__arch_as_regs_of_state(&sampler->snapshot.regs, &registers);
        mire__snapshot_as_copy_stack(&sampler->snapshot);
    }
    sampler->stopped_ns = mire__now_ns() - begin_ns;
    thread_resume(tid);
    sampler->cost.stopped_sum_ns += sampler->stopped_ns;
    if (sampler->stopped_ns > sampler->cost.stopped_max_ns)
        sampler->cost.stopped_max_ns = sampler->stopped_ns;
    return read == KERN_SUCCESS ? MIRE_LOSS_NONE : MIRE_LOSS_HIDDEN;
}

enum mire__loss mire__grab(struct sample *out, struct sampler *sampler, uint32_t tid)
{
    struct thread_state *state = &sampler->state;

    if (tid == mire__tid())
        return MIRE_LOSS_HIDDEN; /* it would suspend itself */
    mire__thread_state(state, tid);
    out->state = (uint8_t)state->letter;
    sampler->asleep_cpu_ns = mire__thread_cpu_ns(tid);
    if (state->letter == 'S' || state->letter == 'D')
        out->flags |= MIRE_SAMPLE_BLOCKED;
    return copy_suspended(sampler, tid);
}

bool mire__grab_asleep(struct sample *out, struct sampler *sampler, uint32_t tid)
{
    mire__thread_state(&sampler->state, tid);
    return sampler->state.letter == 'S' && mire__grab(out, sampler, tid) == MIRE_LOSS_NONE &&
           (out->flags & MIRE_SAMPLE_BLOCKED);
}

/* No timer raises a signal here (platform/own_apple.c). */
bool mire__signal_holds(struct sampler *sampler)
{
    (void)sampler;
    return false;
}
