/* tools.c - the tools: their parameters, and the question that each one asks. */
#include "mcp/inside.h"

#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

void mcp_escape(struct text *out, const char *value)
{
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-._~", *p))
            text_append(out, p, 1);
        else
            text_printf(out, "%%%02X", *p);
}

char *mcp_text(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_kind(json, object) == MIRE_JSON_OBJECT ? json_member(json, object, name) : 0;
    size_t size = at && json_kind(json, at) == MIRE_JSON_STRING ? json_size(json, at) : 0;
    char *out = calloc(1, size + 1);

    if (out && size)
        json_text(out, json, at);
    return out;
}

double mcp_number(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_kind(json, object) == MIRE_JSON_OBJECT ? json_member(json, object, name) : 0;
    enum json_kind kind = at ? json_kind(json, at) : MIRE_JSON_NULL;

    return kind == MIRE_JSON_UINT || kind == MIRE_JSON_INT || kind == MIRE_JSON_DOUBLE ? json_double(json, at) : 0;
}

/* --- questions --- */

static bool read_object(struct json *json, const struct text *body)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;

    return json_read(json, &fault, body->bytes ? body->bytes : "", body->len, &limits) == MIRE_JSON_OK &&
           json_kind(json, 0) == MIRE_JSON_OBJECT;
}

/* The server's refusal in its own words. */
static void fail_as_answered(struct mcp_call *call, long status, const struct text *body)
{
    struct json json;

    json_init(&json);
    if (!status) {
        mcp_fail(call, "%s", body->bytes ? body->bytes : "the server does not answer");
    } else if (read_object(&json, body)) {
        MIRE_SCOPED(free_memory) char *title = mcp_text(&json, 0, "title");
        MIRE_SCOPED(free_memory) char *detail = mcp_text(&json, 0, "detail");
        mcp_fail(call, "The server answered %ld: %s. %s", status, title ? title : "", detail ? detail : "");
    } else {
        mcp_fail(call, "The server answered %ld", status);
    }
    json_fini(&json);
}

bool mcp_ask_plain(struct mcp_call *call, struct text *body, const char *path, const struct text *sent)
{
    long status = call->mcp->ask(call->mcp->context, body, sent ? "POST" : "GET", path, sent);

    if (status == 200 && !text_failed(body))
        return true;
    fail_as_answered(call, status, body);
    return false;
}

bool mcp_get(struct mcp_call *call, struct json *json, struct text *body, const char *path)
{
    if (!mcp_ask_plain(call, body, path, NULL))
        return false;
    if (read_object(json, body))
        return true;
    mcp_fail(call, "The server's answer is none that this mire knows");
    return false;
}

/* "/api/v1/apps/APP" of the call's app. False: the call has failed. */
static bool add_app(struct mcp_call *call, struct text *path)
{
    const char *app = mcp_value(call, "app");

    app = app ? app : call->mcp->app;
    if (!app)
        mcp_fail(call, "Which app? list_apps lists them; the argument is app");
    text_add(path, "/api/v1/apps/");
    mcp_escape(path, app ? app : "");
    return app != NULL;
}

/* The arguments named, as query parameters; names are pairs of the argument's and the API's. NULL ends them. */
static void add_query(struct mcp_call *call, struct text *path, const char *const (*names)[2])
{
    char before = strchr(path->bytes ? path->bytes : "", '?') ? '&' : '?';

    for (; (*names)[0]; names++) {
        const char *value = mcp_value(call, (*names)[0]);
        if (!value)
            continue;
        text_printf(path, "%c%s=", before, (*names)[1]);
        mcp_escape(path, value);
        before = '&';
    }
}

static void ask_and_write(struct mcp_call *call, const struct text *path,
                          void (*write)(struct mcp_call *call, const struct json *json))
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    struct json json;

    json_init(&json);
    if (text_failed(path))
        mcp_fail(call, "No memory for the question");
    else if (mcp_get(call, &json, &body, path->bytes))
        write(call, &json);
    json_fini(&json);
}

static void ask_of_app(struct mcp_call *call, const char *rest, const char *const (*names)[2],
                       void (*write)(struct mcp_call *call, const struct json *json))
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    if (!add_app(call, &path))
        return;
    text_add(&path, rest);
    add_query(call, &path, names);
    ask_and_write(call, &path, write);
}

static void run_apps(struct mcp_call *call)
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    text_add(&path, "/api/v1/apps");
    ask_and_write(call, &path, mcp_write_apps);
}

static void run_issues(struct mcp_call *call)
{
    static const char *const names[][2] = {{"range", "t"},   {"kind", "kind"},   {"state", "state"},   {"version", "v"},
                                           {"sort", "sort"}, {"limit", "limit"}, {"cursor", "cursor"}, {NULL, NULL}};
    ask_of_app(call, "/issues", names, mcp_write_issues);
}

