/*
 * session.c - a process's share of a session, and the record of a whole one. See session.h.
 */
#include "report/session.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "report/document.h"
#include "report/text.h"

#include <string.h>

/* The content of a record. */
struct draft_session {
    char id[MIRE_STORE_ID_LENGTH + 1];
    const struct session_sum *sum;
    const struct session_attached *attached;
};

/*
 * Hangs that are in the lanes and not counted: the process was killed, or ended itself without exit, during the hang. A
 * hang that was sealed, and not cleared before the process was killed, is counted already.
 */
static void add_uncounted(struct session_counts *out, const struct blackbox *box)
{
    for (uint32_t lane = 0; lane < MIRE_LANE_PROCESS; lane++) {
        enum mire__session_class class;
        struct event event;

        mire__blackbox_event(&event, box, lane);
        if (!mire__event_counts(&event) || !mire__session_class_of(&class, &event) ||
            atomic_load(&box->session.counted[lane]) == event.begin_ns)
            continue;
        out->hangs[class]++;
        out->hang_ms[class] += mire__event_duration_ns(&event) / MIRE_NS_PER_MS;
    }
}

#define COUNTS (sizeof(struct session_counts) / sizeof(uint64_t))

static void add_counts(struct session_counts *to, const struct session_counts *what)
{
    uint64_t numbers[COUNTS], more[COUNTS];

    memcpy(numbers, to, sizeof(numbers));
    memcpy(more, what, sizeof(more));
    for (size_t i = 0; i < COUNTS; i++)
        numbers[i] += more[i];
    memcpy(to, numbers, sizeof(numbers));
}

/* Since the start of the process. */
static void count(struct session_counts *out, const struct blackbox *box, uint64_t end_ns)
{
    const struct session *session = &box->session;
    uint64_t front_ns = atomic_load(&session->front_ns);

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < MIRE_SESSION_CLASSES; i++) {
        out->hangs[i] = atomic_load(&session->hangs[i]);
        out->hang_ms[i] = atomic_load(&session->hang_ms[i]);
    }
    for (int i = 0; i < MIRE_MICRO_BUCKETS; i++)
        out->turns[i] = atomic_load(&box->micro.count[i]);
    out->foreground_ns = atomic_load(&session->fronted_ns);
    if (atomic_load(&session->front) == MIRE_FRONT_FORE && end_ns > front_ns)
        out->foreground_ns += end_ns - front_ns;
    out->cpu_ns = atomic_load(&session->check_cpu_ns) + atomic_load(&session->worker_cpu_ns);
    out->process_cpu_ns = atomic_load(&session->process_cpu_ns);
    out->frames_drawn = atomic_load(&session->frames_drawn);
    out->frames_dropped = atomic_load(&session->frames_dropped);
    add_counts(out, &session->carried);
}

/* Counts only rise; in a damaged file they may not. */
static void subtract(struct session_counts *from, const struct session_counts *what)
{
    uint64_t numbers[COUNTS], less[COUNTS];

    memcpy(numbers, from, sizeof(numbers));
    memcpy(less, what, sizeof(less));
    for (size_t i = 0; i < COUNTS; i++)
        numbers[i] = numbers[i] > less[i] ? numbers[i] - less[i] : 0;
    memcpy(from, numbers, sizeof(numbers));
}

void mire__session_begin(struct blackbox *box, uint64_t now_ns, uint64_t now_wall_ms)
{
    struct session *session = &box->session;

    if (session->begin_ns != 0) {
        count(&session->recorded, box, now_ns);
        session->part++;
        atomic_store(&session->footprint_peak_bytes, 0);
    }
    session->begin_ns = now_ns;
    session->begin_wall_ms = now_wall_ms;
    mire__uuid7(session->id);
}

