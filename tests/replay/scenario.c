/*
 * scenario.c - an app's life in one thread, by the SDK's own parts: start, losses, sealed hangs, captures that the caps
 * evict, an upload, a rollout document twice, a session record, and a hang that is open at the end.
 */
#include "exit/evidence.h"
#include "exit/run.h"
#include "heap/heap.h"
#include "platform/platform.h"
#include "replay/shim.h"
#include "replay/truth.h"
#include "report/memory.h"
#include "report/session.h"
#include "store/inside.h"
#include "store/runs.h"
#include "store/sending.h"
#include "store/tables.h"
#include "support/boxes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOW_MS 1763685118456ull

struct life {
    struct truth *truth;
    char install[33];
    struct store *store;
    struct store_box box;
    uint32_t serial;
};

static void tell(const struct life *life)
{
    shim_note(life->truth, sizeof(*life->truth));
}

size_t truth_body(char out[TRUTH_BODY_MAX], const char *id)
{
    size_t size = 600 + (size_t)id[MIRE_STORE_ID_LENGTH - 1] * 8;

    for (size_t i = 0; i < size; i++)
        out[i] = (char)(id[i % MIRE_STORE_ID_LENGTH] + i / MIRE_STORE_ID_LENGTH);
    return size;
}

static struct truth_report *plan(struct life *life, const char *id, bool made_up)
{
    struct truth_report *report = &life->truth->reports[life->truth->report_count++];

    snprintf(report->id, sizeof(report->id), "%s", id);
    report->made_up = made_up;
    report->sealed = TRIED;
    tell(life);
    return report;
}

static void acknowledge(struct life *life, struct truth_report *report, enum mire_err err)
{
    report->sealed = err == MIRE_OK ? ACKNOWLEDGED : TRIED;
    if (err == MIRE_OK)
        memcpy(life->truth->install, life->install, sizeof(life->install));
    tell(life);
}

/* Put a report with the losses so far. */
static void put(struct life *life, enum store_value value)
{
    char id[MIRE_STORE_ID_LENGTH + 1], body[TRUTH_BODY_MAX];
    uint64_t losses[MIRE_DROP_REASONS];
    uint64_t ms = NOW_MS + ++life->serial;

    snprintf(id, sizeof(id), "%08" PRIx64 "-%04" PRIx64 "-7000-8000-%012x", ms >> 16, ms & 0xffff, life->serial);
    struct truth_report *planned = plan(life, id, true);

    mire__store_drops(losses, life->store);
    const struct store_report report = {
        .id = id, .body = body, .size = truth_body(body, id), .value = value, .losses = losses};
    acknowledge(life, planned, mire__store_put(life->store, &report, NOW_MS + life->serial));
}

static void lose(struct life *life)
{
    life->truth->lost_tried++;
    tell(life);
    mire__store_count_drop(life->store, MIRE_DROP_REFUSED);
    life->truth->lost_acknowledged = life->truth->lost_tried;
    tell(life);
}

/* As the courier does: read, send, receive the response, forget. */
static void upload_oldest(struct life *life)
{
    char path[MIRE_STORE_PATH_MAX];
    struct store_item item;
    struct truth *truth = life->truth;
    void *body;
    size_t size;

    if (mire__store_list(&item, 1, life->store) != 1 || mire__store_get(&body, &size, life->store, item.id) != MIRE_OK)
        return;
    free(body);
    for (uint32_t i = 0; i < truth->report_count; i++) {
        if (strcmp(truth->reports[i].id, item.id) != 0)
            continue;
        if (mire__store_report_path(path, life->store, item.id))
            mire__store_report_losses(truth->reports[i].losses, path);
        truth->reports[i].sent = TRIED;
        tell(life);
        mire__store_done(life->store, item.id);
        truth->reports[i].sent = ACKNOWLEDGED;
        tell(life);
    }
}

static void set_rollout(struct life *life)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "{\"rollout\":%u}", ++life->truth->rollout_tried);

    tell(life);
    if (mire__store_set_rollout(life->store, "\"e\"", text, (size_t)size) == MIRE_OK)
        life->truth->rollout_acknowledged = life->truth->rollout_tried;
    tell(life);
}

static struct event open_hang(struct life *life)
{
    struct event hang = {.state = MIRE_EVENT_OPEN,
                         .gate = MIRE_GATE_POLL,
                         .foreground = MIRE_GROUND_UNKNOWN,
                         .thread_name = "mapview",
                         .tid = 4711,
                         .threshold_ms = 2000,
                         .period_ms = 50,
                         .begin_ns = 105 * MIRE_NS_PER_S,
                         .last_seen_ns = 108 * MIRE_NS_PER_S};
    struct blackbox *box = life->box.memory;

    mire__uuid7(hang.id);
    mire__ring_reset(&box->lanes[0].ring, 1);
    mire__blackbox_set_event(box, 0, &hang);
    box_sample(box, hang.begin_ns, 50 * MIRE_NS_PER_MS,
               (const uint64_t[]){BOX_EXE_LOAD + 0x10, BOX_EXE_LOAD + 0x20, 0});
    return hang;
}

