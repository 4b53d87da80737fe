/*
 * report.c - the document, section by section in the order of the schema.
 *
 * First the stacks are put into a trie and the images they touch are numbered (struct draft), then everything is
 * written in one go; if the buffer turns out too small, again into a larger one.
 */
#include "report/report.h"

#include "report/hot.h"
#include "report/trie.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FIRST_BYTES (64u << 10)
#define ZSTD_LEVEL  9 /* 20 KB of JSON: 1 ms more than level 3, a tenth smaller */

struct draft {
    const struct blackbox *box;
    const struct lane *lane;
    struct hang hang;
    struct trie trie;
    struct hot hot;
    uint32_t sample_count;
    uint32_t leaves[MIRE_RING_SAMPLES]; /* node of each sample */
    uint32_t image_count;
    uint32_t images[MIRE_IMAGES_MAX];  /* box's index of each image used */
    int32_t image_no[MIRE_IMAGES_MAX]; /* the reverse; -1 if not used */
    const uint64_t *drops;
    char id[MIRE_STORE_ID_LENGTH + 1];
};

/* "019aa1b2-c3d4-7e5f-8a6b-0123456789ab"; false if it is not a UUIDv7. */
static bool format_id(char out[MIRE_STORE_ID_LENGTH + 1], const uint8_t id[16])
{
    static const char hex[] = "0123456789abcdef";
    char *at = out;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = hex[id[i] >> 4];
        *at++ = hex[id[i] & 15];
    }
    *at = '\0';
    return id[6] >> 4 == 7 && id[8] >> 6 == 2;
}

static struct place place_of(struct draft *draft, const struct sample *sample, uint32_t frame)
{
    uint64_t address = sample->pc[frame];
    int index = mire__blackbox_find_image(draft->box, address);
    struct place place = {.image = -1, .offset = address, .found = sample->found[frame]};

    if (place.found > MIRE_FOUND_LR)
        place.found = MIRE_FOUND_PC;
    if (index < 0)
        return place;
    if (draft->image_no[index] < 0) {
        draft->image_no[index] = (int32_t)draft->image_count;
        draft->images[draft->image_count++] = (uint32_t)index;
    }
    place.image = draft->image_no[index];
    place.offset = address - draft->box->images[index].load;
    return place;
}

static enum mire_err draft_init(struct draft *draft, const struct blackbox *box, uint32_t lane, const uint64_t *drops)
{
    const struct sample *sample;
    size_t frames = 0;
    enum mire_err err;

