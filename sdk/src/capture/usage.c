/* usage.c - see usage.h. */
#include "capture/usage.h"

#include "capture/load.h"
#include "capture/signal.h"

#include <string.h>

#define TICK_CPU_NS  (100 * MIRE_NS_PER_MS) /* CPU time after which an otherwise quiet process is looked at */
#define LOOK_MAX_NS  MIRE_NS_PER_S          /* between two looks at one that is not quiet */
#define LOOKS        8                      /* in the shortest window */
#define ROUNDS_LEAST 10                     /* of samples in a report, unless half the window went by */
#define TIRED        4                      /* windows of rest after one that came near the limit and not over it */
#define WAIT_MAX     987u

/* One kind of use: its growth within a window is compared with a limit. */
struct usage {
    struct load load;
    struct load reads;      /* DISK: the part of it that was read */
    uint64_t opened_ns;     /* of the record it has open, as the next four */
    uint64_t opened_amount; /* when its window began, as the next */
    uint64_t opened_read;
    uint64_t round_ns; /* of the last round of samples */
    uint32_t rounds;
    uint32_t wait, next;         /* two neighbours of the Fibonacci numbers: rests, in units of settings.suppress_ms */
    uint64_t rest_until_ns;      /* pause after a report, unconditional */
    uint64_t tired_until_ns;     /* after a record that came to nothing; unless it is over */
    uint64_t counted_ns;         /* a window over the limit was counted last */
    struct suppressed_fact held; /* counted while at rest */
};

/* The parameters of a kind. */
struct usage_kind {
    enum mire__trigger trigger;
    uint32_t round_periods; /* rounds are as many sampling periods apart */
};

enum { DISK, CPU, POWER, KINDS };

static const struct usage_kind kinds[KINDS] = {
    [DISK] = {MIRE_TRIGGER_DISK, 2},
    [CPU] = {MIRE_TRIGGER_CPU, 2},
    [POWER] = {MIRE_TRIGGER_POWER, 10},
};

static struct {
    struct usage usages[KINDS];
    struct cpu_timer timer;
    bool asleep;            /* until the timer fires: as long as the process uses little */
    uint64_t asleep_cpu_ns; /* the process's CPU time when it fell asleep */
    uint64_t looked_ns;     /* time of the last look, and the use by then */
    uint64_t cpu_ns;
    struct io_bytes io;
    uint64_t due_ns;  /* of the next look */
    uint64_t said_ns; /* that the process has used something */
} state;

static struct load_limit limit_of(const struct capture_settings *settings, int kind)
{
    uint64_t window_ns;

    if (kind == DISK)
        return (struct load_limit){.window_ns = settings->disk_window_ms * MIRE_NS_PER_MS,
                                   .amount = settings->disk_kib * UINT64_C(1024)};
    window_ns = (kind == CPU ? settings->cpu_window_ms : settings->power_window_ms) * MIRE_NS_PER_MS;
    return (struct load_limit){.window_ns = window_ns,
                               .amount =
                                   window_ns / 100 * (kind == CPU ? settings->cpu_percent : settings->power_percent),
                               .least_ns = window_ns / 5 * 4};
}

static uint64_t amount_of(int kind)
{
    return kind == DISK ? state.io.read + state.io.written : state.cpu_ns;
}

static bool any_hang(const struct blackbox *box)
{
    for (uint32_t i = 0; i < MIRE_LANE_PROCESS; i++) {
        if (mire__blackbox_is_open(box, i))
            return true;
    }
    return false;
}

static void open_record(struct check *check, struct process_record *of, int kind, uint64_t grown, uint64_t read,
                        uint64_t within_ns)
{
    struct usage *usage = &state.usages[kind];
    /* Killed before it is over the limit, it was nothing: no record reaches that threshold. */
    const struct event event = {
        .trigger = kinds[kind].trigger, .begin_ns = check->now_ns - within_ns, .threshold_ms = UINT32_MAX};

    if (!mire__process_open(check, of, &event))
        return;
    usage->opened_ns = usage->round_ns = check->now_ns;
    usage->opened_amount = amount_of(kind) - grown;
    usage->opened_read = state.io.read - read;
    usage->rounds = 0;
    mire__busy_begin(&of->busy, check, kind == DISK);
}

/* Begin new windows. */
static void forget(struct usage *usage)
{
    mire__load_reset(&usage->load);
    mire__load_reset(&usage->reads);
}

