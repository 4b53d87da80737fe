/* nearby.c - see nearby.h. */
#include "api/issues/nearby.h"

#include "base/fault.h"
#include "feature/characteristic.h"
#include "rows/tree.h"
#include "rows/issues.h"
#include "rows/parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MAX  (2 * MIRE_NEARBY_MAX) /* some are gone, or are long past */
#define GONE_SHARE 10                    /* an index with one lost row in so many is built again */

struct label { /* of a member of the index */
    int64_t tree_id, issue;
    int32_t tree;
};

struct app_index {        /* one for each app */
    int32_t app;          /* 0: none */
    int64_t since, asked; /* asked: number of its last use by `clock` */
    struct similar *similar;
    struct label *labels;
    size_t count, room, gone; /* count: of members, so of labels */
    int64_t last_id;
    pthread_mutex_t lock;
};

struct nearby {
    struct app_index indexes[MIRE_NEARBY_APPS_MAX];
    int64_t clock;
    pthread_mutex_t lock; /* guards the assignment of indexes to apps; taken before an index's own lock */
};

struct nearby *nearby_new(void)
{
    struct nearby *nearby = calloc(1, sizeof *nearby);
    if (!nearby)
        return NULL;
    pthread_mutex_init(&nearby->lock, NULL);
    for (size_t i = 0; i < MIRE_NEARBY_APPS_MAX; i++)
        pthread_mutex_init(&nearby->indexes[i].lock, NULL);
    return nearby;
}

static void empty(struct app_index *index)
{
    similar_free(index->similar);
    free(index->labels);
    index->similar = NULL;
    index->labels = NULL;
    index->count = index->room = index->gone = 0;
    index->since = index->last_id = 0;
}

void nearby_free(struct nearby *nearby)
{
    if (!nearby)
        return;
    for (size_t i = 0; i < MIRE_NEARBY_APPS_MAX; i++) {
        empty(&nearby->indexes[i]);
        pthread_mutex_destroy(&nearby->indexes[i].lock);
    }
    pthread_mutex_destroy(&nearby->lock);
    free(nearby);
}

/* The app's index, locked; the least recently used one is emptied for it if necessary. */
static struct app_index *take(struct nearby *nearby, int32_t app)
{
    pthread_mutex_lock(&nearby->lock);
    struct app_index *oldest = nearby->indexes, *found = NULL;
    for (size_t i = 0; i < MIRE_NEARBY_APPS_MAX && !found; i++) {
        struct app_index *index = &nearby->indexes[i];
        if (index->app == app)
            found = index;
        else if (index->asked < oldest->asked)
            oldest = index;
    }

    struct app_index *index = found ? found : oldest;
    pthread_mutex_lock(&index->lock);
    if (!found)
        empty(index);
    index->app = app;
    index->asked = ++nearby->clock;
    pthread_mutex_unlock(&nearby->lock);
    return index;
}

/* A stack in the form of the index: hashes of its characteristic frames, and their positions in the text. */
struct hashed {
    uint64_t frames[MIRE_FRAMES_MAX];
    uint32_t positions[MIRE_FRAMES_MAX];
    struct similar_stack stack;
};

static void hash_stack(struct hashed *out, const struct nearby_stack *from)
{
    out->stack = (struct similar_stack){out->frames, 0};
    out->stack.count = characteristic_frames(out->frames, out->positions, from->frames, from->count);
}

static int parse(struct nearby_stack *out, struct arena *arena, const char *frames)
{
    return frames_parse(&out->frames, &out->count, arena, frames);
}

static int add(struct app_index *index, struct arena *arena, const struct rows_tree *tree)
{
    struct nearby_stack stack;
    struct hashed hashed;

    int rc = parse(&stack, arena, tree->frames);
    if (rc)
        return rc;
    hash_stack(&hashed, &stack);
    if (index->count == index->room) {
        size_t room = index->room ? index->room * 2 : 256;
        struct label *labels = realloc(index->labels, room * sizeof *labels);
        if (!labels)
            return MIRE_FAULT_MEMORY;
        index->labels = labels;
        index->room = room;
    }
    index->labels[index->count] = (struct label){tree->tree_id, tree->issue_id, tree->tree};
    rc = similar_add(index->similar, tree->issue_id, tree->first_seen_us / 1000000, &hashed.stack, 1);
    index->count = similar_count(index->similar); /* a stack without frames is not added */
    return rc;
}

