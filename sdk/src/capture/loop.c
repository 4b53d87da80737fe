/*
 * loop.c - see loop.h.
 */
#include "capture/loop.h"

#include "base/hash.h"
#include "capture/sleep.h"
#include "platform/platform.h"

#include <string.h>
#include <sys/syscall.h>

#define NOTES_AT_ONCE  8                    /* paths stored without a pause: a program has few loops */
#define NOTE_PAUSE_NS  (10 * MIRE_NS_PER_S) /* between two further paths */
#define RECURS         3                    /* a wait made this often is a loop's */
#define REPEATS        2                    /* sleeps of one stack after the first that make it a loop's */
#define WRAPPERS_MAX   3                    /* functions of a library around a sleep */
#define LIBC_EVENT_MAX 2                    /* functions of the C library around a wait for events */

/* ---- notes ---- */

void mire__loop_begin(struct loop *loop, struct check *check, uint32_t lane)
{
    memset(loop, 0, sizeof(*loop));
    for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++)
        mire__blackbox_set_wait(check->box, lane, row, NULL);
}

static bool same_call(struct gate_call one, struct gate_call other)
{
    return one.from == other.from && one.frame == other.frame;
}

static bool is_noted(const struct loop *loop, struct gate_call call)
{
    for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++) {
        if (same_call(loop->noted[row], call))
            return true;
    }
    return false;
}

/* A free row, otherwise the next one in turn, but never the row of the outermost wait. */
static uint32_t row_for(const struct loop *loop)
{
    uint32_t outermost = 0, row = loop->noted_count % MIRE_WAIT_PATHS;

    for (uint32_t i = 0; i < MIRE_WAIT_PATHS; i++) {
        if (loop->noted[i].from == 0)
            return i;
        if (loop->noted[i].frame > loop->noted[outermost].frame)
            outermost = i;
    }
    return row == outermost ? (row + 1) % MIRE_WAIT_PATHS : row;
}

void mire__loop_note(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view)
{
    struct sample *sample = &check->scratch;
    struct capture_cost cost = check->sampler->cost;
    struct gate_view after;
    uint32_t row;
    bool taken;

    if (view->wait.from == 0 || loop->noted_turn == view->turn || is_noted(loop, view->wait) ||
        (loop->noted_count >= NOTES_AT_ONCE && check->now_ns < loop->note_ns))
        return;
    taken = mire__sampler_take_asleep(sample, check->sampler, view->tid, check->box);
    check->sampler->cost = cost; /* this cost belongs to no record */
    if (!taken || !mire__gate_look(&after, lane) || after.turn != view->turn)
        return;
    row = row_for(loop);
    loop->noted[row] = view->wait;
    loop->noted_turn = view->turn;
    loop->noted_count++;
    loop->note_ns = check->now_ns + NOTE_PAUSE_NS;
    mire__blackbox_set_wait(check->box, lane, row, sample);
}

/* ---- which frame sleeps ---- */

static const struct module *module_at(const struct check *check, uint64_t pc)
{
    return mire__modules_find(&check->sampler->modules, pc);
}

/* Number of innermost frames in the C library. */
static uint32_t libc_frames(const struct check *check, const struct sample *sample)
{
    const struct module *libc = module_at(check, mire__gate_libc());
    uint32_t count = 0;

    while (libc && count < sample->depth && module_at(check, sample->pc[count]) == libc)
        count++;
    return count;
}

/* The innermost frame whose function is in the path; depth: none. For stacks without an outer end. */
static uint32_t find_common(const struct sample *sample, const struct sample *path, uint32_t from)
{
    for (uint32_t frame = from; frame < sample->depth; frame++) {
        for (uint32_t i = 0; i < path->depth; i++) {
            if (mire__sample_function(path, i) == mire__sample_function(sample, frame))
                return frame;
        }
    }
    return sample->depth;
}

