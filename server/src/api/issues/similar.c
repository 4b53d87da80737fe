/* similar.c - similar issues with their common frames: suggestions only, without a merge. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/issues/nearby.h"
#include "api/parts.h"
#include "rows/devices.h"
#include "rows/issues.h"
#include "rows/parts.h"

#define SCORE_LEAST 0.1 /* below, two stacks have little more in common than their way into the program */

static void put_pairs(struct json_writer *w, const struct similar_evidence *why)
{
    json_write_open(w, "aligned", '[');
    for (size_t i = 0; i < why->count; i++) {
        json_write_open(w, NULL, '{');
        json_write_i64(w, "ours", why->pairs[i].left);
        json_write_i64(w, "theirs", why->pairs[i].right);
        json_write_real(w, "weight", why->pairs[i].weight);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_stack(struct json_writer *w, const char *key, const struct nearby_stack *stack, bool memory)
{
    json_write_open(w, key, '{');
    json_write_text(w, "issue", part_issue_name(stack->issue, memory).text);
    json_write_text(w, "tree", part_tree_name(stack->issue, memory, stack->tree).text);
    part_frames(w, stack->frames, stack->count, stack->caller1);
    json_write_close(w, '}');
}

static void put_hit(struct json_writer *w, const struct nearby_hit *hit, bool memory)
{
    json_write_open(w, NULL, '{');
    part_summary(w, "issue", &hit->summary);
    json_write_real(w, "score", hit->score);
    json_write_real(w, "likeness", hit->why.likeness);
    json_write_i64(w, "members", hit->members);
    json_write_bool(w, "suggested", hit->score >= MIRE_NEARBY_SUGGEST);
    put_stack(w, "ours", &hit->ours, memory);
    put_stack(w, "theirs", &hit->theirs, memory);
    put_pairs(w, &hit->why);
    json_write_close(w, '}');
}

static int put_hits(struct call *call, struct nearby_hit *hits, size_t count, bool memory)
{
    int64_t issues[MIRE_NEARBY_MAX];
    struct kept kept;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        issues[i] = hits[i].summary.issue;
    if (count)
        rc = rows_devices_read(&kept, call->tx, call->arena, &call->view, ROWS_BY_CALLER1, issues, count);
    json_write_open(&call->json, "suggestions", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        hits[i].summary.totals.devices = devices_of_issue(&kept.devices, issues[i]);
        put_hit(&call->json, &hits[i], memory);
    }
    json_write_close(&call->json, ']');
    return rc;
}

static int answer_similar(struct call *call)
{
    struct json_writer *w = &call->json;
    struct nearby_hit hits[MIRE_NEARBY_MAX];
    struct issue_summary *summary;
    struct tree_part *trees;
    size_t count = 0, got = 0, kept = 0;
    int64_t limit;
    int rc;

    if ((rc = call_integer(&limit, call, "limit", 1, MIRE_NEARBY_MAX, 5)) || (rc = call_summary(&summary, call)))
        return rc;
    if ((rc = rows_trees_read(&trees, &count, call->tx, call->arena, &call->view, call->issue)))
        return rc;
    const struct nearby_question question = {.nearby = call->api->nearby,
                                             .tx = call->tx,
                                             .arena = call->arena,
                                             .view = &call->view,
                                             .issue = summary,
                                             .trees = trees,
                                             .tree_count = count};
    if ((rc = nearby_find(hits, (size_t)limit, &got, &question)))
        return rc;
    while (kept < got && hits[kept].score >= SCORE_LEAST)
        kept++;
    json_write_open(w, NULL, '{');
    part_range(w, &call->view.span, 0);
    json_write_text(w, "id", part_issue_name(summary->issue, summary->subject[0]).text);
    json_write_i64(w, "trees", (int64_t)count);
    json_write_real(w, "suggested_from", MIRE_NEARBY_SUGGEST);
    rc = put_hits(call, hits, kept, summary->subject[0]);
    json_write_close(w, '}');
    return rc;
}

int get_similar(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "limit", NULL};
    static const struct call_kind kind = {
        .table = "suggestions", .names = names, .has_app = true, .has_issue = true, .answer = answer_similar};
    return call_run(api, request, reply, &kind);
}