/* Rest before the next: longer each time as long as it was over the limit meanwhile. */
static void rest(struct check *check, struct usage *usage)
{
    if (usage->held.count == 0 || usage->wait == 0) {
        usage->wait = usage->next = 1;
    } else if (usage->next < WAIT_MAX) {
        uint32_t wait = usage->next;

        usage->next += usage->wait;
        usage->wait = wait;
    }
    usage->rest_until_ns = check->now_ns + usage->wait * check->settings.suppress_ms * MIRE_NS_PER_MS;
    usage->held = (struct suppressed_fact){0};
    forget(usage);
}

static void close_record(struct check *check, struct process_record *of, int kind)
{
    struct usage *usage = &state.usages[kind];
    struct event *event = &of->record.event;
    struct load_limit limit = limit_of(&check->settings, kind);
    uint64_t window_ns = check->now_ns - event->begin_ns, grown = amount_of(kind) - usage->opened_amount;
    uint32_t window_ms = (uint32_t)(window_ns / MIRE_NS_PER_MS);

    if (kind == DISK) {
        uint64_t read = state.io.read - usage->opened_read;

        event->disk = (struct disk_fact){.window_ms = window_ms,
                                         .read_bytes = read,
                                         .write_bytes = grown > read ? grown - read : 0,
                                         .limit_bytes = limit.amount};
    } else {
        event->cpu = (struct cpu_fact){.window_ms = window_ms,
                                       .percent = (uint32_t)(grown * 100 / (window_ns ? window_ns : 1)),
                                       .limit_percent =
                                           kind == CPU ? check->settings.cpu_percent : check->settings.power_percent};
    }
    event->suppressed = usage->held;
    event->threshold_ms = 0;
    mire__busy_end(&of->busy, check, &of->record);
    mire__record_close(check, &of->record, check->now_ns, false);
    rest(check, usage);
}

/* Has it been looked at for long enough to tell who did it? */
static bool enough(const struct check *check, const struct usage *usage, uint64_t window_ns)
{
    uint64_t open_ns = check->now_ns - usage->opened_ns;
    bool seen = mire__ring_count(&check->box->lanes[MIRE_LANE_PROCESS].ring) > 0;

    return open_ns >= window_ns || (seen && (usage->rounds >= ROUNDS_LEAST || open_ns >= window_ns / 2));
}

/* Samples an open event, and decides its end. Returns the time of the next step. */
static uint64_t go_on(struct check *check, struct process_record *of, int kind, enum mire__load load)
{
    struct usage *usage = &state.usages[kind];
    struct load_limit limit = limit_of(&check->settings, kind);
    uint64_t period_ns = mire__process_period_ns(check, of, kinds[kind].round_periods);

    if (check->now_ns >= usage->round_ns + period_ns) {
        usage->round_ns = check->now_ns;
        usage->rounds++;
        mire__busy_sample(&of->busy, check, &of->record, check->settings.power_thread_percent);
    }
    if (load == MIRE_LOAD_OVER && enough(check, usage, limit.window_ns)) {
        close_record(check, of, kind);
    } else if (load == MIRE_LOAD_BELOW || check->now_ns - usage->opened_ns >= limit.window_ns) {
        mire__process_forget(check, of, kinds[kind].trigger);
        usage->tired_until_ns = check->now_ns + TIRED * limit.window_ns;
    }
    return mire__process_has(of, kinds[kind].trigger) ? usage->round_ns + period_ns : UINT64_MAX;
}

static void count_while_at_rest(struct check *check, struct usage *usage, uint64_t window_ns)
{
    if (check->now_ns - usage->counted_ns < window_ns)
        return;
    usage->counted_ns = check->now_ns;
    usage->held.count++;
    usage->held.duration_ms += window_ns / MIRE_NS_PER_MS;
}

/* One kind, after the counters were read. Returns the time of the next step, if that is before the next look. */
static uint64_t step_kind(struct check *check, struct process_record *of, int kind)
{
    struct usage *usage = &state.usages[kind];
    struct load_limit limit = limit_of(&check->settings, kind);
    uint64_t grown, read = 0, within_ns;
    enum mire__load load = mire__load_read(&grown, &within_ns, &usage->load, &limit, check->now_ns, amount_of(kind));

    if (kind == DISK)
        mire__load_read(&read, &within_ns, &usage->reads, &limit, check->now_ns, state.io.read);

    if (kind != POWER && any_hang(check->box)) {
        mire__process_forget(check, of, kinds[kind].trigger);
        forget(usage);
        return UINT64_MAX;
    }
    if (check->now_ns < usage->rest_until_ns) {
        if (load == MIRE_LOAD_OVER)
            count_while_at_rest(check, usage, limit.window_ns);
        return UINT64_MAX;
    }
    if (!mire__process_has(of, kinds[kind].trigger) &&
        (load == MIRE_LOAD_OVER || (load == MIRE_LOAD_NEAR && check->now_ns >= usage->tired_until_ns)))
        open_record(check, of, kind, grown, read, within_ns);
    return mire__process_has(of, kinds[kind].trigger) ? go_on(check, of, kind, load) : UINT64_MAX;
}

