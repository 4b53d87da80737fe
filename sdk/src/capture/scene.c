/* scene.c - see scene.h. */
#include "capture/scene.h"

#include "capture/frames.h"
#include "capture/process_lane.h"

#include <string.h>

#define STALE_NS (10 * MIRE_NS_PER_S) /* without a tick, a window near its limit is forgotten */

struct frame_window {
    struct frames frames;
    char name[sizeof(((struct event *)0)->name)];
};

static struct {
    _Atomic(_Atomic uint32_t *) wake; /* the check thread's futex word; NULL while there is none */
    _Atomic uint32_t limit;           /* settings.frames_dropped and frame_us, by the check thread */
    _Atomic uint32_t frame_us;

    _Atomic uint32_t ticking; /* 1 while a call is at work on `now` */
    struct frame_window now;

    _Atomic uint64_t last_ns;  /* the last tick, 0 while nothing moves; for the check thread, like the next three */
    _Atomic uint64_t begin_ns; /* of the window */
    _Atomic uint32_t tid;
    _Atomic uint32_t near; /* 1: the window may become a record */

    _Atomic uint64_t drawn; /* since the process began; by the thread that ticks */
    _Atomic uint64_t dropped;

    uint32_t pid;          /* a forked child's copy may stand anywhere */
    _Atomic uint32_t full; /* 1: `done` is the check thread's, which stores 0 when it has read it */
    struct frame_window done;
} scene;

/* The state of the check thread. */
static struct {
    uint64_t due_ns;
    uint64_t looked_ns;
} seen;

static bool enter(void)
{
    return atomic_load_explicit(&scene.wake, memory_order_relaxed) != NULL &&
           atomic_exchange_explicit(&scene.ticking, 1, memory_order_acquire) == 0;
}

static void leave(void)
{
    atomic_store_explicit(&scene.ticking, 0, memory_order_release);
}

static void wake_checker(void)
{
    _Atomic uint32_t *wake = atomic_load(&scene.wake);

    if (!wake)
        return;
    atomic_store(wake, 1);
    mire__futex_wake(wake);
}

static uint32_t limit(void)
{
    return atomic_load_explicit(&scene.limit, memory_order_relaxed);
}

static void begin(uint64_t now_ns, const char *name)
{
    mire__frames_begin(&scene.now.frames, now_ns, name != NULL);
    mire__text_copy(scene.now.name, sizeof(scene.now.name), name);
    atomic_store_explicit(&scene.begin_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&scene.tid, mire__tid(), memory_order_relaxed); /* once a window: it is a system call */
}

/* A window or a scene is over: hand it on if too much was dropped. */
static void finish(void)
{
    bool over = limit() > 0 && scene.now.frames.dropped >= limit();

    if (over && !atomic_load_explicit(&scene.full, memory_order_acquire)) {
        scene.done = scene.now;
        atomic_store_explicit(&scene.full, 1, memory_order_release);
    }
    if (atomic_exchange(&scene.near, 0) != 0 || over)
        wake_checker();
}

static uint64_t frame_ns(void)
{
    return atomic_load_explicit(&scene.frame_us, memory_order_relaxed) * UINT64_C(1000);
}

