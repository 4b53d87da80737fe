/*
 * regroup.c - POST /issues/{issue}/merge, split and unmerge. The change is made and read back in one
 * transaction; a preview then rolls back, so its answer is exact.
 *
 * Triagers may do this, because every act can be undone without loss. A page of another origin may not (access/origin.h).
 */
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/fault.h"
#include "rows/alias.h"
#include "rows/audit.h"
#include "rows/devices.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/parts.h"

#include <stdlib.h>
#include <string.h>

struct regroup {
    const char *author, *reason, *caller2;
    bool preview;
    uint64_t act;
    int64_t issues[MIRE_ALIAS_MAX];
    size_t issue_count;
    struct alias_tree trees[MIRE_ALIAS_MAX];
    size_t tree_count;
};

static enum bind_outcome take_names(struct bind *bind, void *out, uint32_t at)
{
    struct regroup *asked = out;

    return body_issues(asked->issues, &asked->issue_count, bind, at, MIRE_ALIAS_MAX);
}

/* "I-3.1a2b3c4d" */
static int parse_tree(struct alias_tree *out, struct arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name), *dot = copy ? strchr(copy, '.') : NULL, *end;

    if (!dot || strlen(dot + 1) != 8 || strspn(dot + 1, "0123456789abcdef") != 8)
        return -1;
    *dot = '\0';
    out->tree = (int32_t)(uint32_t)strtoul(dot + 1, &end, 16);
    return issue_parse(&out->issue, copy);
}

static enum bind_outcome take_trees(struct bind *bind, void *out, uint32_t at)
{
    struct regroup *asked = out;
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_ALIAS_MAX);
    uint32_t element = at + 1;

    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        const char *name;
        bind_enter(bind, NULL, i);
        outcome = bind_text(&name, bind, element, 40);
        if (!outcome && parse_tree(&asked->trees[asked->tree_count++], bind->arena, name) != 0)
            outcome = bind_wrong(bind, "must be a tree, such as I-1042.1a2b3c4d");
        bind_leave(bind);
    }
    return outcome;
}

/* clang-format off */
#define WHO_AND_WHY \
    {"author", MIRE_BIND_TEXT, offsetof(struct regroup, author), .max = MIRE_CHANGE_WHO_MAX}, \
    {"reason", MIRE_BIND_TEXT, offsetof(struct regroup, reason), .required = true, .max = MIRE_CHANGE_WHY_MAX}, \
    {"preview", MIRE_BIND_BOOL, offsetof(struct regroup, preview), .required = false}
/* clang-format on */
static const struct bind_field merge_fields[] = {WHO_AND_WHY,
                                                 {"issues", MIRE_BIND_OTHER, 0, .required = true, .read = take_names}};
static const struct bind_field split_fields[] = {
    WHO_AND_WHY,
    {"trees", MIRE_BIND_OTHER, 0, .read = take_trees},
    {"caller2", MIRE_BIND_TEXT, offsetof(struct regroup, caller2), .max = 4096}};
static const struct bind_field unmerge_fields[] = {
    WHO_AND_WHY,
    {"act", MIRE_BIND_U64, offsetof(struct regroup, act), .max = INT64_MAX},
    {"issues", MIRE_BIND_OTHER, 0, .read = take_names}};

static int refuse(struct call *call, int status, const char *code, const char *text)
{
    reply_error(call->reply, call->request, status, code, "%s", text);
    return CALL_REPLIED;
}

static int read_asked(struct regroup *asked, struct call *call, const struct bind_field *fields, size_t count)
{
    const char *type = request_header(call->request, "Content-Type");

    if (!type || strncmp(type, "application/json", 16) != 0)
        return refuse(call, 415, "issue.type", "Send JSON, with Content-Type: application/json.");
    *asked = (struct regroup){.author = ""};
    int rc = body_read(asked, call->request, call->reply, fields, count, "issue");
    if (rc == 0 && call->request->grant.account_id)
        asked->author = call->request->grant.who; /* a known author cannot name another one */
    if (rc == 0 && (!*asked->author || !*asked->reason))
        return refuse(call, 422, "issue.wrong", "Give author and reason.");
    return rc == 1 ? CALL_REPLIED : rc;
}

/* The subject of an act: its issues, and the issues they are shown as before and after. */
struct affected {
    int64_t issues[2 * MIRE_ALIAS_MAX + 2];
    size_t count;
};

static void affect(struct affected *all, int64_t issue)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->issues[i] == issue)
            return;
    if (all->count < sizeof all->issues / sizeof *all->issues)
        all->issues[all->count++] = issue;
}