void mire__session_of_box(struct session_sum *out, const struct blackbox *box, uint64_t end_ns, bool lives)
{
    const struct session *session = &box->session;

    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    memcpy(out->id, session->id, sizeof(out->id));
    out->facts = box->facts;
    out->begin_ns = session->begin_ns;
    out->begin_wall_ms = session->begin_wall_ms;
    out->end_ns = end_ns;
    out->part = session->part;
    out->over = 1;
    out->front = atomic_load(&session->front);
    out->plugins = atomic_load(&session->plugins);
    out->processes = 1;
    count(&out->counts, box, end_ns);
    if (!lives)
        add_uncounted(&out->counts, box);
    subtract(&out->counts, &session->recorded);
    out->footprint_peak_bytes = atomic_load(&session->footprint_peak_bytes);
    out->launch_ns = session->part == 0 ? atomic_load(&session->launch_ns) : 0;
    out->loop = atomic_load(&session->loop);
    for (int i = 0; i < MIRE_SESSION_CLASSES; i++)
        out->loop |= out->counts.hangs[i] > 0;
}

void mire__session_new(struct session_sum *out, const struct blackbox_facts *facts, uint64_t now_ns,
                       uint64_t now_wall_ms)
{
    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    out->facts = *facts;
    out->begin_ns = out->end_ns = now_ns;
    out->begin_wall_ms = now_wall_ms;
    mire__uuid7(out->id);
}

void mire__session_carry(struct blackbox *box, const struct session_sum *share)
{
    struct session *session = &box->session;

    add_counts(&session->carried, &share->counts);
    mire__session_peak(session, share->footprint_peak_bytes);
    atomic_fetch_or(&session->loop, share->loop);
    if (share->begin_ns < session->begin_ns) {
        session->begin_ns = share->begin_ns;
        session->begin_wall_ms = share->begin_wall_ms;
        session->part = share->part;
    }
}

static bool is_folded(const struct session_sum *sum, const uint8_t id[16])
{
    for (size_t i = 0; i < MIRE_SESSION_FOLDED; i++)
        if (memcmp(sum->folded[i], id, 16) == 0)
            return true;
    return false;
}

/* Order: a process with a loop before one without, then by begin. */
static bool speaks_for(const struct session_sum *share, const struct session_sum *sum)
{
    if (sum->processes == 0 || share->loop != sum->loop)
        return sum->processes == 0 || share->loop > sum->loop;
    return share->facts.start_mono_ns < sum->facts.start_mono_ns;
}

void mire__session_add(struct session_sum *to, const struct session_sum *share)
{
    if (is_folded(to, share->id))
        return;
    memcpy(to->folded[to->folded_count++ % MIRE_SESSION_FOLDED], share->id, 16);
    if (share->launch_ns != 0 && (to->launch_ns == 0 || speaks_for(share, to)))
        to->launch_ns = share->launch_ns;
    if (share->footprint_peak_bytes > to->footprint_peak_bytes)
        to->footprint_peak_bytes = share->footprint_peak_bytes;
    if (speaks_for(share, to))
        to->facts = share->facts;
    to->plugins = to->processes == 0 ? share->plugins : to->plugins & share->plugins;
    to->front = share->front > to->front ? share->front : to->front;
    to->loop |= share->loop;
    to->processes += share->processes;
    to->end_ns = share->end_ns > to->end_ns ? share->end_ns : to->end_ns;
    add_counts(&to->counts, &share->counts);
}

static void write_hangs(struct wire *wire, const struct session_counts *counts)
{
    mire__wire_object(wire, MIRE_NAME_HANGS);
    for (int i = 0; i < MIRE_SESSION_CLASSES; i++) {
        if (counts->hangs[i] == 0)
            continue;
        mire__wire_object(wire, mire__session_class_name(i));
        mire__wire_u64(wire, MIRE_NAME_COUNT, at_most(counts->hangs[i], UINT32_MAX));
        mire__wire_u64(wire, MIRE_NAME_DURATION_MS, at_most(counts->hang_ms[i], MIRE_WIRE_DURATION_MAX));
        mire__wire_end(wire);
    }
    mire__wire_end(wire);
}

