/*
 * tracker.c - a row a kind of tracker. References: GitHub REST 2022-11-28 "Issues", GitLab REST v4 "Issues", Jira REST v2
 * "Issues" and "Issue search", Linear GraphQL issueCreate.
 */
#include "ticket/tracker.h"
#include "ticket/json_at.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"
#include "json/write.h"

#include <stdlib.h>
#include <string.h>

#define PAGE     100
#define EARLY_US (600ll * 1000000) /* the tracker's clock may be so late */
#define JSON     "Content-Type: application/json"

struct tracker_kind {
    const char *name;
    /* Write the body of a request that makes a ticket, and tell its path. NULL: no memory. */
    const char *(*make)(struct json_writer *w, struct arena *arena, const struct tracker_row *,
                        const struct ticket_row *);
    const char *(*look)(struct json_writer *w, struct arena *arena, const struct tracker_row *,
                        const struct ticket_row *, int page);
    const char *list;        /* member of an answer to `look` with the tickets; NULL: the answer is the list */
    const char *made[2];     /* path of the ticket in an answer to `make` */
    const char *name_member; /* its name as people call it */
    const char *url_member;  /* NULL: the address is made of the name */
    const char *before_name;
    const char *text; /* member with the text that has the mark; NULL: all that is listed is it */
};

struct id_text {
    char text[MIRE_UUID_TEXT];
};

static struct id_text id_of(const struct ticket_row *ticket)
{
    struct id_text id;

    uuid_format(id.text, &ticket->id);
    return id;
}

/* A member whose text is NULL where there was no memory: that sticks. */
static void put(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        json_write_text(w, key, text);
    else
        w->failed = true;
}

/* As a part of a path or of a query. */
static const char *escaped(struct arena *arena, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char *out = arena_alloc(arena, strlen(text) * 3 + 1), *end = out;

    for (; out && *text; text++) {
        if (strchr(plain, *text)) {
            *end++ = *text;
            continue;
        }
        *end++ = '%';
        hex_format(end, (const uint8_t *)text, 1);
        end += 2;
    }
    if (out)
        *end = '\0';
    return out;
}

/* The text, and the mark in a comment, which is not shown. */
static void put_marked(struct json_writer *w, const char *key, struct arena *arena, const struct ticket_row *ticket)
{
    put(w, key, arena_printf(arena, "%s\n\n<!-- mire ticket %s -->\n", ticket->body, id_of(ticket).text));
}

static const char *github_make(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket)
{
    json_write_text(w, "title", ticket->title);
    put_marked(w, "body", arena, ticket);
    return arena_printf(arena, "/repos/%s/issues", tracker->project);
}

static const char *github_look(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket, int page)
{
    char since[32];

    (void)w;
    clock_format(since, ticket->made_us - EARLY_US);
    return arena_printf(arena,
                        "/repos/%s/issues?state=all&sort=created&direction=desc&since=%.19sZ&per_page=%d&page=%d",
                        tracker->project, since, PAGE, page);
}

static const char *gitlab_make(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket)
{
    const char *project = escaped(arena, tracker->project);

    json_write_text(w, "title", ticket->title);
    put_marked(w, "description", arena, ticket);
    return project ? arena_printf(arena, "/api/v4/projects/%s/issues", project) : NULL;
}

static const char *gitlab_look(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket, int page)
{
    const char *project = escaped(arena, tracker->project);

    (void)w;
    return project ? arena_printf(arena, "/api/v4/projects/%s/issues?search=%s&in=description&per_page=%d&page=%d",
                                  project, id_of(ticket).text, PAGE, page)
                   : NULL;
}

/* Jira's own markup has another fence around code. */
static const char *jira_text(struct arena *arena, const char *markdown)
{
    MIRE_SCOPED(text_fini) struct text out = {0};

    for (const char *at = markdown; *at;) {
        const char *fence = strstr(at, "```");
        text_append(&out, at, fence ? (size_t)(fence - at) : strlen(at));
        if (fence)
            text_add(&out, "{noformat}");
        at = fence ? fence + 3 : at + strlen(at);
    }
    return text_failed(&out) ? NULL : arena_copy(arena, out.bytes ? out.bytes : "", out.len);
}