/* Rows come by rising number; a row that was committed late may have a low number, and some rows come twice. */
static bool has(const struct app_index *index, int64_t tree_id)
{
    for (size_t i = 0; i < index->count && tree_id <= index->last_id; i++)
        if (index->labels[i].tree_id == tree_id)
            return true;
    return false;
}

static int catch_up(struct app_index *index, struct pg_tx *tx, int32_t app)
{
    struct arena arena;
    struct rows_tree *trees;
    size_t count;
    int64_t since;

    if (index->gone * GONE_SHARE > index->count || index->count > 2 * (size_t)MIRE_NEARBY_TREES_MAX)
        empty(index);
    if (!index->similar && !(index->similar = similar_new()))
        return MIRE_FAULT_MEMORY;
    arena_init(&arena, (size_t)1 << 30);
    int rc = rows_tree_news(&trees, &count, &since, tx, &arena, app, index->since, MIRE_NEARBY_TREES_MAX);
    for (size_t i = 0; !rc && i < count; i++) {
        if (!has(index, trees[i].tree_id))
            rc = add(index, &arena, &trees[i]);
        index->last_id = trees[i].tree_id > index->last_id ? trees[i].tree_id : index->last_id;
    }

    if (!rc)
        index->since = since;
    arena_fini(&arena);
    if (rc)
        empty(index);
    return rc;
}

/* The state of a query besides the index. */
struct nearby_search {
    const struct nearby_question *of;
    struct app_index *index;
    struct shown_row *shown;
    size_t shown_count;
    struct similar_hit found[FOUND_MAX];
    struct issue_summary *summaries; /* of the issues found, in the same order */
    size_t found_count;
};

static const struct shown_row *row_of(const struct nearby_search *a, int64_t issue, int32_t tree)
{
    size_t low = 0, high = a->shown_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct shown_row *row = &a->shown[middle];
        if (row->issue == issue && row->tree == tree)
            return row;
        if (row->issue < issue || (row->issue == issue && row->tree < tree))
            low = middle + 1;
        else
            high = middle;
    }

    return NULL;
}

/* Where a tree is shown; -1: as the issue that is asked about. */
static int64_t shown_as(const struct nearby_search *a, int64_t issue, int32_t tree)
{
    const struct shown_row *row = row_of(a, issue, tree);
    if (!row)
        row = row_of(a, issue, 0);
    int64_t shown = row ? row->shown : issue;
    return shown == a->of->issue->issue ? -1 : shown;
}

static int64_t issue_of(void *context, uint32_t member)
{
    const struct nearby_search *a = context;
    const struct label *label = &a->index->labels[member];
    return shown_as(a, label->issue, label->tree);
}

/* The member's stack as it is now. 0; 1: it was dropped, or belongs to another issue; or a fault. */
static int read_theirs(struct nearby_stack *out, const struct nearby_search *a, const struct label *label)
{
    struct rows_tree *tree;
    size_t count;

    int rc = rows_tree_list(&tree, &count, a->of->tx, a->of->arena, a->of->view->app, &label->tree_id, 1);
    if (rc)
        return rc;
    if (!count || tree->issue_id != label->issue || tree->tree != label->tree) {
        a->index->gone++;
        return 1;
    }
    *out = (struct nearby_stack){.issue = tree->issue_id, .tree = tree->tree, .caller1 = tree->caller1};
    return parse(out, a->of->arena, tree->frames);
}

/* The common frames of both stacks, by their positions in the shown stacks. */
static void explain(struct nearby_hit *hit, struct similar *similar)
{
    struct hashed ours, theirs;
    hash_stack(&ours, &hit->ours);
    hash_stack(&theirs, &hit->theirs);
    similar_explain(&hit->why, similar, &ours.stack, &theirs.stack);
    for (size_t i = 0; i < hit->why.count; i++) {
        hit->why.pairs[i].left = ours.positions[hit->why.pairs[i].left];
        hit->why.pairs[i].right = theirs.positions[hit->why.pairs[i].right];
    }
}