/* The loop's frame by one path, and its index there. sample->depth: not found. */
static uint32_t frame_by_path(uint32_t *in_path, const struct sample *sample, const struct sample *path, uint32_t libc)
{
    uint32_t common = mire__sample_common(sample, path), frame;

    *in_path = path->depth;
    if (common > 0 && common <= path->depth && common <= sample->depth) {
        *in_path = path->depth - common;
        return sample->depth - common;
    }
    if (!((sample->flags | path->flags) & (MIRE_SAMPLE_CUT | MIRE_SAMPLE_BROKEN)))
        return sample->depth;
    frame = find_common(sample, path, libc);
    for (uint32_t i = 0; frame < sample->depth && i < path->depth; i++) {
        if (mire__sample_function(path, i) == mire__sample_function(sample, frame)) {
            *in_path = i;
            break;
        }
    }
    return frame;
}

struct seat {
    uint32_t frame; /* the loop's frame in the sample; sample->depth: unknown */
    bool recurs;    /* the same frame makes hooked waits repeatedly */
    bool deep;      /* found by its depth alone: the loop's frame, or one further in of a function called since */
};

/* Was this call made repeatedly? With call.from 0: was any? */
static bool call_recurs(uint32_t lane, struct gate_call call)
{
    struct gate_call calls[MIRE_KNOWN_CALLS];
    uint64_t counts[MIRE_KNOWN_CALLS];
    uint32_t count = mire__gate_calls(calls, counts, lane);
    bool recurs = false;

    for (uint32_t i = 0; i < count; i++)
        recurs |= counts[i] >= RECURS && (call.from == 0 || same_call(calls[i], call));
    return recurs;
}

/* Without a path: the function of the last wait, which may not have slept. */
static uint32_t frame_by_call(const struct check *check, const struct sample *sample, struct gate_call call)
{
    struct modules *modules = &check->sampler->modules;
    const struct module *module = call.from ? module_at(check, call.from - 1) : NULL;
    const struct cfi_row *row;

    if (!module)
        return sample->depth;
    row = mire__row_find(modules, module, call.from - 1, false);
    for (uint32_t frame = 0; row && frame < sample->depth; frame++) {
        if (mire__sample_function(sample, frame) == row->function)
            return frame;
    }
    return sample->depth;
}

/* Where that function has returned, and its library has called back other code, which sleeps: the caller. */
static uint32_t frame_by_module(const struct check *check, const struct sample *sample, struct gate_call call,
                                uint32_t libc)
{
    const struct module *module = call.from ? module_at(check, call.from - 1) : NULL;
    uint32_t frame = libc;

    if (!module || libc == sample->depth || module_at(check, sample->pc[libc]) == module)
        return sample->depth;
    while (frame < sample->depth && module_at(check, sample->pc[frame]) != module)
        frame++;
    return frame;
}

struct depth_search {
    uint64_t frame;  /* in: the end of the frame of the hooked call */
    uint64_t bottom; /* of the next frame */
    uint64_t pc;     /* out: of the innermost frame that begins there or further out; 0: none */
};

static void search(void *context, const struct unwound *frame)
{
    struct depth_search *search = context;

    if (search->pc == 0 && search->bottom >= search->frame)
        search->pc = frame->pc;
    search->bottom = frame->caller_sp;
}

/*
 * Otherwise: the innermost frame that is further out in the stack than the wait was. A frame that only reaches further out
 * may be of a function called since. The sampler still has the copy of the stack.
 */
static uint32_t frame_by_depth(const struct check *check, const struct sample *sample, struct gate_call call)
{
    const struct stack_snapshot *snapshot = &check->sampler->snapshot;
    const struct stack_copy copy = {&snapshot->regs, snapshot->stack_address, snapshot->stack, snapshot->stack_size};
    struct depth_search found = {call.frame, 0, 0};
    uint32_t frame = 0;

    if (call.frame == 0 || sample->flags & MIRE_SAMPLE_BROKEN)
        return sample->depth;
    mire__unwind_copy(&copy, &check->sampler->modules, search, &found);
    while (frame < sample->depth && (found.pc == 0 || sample->pc[frame] != found.pc))
        frame++;
    return frame;
}