static uint64_t look_ns(const struct capture_settings *settings)
{
    uint64_t shortest_ns = LOOK_MAX_NS * LOOKS;

    for (int kind = 0; kind < KINDS; kind++) {
        struct load_limit limit = limit_of(settings, kind);

        if (limit.amount > 0 && limit.window_ns < shortest_ns)
            shortest_ns = limit.window_ns;
    }
    return shortest_ns / LOOKS;
}

/* Was so little used since the last look that no limit can be near soon? */
static bool is_quiet(const struct capture_settings *settings, uint64_t passed_ns, uint64_t cpu_ns, uint64_t bytes)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct load_limit limit = limit_of(settings, kind);
        uint64_t used = kind == DISK ? bytes : cpu_ns;

        if (limit.amount > 0 &&
            used >= limit.amount / 4 * (passed_ns / MIRE_NS_PER_MS) / (limit.window_ns / MIRE_NS_PER_MS))
            return false;
    }
    return true;
}

/* The timer was made with a signal that is still the sampler's, and whose handler is in place. */
static bool holds(const struct check *check)
{
    return (uint32_t)check->sampler->signal == check->timer_signal && mire__signal_holds(check->sampler);
}

static bool fall_asleep(struct check *check)
{
    if (!state.timer.open || !holds(check))
        return false;
    state.asleep = true;
    state.asleep_cpu_ns = mire__process_cpu_ns();
    mire__cpu_timer_arm(&state.timer, TICK_CPU_NS);
    return true;
}

static void open_timer(struct check *check)
{
    if (check->timer_signal != 0)
        mire__cpu_timer_open(&state.timer, check->tid, (int)check->timer_signal, (void *)(uintptr_t)check->wake);
}

void mire__usage_resume(struct check *check)
{
    mire__cpu_timer_close(&state.timer);
    open_timer(check);
    if (!state.asleep)
        return;
    state.asleep = false;
    state.due_ns = check->now_ns;
    fall_asleep(check);
}

void mire__usage_start(struct check *check)
{
    memset(&state, 0, sizeof(state));
    open_timer(check);
    state.looked_ns = check->now_ns;
    state.cpu_ns = mire__process_cpu_ns();
    mire__io_bytes(&state.io, 0);
    fall_asleep(check);
}

void mire__usage_stop(struct check *check)
{
    (void)check;
    mire__cpu_timer_close(&state.timer);
}

static void say_used(struct check *check)
{
    state.said_ns = check->now_ns;
    if (check->options->on_use)
        check->options->on_use(check->options->context);
}

/* Read the counters. Returns whether the process used little. */
static bool look(struct check *check)
{
    uint64_t passed_ns = check->now_ns - state.looked_ns, cpu_ns = state.cpu_ns,
             bytes = state.io.read + state.io.written;

    state.looked_ns = check->now_ns;
    state.cpu_ns = mire__process_cpu_ns();
    if (check->settings.disk_kib > 0)
        mire__io_bytes(&state.io, 0);
    return is_quiet(&check->settings, passed_ns, state.cpu_ns - cpu_ns, state.io.read + state.io.written - bytes);
}

uint64_t mire__usage_step(struct check *check, struct process_record *of)
{
    uint64_t next_ns;
    bool quiet;

    if (!state.timer.open) { /* without it an idle process would have to be woken; a round tells that it is none */
        if (check->now_ns - state.said_ns >= LOOK_MAX_NS)
            say_used(check);
        return UINT64_MAX;
    }
    if (state.asleep && check->now_ns - state.looked_ns < look_ns(&check->settings) &&
        mire__process_cpu_ns() - state.asleep_cpu_ns < TICK_CPU_NS / 2)
        return UINT64_MAX; /* somebody else woke, and a look is not due yet */
    if (!state.asleep && check->now_ns < state.due_ns)
        return state.due_ns;
    state.asleep = false;
    quiet = look(check);
    say_used(check);
    next_ns = check->now_ns + look_ns(&check->settings);
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t again_ns = step_kind(check, of, kind);

        next_ns = again_ns < next_ns ? again_ns : next_ns;
        quiet = quiet && again_ns == UINT64_MAX;
    }
    state.due_ns = next_ns;
    return quiet && fall_asleep(check) ? UINT64_MAX : next_ns;
}