static void write_turns(struct wire *wire, const uint64_t turns[MIRE_MICRO_BUCKETS])
{
    uint64_t from_ms[MIRE_MICRO_BUCKETS], counts[MIRE_MICRO_BUCKETS], sum = 0;

    for (uint32_t i = 0; i < MIRE_MICRO_BUCKETS; i++) {
        from_ms[i] = (MIRE_MICRO_NS / MIRE_NS_PER_MS) << i;
        counts[i] = at_most(turns[i], UINT32_MAX);
        sum += counts[i];
    }
    if (sum == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_TURNS);
    mire__wire_u64_column(wire, MIRE_NAME_FROM_MS, from_ms, MIRE_MICRO_BUCKETS);
    mire__wire_u64_column(wire, MIRE_NAME_COUNT, counts, MIRE_MICRO_BUCKETS);
    mire__wire_end(wire);
}

static void write_ends(struct wire *wire, const struct session_attached *attached)
{
    if (attached->end_count == 0)
        return;
    mire__wire_array(wire, MIRE_NAME_ENDS);
    for (size_t i = 0; i < attached->end_count; i++) {
        const struct store_end *end = &attached->ends[i];

        mire__wire_object(wire, NULL);
        mire__wire_text(wire, MIRE_NAME_VERDICT, end->verdict, sizeof(end->verdict));
        mire__wire_u64(wire, MIRE_NAME_CONFIDENCE_PPM, at_most(end->confidence_ppm, MIRE_WIRE_PPM_MAX));
        mire__wire_u64(wire, MIRE_NAME_START_WALL_MS, end->start_wall_ms);
        mire__wire_u64(wire, MIRE_NAME_SEEN_WALL_MS, end->seen_wall_ms);
        mire__wire_end(wire);
    }
    mire__wire_end(wire);
}

/* The session's effect on the user and on the device. */
static void write_use(struct wire *wire, const struct session_sum *sum)
{
    const struct session_counts *counts = &sum->counts;

    mire__wire_u64(wire, MIRE_NAME_CPU_MS, counts->process_cpu_ns / MIRE_NS_PER_MS);
    if (sum->footprint_peak_bytes != 0)
        mire__wire_u64(wire, MIRE_NAME_FOOTPRINT_PEAK_BYTES, sum->footprint_peak_bytes);
    if (sum->launch_ns != 0)
        mire__wire_u64(wire, MIRE_NAME_LAUNCH_MS, at_most(sum->launch_ns / MIRE_NS_PER_MS, MIRE_WIRE_DURATION_MAX));
    if (counts->frames_drawn + counts->frames_dropped == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_FRAMES);
    mire__wire_u64(wire, MIRE_NAME_DRAWN, at_most(counts->frames_drawn, UINT32_MAX));
    mire__wire_u64(wire, MIRE_NAME_DROPPED, at_most(counts->frames_dropped, UINT32_MAX));
    mire__wire_end(wire);
}

/* The plugins that were on; installations without a plugin are its control group. */
static void write_on(struct wire *wire, uint32_t plugins)
{
    mire__wire_array(wire, MIRE_NAME_ON);
    for (int i = 0; i < MIRE_PLUGINS; i++)
        if (plugins >> i & 1)
            mire__wire_text(wire, NULL, mire__plugin_name(i), SIZE_MAX);
    mire__wire_end(wire);
}