/* The thread's first function behind the C library's start. */
static uint32_t entry_frame(const struct check *check, const struct sample *sample)
{
    const struct module *libc = module_at(check, mire__gate_libc());
    uint32_t frame = sample->depth;

    if (sample->flags & (MIRE_SAMPLE_CUT | MIRE_SAMPLE_BROKEN))
        return sample->depth;
    while (frame > 0 && module_at(check, sample->pc[frame - 1]) != libc)
        frame--; /* _start */
    while (frame > 0 && module_at(check, sample->pc[frame - 1]) == libc)
        frame--;
    return frame > 0 ? frame - 1 : sample->depth;
}

static struct seat find_seat(const struct loop *loop, const struct check *check, uint32_t lane,
                             const struct gate_view *view, const struct sample *sample, uint32_t libc)
{
    struct seat seat = {sample->depth, false, false};
    uint32_t entry = entry_frame(check, sample);

    for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++) {
        const struct sample *path = mire__blackbox_wait(check->box, lane, row);
        uint32_t in_path, frame = path ? frame_by_path(&in_path, sample, path, libc) : sample->depth;

        if (frame > seat.frame || frame == sample->depth)
            continue;
        if (frame < seat.frame)
            seat = (struct seat){frame, false, false};
        seat.recurs |=
            path->pc[in_path] + 1 == mire__arch_bare(loop->noted[row].from) && call_recurs(lane, loop->noted[row]);
    }
    if (seat.frame == sample->depth)
        seat.frame = frame_by_call(check, sample, view->wait);
    if (seat.frame == sample->depth)
        seat.frame = frame_by_module(check, sample, view->wait, libc);
    if (seat.frame == sample->depth) {
        seat.frame = frame_by_depth(check, sample, view->wait);
        seat.deep = true;
    }
    if (seat.frame < sample->depth && seat.frame > entry)
        seat.frame = entry; /* a thread has one: two sleeps in it may not be known for it without unwind tables */
    return seat;
}

/*
 * Is the sleep in a call that the frame makes itself? A script's frame makes none. libc: frames of the C library
 * inside it. A library around the sleep is no wrapper if it is also further out: then a library's loop has called back.
 */
static bool is_own_call(const struct check *check, const struct sample *sample, uint32_t frame, uint32_t libc)
{
    const struct module *wrapper = frame > libc ? module_at(check, sample->pc[frame - 1]) : NULL;

    if (mire__is_script(sample->pc[frame]))
        return false;
    if (frame <= libc || (libc == 0 && frame == 1)) /* the latter makes the system call itself */
        return true;
    if (frame - libc > WRAPPERS_MAX || !wrapper || wrapper == module_at(check, sample->pc[frame]))
        return false;
    for (uint32_t i = libc; i < sample->depth; i++) {
        if (i != frame && (module_at(check, sample->pc[i]) == wrapper) != (i < frame))
            return false;
    }
    return true;
}

static bool is_known(const struct loop *loop, uint64_t place)
{
    for (uint32_t i = 0; i < loop->sleep_count && i < MIRE_LOOP_SLEEPS; i++) {
        if (loop->sleeps[i] == place)
            return true;
    }
    return false;
}

static void know(struct loop *loop, uint64_t place)
{
    loop->sleeps[loop->sleep_count++ % MIRE_LOOP_SLEEPS] = place;
}

/*
 * Number of sleeps at this pc that followed another one there in this turn. The CPU time is of the sample: a thread that
 * has woken since has used more, which would look like another sleep.
 */
static uint32_t repeats_at(struct loop *loop, const struct check *check, const struct gate_view *view, uint64_t place)
{
    uint64_t cpu_ns = check->sampler->asleep_cpu_ns;

    loop->fresh = loop->sleep != place || loop->sleep_turn != view->turn;
    if (loop->fresh)
        loop->repeats = 0;
    else
        loop->repeats += loop->sleep_cpu_ns != cpu_ns;
    loop->sleep = place;
    loop->sleep_turn = view->turn;
    loop->sleep_cpu_ns = cpu_ns;
    return loop->repeats;
}

/* A sleep that only time ends. */
static bool is_timed(const struct sample *sample)
{
    return sample->syscall == SYS_nanosleep || sample->syscall == SYS_clock_nanosleep;
}

