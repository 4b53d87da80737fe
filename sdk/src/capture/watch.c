/*
 * watch.c - the check thread. See capture.h.
 *
 * All of `watch` but `wake` and `stop` belongs to the check thread while it runs, and to mire__watch_start and
 * mire__watch_stop while it does not.
 */
#include "capture/capture.h"

#include "capture/sampler.h"
#include "gate/gate.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define CHECK_STACK_BYTES (512 * 1024)
#define LATE_NS \
    (50 * MIRE_NS_PER_MS)          /* a wake-up is late when it is this much off: more than a busy machine's jitter */
#define HEARTBEAT_NS MIRE_NS_PER_S /* how often an open hang's record is brought up to date at least */
#define NO_LOOP_LOOK_NS \
    (10 * MIRE_NS_PER_S) /* how often a thread without a loop is looked at: whether it is there still */

struct watch {
    struct watch_options options;
    uint32_t tid; /* of the watched thread */
    struct sampler sampler;
    struct hang hang;
    struct thread_counters base; /* of the watched thread when the turn `base_turn` was first seen */
    uint64_t base_turn;
    uint64_t start_ns;
    uint64_t turning_ns; /* when on_turning was called last */
    uint64_t counted_ns; /* when the open hang's counters were read last */
    uint64_t marked_ns;  /* up to when lateness is accounted for, and the watched thread's CPU time then */
    uint64_t marked_cpu_ns;
    bool gone; /* the watched thread has ended */
    pthread_t thread;
};

/* Where hooks and a stopping thread find the watch; pid tells a forked child's copy from the real one. */
static struct {
    struct watch *watch;  /* NULL when not watching */
    struct watch *memory; /* mapped once and kept: a late signal's handler may look at its sampler */
    uint32_t pid;
    _Atomic uint32_t wake; /* futex word: raised by the gate and by mire__watch_stop */
    _Atomic uint32_t stop;
    _Atomic uint64_t
        hang_turn; /* the turn of the hang that is not settled yet, 0 if none; written by the check thread */
} global;

static uint64_t period_of(const struct watch *watch)
{
    return watch->options.settings.period_ms * MIRE_NS_PER_MS;
}

static bool stopping(void)
{
    return atomic_load(&global.stop) != 0;
}

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static void mark(struct watch *watch)
{
    watch->marked_ns = mire__now_ns();
    watch->marked_cpu_ns = mire__thread_cpu_ns(watch->tid);
}

/*
 * Set the mark. Returns the time since due_ns, if it is too long to be chance, less what the watched thread computed
 * since the last mark: it got no processor either, for the process was stopped or starved.
 */
static uint64_t late_since(struct watch *watch, uint64_t due_ns)
{
    uint64_t cpu_ns = watch->marked_cpu_ns, late_ns;

    mark(watch);
    late_ns = less(watch->marked_ns, due_ns);
    return late_ns < LATE_NS ? 0 : less(late_ns, watch->marked_cpu_ns - cpu_ns);
}

static void doze(uint64_t deadline_ns)
{
    while (!stopping() && atomic_exchange(&global.wake, 0) == 0 && mire__now_ns() < deadline_ns)
        mire__futex_wait(&global.wake, 0, deadline_ns);
}

/*
 * Sleep until a deadline, or until the gate or mire__watch_stop wakes.
 * Returns by how much this came late. It counts from the last mark, not from here: the process may be stopped at any
 * point between, where nothing takes longer than a sample does.
 */
static uint64_t sleep_until(struct watch *watch, uint64_t deadline_ns)
{
    uint64_t now_ns = mire__now_ns(), latest_ns = watch->marked_ns + MIRE_ANSWER_NS;
    uint64_t due_ns = now_ns < latest_ns ? now_ns : latest_ns;

    doze(deadline_ns);
    return late_since(watch, deadline_ns > due_ns ? deadline_ns : due_ns);
}

/* Sleep while the thread is idle. Returns by how much the wake-up came late after the turn had begun, like sleep_until.
 */
static uint64_t park(struct watch *watch)
{
    struct gate_view view;

    mark(watch);
    if (mire__gate_park())
        doze(UINT64_MAX);
    mire__gate_look(&view);
    return (view.turn & 1) ? late_since(watch, view.since_ns) : 0;
}

static void note_base(struct watch *watch, const struct gate_view *view)
{
    if (watch->base_turn == view->turn)
        return;
    watch->base_turn = view->turn;
    mire__thread_counters(&watch->base, watch->tid);
}

static void say_turning(struct watch *watch)
{
    uint64_t now_ns = mire__now_ns();

    if (!watch->options.on_turning || now_ns - watch->turning_ns < MIRE_NS_PER_S)
        return;
    watch->turning_ns = now_ns;
    watch->options.on_turning(watch->options.context);
}