static const char *jira_make(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                             const struct ticket_row *ticket)
{
    json_write_open(w, "fields", '{');
    json_write_open(w, "project", '{');
    json_write_text(w, "key", tracker->project);
    json_write_close(w, '}');
    json_write_open(w, "issuetype", '{');
    json_write_text(w, "name", "Bug");
    json_write_close(w, '}');
    json_write_text(w, "summary", ticket->title);
    put(w, "description", jira_text(arena, ticket->body));
    json_write_open(w, "labels", '[');
    put(w, NULL, arena_printf(arena, "mire-%s", id_of(ticket).text));
    json_write_close(w, ']');
    json_write_close(w, '}');
    return "/rest/api/2/issue";
}

/* Jira in the cloud has its search at another path than Jira on a server of one's own. */
static const char *jira_look(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                             const struct ticket_row *ticket, int page)
{
    bool cloud = strstr(tracker->address, ".atlassian.net") != NULL;

    (void)w, (void)page;
    return arena_printf(arena, "/rest/api/2/search%s?jql=labels%%20%%3D%%20%%22mire-%s%%22&fields=labels",
                        cloud ? "/jql" : "", id_of(ticket).text);
}

static void put_query(struct json_writer *w, const char *text)
{
    json_write_text(w, "query", text);
    json_write_open(w, "variables", '{');
}

static const char *linear_make(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket)
{
    (void)arena;
    put_query(w, "mutation($input:IssueCreateInput!){issueCreate(input:$input){success issue{id identifier url}}}");
    json_write_open(w, "input", '{');
    json_write_text(w, "id", id_of(ticket).text);
    json_write_text(w, "teamId", tracker->project);
    json_write_text(w, "title", ticket->title);
    json_write_text(w, "description", ticket->body);
    json_write_close(w, '}');
    json_write_close(w, '}');
    return "";
}

static const char *linear_look(struct json_writer *w, struct arena *arena, const struct tracker_row *tracker,
                               const struct ticket_row *ticket, int page)
{
    (void)arena, (void)tracker, (void)page;
    put_query(w, "query($ids:[ID!]){issues(filter:{id:{in:$ids}}){nodes{id identifier url}}}");
    json_write_open(w, "ids", '[');
    json_write_text(w, NULL, id_of(ticket).text);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return "";
}

/* clang-format off */
static const struct tracker_kind kinds[] = {
    {"github", github_make, github_look, NULL, {NULL}, "number", "html_url", "#", "body"},
    {"gitlab", gitlab_make, gitlab_look, NULL, {NULL}, "iid", "web_url", "#", "description"},
    {"jira", jira_make, jira_look, "issues", {NULL}, "key", NULL, "", NULL},
    {"linear", linear_make, linear_look, "nodes", {"issueCreate", "issue"}, "identifier", "url", "", NULL},
};
/* clang-format on */

static const struct tracker_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

bool tracker_is_known(const char *kind)
{
    return kind_of(kind) != NULL;
}

/* --- requests --- */

/* The header with the token. Jira in the cloud takes "e-mail:token" (RFC 7617); Linear its own keys as they are. */
static const char *authorization(struct arena *arena, const struct tracker_row *tracker)
{
    const char *token = tracker->token;
    size_t len = strlen(token);

    if (!strcmp(tracker->kind, "gitlab"))
        return arena_printf(arena, "PRIVATE-TOKEN: %s", token);
    if (!strcmp(tracker->kind, "linear") && !strncmp(token, "lin_api_", 8))
        return arena_printf(arena, "Authorization: %s", token);
    if (strcmp(tracker->kind, "jira") != 0 || !strchr(token, ':'))
        return arena_printf(arena, "Authorization: Bearer %s", token);
    char *base64 = arena_alloc(arena, MIRE_BASE64_TEXT(len));
    if (!base64)
        return NULL;
    base64_format(base64, (const uint8_t *)token, len, MIRE_BASE64);
    return arena_printf(arena, "Authorization: Basic %s", base64);
}

/* Fill the request from a path and the body in `w`; posts: there is a body. */
static int fill(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker, const char *path,
                const struct json_writer *body, bool posts)
{
    const char **header = out->headers;

    if (!path || body->failed)
        return MIRE_FAULT_MEMORY;
    *out = (struct tracker_request){.ask = {.url = arena_printf(arena, "%s%s", tracker->address, path),
                                            .body = posts ? arena_copy(arena, body->text, body->len) : NULL,
                                            .most = MIRE_TRACKER_MOST}};
    *header++ = authorization(arena, tracker);
    *header++ = "Accept: application/json";
    if (posts)
        *header++ = JSON;
    if (!strcmp(tracker->kind, "github"))
        *header++ = "X-GitHub-Api-Version: 2022-11-28";
    out->ask.headers = out->headers;
    return out->headers[0] && out->ask.url && (!posts || out->ask.body) ? 0 : MIRE_FAULT_MEMORY;
}

