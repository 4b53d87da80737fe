/*
 * releases.c - GET and POST .../releases: marks of releases, how frames lead to the source, and where tickets are made;
 * POST .../releases/commits: the commits that are new in a version.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/fault.h"
#include "rows/audit.h"
#include "rows/release.h"
#include "rows/rows.h"
#include "rows/ticket.h"

#include <inttypes.h>
#include <string.h>

#define VERSION_MAX     200
#define ENVIRONMENT_MAX 64
#define COMMIT_MIN      7
#define COMMIT_MAX      64
#define NAME_MAX_LEN    200
#define FILES_MAX       1000 /* of a commit */
#define PATH_MAX_LEN    1000

static int answer_get(struct call *call)
{
    struct json_writer *w = &call->json;
    struct app_settings settings;
    struct release_row *marks = NULL;
    struct tracker_row tracker = {.kind = ""};
    size_t count = 0;
    int rc = rows_app_settings_read(&settings, call->tx, call->arena, call->view.app);

    if (!rc)
        rc = rows_release_list(&marks, &count, call->tx, call->arena, call->view.app);
    if (!rc)
        rc = rows_tracker_read(&tracker, call->tx, call->arena, call->view.app);
    if (rc && rc != READ_NONE)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_text(w, "source_link", settings.source_link);
    json_write_text(w, "source_root", settings.source_root);
    json_write_text(w, "ticket_link", settings.ticket_link);
    json_write_text(w, "tracker", tracker.kind);
    json_write_open(w, "releases", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "version", marks[i].version);
        json_write_text(w, "environment", marks[i].environment);
        json_write_text(w, "commit", marks[i].commit);
        part_time(w, "released_at", marks[i].at_us);
        json_write_text(w, "made_by", marks[i].made_by);
        json_write_i64(w, "commits", marks[i].commits);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
    return 0;
}

int get_releases(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "releases", .has_app = true, .answer = answer_get};
    return call_run(api, request, reply, &kind);
}

/* 7 to 64 hexadecimal digits, in lower case. */
static bool is_commit(const char *text)
{
    size_t len = strspn(text, "0123456789abcdef");
    return !text[len] && len >= COMMIT_MIN && len <= COMMIT_MAX;
}

static enum bind_outcome read_commit(const char **out, struct bind *bind, uint32_t at)
{
    enum bind_outcome outcome = bind_text(out, bind, at, COMMIT_MAX);
    return outcome || is_commit(*out) ? outcome : bind_wrong(bind, "must be 7 to 64 hexadecimal digits in lower case");
}

static enum bind_outcome read_time(int64_t *us, struct bind *bind, uint32_t at)
{
    const char *text = "";
    enum bind_outcome outcome = bind_text(&text, bind, at, VERSION_MAX);
    return outcome || !time_parse(us, text) ? outcome : bind_wrong(bind, "must be an instant, 2026-11-01T14:30:05Z");
}

static enum bind_outcome mark_commit(struct bind *bind, void *out, uint32_t at)
{
    return read_commit(&((struct release_row *)out)->commit, bind, at);
}

static enum bind_outcome mark_time(struct bind *bind, void *out, uint32_t at)
{
    return read_time(&((struct release_row *)out)->at_us, bind, at);
}

static const struct bind_field mark_fields[] = {
    {"version", MIRE_BIND_TEXT, offsetof(struct release_row, version), .required = true, .max = VERSION_MAX},
    {"environment", MIRE_BIND_TEXT, offsetof(struct release_row, environment), .max = ENVIRONMENT_MAX},
    {"commit", MIRE_BIND_OTHER, 0, .read = mark_commit},
    {"released_at", MIRE_BIND_OTHER, 0, .read = mark_time},
};

static const char *who_asks(const struct call *call)
{
    return call->request->grant.who ? call->request->grant.who : "";
}