static void run_changes(struct mcp_call *call)
{
    static const char *const names[][2] = {
        {"range", "t"}, {"version", "v"}, {"against", "against"}, {"kind", "kind"}, {NULL, NULL}};
    ask_of_app(call, "/changes", names, mcp_write_changes);
}

static void run_rates(struct mcp_call *call)
{
    static const char *const names[][2] = {{"range", "t"}, {"version", "v"}, {"channel", "channel"}, {NULL, NULL}};
    ask_of_app(call, "/rates", names, mcp_write_rates);
}

static void run_alerts(struct mcp_call *call)
{
    static const char *const names[][2] = {{NULL, NULL}};
    ask_of_app(call, "/alerts", names, mcp_write_alerts);
}

static void run_issue(struct mcp_call *call)
{
    static const char *const names[][2] = {{"range", "t"}, {NULL, NULL}};
    MIRE_SCOPED(text_fini) struct text path = {0}, body = {0};

    text_add(&path, "/i/");
    mcp_escape(&path, mcp_value(call, "issue"));
    text_add(&path, ".md");
    add_query(call, &path, names);
    if (text_failed(&path))
        mcp_fail(call, "No memory for the question");
    else if (mcp_ask_plain(call, &body, path.bytes, NULL))
        text_append(&call->out, body.bytes, body.len);
}

/* "/api/v1/apps/APP/issues/ISSUE" */
static bool add_issue(struct mcp_call *call, struct text *path)
{
    if (!add_app(call, path))
        return false;
    text_add(path, "/issues/");
    mcp_escape(path, mcp_value(call, "issue"));
    return true;
}

static void write_whole_tree(struct mcp_call *call, const struct json *json)
{
    const char *least = mcp_value(call, "least_percent");
    mcp_write_tree(call, json, least ? strtod(least, NULL) : 2);
}

static void write_found_frames(struct mcp_call *call, const struct json *json)
{
    mcp_write_frames(call, json, mcp_value(call, "text"));
}

static void ask_flame(struct mcp_call *call, void (*write)(struct mcp_call *call, const struct json *json))
{
    static const char *const names[][2] = {{"range", "t"}, {"version", "v"}, {"of", "of"}, {NULL, NULL}};
    MIRE_SCOPED(text_fini) struct text path = {0};

    if (!add_issue(call, &path))
        return;
    text_add(&path, "/flame");
    add_query(call, &path, names);
    ask_and_write(call, &path, write);
}

static void run_stacks(struct mcp_call *call)
{
    ask_flame(call, write_whole_tree);
}

static void run_search(struct mcp_call *call)
{
    static const char *const names[][2] = {{"text", "q"}, {"range", "t"}, {NULL, NULL}};

    if (mcp_value(call, "issue"))
        ask_flame(call, write_found_frames);
    else
        ask_of_app(call, "/issues", names, mcp_write_issues);
}

/* Send a body that is good. */
static void change(struct mcp_call *call, const struct text *path, const struct text *sent, const char *done)
{
    MIRE_SCOPED(text_fini) struct text body = {0};

    if (text_failed(path) || text_failed(sent))
        mcp_fail(call, "No memory for the question");
    else if (mcp_ask_plain(call, &body, path->bytes, sent))
        text_add(&call->out, done);
}

static void add_member(struct text *out, const char *before, const char *value)
{
    if (!value)
        return;
    text_add(out, before);
    text_add_json(out, value, strlen(value));
}

static void run_state(struct mcp_call *call)
{
    MIRE_SCOPED(text_fini) struct text path = {0}, sent = {0};
    const char *assignee = mcp_value(call, "assignee"), *state = mcp_value(call, "state");

    if (!assignee == !state) {
        mcp_fail(call, "Give either state or assignee");
        return;
    }
    if (!add_app(call, &path))
        return;
    text_add(&path, "/triage");
    add_member(&sent, "{\"issues\":[", mcp_value(call, "issue"));
    text_add(&sent, "]");
    add_member(&sent, ",\"reason\":", mcp_value(call, "reason"));
    add_member(&sent, ",\"state\":", state);
    add_member(&sent, ",\"in\":", mcp_value(call, "fixed_in"));
    add_member(&sent, ",\"assignee\":", assignee);
    text_add(&sent, "}");
    change(call, &path, &sent, "Done.");
}

static void run_comment(struct mcp_call *call)
{
    MIRE_SCOPED(text_fini) struct text path = {0}, sent = {0};

    if (!add_issue(call, &path))
        return;
    text_add(&path, "/comments");
    add_member(&sent, "{\"text\":", mcp_value(call, "text"));
    text_add(&sent, "}");
    change(call, &path, &sent, "The comment is there.");
}

/* --- the table --- */