/* As the check thread does: open, sample, end, seal, clear. */
static void hang(struct life *life)
{
    struct blackbox *box = life->box.memory;
    struct event hang = open_hang(life), none = {.state = MIRE_EVENT_NONE};
    struct truth_report *planned;
    struct store_held held;
    char id[MIRE_STORE_ID_LENGTH + 1];

    hang.state = MIRE_EVENT_ENDED;
    hang.end_ns = hang.last_seen_ns;
    mire__session_count(&box->session, 0, &hang);
    mire__store_stack_send(&held, life->store, 4711, NOW_MS, 10);
    mire__blackbox_set_event(box, 0, &hang);
    mire__memory_id(id, hang.id);
    planned = plan(life, id, false);
    acknowledge(life, planned, mire__report_seal(life->store, box, 0, NULL, NOW_MS));
    mire__blackbox_set_event(box, 0, &none);
}

static void seal_session(struct life *life)
{
    struct blackbox *box = life->box.memory;
    struct truth_report *planned;
    struct session_sum sum;
    char id[MIRE_STORE_ID_LENGTH + 1];

    mire__memory_id(id, box->session.id);
    planned = plan(life, id, false);
    mire__session_of_box(&sum, box, 200 * MIRE_NS_PER_S, true);
    acknowledge(life, planned, mire__session_seal(life->store, &sum, NOW_MS));
}

static void open_tables(struct life *life, const struct blackbox_facts *facts)
{
    static struct heap heap;
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    struct store_box file;

    options.budget_bytes = MIRE_HEAP_BUDGET_MIN;
    options.pid = facts->pid;
    options.start_ticks = facts->start_ticks;
    if (mire__store_tables_open(&file, life->store, mire__run_id(), mire__heap_file_bytes(MIRE_HEAP_BUDGET_MIN),
                                true) == MIRE_OK)
        mire__heap_open(&heap, file.memory, &options);
}

static void start(struct life *life, const char *dir, enum mire_store_sync sync)
{
    const struct store_caps caps = {.bytes = 1 << 20, .count = TRUTH_COUNT_CAP, .age_ms = UINT32_MAX};
    struct blackbox_facts facts = box_facts();
    struct evidence_start evidence = {.wall_ms = NOW_MS, .boot_ns = mire__boot_now_ns()};
    const size_t first = offsetof(struct blackbox, lanes[1]);

    if (mire__store_open(&life->store, dir, &caps) != MIRE_OK)
        _exit(3);
    mire__store_set_sync(life->store, sync);
    if (mire__store_install(life->install, life->store) != MIRE_OK)
        _exit(3);
    if (sync == MIRE_STORE_SYNC_ALWAYS)
        memcpy(life->truth->install, life->install, sizeof(life->install));
    tell(life);
    facts.pid = evidence.pid = mire__pid();
    facts.start_ticks = evidence.start_ticks = mire__process_start_ticks(facts.pid);
    mire__file_read(evidence.boot_id, sizeof(evidence.boot_id), "/proc/sys/kernel/random/boot_id");
    evidence.boot_id[36] = '\0';
    mire__text_copy(facts.boot_id, sizeof(facts.boot_id), evidence.boot_id);
    mire__text_copy(evidence.process_name, sizeof(evidence.process_name), "mapview");
    if (mire__store_box_open(&life->box, life->store, mire__run_id(), MIRE_STORE_BOX, sizeof(struct blackbox), first) !=
        MIRE_OK)
        _exit(3);
    mire__blackbox_init(life->box.memory, &facts);
    mire__session_begin(life->box.memory, 100 * MIRE_NS_PER_S, NOW_MS);
    atomic_store(&((struct blackbox *)life->box.memory)->session.on, 1);
    mire__run_open(life->store, &evidence, MIRE_GROUND_FORE);
    open_tables(life, &facts);
}

void scenario_run(struct truth *truth, const char *dir, enum mire_store_sync sync)
{
    struct life life = {.truth = truth};

    start(&life, dir, sync);
    set_rollout(&life);
    lose(&life);
    lose(&life);
    hang(&life); /* reports them */
    put(&life, MIRE_VALUE_CAPTURE);
    lose(&life);
    put(&life, MIRE_VALUE_DEATH);
    mire__store_stack_hold(life.store, 4711, NOW_MS, &(struct store_held){1, 2500});
    upload_oldest(&life);
    mire__store_set_after(life.store, &(struct store_after){NOW_MS + 1000, NOW_MS});
    for (int i = 0; i < 6; i++)
        put(&life, i % 2 ? MIRE_VALUE_BASELINE : MIRE_VALUE_CAPTURE);
    set_rollout(&life);
    lose(&life);
    seal_session(&life);
    upload_oldest(&life);
    hang(&life);
    mire__run_as_note_ground(MIRE_GROUND_BACK);
    mire__run_as_note_ground(MIRE_GROUND_FORE);
    open_hang(&life);
}