/* Seconds between the times in which two issues were seen; 0: the times overlap. */
static int64_t gap(const struct issue_summary *a, const struct issue_summary *b)
{
    int64_t begun = a->first_us > b->first_us ? a->first_us : b->first_us;
    int64_t ended = a->last_us < b->last_us ? a->last_us : b->last_us;
    return begun > ended ? (begun - ended) / 1000000 : 0;
}

static const struct issue_summary *summary_of(const struct nearby_search *a, int64_t issue)
{
    for (size_t i = 0; i < a->found_count; i++)
        if (a->summaries[i].issue == issue)
            return &a->summaries[i];
    return NULL;
}

/* Sort the found issues for display. */
static int rank(struct nearby_search *a)
{
    int64_t issues[FOUND_MAX], gaps[FOUND_MAX];
    size_t found = a->found_count;

    for (size_t i = 0; i < found; i++)
        issues[i] = a->found[i].issue;
    int rc = rows_summaries_read(&a->summaries, &a->found_count, a->of->tx, a->of->arena, a->of->view, issues, found);
    if (rc)
        return rc;
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        const struct issue_summary *summary = summary_of(a, issues[i]);
        if (!summary || !*summary->subject != !*a->of->issue->subject)
            continue;
        gaps[kept] = gap(summary, a->of->issue);
        a->found[kept++] = a->found[i];
    }

    similar_age(a->found, kept, gaps);
    return (int)kept;
}

static int find(struct nearby_search *a, const struct nearby_stack *ours, size_t ours_count)
{
    struct similar_stack stacks[MIRE_SIMILAR_STACKS];
    struct hashed hashed[MIRE_SIMILAR_STACKS];
    const struct similar_question question = {
        .stacks = stacks, .count = ours_count, .issue_of = issue_of, .context = a};

    for (size_t i = 0; i < ours_count; i++) {
        hash_stack(&hashed[i], &ours[i]);
        stacks[i] = hashed[i].stack;
    }
    int rc = similar_find(a->found, FOUND_MAX, &a->found_count, a->index->similar, &question);
    return rc || !a->found_count ? rc : rank(a);
}

static int ask(struct nearby_hit *hits, size_t cap, size_t *got_out, struct nearby_search *a,
               const struct nearby_stack *ours, size_t ours_count)
{
    int rc = find(a, ours, ours_count);
    int count = rc;

    for (int i = 0; rc >= 0 && i < count && *got_out < cap; i++) {
        const struct similar_hit *found = &a->found[i];
        struct nearby_hit *hit = &hits[*got_out];
        *hit = (struct nearby_hit){.summary = *summary_of(a, found->issue),
                                   .score = found->score,
                                   .best = found->best,
                                   .members = found->heard,
                                   .ours = ours[found->asked]};
        rc = read_theirs(&hit->theirs, a, &a->index->labels[found->member]);
        if (rc)
            continue;
        explain(hit, a->index->similar);
        (*got_out)++;
    }

    return rc < 0 ? rc : 0;
}

int nearby_find(struct nearby_hit *hits, size_t cap, size_t *got_out, const struct nearby_question *question)
{
    struct nearby_search a = {.of = question};
    struct nearby_stack ours[MIRE_SIMILAR_STACKS];
    size_t ours_count = 0;
    int32_t app = question->view->app;
    int rc = rows_shown_all_read(&a.shown, &a.shown_count, question->tx, question->arena, app);

    *got_out = 0;
    for (size_t i = 0; !rc && i < question->tree_count && ours_count < MIRE_SIMILAR_STACKS; i++) {
        const struct tree_part *tree = &question->trees[i];
        ours[ours_count] = (struct nearby_stack){.issue = tree->issue, .tree = tree->tree, .caller1 = tree->caller1};
        rc = parse(&ours[ours_count++], question->arena, tree->frames);
    }

    if (rc || !ours_count)
        return rc;
    a.index = take(question->nearby, app);
    rc = catch_up(a.index, question->tx, app);
    if (!rc)
        rc = ask(hits, cap < MIRE_NEARBY_MAX ? cap : MIRE_NEARBY_MAX, got_out, &a, ours, ours_count);
    pthread_mutex_unlock(&a.index->lock);
    return rc;
}
