/*
 * suspects.c - GET .../issues/{issue}/suspects: the commits of a version that changed files of the app's frames in the
 * stacks of the issue.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "base/fault.h"
#include "model/resolved.h"
#include "model/suspect.h"
#include "document/document.h"
#include "rows/issues.h"
#include "rows/release.h"
#include "rows/reports.h"

#include <string.h>

#define REPORTS_MAX  5   /* newest reports whose stacks are read */
#define FILES_MAX    200 /* of their frames */
#define SUSPECTS_MAX 10

/* A file of the app's frames. Files of the hot stack rank first, by the distance to the function to blame. */
struct frame_file {
    const char *path, *function;
    size_t rank;
};

struct files {
    struct arena *arena;
    struct frame_file all[FILES_MAX];
    size_t count;
};

static int add(struct files *files, const struct resolved_location *p, size_t rank)
{
    struct suspect_frame frame = {.function = p->function, .file = p->file};
    const char *path = *p->file && p->role == MIRE_ROLE_APP ? suspect_path(files->arena, &frame) : "";
    size_t at = 0;

    if (!path)
        return MIRE_FAULT_MEMORY;
    while (at < files->count && strcmp(files->all[at].path, path) != 0)
        at++;
    if (!*path || at == FILES_MAX || (at < files->count && files->all[at].rank <= rank))
        return 0;
    files->count += at == files->count;
    files->all[at] = (struct frame_file){path, arena_strdup(files->arena, p->function), rank};
    return files->all[at].function ? 0 : MIRE_FAULT_MEMORY;
}

/* Add the files of a report's frames. The rank is the distance to the function to blame; other stacks rank last. */
static int take_stack(void *context, double weight, const void *bytes, size_t len)
{
    struct files *files = context;
    struct resolved doc;
    size_t depth = 0;
    int rc = 0;

    (void)weight;
    if (resolved_decode(&doc, files->arena, bytes, len) != 0)
        return 0; /* the other reports are good without it */
    size_t blamed = doc.hot.caller1 > 0 ? (size_t)doc.hot.caller1 : 0;
    for (uint32_t n = doc.hot.node; n && !rc; n = doc.nodes[n].parent, depth++)
        rc = add(files, &doc.locations[doc.nodes[n].location], depth > blamed ? depth - blamed : blamed - depth);
    for (size_t i = 0; i < doc.location_count && !rc; i++)
        rc = add(files, &doc.locations[i], depth + 1);
    return rc;
}

/* The frame nearest to the function to blame whose file the commit changed; NULL: it changed none. */
static const struct frame_file *match(const struct files *files, const struct release_commit *commit,
                                      const char **path_out, size_t *len_out)
{
    const struct frame_file *best = NULL;

    for (const char *line = commit->files; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        for (size_t i = 0; i < files->count; i++)
            if ((!best || files->all[i].rank < best->rank) && suspect_matches(files->all[i].path, line, len)) {
                best = &files->all[i];
                *path_out = line;
                *len_out = len;
            }
    }
    return best;
}

struct suspect {
    const struct release_commit *commit;
    const struct frame_file *frame;
    const char *path;
};

static void put_suspect(struct json_writer *w, const struct suspect *one)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "commit", one->commit->commit);
    json_write_text(w, "author", one->commit->author);
    json_write_text(w, "subject", one->commit->subject);
    part_time(w, "committed_at", one->commit->at_us);
    json_write_text(w, "file", one->path);
    json_write_text(w, "function", one->frame->function);
    json_write_close(w, '}');
}

/* Keep the SUSPECTS_MAX nearest; of equals the newest, which comes first. */
static void insert(struct suspect *kept, size_t *count, const struct suspect *one)
{
    size_t at = *count < SUSPECTS_MAX ? (*count)++ : SUSPECTS_MAX;

    for (; at > 0 && kept[at - 1].frame->rank > one->frame->rank; at--)
        if (at < SUSPECTS_MAX)
            kept[at] = kept[at - 1];
    if (at < SUSPECTS_MAX)
        kept[at] = *one;
}

static int put_suspects(struct call *call, const char *version, const struct files *files)
{
    struct json_writer *w = &call->json;
    struct suspect kept[SUSPECTS_MAX];
    struct release_commit *commits;
    size_t count, found = 0;
    int rc = rows_release_commits_read(&commits, &count, call->tx, call->arena, call->view.app, version);

    for (size_t i = 0; !rc && i < count; i++) {
        const char *path = NULL;
        size_t len = 0;
        struct suspect one = {&commits[i], match(files, &commits[i], &path, &len), NULL};
        if (!one.frame)
            continue;
        if (!(one.path = arena_copy(call->arena, path, len)))
            return MIRE_FAULT_MEMORY;
        insert(kept, &found, &one);
    }
    if (rc)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_text(w, "version", version);
    json_write_i64(w, "commits", (int64_t)count);
    json_write_i64(w, "files", (int64_t)files->count);
    json_write_open(w, "suspects", '[');
    for (size_t i = 0; i < found; i++)
        put_suspect(w, &kept[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return 0;
}

/* The version that is asked about, the one in which the issue came back, or its first. */
static const char *version_of(const struct call *call, const struct issue_summary *issue)
{
    const struct filter *asked = &call->view.version;

    if (asked->with_count == 1 && !asked->without_count)
        return asked->with[0];
    return !strcmp(issue->state, "regressed") && *issue->state_version ? issue->state_version : issue->first_version;
}

static int answer_suspects(struct call *call)
{
    struct files *files = arena_alloc(call->arena, sizeof *files);
    struct issue_summary *summary;
    int rc = call_summary(&summary, call);

    if (rc || !files)
        return rc ? rc : MIRE_FAULT_MEMORY;
    files->arena = call->arena;
    rc = rows_stacks_read(call->tx, &call->view, call->issue, NULL, REPORTS_MAX, take_stack, files);
    return rc ? rc : put_suspects(call, version_of(call, summary), files);
}

int get_suspects(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", NULL};
    static const struct call_kind kind = {
        .table = "suspects", .names = names, .has_app = true, .has_issue = true, .answer = answer_suspects};
    return call_run(api, request, reply, &kind);
}
