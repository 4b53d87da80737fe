/*
 * trie.c - copies the trie of a report: inlined calls get nodes of their own, and the samples, threads, choices and memory
 * stacks refer to the new nodes.
 */
#include "symbolicate/inside.h"

#include "base/fault.h"

/* The locations of a wire node, innermost first; *under is the wire node below whose nodes they lie. */
static struct chain chain_of(uint32_t *under, const struct symbolicate_job *job, size_t node)
{
    *under = job->report->nodes[node].parent;
    if (!job->outlined || !job->outlined[node].known)
        return job->chains[job->report->nodes[node].frame];
    *under = job->outlined[node].under;
    return job->outlined[node].chain;
}

/* The trie with inlined calls as nodes; map[n] is the innermost node of wire node n. */
static int build_nodes(struct resolved *out, uint32_t **map_out, const struct symbolicate_job *job)
{
    const struct report *report = job->report;
    uint32_t under;
    size_t count = 1;
    for (size_t n = 1; n < report->node_count; n++)
        count += chain_of(&under, job, n).count;
    uint32_t *map = arena_array(job->arena, report->node_count, sizeof *map);
    struct resolved_node *nodes = count < UINT32_MAX ? arena_array(job->arena, count, sizeof *nodes) : NULL;
    if (!map || !nodes)
        return MIRE_FAULT_MEMORY;
    uint32_t next = 1;
    for (size_t n = 1; n < report->node_count; n++) {
        struct chain chain = chain_of(&under, job, n);
        uint32_t parent = map[under];
        for (uint32_t k = chain.count; k-- > 0; parent = next++)
            nodes[next] = (struct resolved_node){parent, chain.first + k};
        map[n] = parent;
    }
    out->nodes = nodes;
    out->node_count = count;
    *map_out = map;
    return 0;
}

static int map_stacks(struct resolved *out, const struct symbolicate_job *job, const uint32_t *map)
{
    const struct report *report = job->report;
    size_t sample_count = report->event.sample_count;
    struct report_sample *samples = arena_array(job->arena, sample_count, sizeof *samples);
    struct resolved_thread *threads = arena_array(job->arena, report->thread_count, sizeof *threads);
    if (!samples || !threads)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < sample_count; i++) {
        samples[i] = report->event.samples[i];
        samples[i].node = map[samples[i].node];
    }
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct report_thread *thread = &report->threads[i];
        threads[i] = (struct resolved_thread){.tid = thread->tid,
                                              .name = thread->name,
                                              .role = thread->role,
                                              .cpu_ms = thread->cpu_ms,
                                              .node = map[thread->node],
                                              .state = thread->state,
                                              .syscall = thread->syscall,
                                              .lock = thread->lock};
    }
    out->samples = samples;
    out->sample_count = sample_count;
    out->threads = threads;
    out->thread_count = report->thread_count;
    return 0;
}

/* The device's own choices. */
static void map_choices(struct resolved *out, const struct symbolicate_job *job, const uint32_t *map)
{
    const struct report *report = job->report;
    out->wait_node = map[report->event.wait_node]; /* of the root: the root */
    if (report->event.hot.known) {                 /* the device's own choice; the feature stage may choose better */
        out->hot.node = map[report->event.hot.node];
        out->hot.run = report->event.hot.run;
    }
    if (report->event.blame.known) { /* of the function itself, not of a call inlined into it */
        const struct chain *chain = &job->chains[report->nodes[report->event.blame.node].frame];
        out->blame = (struct resolved_verdict){.known = chain->count > 0,
                                               .location = chain->first + (chain->count ? chain->count - 1 : 0),
                                               .share_ppm = report->event.blame.share_ppm};
    }
}

static int map_memory(struct resolved *out, const struct symbolicate_job *job, const uint32_t *map)
{
    const struct memory *memory = &job->report->memory;
    struct memory_stack *stacks = arena_array(job->arena, memory->stack_count, sizeof *stacks);
    if (!stacks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < memory->stack_count; i++) {
        stacks[i] = memory->stacks[i];
        stacks[i].node = map[stacks[i].node];
    }
    out->memory = *memory;
    out->memory.stacks = stacks;
    return 0;
}

int symbolicate_trie(struct resolved *out, const struct symbolicate_job *job)
{
    uint32_t *map = NULL;
    int rc = build_nodes(out, &map, job);

    if (!rc)
        rc = map_stacks(out, job, map);
    if (rc)
        return rc;
    map_choices(out, job, map);
    return map_memory(out, job, map);
}