/* Read what the hang has used so far: some ten small files, 150 us. */
static void count_use(struct watch *watch)
{
    struct hang *hang = &watch->hang;
    struct thread_counters now;
    struct process_counters process;

    if (watch->gone)
        return;
    watch->counted_ns = mire__now_ns();
    mire__thread_counters(&now, watch->tid);
    mire__process_counters(&process);
    hang->use = (struct thread_use){.cpu_ns = now.cpu_ns - watch->base.cpu_ns,
                                    .voluntary_switches = now.voluntary_switches - watch->base.voluntary_switches,
                                    .involuntary_switches = now.involuntary_switches - watch->base.involuntary_switches,
                                    .major_faults = now.major_faults - watch->base.major_faults,
                                    .read_bytes = now.read_bytes - watch->base.read_bytes,
                                    .write_bytes = now.write_bytes - watch->base.write_bytes};
    hang->process = (struct process_use){.cpu_user_ms = process.cpu_user_ms,
                                         .cpu_system_ms = process.cpu_system_ms,
                                         .rss_bytes = process.rss_bytes,
                                         .thread_count = process.thread_count};
}

/* Store the record where it survives the process. */
static void record(struct watch *watch)
{
    struct hang *hang = &watch->hang;

    hang->last_seen_ns = mire__now_ns();
    if (hang->last_seen_ns - watch->counted_ns >= HEARTBEAT_NS)
        count_use(watch);
    hang->cost = watch->sampler.cost;
    hang->cost.watch_cpu_ns = mire__thread_cpu_ns(0);
    mire__blackbox_set_hang(watch->options.box, 0, hang);
}

static void clear_hang(struct watch *watch)
{
    memset(&watch->hang, 0, sizeof(watch->hang));
    mire__blackbox_set_hang(watch->options.box, 0, &watch->hang);
    atomic_store(&global.hang_turn, 0);
}

static void open_hang(struct watch *watch, const struct gate_view *view, uint64_t late_ns)
{
    struct hang *hang = &watch->hang;
    struct blackbox *box = watch->options.box;

    atomic_store(&global.hang_turn, view->turn);
    mire__blackbox_clear_images(box);
    atomic_store_explicit(&box->lanes[0].other_count, 0, memory_order_release);
    mire__ring_reset(&box->lanes[0].ring, view->turn * 0x9e3779b97f4a7c15ull);
    mire__modules_read(&watch->sampler.modules, box);
    memset(&watch->sampler.cost, 0, sizeof(watch->sampler.cost));
    memset(hang, 0, sizeof(*hang));
    mire__uuid7(hang->id);
    hang->state = MIRE_HANG_OPEN;
    hang->gate = view->kind;
    hang->launch = view->kind == MIRE_GATE_NONE;
    hang->tid = watch->tid;
    mire__text_copy(hang->thread_name, sizeof(hang->thread_name), watch->base.name);
    hang->foreground = MIRE_GROUND_UNKNOWN;
    hang->threshold_ms = watch->options.settings.foreground_ms;
    hang->begin_ns = view->since_ns;
    hang->late_ns = late_ns;
    watch->counted_ns = 0;
    record(watch);
}

static void take_sample(struct watch *watch, uint64_t weight_ns)
{
    struct ring *ring = &watch->options.box->lanes[0].ring;

    mire__sampler_take(mire__ring_reserve(ring), &watch->sampler, watch->tid, watch->options.box);
    mire__ring_append(ring, weight_ns);
    watch->hang.period_ms = (uint32_t)((period_of(watch) << ring->thinned_count) / MIRE_NS_PER_MS);
}

/* Has the watched thread ended? Then the watch is over. */
static bool is_gone(struct watch *watch)
{
    watch->gone = mire__thread_is_gone(watch->tid);
    return watch->gone;
}

/*
 * Sample until the turn ends, the thread or the watch does, or a launch turns out to have no loop. True if the turn
 * ended.
 */
static bool follow(struct watch *watch, struct gate_view *view)
{
    uint64_t turn = view->turn, sampled_ns = 0, due_ns = 0, stopped_ns = 0;

    while (mire__gate_watch_end(turn) && !stopping()) {
        uint64_t now_ns = mire__now_ns(), period_ns = period_of(watch)
                                                      << watch->options.box->lanes[0].ring.thinned_count;

        if (watch->hang.launch && now_ns - watch->start_ns > MIRE_LAUNCH_NS)
            return false;
        if (now_ns >= due_ns) {
            if (is_gone(watch))
                return false;
            uint64_t gap_ns = sampled_ns ? now_ns - sampled_ns : period_ns;

            take_sample(watch, less(gap_ns, stopped_ns));
            sampled_ns = now_ns;
            due_ns = now_ns + period_ns;
            stopped_ns = 0;
        }
        record(watch);

        uint64_t beat_ns = mire__now_ns() + HEARTBEAT_NS;
        uint64_t late_ns = sleep_until(watch, due_ns < beat_ns ? due_ns : beat_ns);

        watch->hang.late_ns += late_ns;
        stopped_ns += late_ns;
    }
    mire__gate_unwatch();
    mire__gate_look(view);
    return view->turn != turn;
}