static int read_state(struct issue_summary **out, size_t *count, struct call *call, const struct affected *all)
{
    struct affected shown = {.count = 0};
    struct kept kept;
    bool many;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < all->count; i++) {
        int64_t issue;
        rc = rows_shown_read(&issue, &many, call->tx, call->view.app, all->issues[i]);
        affect(&shown, issue);
    }
    if (rc == 0)
        rc = rows_summaries_read(out, count, call->tx, call->arena, &call->view, shown.issues, shown.count);
    if (rc == 0)
        rc = rows_devices_read(&kept, call->tx, call->arena, &call->view, ROWS_BY_CALLER1, shown.issues, shown.count);
    for (size_t i = 0; rc == 0 && i < *count; i++)
        (*out)[i].totals.devices = devices_of_issue(&kept.devices, (*out)[i].issue);
    return rc;
}

/* The reports that issues have gained from others. */
static int64_t moved(const struct issue_summary *before, size_t before_count, const struct issue_summary *after,
                     size_t after_count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < after_count; i++) {
        int64_t had = 0;
        for (size_t k = 0; k < before_count; k++)
            had = before[k].issue == after[i].issue ? before[k].totals.reports : had;
        sum += after[i].totals.reports > had ? after[i].totals.reports - had : 0;
    }
    return sum;
}

static void put_summaries(struct json_writer *w, const char *key, const struct issue_summary *summaries, size_t count)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < count; i++)
        part_summary(w, NULL, &summaries[i]);
    json_write_close(w, ']');
}

/* "I-4, I-7": where the reports are shown. */
static const char *names_of(struct call *call, const struct issue_summary *all, size_t count)
{
    const char *names = "";

    for (size_t i = 0; names && i < count; i++)
        names = arena_printf(call->arena, "%s%s%s", names, i ? ", " : "",
                             part_issue_name(all[i].issue, all[i].subject[0]).text);
    return names;
}

static int audit(struct call *call, const struct regroup *asked, const char *before, const char *after)
{
    const char *path = call->request->path;
    const char *action = arena_printf(call->arena, "issue.%s", strrchr(path, '/') + 1);

    if (!before || !after || !action)
        return MIRE_FAULT_MEMORY;
    return call_audit(call, &(struct audit_row){.action = action,
                                                .subject = request_param(call->request, 1),
                                                .before = before,
                                                .after = after,
                                                .reason = asked->reason});
}

typedef int (*regroup_act)(struct call *call, struct regroup *asked, struct alias_act *act, struct affected *all);

/* Read the state, change it, read it again, then commit or roll back. */
static int regroup(struct call *call, struct regroup *asked, struct affected *all, regroup_act run)
{
    struct alias_act act = {.app = call->view.app, .author = asked->author, .reason = asked->reason};
    struct json_writer *w = &call->json;
    struct issue_summary *before, *after;
    size_t before_count, after_count;
    int rc = read_state(&before, &before_count, call, all);

    if (rc == 0 && (!before_count || before->issue != call->issue))
        return call_no_issue(call);
    if (rc == 0)
        rc = run(call, asked, &act, all);
    if (rc == 0)
        rc = read_state(&after, &after_count, call, all);
    if (rc == 0 && !asked->preview)
        rc = audit(call, asked, names_of(call, before, before_count), names_of(call, after, after_count));
    if (rc == 0 && !asked->preview)
        rc = pg_commit(&call->tx);
    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_bool(w, "preview", asked->preview);
    if (asked->preview || !act.act)
        json_write_null(w, "act");
    else
        json_write_i64(w, "act", act.act);
    json_write_i64(w, "reports", moved(before, before_count, after, after_count));
    put_summaries(w, "before", before, before_count);
    put_summaries(w, "after", after, after_count);
    json_write_close(w, '}');
    return 0;
}

/* The issue that this one is shown as now; no other change can come in between. */
static int begin(struct call *call)
{
    int rc = rows_alias_begin(call->tx, call->view.app);
    return rc ? rc : call_show(call);
}

static int do_merge(struct call *call, struct regroup *asked, struct alias_act *act, struct affected *all)
{
    (void)all;
    for (size_t i = 0; i < asked->issue_count; i++) {
        int64_t issue;
        bool many;
        int rc = rows_shown_read(&issue, &many, call->tx, call->view.app, asked->issues[i]);
        if (rc == 0 && issue != call->issue)
            rc = rows_alias_merge(call->tx, act, issue, call->issue);
        if (rc == MIRE_ALIAS_NONE)
            return refuse(call, 422, "issue.none",
                          "An issue to merge does not exist, or only one of them is about memory.");
        if (rc != 0)
            return rc;
    }
    return act->act ? 0 : refuse(call, 409, "issue.same", "They are already shown as one issue.");
}