/* Commit, and answer an empty object. */
static int done(struct call *call)
{
    int rc = pg_commit(&call->tx);

    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

static int answer_post(struct call *call)
{
    struct release_row mark = {
        .environment = "production", .commit = "", .at_us = call->api->now_us(), .made_by = who_asks(call)};
    int rc = call_body(&mark, call, mark_fields, sizeof mark_fields / sizeof *mark_fields, "release");

    if (rc)
        return rc;
    if (!*mark.version || !*mark.environment)
        return call_problem(call, 422, "release.wrong", "The version, or the environment, is empty.");
    rc = rows_release_put(call->tx, call->view.app, &mark);
    if (!rc)
        rc = call_audit(
            call, &(struct audit_row){.action = "release.marked",
                                      .subject = mark.version,
                                      .after = arena_printf(call->arena, "%s %s", mark.environment, mark.commit)});
    return rc ? rc : done(call);
}

int post_release(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_post};
    return call_run(api, request, reply, &kind);
}

/* --- commits --- */

struct commits_asked {
    const char *version;
    struct release_commit *commits;
    size_t count;
};

static enum bind_outcome commit_id(struct bind *bind, void *out, uint32_t at)
{
    return read_commit(&((struct release_commit *)out)->commit, bind, at);
}

static enum bind_outcome commit_time(struct bind *bind, void *out, uint32_t at)
{
    return read_time(&((struct release_commit *)out)->at_us, bind, at);
}

static enum bind_outcome commit_files(struct bind *bind, void *out, uint32_t at)
{
    struct release_commit *commit = out;
    const char **paths;
    size_t count, len = 1;
    enum bind_outcome outcome = bind_texts(&paths, &count, bind, at, FILES_MAX, PATH_MAX_LEN);

    if (outcome)
        return outcome;
    for (size_t i = 0; i < count; i++) {
        if (!*paths[i] || strchr(paths[i], '\n'))
            return bind_wrong(bind, "must be paths without a line end");
        len += strlen(paths[i]) + 1;
    }
    char *joined = arena_alloc(bind->arena, len), *end = joined;
    if (!joined)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(end, paths[i]);
        *end++ = '\n';
    }
    commit->files = joined;
    return MIRE_BIND_OK;
}

static const struct bind_field commit_fields[] = {
    {"commit", MIRE_BIND_OTHER, 0, .required = true, .read = commit_id},
    {"author", MIRE_BIND_TEXT, offsetof(struct release_commit, author), .required = true, .max = NAME_MAX_LEN},
    {"subject", MIRE_BIND_TEXT, offsetof(struct release_commit, subject), .required = true, .max = NAME_MAX_LEN},
    {"committed_at", MIRE_BIND_OTHER, 0, .required = true, .read = commit_time},
    {"files", MIRE_BIND_OTHER, 0, .required = true, .read = commit_files},
};

static enum bind_outcome read_commits(struct bind *bind, void *out, uint32_t at)
{
    struct commits_asked *asked = out;
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_RELEASE_COMMITS_MAX);
    uint32_t element = at + 1;

    if (outcome)
        return outcome;
    asked->count = json_size(bind->json, at);
    asked->commits = arena_array(bind->arena, asked->count + 1, sizeof *asked->commits);
    if (!asked->commits)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; !outcome && i < asked->count; i++, element = json_next(bind->json, element)) {
        bind_enter(bind, NULL, i);
        outcome =
            bind_object(bind, &asked->commits[i], element, commit_fields, sizeof commit_fields / sizeof *commit_fields);
        if (!outcome)
            bind_leave(bind);
    }
    return outcome;
}

static const struct bind_field commits_fields[] = {
    {"version", MIRE_BIND_TEXT, offsetof(struct commits_asked, version), .required = true, .max = VERSION_MAX},
    {"commits", MIRE_BIND_OTHER, 0, .required = true, .read = read_commits},
};

static int answer_commits(struct call *call)
{
    struct commits_asked asked = {.version = ""};
    int rc = call_body(&asked, call, commits_fields, sizeof commits_fields / sizeof *commits_fields, "release");

    if (rc)
        return rc;
    if (!*asked.version)
        return call_problem(call, 422, "release.wrong", "The version is empty.");
    rc = rows_release_commits_put(call->tx, call->arena, call->view.app, asked.version, asked.commits, asked.count);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "release.commits",
                                                  .subject = asked.version,
                                                  .after = arena_printf(call->arena, "%zu commits", asked.count)});
    return rc ? rc : done(call);
}

int post_release_commits(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_commits};
    return call_run(api, request, reply, &kind);
}