static void close_hang(struct watch *watch, const struct gate_view *view, bool ended)
{
    struct hang *hang = &watch->hang;
    uint64_t now_ns = mire__now_ns();

    count_use(watch);
    record(watch);
    hang->state = MIRE_HANG_ENDED;
    hang->end_ns = ended && view->end_ns > hang->begin_ns ? view->end_ns : now_ns;
    hang->exited = !ended;
    mire__blackbox_set_hang(watch->options.box, 0, hang);
    if (mire__hang_counts(hang))
        watch->options.on_hang(watch->options.context, watch->options.box, 0);
    clear_hang(watch);
    mark(watch); /* sealing may have taken long */
}

/* A launch that never waits: a program without a loop. Sleep until it waits after all. */
static void give_up_launch(struct watch *watch, uint64_t turn)
{
    clear_hang(watch);
    while (mire__gate_watch_end(turn) && !stopping() && !is_gone(watch))
        sleep_until(watch, mire__now_ns() + NO_LOOP_LOOK_NS);
    mire__gate_unwatch();
}

/* The thread has been busy in this turn for long enough to be sampled. */
static void watch_turn(struct watch *watch, struct gate_view *view, uint64_t late_ns)
{
    uint64_t turn = view->turn;

    open_hang(watch, view, late_ns);
    if (follow(watch, view))
        close_hang(watch, view, true);
    else if (stopping() || watch->gone)
        close_hang(watch, view, false);
    else
        give_up_launch(watch, turn);
}

static void *check(void *argument)
{
    struct watch *watch = argument;
    const struct capture_settings *settings = &watch->options.settings;
    uint64_t from_ns = settings->foreground_ms * (uint64_t)settings->sample_from_ppm; /* ms of millionths: ns */
    uint64_t slept_late_ns = 0;                                                       /* of the last sleep */
    struct gate_view view, now;

    mark(watch);
    while (!stopping() && !watch->gone) {
        uint64_t late_ns;

        mire__gate_look(&view);
        if ((view.turn & 1) == 0) {
            slept_late_ns = park(watch);
            continue;
        }
        note_base(watch, &view);
        late_ns = less(mire__now_ns(), view.since_ns); /* that much of the last sleep's lateness lies in this turn */
        late_ns = slept_late_ns < late_ns ? slept_late_ns : late_ns;
        slept_late_ns = sleep_until(watch, view.since_ns + from_ns);
        mire__gate_look(&now);
        if (now.turn != view.turn)
            say_turning(watch);
        else if (!stopping() && mire__now_ns() >= view.since_ns + from_ns)
            watch_turn(watch, &now, late_ns + slept_late_ns);
    }
    if (watch->gone && watch->options.on_gone)
        watch->options.on_gone(watch->options.context);
    return NULL;
}

static enum mire_err start_thread(struct watch *watch)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int failed;

    if (pthread_attr_init(&attributes) != 0)
        return MIRE_E_MEMORY;
    pthread_attr_setstacksize(&attributes, CHECK_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: no handler of the app runs on the check thread */
    failed = pthread_create(&watch->thread, &attributes, check, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        return MIRE_E_SYSTEM;
    pthread_setname_np(watch->thread, "mire-check");
    return MIRE_OK;
}

enum mire_err mire__watch_start(const struct watch_options *options)
{
    struct watch *watch;
    enum mire_err err;

    if (global.watch && global.pid == mire__pid())
        return MIRE_E_STATE;
    watch = global.memory;
    if (!watch || global.pid != mire__pid())
        watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED)
        return MIRE_E_MEMORY;
    global.memory = watch;
    global.pid = mire__pid();
    watch->options = *options;
    watch->start_ns = mire__now_ns();
    watch->gone = false;
    watch->tid = mire__tid();
    err = mire__sampler_open(&watch->sampler);
    if (err)
        return err;
    atomic_store(&global.wake, 0);
    atomic_store(&global.stop, 0);
    atomic_store(&global.hang_turn, 0);
    mire__gate_start(&global.wake, &options->box->left_ns, options->on_child, options->context);
    err = start_thread(watch);
    if (err) {
        mire__gate_stop();
        mire__sampler_close(&watch->sampler);
        return err;
    }
    global.watch = watch;
    return MIRE_OK;
}

void mire__watch_stop(void)
{
    struct watch *watch = global.watch;

    if (!watch || global.pid != mire__pid())
        return;
    atomic_store(&global.stop, 1);
    atomic_store(&global.wake, 1);
    mire__futex_wake(&global.wake);
    pthread_join(watch->thread, NULL);
    mire__gate_stop();
    mire__sampler_close(&watch->sampler);
    global.watch = NULL;
    madvise(watch, sizeof(*watch), MADV_DONTNEED); /* gives the pages back; they read as zeros from now on */
}

bool mire__watch_settled(void)
{
    uint64_t turn = atomic_load(&global.hang_turn);
    struct gate_view view;

    mire__gate_look(&view);
    return turn == 0 || turn == view.turn;
}
