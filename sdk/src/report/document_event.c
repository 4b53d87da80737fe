/*
 * document_event.c - the sections "event" and "threads".
 */
#include "report/document.h"

static void write_thread(struct wire *wire, const struct event *event)
{
    if (event->tid == 0) /* of the whole process */
        return;
    mire__wire_object(wire, MIRE_NAME_THREAD);
    mire__wire_u64(wire, MIRE_NAME_TID, event->tid);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_NAME, event->thread_name);
    mire__wire_u64(wire, MIRE_NAME_CPU_MS, ms_of(event->use.cpu_ns));
    mire__wire_u64(wire, MIRE_NAME_VOLUNTARY_SWITCHES, event->use.voluntary_switches);
    mire__wire_u64(wire, MIRE_NAME_INVOLUNTARY_SWITCHES, event->use.involuntary_switches);
    mire__wire_u64(wire, MIRE_NAME_MAJOR_FAULTS, event->use.major_faults);
    mire__wire_u64(wire, MIRE_NAME_READ_BYTES, event->use.read_bytes);
    mire__wire_u64(wire, MIRE_NAME_WRITE_BYTES, event->use.write_bytes);
    mire__wire_end(wire);
}

static char state_of(const struct sample *sample)
{
    uint8_t lower = sample->state | 0x20;

    return lower >= 'a' && lower <= 'z' ? (char)sample->state : '?';
}

static int32_t syscall_of(const struct sample *sample)
{
    return sample->syscall < 0 ? -1 : sample->syscall;
}

static void write_times(struct wire *wire, const struct draft *draft)
{
    uint64_t column[MIRE_RING_SAMPLES], at = 0, weight, sum_ns = 0, sum_ms = 0;

    for (uint32_t i = 0; i < draft->sample_count; i++) {
        uint64_t t_ns = mire__ring_at(NULL, &draft->lane->ring, i)->t_ns;
        uint64_t t = t_ns > draft->event.begin_ns ? (t_ns - draft->event.begin_ns) / MIRE_NS_PER_MS : 0;

        at = t > at ? t : at;
        column[i] = at;
    }
    mire__wire_u64_column(wire, MIRE_NAME_AT_MS, column, draft->sample_count);
    /* The sum of the rounded weights is exact: each value includes the rounding error of the previous ones. */
    for (uint32_t i = 0; i < draft->sample_count; i++) {
        mire__ring_at(&weight, &draft->lane->ring, i);
        sum_ns += weight;
        column[i] = sum_ns / MIRE_NS_PER_MS - sum_ms;
        sum_ms += column[i];
    }
    mire__wire_u64_column(wire, MIRE_NAME_WEIGHT_MS, column, draft->sample_count);
}

/* The schema's letter for the reason why a sample has no stack. */
static char loss_of(const struct sample *sample)
{
    static const char letters[MIRE_LOSSES] = {
        [MIRE_LOSS_NONE] = '.', [MIRE_LOSS_BLOCKED] = 'b',  [MIRE_LOSS_NO_SIGNAL] = 'n', [MIRE_LOSS_UNANSWERED] = 'u',
        [MIRE_LOSS_GONE] = 'g', [MIRE_LOSS_CONFINED] = 'f', [MIRE_LOSS_HIDDEN] = 'h'};

    if (sample->depth == 0)
        return sample->loss > MIRE_LOSS_NONE && sample->loss < MIRE_LOSSES ? letters[sample->loss] : 'm';
    if (sample->flags & MIRE_SAMPLE_BROKEN)
        return 'p';
    return sample->flags & MIRE_SAMPLE_CUT ? 'c' : '.';
}