static const char *const states[] = {"open", "resolved", "ignored", NULL};
static const char *const units[] = {"ms", "bytes", "objects", NULL};
static const char *const sorts[] = {"-change", "-impact", "-events", "-devices", "-longest", "-last", "-bytes", NULL};

#define APP                                                                                                         \
    {                                                                                                               \
        .name = "app",                                                                                              \
        .description =                                                                                              \
            "The app's name in URLs, as list_apps has it; may be left out where the server was started for one app" \
    }
#define RANGE                                                                                                        \
    {                                                                                                                \
        .name = "range",                                                                                             \
        .description =                                                                                               \
            "Time: 30m, 24h, 14d back from now, or FROM..TO in UTC, 2026-11-01T00Z..2026-11-08T00Z; 14d if left out" \
    }
#define ISSUE                                                                                         \
    {                                                                                                 \
        .name = "issue", .description = "The issue's id: I-1042, or M-77 of memory", .required = true \
    }
#define KINDS                                                                                                         \
    {                                                                                                                 \
        .name = "kind", .description = "Kinds, with commas between: hang, launch, background, killed, threads, cpu, " \
                                       "power, disk, frames, foom, memory, crash, custom; ! in front excludes one"    \
    }
#define VERSIONS                                                                                              \
    {                                                                                                         \
        .name = "version", .description = "Versions of the app, with commas between; ! in front excludes one" \
    }

/* clang-format off */
const struct mcp_tool mcp_tools[] = {
    {"list_apps", "List apps", "The apps that this account may see, with their reports of the last 24 hours.", {{0}}, false, run_apps},
    {"list_issues", "List issues",
     "The issues of an app in a time range: the function to blame, its place in the app, kind, reason, state, and how many "
     "events and devices. Sorted by the time that users lost if nothing is said.",
     {APP, RANGE, KINDS, VERSIONS,
      {.name = "state", .description = "States, with commas between: open, regressed, resolved, ignored; ! in front excludes one"},
      {.name = "sort", .description = "Largest first by this", .words = sorts},
      {.name = "limit", .description = "Groups of issues at most", .least = 1, .most = 200},
      {.name = "cursor", .description = "The next page, as the page before names it"}},
     false, run_issues},
    {"show_issue", "Show an issue",
     "One issue as a text for a ticket: Caller1, Caller2, reason, numbers, versions, and the hottest stack of its newest report with "
     "files and lines.",
     {ISSUE, RANGE}, false, run_issue},
    {"show_stacks", "Show the call tree of an issue",
     "The merged call tree of all reports of an issue, outermost first, with the share of each branch: of time, or of held memory.",
     {APP, ISSUE, RANGE, VERSIONS, {.name = "of", .description = "The unit: bytes or objects of memory issues, ms of all others", .words = units},
      {.name = "least_percent", .description = "Branches with less are left out; 2 if left out", .least = 1, .most = 100}},
     false, run_stacks},
    {"compare_versions", "Compare versions",
     "The issues that became more or less frequent per session, are new or gone, between two versions; without arguments the newest "
     "version against the one before it. Only changes beyond chance are listed.",
     {APP, {.name = "version", .description = "One version; the newest if left out"},
      {.name = "against", .description = "The version to compare with, or the word week for the week before; the version before if left out"},
      RANGE, KINDS},
     false, run_changes},
    {"show_rates", "Show rates", "Rates of an app and of each version with 95 % intervals: sessions with a hang, hang time per hour, out-of-memory "
     "kills, kills while hung, crashes.",
     {APP, RANGE, VERSIONS, {.name = "channel", .description = "Only installations of this channel"}}, false, run_rates},
    {"search", "Search functions, files and modules",
     "Issues whose function to blame, place, module, file, reason or id has each word of the text. With an issue: the frames of its call "
     "tree whose function or module has the text, each with its share and its callers.",
     {APP, {.name = "text", .description = "Words, in any case", .required = true},
      {.name = "issue", .description = "Search the call tree of this issue"}, RANGE},
     false, run_search},
    {"list_alerts", "List alerts", "The alerts of an app that fire now, with the value and its bound.", {APP}, false, run_alerts},
    {"set_issue", "Set the state or assignee of an issue", "Resolve, ignore, open or assign an issue. It is written to the issue's activity and can be undone.",
     {APP, ISSUE, {.name = "state", .description = "The state", .words = states},
      {.name = "fixed_in", .description = "With resolved: the version with the fix; the newest if left out"},
      {.name = "assignee", .description = "The name of an account; empty for nobody"}, {.name = "reason", .description = "Why"}},
     true, run_state},
    {"comment_issue", "Comment on an issue", "Add a comment in Markdown to an issue.",
     {APP, ISSUE, {.name = "text", .description = "Markdown", .required = true}}, true, run_comment},
};
/* clang-format on */
const size_t mcp_tool_count = sizeof mcp_tools / sizeof *mcp_tools;