static int answer_merge(struct call *call)
{
    struct affected all = {.count = 0};
    struct regroup asked;
    int rc = read_asked(&asked, call, merge_fields, sizeof merge_fields / sizeof *merge_fields);

    if (rc == 0)
        rc = begin(call);
    affect(&all, call->issue);
    for (size_t i = 0; rc == 0 && i < asked.issue_count; i++)
        affect(&all, asked.issues[i]);
    return rc ? rc : regroup(call, &asked, &all, do_merge);
}

/* Take issues out of a merge: the named ones, or those of a scene. */
static int take_out(struct call *call, const int64_t *issues, size_t count, struct alias_act *act)
{
    int rc = rows_alias_take_out(call->tx, act, issues, count);
    if (rc == MIRE_ALIAS_NONE)
        return refuse(call, 409, "issue.none", "None of these is merged into it now.");
    return rc;
}

static int do_scene(struct call *call, struct regroup *asked, struct alias_act *act, struct affected *all)
{
    int64_t issues[MIRE_ALIAS_MAX];
    struct member_part *members;
    size_t count, wanted = 0;
    int rc = rows_members_read(&members, &count, call->tx, call->arena, &call->view, call->issue);

    for (size_t i = 0; rc == 0 && i < count && wanted < MIRE_ALIAS_MAX; i++) {
        if (strcmp(members[i].caller2, asked->caller2) != 0)
            continue;
        if (members[i].issue == call->issue)
            return refuse(call, 422, "issue.scene",
                          "That scene is the issue's main one: split off the others instead.");
        affect(all, members[i].issue);
        issues[wanted++] = members[i].issue;
    }
    return rc ? rc : take_out(call, issues, wanted, act);
}

static int do_split(struct call *call, struct regroup *asked, struct alias_act *act, struct affected *all)
{
    int64_t opened;
    int rc = rows_alias_split(&opened, call->tx, act, call->issue, asked->trees, asked->tree_count);

    if (rc == MIRE_ALIAS_NONE)
        return refuse(call, 422, "issue.none", "A tree is not one of this issue, or is named twice.");
    if (rc == 0)
        affect(all, opened);
    return rc;
}

static int answer_split(struct call *call)
{
    struct affected all = {.count = 0};
    struct regroup asked;
    int rc = read_asked(&asked, call, split_fields, sizeof split_fields / sizeof *split_fields);

    if (rc == 0 && !asked.tree_count == !asked.caller2)
        return refuse(call, 422, "issue.wrong", "Name the trees to split off, or a caller2.");
    if (rc == 0)
        rc = begin(call);
    affect(&all, call->issue);
    return rc ? rc : regroup(call, &asked, &all, asked.caller2 ? do_scene : do_split);
}

static int do_unmerge(struct call *call, struct regroup *asked, struct alias_act *act, struct affected *all)
{
    (void)all;
    if (asked->issue_count)
        return take_out(call, asked->issues, asked->issue_count, act);
    act->act = (int64_t)asked->act;
    int rc = rows_alias_undo(call->tx, act);
    if (rc == MIRE_ALIAS_NONE)
        return refuse(call, 409, "issue.none", "None of that is in effect now.");
    return rc;
}

static int answer_unmerge(struct call *call)
{
    struct affected all = {.count = 0};
    struct regroup asked;
    struct act_part *acts = NULL;
    size_t count = 0;
    int rc = read_asked(&asked, call, unmerge_fields, sizeof unmerge_fields / sizeof *unmerge_fields);

    if (rc == 0 && !asked.issue_count == !asked.act)
        return refuse(call, 422, "issue.wrong", "Name the act to undo, or the issues to take out.");
    if (rc == 0)
        rc = begin(call);
    if (rc == 0)
        rc = rows_acts_read(&acts, &count, call->tx, call->arena, call->view.app, call->issue);
    affect(&all, call->issue);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (acts[i].act != (int64_t)asked.act)
            continue;
        affect(&all, acts[i].issue);
        affect(&all, acts[i].into);
    }
    for (size_t i = 0; rc == 0 && i < asked.issue_count; i++)
        affect(&all, asked.issues[i]);
    if (rc == 0 && asked.act && all.count == 1)
        return refuse(call, 404, "issue.none", "That act is not of this issue.");
    return rc ? rc : regroup(call, &asked, &all, do_unmerge);
}

static int run(void *api, struct request *request, struct reply *reply, call_answer answer)
{
    static const char *const names[] = {"t", "v", NULL};
    const struct call_kind kind = {
        .names = names, .has_app = true, .has_issue = true, .writes = true, .answer = answer};
    return call_run(api, request, reply, &kind);
}

int post_merge(void *api, struct request *request, struct reply *reply)
{
    return run(api, request, reply, answer_merge);
}

int post_split(void *api, struct request *request, struct reply *reply)
{
    return run(api, request, reply, answer_split);
}

int post_unmerge(void *api, struct request *request, struct reply *reply)
{
    return run(api, request, reply, answer_unmerge);
}