/* Reasons for missing stacks, and numbers of omitted frames; each only if a sample has one. */
static void write_losses(struct wire *wire, const struct draft *draft)
{
    uint32_t folded[MIRE_RING_SAMPLES], skipped[MIRE_RING_SAMPLES], any_folded = 0, any_skipped = 0;
    char letters[MIRE_RING_SAMPLES];
    bool any = false;

    for (uint32_t i = 0; i < draft->sample_count; i++) {
        const struct sample *sample = mire__ring_at(NULL, &draft->lane->ring, i);

        letters[i] = loss_of(sample);
        any |= letters[i] != '.';
        any_folded |= folded[i] = sample->folded;
        any_skipped |= skipped[i] = sample->skipped;
    }
    if (any)
        mire__wire_text(wire, MIRE_NAME_LOSS, letters, draft->sample_count);
    if (any_folded)
        mire__wire_u32_column(wire, MIRE_NAME_FOLDED, folded, draft->sample_count);
    if (any_skipped)
        mire__wire_u32_column(wire, MIRE_NAME_SKIPPED, skipped, draft->sample_count);
}

static void write_samples(struct wire *wire, const struct draft *draft)
{
    int32_t syscalls[MIRE_RING_SAMPLES];
    char states[MIRE_RING_SAMPLES];
    uint32_t others = 0;

    mire__wire_object(wire, MIRE_NAME_SAMPLES);
    if (draft->event.period_ms > 0)
        mire__wire_u64(wire, MIRE_NAME_PERIOD_MS, at_most(draft->event.period_ms, MIRE_WIRE_PERIOD_MAX));
    write_times(wire, draft);
    for (uint32_t i = 0; i < draft->sample_count; i++) {
        const struct sample *sample = mire__ring_at(NULL, &draft->lane->ring, i);

        states[i] = state_of(sample);
        syscalls[i] = syscall_of(sample);
        others += draft->whose[i] > 0;
    }
    mire__wire_u32_column(wire, MIRE_NAME_NODE, draft->leaves, draft->sample_count);
    mire__wire_text(wire, MIRE_NAME_STATE, states, draft->sample_count);
    mire__wire_i32_column(wire, MIRE_NAME_SYSCALL, syscalls, draft->sample_count);
    if (others > 0)
        mire__wire_u32_column(wire, MIRE_NAME_THREAD, draft->whose, draft->sample_count);
    write_losses(wire, draft);
    mire__wire_end(wire);
}

static void write_blame(struct wire *wire, const struct draft *draft)
{
    uint32_t node;

    if (draft->blame.share_ppm == 0)
        return;
    node = draft->leaves[draft->blame.sample];
    for (uint32_t frame = 0; frame < draft->blame.frame; frame++)
        node -= draft->trie.node_up[node - 1];
    mire__wire_object(wire, MIRE_NAME_BLAME);
    mire__wire_u64(wire, MIRE_NAME_NODE, node);
    mire__wire_u64(wire, MIRE_NAME_SHARE_PPM, draft->blame.share_ppm);
    mire__wire_end(wire);
}

static void write_hot(struct wire *wire, const struct draft *draft)
{
    if (draft->hot.run == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_HOT);
    mire__wire_u64(wire, MIRE_NAME_NODE, draft->leaves[draft->hot.sample]);
    mire__wire_u64(wire, MIRE_NAME_RUN, draft->hot.run);
    mire__wire_u32_column(wire, MIRE_NAME_REPEAT, draft->hot.repeat, draft->hot.depth);
    mire__wire_end(wire);
}