    memset(draft, 0, sizeof(*draft));
    memset(draft->image_no, 0xff, sizeof(draft->image_no));
    draft->box = box;
    draft->lane = &box->lanes[lane];
    draft->drops = drops;
    mire__blackbox_hang(&draft->hang, box, lane);
    if (draft->hang.state == MIRE_HANG_NONE)
        return MIRE_E_STATE;
    if (!format_id(draft->id, draft->hang.id))
        return MIRE_E_FORMAT;
    for (uint32_t i = 0; (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++)
        frames += sample->depth;
    err = mire__trie_init(&draft->trie, frames);
    if (err != MIRE_OK)
        return err;
    for (uint32_t i = 0; i < MIRE_RING_SAMPLES && (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++) {
        uint32_t node = 0;
        for (uint32_t frame = sample->depth; frame-- > 0;) {
            struct place place = place_of(draft, sample, frame);
            node = mire__trie_child(&draft->trie, node, &place);
        }
        draft->leaves[draft->sample_count++] = node;
    }
    mire__hot_find(&draft->hot, &draft->lane->ring);
    return MIRE_OK;
}

#define TEXT(wire, key, field) mire__wire_text(wire, key, field, sizeof(field))

static void text_if_any(struct wire *wire, const char *key, const char *text, size_t cap)
{
    if (text[0])
        mire__wire_text(wire, key, text, cap);
}

#define TEXT_IF_ANY(wire, key, field) text_if_any(wire, key, field, sizeof(field))

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static void write_app(struct wire *wire, const struct blackbox_facts *facts)
{
    mire__wire_object(wire, MIRE_NAME_APP);
    TEXT(wire, MIRE_NAME_NAME, facts->app_name);
    TEXT(wire, MIRE_NAME_VERSION, facts->app_version);
    TEXT_IF_ANY(wire, MIRE_NAME_BUILD, facts->app_build);
    TEXT_IF_ANY(wire, MIRE_NAME_CHANNEL, facts->app_channel);
    mire__wire_end(wire);
}

static void write_install(struct wire *wire, const char *install)
{
    static const char none[] = "00000000000000000000000000000000";
    bool whole = strspn(install, "0123456789abcdef") == MIRE_WIRE_INSTALL_LENGTH;

    mire__wire_text(wire, MIRE_NAME_INSTALL, whole ? install : none, MIRE_WIRE_INSTALL_LENGTH);
}

static void write_device(struct wire *wire, const struct blackbox_facts *facts)
{
    uint32_t ppm = facts->sampling > 0 && facts->sampling < 1 ? (uint32_t)(facts->sampling * 1e6) : 1000000;
    char install[sizeof(facts->install) + 1] = "";

    memcpy(install, facts->install, sizeof(facts->install));
    mire__wire_object(wire, MIRE_NAME_DEVICE);
    write_install(wire, install);
    TEXT(wire, MIRE_NAME_OS, facts->os);
    TEXT_IF_ANY(wire, MIRE_NAME_OS_VERSION, facts->os_version);
    TEXT_IF_ANY(wire, MIRE_NAME_MODEL, facts->model);
    TEXT(wire, MIRE_NAME_ARCH, facts->arch);
    mire__wire_u64(wire, MIRE_NAME_CPU_COUNT, facts->cpu_count);
    mire__wire_u64(wire, MIRE_NAME_MEMORY_BYTES, facts->memory_bytes);
    mire__wire_end(wire);

    mire__wire_object(wire, MIRE_NAME_SDK);
    mire__wire_text(wire, MIRE_NAME_NAME, "libmire", SIZE_MAX);
    mire__wire_text(wire, MIRE_NAME_VERSION, MIRE_VERSION, SIZE_MAX);
    mire__wire_end(wire);

    mire__wire_object(wire, MIRE_NAME_SAMPLING);
    mire__wire_ppm(wire, MIRE_NAME_HANG, ppm ? ppm : 1);
    mire__wire_end(wire);
}

static void write_process(struct wire *wire, const struct blackbox_facts *facts, const struct process_use *use)
{
    mire__wire_object(wire, MIRE_NAME_PROCESS);
    mire__wire_u64(wire, MIRE_NAME_PID, facts->pid);
    TEXT(wire, MIRE_NAME_NAME, facts->process_name);
    TEXT_IF_ANY(wire, MIRE_NAME_PATH, facts->exe_path);
    mire__wire_u64(wire, MIRE_NAME_START_WALL_MS, facts->start_wall_ms);
    mire__wire_u64(wire, MIRE_NAME_START_NS, facts->start_mono_ns);
    mire__wire_u64(wire, MIRE_NAME_THREAD_COUNT, use->thread_count);
    mire__wire_u64(wire, MIRE_NAME_CPU_USER_MS, use->cpu_user_ms);
    mire__wire_u64(wire, MIRE_NAME_CPU_SYSTEM_MS, use->cpu_system_ms);
    mire__wire_u64(wire, MIRE_NAME_RSS_BYTES, use->rss_bytes);
    mire__wire_end(wire);
}

static void write_images(struct wire *wire, const struct draft *draft)
{
    mire__wire_array(wire, MIRE_NAME_IMAGES);
    for (uint32_t i = 0; i < draft->image_count; i++) {
        const struct image *image = &draft->box->images[draft->images[i]];
        mire__wire_object(wire, NULL);
        mire__wire_text(wire, MIRE_NAME_NAME, mire__blackbox_image_path(draft->box, draft->images[i]),
                        MIRE_IMAGE_PATHS_BYTES);
        if (image->id_size >= MIRE_WIRE_BUILD_ID_MIN && image->id_size <= MIRE_BUILD_ID_MAX)
            mire__wire_hex(wire, MIRE_NAME_ID, image->id, image->id_size);
        TEXT_IF_ANY(wire, MIRE_NAME_ARCH, draft->box->facts.arch);
        mire__wire_u64(wire, MIRE_NAME_LOAD, image->load);
        mire__wire_u64(wire, MIRE_NAME_SIZE, image->end - image->start);
        mire__wire_end(wire);
    }
    mire__wire_end(wire);
}

static void write_trie(struct wire *wire, const struct trie *trie)
{
    mire__wire_object(wire, MIRE_NAME_FRAMES);
    mire__wire_i32_column(wire, MIRE_NAME_IMAGE, trie->frame_image, trie->frame_count);
    mire__wire_u64_column(wire, MIRE_NAME_OFFSET, trie->frame_offset, trie->frame_count);
    mire__wire_u8_column(wire, MIRE_NAME_FOUND, trie->frame_found, trie->frame_count);
    mire__wire_end(wire);
    mire__wire_object(wire, MIRE_NAME_NODES);
    mire__wire_u32_column(wire, MIRE_NAME_UP, trie->node_up, trie->node_count);
    mire__wire_u32_column(wire, MIRE_NAME_FRAME, trie->node_frame, trie->node_count);
    mire__wire_end(wire);
}

static void write_thread(struct wire *wire, const struct hang *hang)
{
    mire__wire_object(wire, MIRE_NAME_THREAD);
    mire__wire_u64(wire, MIRE_NAME_TID, hang->tid);
    TEXT_IF_ANY(wire, MIRE_NAME_NAME, hang->thread_name);
    mire__wire_u64(wire, MIRE_NAME_CPU_MS, hang->use.cpu_ns / MIRE_NS_PER_MS);
    mire__wire_u64(wire, MIRE_NAME_VOLUNTARY_SWITCHES, hang->use.voluntary_switches);
    mire__wire_u64(wire, MIRE_NAME_INVOLUNTARY_SWITCHES, hang->use.involuntary_switches);
    mire__wire_u64(wire, MIRE_NAME_MAJOR_FAULTS, hang->use.major_faults);
    mire__wire_u64(wire, MIRE_NAME_READ_BYTES, hang->use.read_bytes);
    mire__wire_u64(wire, MIRE_NAME_WRITE_BYTES, hang->use.write_bytes);
    mire__wire_end(wire);
}

static void write_samples(struct wire *wire, const struct draft *draft)
{
    const struct ring *ring = &draft->lane->ring;
    uint64_t column[MIRE_RING_SAMPLES];
    int32_t syscalls[MIRE_RING_SAMPLES];
    char states[MIRE_RING_SAMPLES];
    uint64_t at = 0, weight, sum_ns = 0, sum_ms = 0;

    mire__wire_object(wire, MIRE_NAME_SAMPLES);
    if (draft->hang.period_ms > 0)
        mire__wire_u64(wire, MIRE_NAME_PERIOD_MS, at_most(draft->hang.period_ms, MIRE_WIRE_PERIOD_MAX));
    for (uint32_t i = 0; i < draft->sample_count; i++) {
        const struct sample *sample = mire__ring_at(NULL, ring, i);
        uint64_t t = sample->t_ns > draft->hang.begin_ns ? (sample->t_ns - draft->hang.begin_ns) / MIRE_NS_PER_MS : 0;
        at = t > at ? t : at;
        column[i] = at;
        bool letter = (sample->state | 0x20) >= 'a' && (sample->state | 0x20) <= 'z';
        states[i] = letter ? (char)sample->state : '?';
        syscalls[i] = sample->syscall < 0 ? -1 : sample->syscall;
    }
    mire__wire_u64_column(wire, MIRE_NAME_AT_MS, column, draft->sample_count);
    /* Rounded so that the sum is right: each takes what its forerunners' rounding left. */
    for (uint32_t i = 0; i < draft->sample_count; i++) {
        mire__ring_at(&weight, ring, i);
        sum_ns += weight;
        column[i] = sum_ns / MIRE_NS_PER_MS - sum_ms;
        sum_ms += column[i];
    }
    mire__wire_u64_column(wire, MIRE_NAME_WEIGHT_MS, column, draft->sample_count);
    mire__wire_u32_column(wire, MIRE_NAME_NODE, draft->leaves, draft->sample_count);
    mire__wire_text(wire, MIRE_NAME_STATE, states, draft->sample_count);
    mire__wire_i32_column(wire, MIRE_NAME_SYSCALL, syscalls, draft->sample_count);
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

static const char *gate_name(uint32_t kind)
{
    static const char *const names[] = {"none", "poll", "mark", "ping"};
    return kind < MIRE_COUNT(names) ? names[kind] : names[0];
}

/* The wall clock at the hang's begin, from the pair of clocks taken at start. */
static uint64_t begin_wall_ms(const struct blackbox_facts *facts, uint64_t begin_ns)
{
    int64_t since_start_ms = (int64_t)(begin_ns - facts->start_mono_ns) / (int64_t)MIRE_NS_PER_MS;
    return facts->start_wall_ms + (uint64_t)since_start_ms;
}

static void write_hang(struct wire *wire, const struct draft *draft)
{
    const struct blackbox_facts *facts = &draft->box->facts;
    const struct hang *hang = &draft->hang;
    uint64_t duration_ms = mire__hang_duration_ns(hang) / MIRE_NS_PER_MS;
    uint64_t threshold_ms = hang->threshold_ms ? hang->threshold_ms : 1;

    mire__wire_object(wire, MIRE_NAME_HANG);
    mire__wire_u64(wire, MIRE_NAME_BEGIN_NS, hang->begin_ns);
    mire__wire_u64(wire, MIRE_NAME_BEGIN_WALL_MS, begin_wall_ms(facts, hang->begin_ns));
    mire__wire_u64(wire, MIRE_NAME_DURATION_MS, at_most(duration_ms, MIRE_WIRE_DURATION_MAX));
    mire__wire_u64(wire, MIRE_NAME_THRESHOLD_MS, at_most(threshold_ms, MIRE_WIRE_THRESHOLD_MAX));
    mire__wire_bool(wire, MIRE_NAME_OPEN, hang->state == MIRE_HANG_OPEN);
    mire__wire_bool(wire, MIRE_NAME_LAUNCH, hang->launch);
    mire__wire_u64(wire, MIRE_NAME_LATE_MS, hang->late_ns / MIRE_NS_PER_MS);
    mire__wire_text(wire, MIRE_NAME_GATE, gate_name(hang->gate), SIZE_MAX);
    write_thread(wire, hang);
    write_samples(wire, draft);
    write_hot(wire, draft);
    mire__wire_end(wire);
}

static void write_cost(struct wire *wire, const struct capture_cost *cost)
{
    mire__wire_object(wire, MIRE_NAME_COST);
    mire__wire_u64(wire, MIRE_NAME_SAMPLES, at_most(cost->samples, UINT32_MAX));
    mire__wire_u64(wire, MIRE_NAME_STOPPED_MAX_NS, cost->stopped_max_ns);
    mire__wire_u64(wire, MIRE_NAME_STOPPED_SUM_NS, cost->stopped_sum_ns);
    mire__wire_u64(wire, MIRE_NAME_UNWIND_SUM_NS, cost->unwind_sum_ns);
    mire__wire_u64(wire, MIRE_NAME_WATCH_CPU_US, cost->watch_cpu_ns / 1000);
    mire__wire_end(wire);
}

static void write_drops(struct wire *wire, const uint64_t *drops)
{
    mire__wire_object(wire, MIRE_NAME_DROPS);
    for (int i = 0; drops && i < MIRE_DROP_REASONS; i++)
        if (drops[i] > 0)
            mire__wire_u64(wire, mire__store_reason_name(i), drops[i]);
    mire__wire_end(wire);
}

static void write_report(struct wire *wire, const struct draft *draft)
{
    const struct blackbox_facts *facts = &draft->box->facts;

    mire__wire_object(wire, NULL);
    mire__wire_u64(wire, MIRE_NAME_MIRE, MIRE_WIRE_VERSION);
    mire__wire_text(wire, MIRE_NAME_ID, draft->id, SIZE_MAX);
    mire__wire_text(wire, MIRE_NAME_KIND, MIRE_NAME_HANG, SIZE_MAX);
    write_app(wire, facts);
    write_device(wire, facts);
    write_process(wire, facts, &draft->hang.process);
    write_images(wire, draft);
    write_trie(wire, &draft->trie);
    write_hang(wire, draft);
    write_cost(wire, &draft->hang.cost);
    write_drops(wire, draft->drops);
    mire__wire_end(wire);
}

static enum mire_err write_text(char **text_out, size_t *size_out, const struct draft *draft)
{
    for (size_t cap = FIRST_BYTES; cap <= MIRE_REPORT_JSON_MAX; cap *= 2) {
        char *text = malloc(cap);
        struct wire wire;

        if (!text)
            return MIRE_E_MEMORY;
        mire__wire_begin(&wire, text, cap);
        write_report(&wire, draft);
        if (mire__wire_finish(size_out, &wire) == MIRE_WIRE_DONE) {
            *text_out = text;
            return MIRE_OK;
        }
        free(text);
    }
    return MIRE_E_FULL;
}

bool mire__report_wanted(const struct blackbox *box, uint32_t lane)
{
    struct hang hang;

    mire__blackbox_hang(&hang, box, lane);
    return mire__hang_counts(&hang);
}

enum mire_err mire__report_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                const struct blackbox *box, uint32_t lane, const uint64_t *drops)
{
    struct draft *draft = malloc(sizeof(*draft));
    enum mire_err err;

    *text_out = NULL;
    *size_out = 0;
    if (!draft)
        return MIRE_E_MEMORY;
    err = draft_init(draft, box, lane, drops);
    if (err == MIRE_OK)
        err = write_text(text_out, size_out, draft);
    memcpy(id, draft->id, sizeof(draft->id));
    mire__trie_fini(&draft->trie);
    free(draft);
    return err;
}

enum mire_err mire__report_build(struct report *out, const struct blackbox *box, uint32_t lane, const uint64_t *drops)
{
    char *text;
    size_t size, cap, packed;
    enum mire_err err;

    memset(out, 0, sizeof(*out));
    err = mire__report_json(&text, &size, out->id, box, lane, drops);
    if (err != MIRE_OK)
        goto fail;
    cap = ZSTD_compressBound(size);
    err = MIRE_E_MEMORY;
    out->body = malloc(cap);
    if (!out->body)
        goto fail_text;
    packed = ZSTD_compress(out->body, cap, text, size, ZSTD_LEVEL);
    if (ZSTD_isError(packed)) /* into a buffer of the bound only for want of memory */
        goto fail_text;
    out->size = packed;
    free(text);
    return MIRE_OK;
fail_text:
    free(text);
fail:
    mire__report_fini(out);
    return err;
}

void mire__report_fini(struct report *report)
{
    free(report->body);
    memset(report, 0, sizeof(*report));
}
