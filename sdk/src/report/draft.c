/*
 * draft.c - the list of threads begins with the owner of the lock and the other sampled threads. Threads that only
 * occur in samples of the event follow.
 */
#include "report/draft.h"

#include "report/text.h"

#include <string.h>

static struct trie_frame place_of(struct draft *draft, const struct sample *sample, uint32_t frame)
{
    uint64_t address = sample->pc[frame];
    int index = mire__blackbox_find_image(draft->box, address);
    struct trie_frame place = {.image = -1, .offset = address, .found = sample->found[frame]};

    if (place.found > MIRE_FOUND_SCRIPT)
        place.found = MIRE_FOUND_PC;
    if (mire__is_script(address)) {
        place.image = mire__blackbox_language(draft->box, mire__script_number(address)) == MIRE_LANGUAGE_JAVA
                          ? MIRE_ROWS_IMAGE - MIRE_ROWS_JAVA
                          : MIRE_ROWS_IMAGE - MIRE_ROWS_PYTHON;
        return place;
    }
    if (index < 0)
        return mire__script_rows_place(&draft->perf, &place);
    if (draft->image_no[index] < 0) {
        draft->image_no[index] = (int32_t)draft->image_count;
        draft->images[draft->image_count++] = (uint32_t)index;
    }
    place.image = draft->image_no[index];
    place.offset = address - draft->box->images[index].load;
    place.into = sample->into[frame];
    return place;
}

static void ask_for_stack(struct draft *draft, const struct sample *sample)
{
    for (uint32_t frame = 0; frame < sample->depth; frame++)
        if (!mire__is_script(sample->pc[frame]) && mire__blackbox_find_image(draft->box, sample->pc[frame]) < 0)
            mire__perf_map_ask(&draft->perf, sample->pc[frame]);
}

/* Names of generated code, from the files of virtual machines. */
static void name_made_code(struct draft *draft, uint32_t others, const struct sample *wait)
{
    const struct blackbox_facts *facts = &draft->box->facts;
    const struct sample *sample;

    if (!mire__perf_map_open(&draft->perf, "/tmp", facts->pid, facts->start_wall_ms))
        return;
    for (uint32_t i = 0; i < MIRE_RING_SAMPLES && (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++)
        ask_for_stack(draft, sample);
    for (uint32_t i = 0; i < others; i++)
        ask_for_stack(draft, &draft->lane->others[i].sample);
    if (wait)
        ask_for_stack(draft, wait);
    mire__perf_map_read(&draft->perf);
}

static uint32_t add_stack(struct draft *draft, const struct sample *sample)
{
    uint32_t node = 0;

    for (uint32_t frame = sample->depth; frame-- > 0;) {
        struct trie_frame place = place_of(draft, sample, frame);
        node = mire__trie_child(&draft->trie, node, &place);
    }
    return node;
}

/* Row of the thread, 1 + index; a new row if it has none. */
static uint32_t thread_of(struct draft *draft, uint32_t tid)
{
    uint32_t i = 0;

    while (i < draft->thread_count && draft->threads[i].tid != tid)
        i++;
    if (i == draft->thread_count)
        draft->threads[draft->thread_count++] = (struct draft_thread){.tid = tid};
    return i + 1;
}

/* The thread's stack: the one sampled with it, otherwise its newest sample. */
static void show(struct draft_thread *thread, const struct sample *sample, uint32_t node)
{
    if (thread->other && thread->other->sample.depth > 0)
        return;
    thread->sample = sample;
    thread->node = node;
}

static void add_samples(struct draft *draft)
{
    const struct sample *sample;
    uint32_t i = 0;

    for (; i < MIRE_RING_SAMPLES && (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++) {
        draft->leaves[i] = add_stack(draft, sample);
        draft->whose[i] = 0;
        if (sample->tid == 0 || sample->tid == draft->event.tid)
            continue;
        draft->whose[i] = thread_of(draft, sample->tid);
        show(&draft->threads[draft->whose[i] - 1], sample, draft->leaves[i]);
    }
    draft->sample_count = i;
}

/* Called before the samples are added, so that these threads come first. Each thread is added once. */
static void add_others(struct draft *draft, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct other *other = &draft->lane->others[i];
        struct draft_thread *thread = &draft->threads[thread_of(draft, other->tid) - 1];

        show(thread, &other->sample, add_stack(draft, &other->sample));
        thread->other = other;
    }
}

/* The wait with most frames in common with the hang: the work belongs to its loop. NULL: no wait has a common frame. */
static const struct sample *find_wait(const struct draft *draft, uint32_t lane)
{
    const struct sample *found = NULL, *sample;
    uint32_t most = 0;

    for (uint32_t i = 0; i < MIRE_RING_SAMPLES && (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++) {
        if (sample->tid != 0 && sample->tid != draft->event.tid)
            continue;
        for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++) {
            const struct sample *path = mire__blackbox_wait(draft->box, lane, row);
            uint32_t common = path ? mire__sample_common(path, sample) : 0;

            found = common > most ? path : found;
            most = common > most ? common : most;
        }
    }
    return found;
}

static size_t count_frames(const struct draft *draft, uint32_t others)
{
    const struct sample *sample;
    size_t frames = 0;

    for (uint32_t i = 0; i < MIRE_RING_SAMPLES && (sample = mire__ring_at(NULL, &draft->lane->ring, i)); i++)
        frames += sample->depth;
    for (uint32_t i = 0; i < others; i++)
        frames += draft->lane->others[i].sample.depth;
    return frames;
}

enum mire_err mire__draft_init(struct draft *draft, const struct blackbox *box, uint32_t lane,
                               const struct report_attached *attached)
{
    uint32_t others = mire__blackbox_other_count(box, lane);
    const struct sample *wait;
    enum mire_err err;

    memset(draft, 0, sizeof(*draft));
    memset(draft->image_no, 0xff, sizeof(draft->image_no));
    draft->perf.fd = draft->perf.dump = -1;
    draft->box = box;
    draft->lane = &box->lanes[lane];
    draft->attached = attached;
    mire__blackbox_event(&draft->event, box, lane);
    if (draft->event.state == MIRE_EVENT_NONE)
        return MIRE_E_STATE;
    if (!mire__text_id(draft->id, draft->event.id))
        return MIRE_E_FORMAT;
    wait = find_wait(draft, lane);
    err = mire__trie_init(&draft->trie, count_frames(draft, others) + (wait ? wait->depth : 0));
    if (err != MIRE_OK)
        return err;
    name_made_code(draft, others, wait);
    add_others(draft, others);
    add_samples(draft);
    draft->wait_node = wait ? add_stack(draft, wait) : 0;
    mire__hot_find(&draft->hot, &draft->lane->ring, draft->event.tid);
    mire__blame_find(&draft->blame, &draft->lane->ring, box, wait);
    return mire__script_rows_init(&draft->scripts, &draft->trie, box, &draft->perf, draft->image_count);
}

void mire__draft_fini(struct draft *draft)
{
    mire__trie_fini(&draft->trie);
    mire__script_rows_fini(&draft->scripts);
    mire__perf_map_fini(&draft->perf);
}
