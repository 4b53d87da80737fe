/* provenance.c - provenance of an issue: the issues shown as it, its trees (level 3), and its merges and splits with
 * their authors. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "model/frames.h"
#include "rows/issues.h"
#include "rows/parts.h"

static void put_time_or_null(struct json_writer *w, const char *key, int64_t wall_us)
{
    if (wall_us)
        part_time(w, key, wall_us);
    else
        json_write_null(w, key);
}

static int put_members(struct call *call)
{
    struct json_writer *w = &call->json;
    struct member_part *members;
    size_t count;
    int rc = rows_members_read(&members, &count, call->tx, call->arena, &call->view, call->issue);

    json_write_open(w, "members", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct member_part *m = &members[i];
        json_write_open(w, NULL, '{');
        json_write_text(w, "id", part_issue_name(m->issue, m->memory).text);
        json_write_text(w, "caller1", m->caller1);
        json_write_text(w, "caller2", m->caller2);
        json_write_text(w, "category", m->category);
        json_write_text(w, "reason", m->reason);
        json_write_text(w, "state", m->state);
        part_time(w, "first_seen_at", m->first_us);
        json_write_i64(w, "reports", m->reports);
        json_write_real(w, "events", m->events);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return rc;
}

static int put_tree(struct call *call, const struct tree_part *t, bool memory)
{
    struct json_writer *w = &call->json;
    struct frame_line *frames;
    size_t count;
    int rc = frames_parse(&frames, &count, call->arena, t->frames);

    json_write_open(w, NULL, '{');
    json_write_text(w, "id", part_tree_name(t->issue, memory, t->tree).text);
    json_write_text(w, "issue", part_issue_name(t->issue, memory).text);
    json_write_i64(w, "reports", t->reports);
    json_write_real(w, "events", t->events);
    part_time(w, "first_seen_at", t->first_us);
    put_time_or_null(w, "last_seen_at", t->last_us);
    part_frames(w, frames, count, t->caller1);
    json_write_close(w, '}');
    return rc;
}

static int put_trees(struct call *call, const struct issue_summary *summary)
{
    struct json_writer *w = &call->json;
    struct tree_part *trees;
    size_t count;
    int64_t given = 0;
    int rc = rows_trees_read(&trees, &count, call->tx, call->arena, &call->view, call->issue);

    json_write_open(w, "trees", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_tree(call, &trees[i], summary->subject[0]);
        given += trees[i].reports;
    }
    json_write_close(w, ']');
    json_write_i64(w, "other_reports", summary->totals.reports > given ? summary->totals.reports - given : 0);
    return rc;
}

static int put_acts(struct call *call, bool memory)
{
    struct json_writer *w = &call->json;
    struct act_part *acts;
    size_t count;
    int rc = rows_acts_read(&acts, &count, call->tx, call->arena, call->view.app, call->issue);

    json_write_open(w, "acts", '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct act_part *a = &acts[i];
        json_write_open(w, NULL, '{');
        json_write_i64(w, "act", a->act);
        json_write_text(w, "kind", a->kind);
        json_write_text(w, "what",
                        a->tree ? part_tree_name(a->issue, memory, a->tree).text
                                : part_issue_name(a->issue, memory).text);
        json_write_text(w, "into", part_issue_name(a->into, memory).text);
        json_write_text(w, "author", a->author);
        json_write_text(w, "reason", a->reason);
        part_time(w, "at", a->at_us);
        put_time_or_null(w, "undone_at", a->undone_us);
        json_write_text(w, "undone_by", a->undone_by);
        json_write_text(w, "undone_why", a->undone_why);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return rc;
}

static int answer_provenance(struct call *call)
{
    struct json_writer *w = &call->json;
    struct issue_summary *summary;
    int rc = call_summary(&summary, call);

    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    part_range(w, &call->view.span, 0);
    json_write_text(w, "id", part_issue_name(summary->issue, summary->subject[0]).text);
    if ((rc = put_members(call)) || (rc = put_trees(call, summary)) || (rc = put_acts(call, summary->subject[0])))
        return rc;
    json_write_close(w, '}');
    return 0;
}

int get_provenance(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {
        .names = names, .has_app = true, .has_issue = true, .answer = answer_provenance};
    return call_run(api, request, reply, &kind);
}