/* The lock, and the figures of the whole process; each only if present. */
static void write_causes(struct wire *wire, const struct event *event)
{
    if (event->lock_address) {
        mire__wire_object(wire, MIRE_NAME_LOCK);
        mire__wire_u64(wire, MIRE_NAME_ADDRESS, event->lock_address);
        if (event->lock_owner)
            mire__wire_u64(wire, MIRE_NAME_OWNER_TID, event->lock_owner);
        mire__wire_end(wire);
    }
    if (event->cpu.window_ms) {
        mire__wire_object(wire, MIRE_NAME_CPU);
        mire__wire_u64(wire, MIRE_NAME_WINDOW_MS, event->cpu.window_ms);
        mire__wire_u64(wire, MIRE_NAME_PERCENT, event->cpu.percent);
        mire__wire_u64(wire, MIRE_NAME_LIMIT_PERCENT, event->cpu.limit_percent);
        mire__wire_end(wire);
    }
    if (event->disk.window_ms) {
        mire__wire_object(wire, MIRE_NAME_DISK);
        mire__wire_u64(wire, MIRE_NAME_WINDOW_MS, event->disk.window_ms);
        mire__wire_u64(wire, MIRE_NAME_READ_BYTES, event->disk.read_bytes);
        mire__wire_u64(wire, MIRE_NAME_WRITE_BYTES, event->disk.write_bytes);
        mire__wire_u64(wire, MIRE_NAME_LIMIT_BYTES, event->disk.limit_bytes);
        mire__wire_end(wire);
    }
    if (event->trigger == MIRE_TRIGGER_FRAMES) {
        mire__wire_object(wire, MIRE_NAME_FRAMES);
        mire__wire_u64(wire, MIRE_NAME_WINDOW_MS, event->frames.window_ms);
        mire__wire_u64(wire, MIRE_NAME_TICKS, event->frames.ticks);
        mire__wire_u64(wire, MIRE_NAME_DROPPED, event->frames.dropped);
        mire__wire_u64(wire, MIRE_NAME_LONGEST_MS, event->frames.longest_ms);
        mire__wire_end(wire);
    }
    if (event->suppressed.count) {
        mire__wire_object(wire, MIRE_NAME_SUPPRESSED);
        mire__wire_u64(wire, MIRE_NAME_COUNT, at_most(event->suppressed.count, UINT32_MAX));
        mire__wire_u64(wire, MIRE_NAME_DURATION_MS, event->suppressed.duration_ms);
        mire__wire_end(wire);
    }
}

/* The wire's word for a number; the first word for an unknown number. */
static void write_word(struct wire *wire, const char *key, const char *const *words, size_t count, uint32_t number)
{
    mire__wire_text(wire, key, words[number < count ? number : 0], SIZE_MAX);
}

#define WORD(wire, key, words, number) write_word(wire, key, words, MIRE_COUNT(words), number)

static const char *const gates[] = {"none", "poll", "mark", "ping"};
static const char *const triggers[] = {"busy", "unanswered", "cpu", "power", "disk", "frames", "call", "test", "crash"};
static const char *const guesses[] = {"foreground_block",
                                      "background_block",
                                      "launch_block",
                                      "blocked_many_threads",
                                      "blocked_and_killed",
                                      "cpu_high",
                                      "power",
                                      "disk_io",
                                      "frames",
                                      "custom",
                                      "test",
                                      "crash"};
_Static_assert(MIRE_COUNT(triggers) == MIRE_TRIGGERS, "a word for every trigger");
_Static_assert(MIRE_COUNT(guesses) == MIRE_GUESS_CRASH + 1, "a word for every guess");

/* The wall clock at the begin of the event, from the pair of clocks taken at start. */
static uint64_t begin_wall_ms(const struct blackbox_facts *facts, uint64_t begin_ns)
{
    int64_t since_start_ms = (int64_t)(begin_ns - facts->start_mono_ns) / (int64_t)MIRE_NS_PER_MS;
    return facts->start_wall_ms + (uint64_t)since_start_ms;
}

/* A hang of a process that was killed for another reason counts as an ordinary one. */
static enum mire__guess guess_of(const struct draft *draft)
{
    const struct exit_end *end = draft->attached ? draft->attached->end : NULL;
    struct event event = draft->event;

    if (end && end->verdict.verdict != MIRE_EXIT_WATCHDOG_KILL)
        event.state = MIRE_EVENT_ENDED;
    return mire__event_guess(&event);
}