static void add(_Atomic uint64_t *sum, uint64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

void mire__scene_counts(uint64_t *drawn_out, uint64_t *dropped_out)
{
    *drawn_out = atomic_load_explicit(&scene.drawn, memory_order_relaxed);
    *dropped_out = atomic_load_explicit(&scene.dropped, memory_order_relaxed);
}

/* The frame of a tick: does it end its window? */
static bool count_frame(struct frames *frames, uint64_t when_ns)
{
    uint32_t dropped = frames->dropped;
    bool over = mire__frames_tick(frames, when_ns, frame_ns());

    add(&scene.drawn, 1);
    add(&scene.dropped, frames->dropped - dropped);
    return over;
}

void mire__scene_tick(uint64_t when_ns)
{
    struct frames *frames = &scene.now.frames;

    if (!enter())
        return;
    if (frames->begin_ns == 0)
        begin(mire__now_ns(), NULL);
    if (when_ns == 0) {
        mire__frames_pause(frames);
    } else if (count_frame(frames, when_ns)) {
        finish();
        begin(when_ns, NULL);
    } else if (limit() > 0 && frames->dropped * 2 >= limit() &&
               !atomic_load_explicit(&scene.near, memory_order_relaxed)) {
        atomic_store(&scene.near, 1);
        wake_checker();
    }
    atomic_store_explicit(&scene.last_ns, frames->last_ns, memory_order_release);
    leave();
}

void mire__scene_begin(const char *name)
{
    if (!enter())
        return;
    begin(mire__now_ns(), name && name[0] ? name : "scene");
    atomic_store(&scene.near, 0);
    leave();
}

void mire__scene_end(void)
{
    if (!enter())
        return;
    if (scene.now.frames.in_scene) {
        uint32_t dropped = scene.now.frames.dropped;

        mire__frames_end(&scene.now.frames, mire__now_ns(), frame_ns());
        add(&scene.dropped, scene.now.frames.dropped - dropped);
        finish();
        begin(mire__now_ns(), NULL);
    }
    leave();
}

static bool open_record(struct check *check, struct process_record *of, uint64_t begin_ns)
{
    struct event event = {.trigger = MIRE_TRIGGER_FRAMES,
                          .begin_ns = begin_ns,
                          .threshold_ms = UINT32_MAX, /* killed before it is over the limit, it was nothing */
                          .tid = atomic_load(&scene.tid)};

    if (mire__process_has(of, MIRE_TRIGGER_FRAMES))
        return true;
    mire__thread_name(event.thread_name, event.tid);
    seen.looked_ns = seen.due_ns = check->now_ns;
    return mire__process_open(check, of, &event);
}

/* A window over the limit: its facts, and its stacks. */
static void report(struct check *check, struct process_record *of)
{
    const struct frames *frames = &scene.done.frames;

    if (open_record(check, of, frames->begin_ns)) {
        struct event *event = &of->record.event;
        uint64_t end_ns = frames->last_ns > frames->begin_ns ? frames->last_ns : check->now_ns;

        event->begin_ns = frames->begin_ns;
        event->threshold_ms = 0;
        event->frames = (struct frames_fact){.ticks = frames->ticks,
                                             .dropped = frames->dropped,
                                             .longest_ms = (uint32_t)(frames->longest_ns / MIRE_NS_PER_MS),
                                             .window_ms = (uint32_t)((end_ns - frames->begin_ns) / MIRE_NS_PER_MS)};
        mire__text_copy(event->name, sizeof(event->name), scene.done.name);
        mire__record_close(check, &of->record, end_ns, false);
    }
    atomic_store_explicit(&scene.full, 0, memory_order_release);
}

/* Take the ticking thread's stack if a frame is overdue. Returns when to look again. */
static uint64_t look(struct check *check, struct process_record *of)
{
    uint64_t last_ns = atomic_load_explicit(&scene.last_ns, memory_order_acquire);
    uint64_t since_ns = last_ns > seen.looked_ns ? last_ns : seen.looked_ns;

    if (check->now_ns < seen.due_ns)
        return seen.due_ns;
    if (check->now_ns > last_ns + STALE_NS)
        atomic_store(&scene.near, 0);
    else if (last_ns != 0 && check->now_ns > last_ns + 2 * frame_ns())
        mire__record_sample(check, &of->record, 0, check->now_ns - since_ns);
    seen.looked_ns = check->now_ns;
    seen.due_ns = check->now_ns + mire__process_period_ns(check, of, 1);
    return seen.due_ns;
}

void mire__scene_start(struct check *check)
{
    memset(&seen, 0, sizeof(seen));
    atomic_store(&scene.near, 0);
    atomic_store(&scene.full, 0);
    if (scene.pid != mire__pid())
        atomic_store(&scene.ticking, 0);
    scene.pid = mire__pid();
    mire__scene_step(check, NULL);
    atomic_store(&scene.wake, check->wake);
}

uint64_t mire__scene_step(struct check *check, struct process_record *of)
{
    atomic_store_explicit(&scene.limit, check->settings.frames_dropped, memory_order_relaxed);
    atomic_store_explicit(&scene.frame_us, check->settings.frame_us, memory_order_relaxed);
    if (!of)
        return UINT64_MAX;
    if (atomic_load_explicit(&scene.full, memory_order_acquire))
        report(check, of);
    if (!atomic_load(&scene.near) || !open_record(check, of, atomic_load(&scene.begin_ns))) {
        mire__process_forget(check, of, MIRE_TRIGGER_FRAMES);
        return UINT64_MAX;
    }
    return look(check, of);
}

void mire__scene_stop(struct check *check, struct process_record *of)
{
    atomic_store(&scene.wake, NULL);
    if (atomic_load_explicit(&scene.full, memory_order_acquire))
        report(check, of);
}