static void write_session(struct wire *wire, const void *context)
{
    const struct draft_session *draft = context;
    const struct session_sum *sum = draft->sum;
    struct report_attached losses = {.end = NULL};
    uint64_t duration_ns = sum->end_ns > sum->begin_ns ? sum->end_ns - sum->begin_ns : 0;

    memcpy(losses.drops, draft->attached->drops, sizeof(losses.drops));
    mire__document_head(wire, draft->id, MIRE_NAME_SESSION, &sum->facts, NULL);
    mire__wire_object(wire, MIRE_NAME_SESSION);
    mire__wire_u64(wire, MIRE_NAME_BEGIN_WALL_MS, sum->begin_wall_ms);
    mire__wire_u64(wire, MIRE_NAME_DURATION_MS, at_most(duration_ns / MIRE_NS_PER_MS, MIRE_WIRE_DURATION_MAX));
    if (sum->front != MIRE_FRONT_UNKNOWN)
        mire__wire_u64(
            wire, MIRE_NAME_FOREGROUND_MS,
            at_most(at_most(sum->counts.foreground_ns, duration_ns) / MIRE_NS_PER_MS, MIRE_WIRE_DURATION_MAX));
    mire__wire_u64(wire, MIRE_NAME_PART, sum->part);
    mire__wire_bool(wire, MIRE_NAME_OVER, sum->over != 0);
    mire__wire_bool(wire, MIRE_NAME_LOOP, sum->loop != 0);
    write_on(wire, sum->plugins | 1u << MIRE_PLUGIN_SESSION);
    write_hangs(wire, &sum->counts);
    write_turns(wire, sum->counts.turns);
    write_ends(wire, draft->attached);
    mire__wire_u64(wire, MIRE_NAME_SDK_CPU_US, sum->counts.cpu_ns / 1000);
    write_use(wire, sum);
    mire__wire_end(wire);
    mire__document_drops(wire, &losses);
    mire__wire_end(wire);
}

enum mire_err mire__session_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                 const struct session_sum *sum, const struct session_attached *attached)
{
    struct draft_session draft = {.sum = sum, .attached = attached};
    enum mire_err err;

    *text_out = NULL;
    *size_out = 0;
    if (!mire__text_id(draft.id, sum->id))
        return MIRE_E_FORMAT;
    err = mire__text_write(text_out, size_out, write_session, &draft);
    memcpy(id, draft.id, sizeof(draft.id));
    return err;
}

/* The ends of earlier runs that are in no record yet. */
static void find_ends(struct session_attached *attached, struct store *store)
{
    struct store_end *ends = mire__calloc(MIRE_STORE_ENDS, sizeof(*ends));
    size_t found = ends ? mire__store_ends(ends, MIRE_STORE_ENDS, store) : 0;

    attached->end_count = 0;
    for (size_t i = 0; i < found && attached->end_count + 1 < MIRE_SESSION_ENDS_MAX;
         i++) /* and room for the process's own end */
        if (!ends[i].reported)
            attached->ends[attached->end_count++] = ends[i];
    mire__free(ends);
}

static enum mire_err build_and_put(struct store *store, const struct session_sum *sum,
                                   const struct session_attached *attached, uint64_t now_ms)
{
    char id[MIRE_STORE_ID_LENGTH + 1];
    size_t size, packed;
    void *body = NULL;
    char *text;
    enum mire_err err = mire__session_json(&text, &size, id, sum, attached);

    if (err != MIRE_OK)
        return err;
    err = mire__text_pack(&body, &packed, text, size);
    mire__free(text);
    if (err != MIRE_OK)
        return err;
    const struct store_report sealed = {
        .id = id, .body = body, .size = packed, .value = MIRE_VALUE_SESSION, .losses = attached->drops};
    err = mire__store_put(store, &sealed, now_ms);
    mire__free(body);
    return err;
}

enum mire_err mire__session_seal(struct store *store, const struct session_sum *sum, uint64_t now_ms)
{
    struct session_attached attached;
    enum mire_err err;

    mire__store_drops(attached.drops, store);
    find_ends(&attached, store);
    if (sum->end.verdict[0] && attached.end_count < MIRE_SESSION_ENDS_MAX)
        attached.ends[attached.end_count++] = sum->end;
    err = build_and_put(store, sum, &attached, now_ms);
    if (err == MIRE_E_STATE) { /* another report has the losses */
        memset(attached.drops, 0, sizeof(attached.drops));
        err = build_and_put(store, sum, &attached, now_ms);
    }
    /* After a kill at this point an end is reported twice, which is better than never. */
    for (size_t i = 0; err == MIRE_OK && i < attached.end_count; i++)
        mire__store_end_reported(store, attached.ends[i].run);
    return err;
}