static int ask(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker,
               const struct ticket_row *ticket, int page)
{
    struct json_writer w;
    const struct tracker_kind *kind = kind_of(tracker->kind);
    bool posts = !page || !strcmp(tracker->kind, "linear");

    json_write_begin(&w);
    json_write_open(&w, NULL, '{');
    const char *path = page ? kind->look(&w, arena, tracker, ticket, page) : kind->make(&w, arena, tracker, ticket);
    json_write_close(&w, '}');
    int rc = fill(out, arena, tracker, path, &w, posts);
    free(w.text);
    return rc;
}

int tracker_make(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker,
                 const struct ticket_row *ticket)
{
    return ask(out, arena, tracker, ticket, 0);
}

int tracker_look(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker,
                 const struct ticket_row *ticket, int page)
{
    return ask(out, arena, tracker, ticket, page);
}

/* --- answers --- */

static int take(struct ticket_row *ticket, struct arena *arena, const struct tracker_row *tracker,
                const struct json *json, uint32_t at)
{
    const struct tracker_kind *kind = kind_of(tracker->kind);
    const char *remote = json_at_text(arena, json, json_at(json, at, "id", NULL));
    const char *name = json_at_text(arena, json, json_at(json, at, kind->name_member, NULL));
    const char *url = !kind->url_member ? arena_printf(arena, "%s/browse/%s", tracker->address, name ? name : "")
                                        : json_at_text(arena, json, json_at(json, at, kind->url_member, NULL));

    ticket->remote = remote;
    ticket->url = url;
    ticket->name = name ? arena_printf(arena, "%s%s", kind->before_name, name) : NULL;
    if (!remote || !url || !ticket->name)
        return MIRE_FAULT_MEMORY;
    bool is_address = !strncmp(url, "https://", 8) || !strncmp(url, "http://", 7);
    return *remote && *name && is_address ? TRACKER_THERE : TRACKER_UNREADABLE;
}

/* 0 with the document, TRACKER_UNREADABLE, or a fault. */
static int read_answer(struct json *json, const struct text *answer)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    enum json_outcome got = json_read(json, &fault, answer->bytes ? answer->bytes : "", answer->len, &limits);

    return got == MIRE_JSON_NO_MEMORY ? MIRE_FAULT_MEMORY : got ? TRACKER_UNREADABLE : 0;
}

int tracker_made(struct ticket_row *ticket, struct arena *arena, const struct tracker_row *tracker,
                 const struct text *answer)
{
    const struct tracker_kind *kind = kind_of(tracker->kind);
    struct json json;

    json_init(&json);
    int rc = read_answer(&json, answer);
    uint32_t at = rc || !kind->made[0] ? 0 : json_at(&json, 0, "data", kind->made[0], kind->made[1], NULL);
    if (!rc)
        rc = take(ticket, arena, tracker, &json, at);
    json_fini(&json);
    return rc;
}

/* Has it the mark? */
static int is_ours(bool *out, struct arena *arena, const struct tracker_kind *kind, const struct json *json,
                   uint32_t at, const struct ticket_row *ticket)
{
    struct id_text id = id_of(ticket);
    const char *text = kind->text ? json_at_text(arena, json, json_at(json, at, kind->text, NULL)) : id.text;

    *out = text && strstr(text, id.text);
    return text ? 0 : MIRE_FAULT_MEMORY;
}

int tracker_seen(struct ticket_row *ticket, struct arena *arena, const struct tracker_row *tracker,
                 const struct text *answer)
{
    const struct tracker_kind *kind = kind_of(tracker->kind);
    bool is_linear = !strcmp(kind->name, "linear"), ours = false;
    struct json json;

    json_init(&json);
    int rc = read_answer(&json, answer);
    uint32_t list = rc || !kind->list ? 0
                    : is_linear       ? json_at(&json, 0, "data", "issues", kind->list, NULL)
                                      : json_at(&json, 0, kind->list, NULL);
    if (!rc && json_kind(&json, list) != MIRE_JSON_ARRAY)
        rc = TRACKER_UNREADABLE;
    for (uint32_t at = list + 1; !rc && at < json_next(&json, list); at = json_next(&json, at)) {
        rc = is_ours(&ours, arena, kind, &json, at, ticket);
        if (!rc && ours)
            rc = take(ticket, arena, tracker, &json, at);
    }
    if (!rc && kind->text && json_size(&json, list) >= PAGE)
        rc = TRACKER_MORE;
    json_fini(&json);
    return rc;
}