/* Asleep in a call of the loop's frame. A frame with a hooked wait does not use naps as its wait. */
static enum loop_sleep judge_own(struct loop *loop, const struct check *check, const struct gate_view *view,
                                 const struct sample *sample, struct seat seat)
{
    if (seat.recurs && mire__sleep_is_nap(check->sampler))
        return LOOP_INSIDE;

    /* The compiler may have duplicated the call of a short loop. */
    uint64_t place = seat.recurs ? sample->pc[seat.frame] : mire__sample_function(sample, seat.frame);

    if (is_known(loop, place) || (!seat.recurs && !is_timed(sample)))
        return LOOP_WAITS;
    if (mire__sleep_is_yield(check->sampler) || repeats_at(loop, check, view, place) == 0)
        return seat.recurs ? LOOP_MAYBE : LOOP_ONCE;
    know(loop, place);
    return LOOP_WAITED;
}

/* Asleep further in, or in an unknown frame. first: LOOP_MAYBE or LOOP_ONCE, of a sleep not made often enough yet. */
static enum loop_sleep judge_inside(struct loop *loop, const struct check *check, uint32_t lane,
                                    const struct gate_view *view, const struct sample *sample, enum loop_sleep first)
{
    uint64_t stack = MIRE_HASH_START;

    for (uint32_t i = 0; i < sample->depth; i++)
        stack = mire__hash_step(stack, sample->pc[i]);
    if (is_known(loop, stack))
        return LOOP_WAITS;
    if (call_recurs(lane, (struct gate_call){0, 0}))
        return first == LOOP_MAYBE ? LOOP_INSIDE : LOOP_UNSURE;
    if (mire__sleep_is_yield(check->sampler) || repeats_at(loop, check, view, stack) < REPEATS)
        return first;
    know(loop, stack);
    return LOOP_WAITED;
}

static enum loop_sleep judge_call(struct loop *loop, const struct check *check, uint32_t lane,
                                  const struct gate_view *view, const struct sample *sample, uint32_t libc)
{
    struct seat seat = find_seat(loop, check, lane, view, sample, libc);

    if (view->kind == 0) {
        seat.frame = entry_frame(check, sample);
        return seat.frame == sample->depth || is_own_call(check, sample, seat.frame, libc) ? LOOP_UNSURE : LOOP_INSIDE;
    }
    if (sample->flags & MIRE_SAMPLE_BROKEN && (seat.frame == sample->depth || seat.frame < libc))
        return LOOP_UNSURE;
    if (seat.frame == sample->depth || seat.frame < libc)
        return judge_inside(loop, check, lane, view, sample, LOOP_ONCE);
    if (is_own_call(check, sample, seat.frame, libc))
        return seat.deep ? LOOP_UNSURE : judge_own(loop, check, view, sample, seat);
    return judge_inside(loop, check, lane, view, sample, LOOP_MAYBE);
}

/* Was the thread in SDK code at the look, or has it been since? Or has the SDK had it stopped? */
static bool is_ours(const struct check *check, uint32_t lane, const struct gate_view *view)
{
    return check->sampler->held || view->ours & MIRE_OURS_DEPTH || mire__gate_ours(lane) != view->ours;
}

enum loop_sleep mire__loop_judge(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view,
                                 const struct sample *sample)
{
    enum sleep_kind kind = mire__sleep_kind(check->sampler, view->tid, &loop->counter);
    uint32_t libc = libc_frames(check, sample);

    if (!view->all_count || view->kind > 1 || !(sample->flags & MIRE_SAMPLE_BLOCKED) || sample->state != 'S' ||
        sample->depth == 0)
        return LOOP_AWAKE;
    if (is_ours(check, lane, view))
        return LOOP_INSIDE;
    if (kind == SLEEP_USER || (kind == SLEEP_EVENTS && libc <= LIBC_EVENT_MAX))
        return LOOP_WAITS;
    return kind == SLEEP_OTHER ? LOOP_INSIDE : judge_call(loop, check, lane, view, sample, libc);
}