void mire__document_event(struct wire *wire, const struct draft *draft)
{
    const struct event *event = &draft->event;
    uint64_t threshold_ms = event->threshold_ms ? event->threshold_ms : 1;

    mire__wire_object(wire, MIRE_NAME_EVENT);
    mire__wire_u64(wire, MIRE_NAME_BEGIN_NS, event->begin_ns);
    mire__wire_u64(wire, MIRE_NAME_BEGIN_WALL_MS, begin_wall_ms(&draft->box->facts, event->begin_ns));
    mire__wire_u64(wire, MIRE_NAME_DURATION_MS, at_most(ms_of(mire__event_duration_ns(event)), MIRE_WIRE_DURATION_MAX));
    mire__wire_u64(wire, MIRE_NAME_THRESHOLD_MS, at_most(threshold_ms, MIRE_WIRE_THRESHOLD_MAX));
    WORD(wire, MIRE_NAME_TRIGGER, triggers, event->trigger);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_NAME, event->name);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_MESSAGE, event->message);
    mire__wire_bool(wire, MIRE_NAME_OPEN, event->state == MIRE_EVENT_OPEN);
    mire__wire_bool(wire, MIRE_NAME_LAUNCH, event->launch);
    if (event->foreground == MIRE_GROUND_BACK || event->foreground == MIRE_GROUND_FORE)
        mire__wire_bool(wire, MIRE_NAME_FOREGROUND, event->foreground == MIRE_GROUND_FORE);
    mire__wire_u64(wire, MIRE_NAME_LATE_MS, ms_of(event->late_ns));
    if (event->suspended_ns > 0)
        mire__wire_u64(wire, MIRE_NAME_SUSPENDED_MS, ms_of(event->suspended_ns));
    if (event->slack_ns > 0)
        mire__wire_u64(wire, MIRE_NAME_BEGIN_SLACK_MS, ms_of(event->slack_ns));
    if (event->end_slack_ns > 0)
        mire__wire_u64(wire, MIRE_NAME_END_SLACK_MS, ms_of(event->end_slack_ns));
    if (event->unsure_ns > 0)
        mire__wire_u64(wire, MIRE_NAME_UNSURE_MS, ms_of(event->unsure_ns));
    if (draft->wait_node > 0)
        mire__wire_u64(wire, MIRE_NAME_WAIT_NODE, draft->wait_node);
    WORD(wire, MIRE_NAME_GATE, gates, event->gate);
    WORD(wire, MIRE_NAME_GUESS, guesses, guess_of(draft));
    write_causes(wire, event);
    write_thread(wire, event);
    write_samples(wire, draft);
    write_blame(wire, draft);
    write_hot(wire, draft);
    mire__wire_end(wire);
}

void mire__document_threads(struct wire *wire, const struct draft *draft)
{
    if (draft->thread_count == 0)
        return;
    mire__wire_array(wire, MIRE_NAME_THREADS);
    for (uint32_t i = 0; i < draft->thread_count; i++) {
        const struct draft_thread *thread = &draft->threads[i];
        const struct other *other = thread->other;
        char state[2] = {state_of(thread->sample), '\0'};

        mire__wire_object(wire, NULL);
        mire__wire_u64(wire, MIRE_NAME_TID, thread->tid);
        if (other) {
            MIRE_TEXT_IF_ANY(wire, MIRE_NAME_NAME, other->name);
            mire__wire_text(wire, MIRE_NAME_ROLE, other->role == MIRE_ROLE_OWNER ? "owner" : "busy", SIZE_MAX);
            mire__wire_u64(wire, MIRE_NAME_CPU_MS, ms_of(other->cpu_ns));
        } else {
            mire__wire_text(wire, MIRE_NAME_ROLE, "other", SIZE_MAX);
        }
        mire__wire_u64(wire, MIRE_NAME_NODE, thread->node);
        mire__wire_text(wire, MIRE_NAME_STATE, state, sizeof(state));
        mire__wire_i64(wire, MIRE_NAME_SYSCALL, syscall_of(thread->sample));
        mire__wire_end(wire);
    }
    mire__wire_end(wire);
}
