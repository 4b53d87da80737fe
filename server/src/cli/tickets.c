/* tickets.c - `mire tickets`: the tracker of an app, and the ticket of an issue. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/scope.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TITLE_MAX 200   /* characters */
#define BODY_MAX  30000 /* bytes */

struct tickets_asking {
    struct asking api;
    const char *token_file, *secret_file;
    bool stays_open, stays_closed, json_wanted;
    char **words; /* after the verb */
};

static bool is_true(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);

    return at && json_kind(json, at) == MIRE_JSON_TRUE;
}

static int print_tracker(struct tickets_asking *a, int status)
{
    const struct json *json = &a->api.json;
    uint32_t at = status ? 0 : json_member(json, 0, "tracker");

    if (!status && a->json_wanted)
        asking_print(&a->api);
    if (status || a->json_wanted)
        return status;
    if (!at || json_kind(json, at) != MIRE_JSON_OBJECT) {
        say(stdout, "There is no tracker: mire tickets set APP KIND ADDRESS PROJECT --token-file FILE\n");
        return CLI_DONE;
    }
    MIRE_SCOPED(free_memory) char *kind = answer_text(json, at, "kind");
    MIRE_SCOPED(free_memory) char *address = answer_text(json, at, "address");
    MIRE_SCOPED(free_memory) char *project = answer_text(json, at, "project");
    MIRE_SCOPED(free_memory) char *secret = answer_text(json, 0, "secret");
    bool resolves = is_true(json, at, "closed_resolves"), opens = is_true(json, at, "reopened_opens");
    if (!kind || !address || !project || !secret)
        return CLI_FAILED;
    say(stdout, "%s  %s  %s\nclosing a ticket %s\nreopening one %s\n", kind, project, address,
        resolves ? "resolves its issue" : "changes nothing", opens ? "opens its issue" : "changes nothing");
    if (*secret)
        say(stdout, "secret of the webhook, shown once: %s\n", secret);
    return CLI_DONE;
}

static int run_show(struct tickets_asking *a)
{
    return print_tracker(a, asking_get(&a->api, "/tracker"));
}

/* Append a member with the first line of a file, if one is named. False: it cannot be read, or is empty. */
static bool add_secret(struct text *body, const char *name, const char *path)
{
    size_t len;
    MIRE_SCOPED(free_memory) char *bytes = path ? cli_read_file(&len, "mire tickets", path) : NULL;

    if (!path)
        return true;
    if (!bytes)
        return false;
    const char *end = memchr(bytes, '\n', len);
    len = end ? (size_t)(end - bytes) : len;
    len -= len && bytes[len - 1] == '\r';
    if (!len)
        say(stderr, "mire tickets: the first line of %s is empty\n", path);
    text_printf(body, ",\"%s\":", name);
    text_add_json(body, bytes, len);
    explicit_bzero(bytes, len);
    return len != 0;
}

static int run_set(struct tickets_asking *a)
{
    static const char *const names[] = {"{\"kind\":", ",\"address\":", ",\"project\":"};
    MIRE_SCOPED(text_fini) struct text body = {0};

    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        text_add(&body, names[i]);
        text_add_json(&body, a->words[1 + i], strlen(a->words[1 + i]));
    }
    if (!add_secret(&body, "token", a->token_file) || !add_secret(&body, "secret", a->secret_file))
        return CLI_FAILED;
    text_printf(&body, ",\"closed_resolves\":%s,\"reopened_opens\":%s}", a->stays_open ? "false" : "true",
                a->stays_closed ? "false" : "true");
    return print_tracker(a, asking_send(&a->api, "PUT", "/tracker", &body));
}

static int run_remove(struct tickets_asking *a)
{
    return asking_send(&a->api, "DELETE", "/tracker", NULL);
}

/* --- the ticket of an issue --- */

static int print_ticket(struct tickets_asking *a, uint32_t at)
{
    const struct json *json = &a->api.json;
    MIRE_SCOPED(free_memory) char *state = answer_text(json, at, "state");
    MIRE_SCOPED(free_memory) char *name = answer_text(json, at, "name");
    MIRE_SCOPED(free_memory) char *url = answer_text(json, at, "url");
    MIRE_SCOPED(free_memory) char *fault = answer_text(json, at, "fault");

    if (!state || !name || !url || !fault)
        return CLI_FAILED;
    if (a->json_wanted)
        asking_print(&a->api);
    else
        say(stdout, "%s%s%s%s%s%s%s\n", state, *name ? "  " : "", name, *url ? "  " : "", url, *fault ? ": " : "",
            fault);
    return !strcmp(state, "failed") ? CLI_FAILED : CLI_DONE;
}

/* Append the path of the issue, with what follows it. */
static void add_issue_path(struct text *path, const struct tickets_asking *a, const char *end)
{
    text_add(path, "/issues/");
    fetch_escape(path, a->words[1]);
    text_add(path, end);
}

static int run_of(struct tickets_asking *a)
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    add_issue_path(&path, a, "");
    int status = text_failed(&path) ? CLI_FAILED : asking_get(&a->api, path.bytes);
    uint32_t ticket = status ? 0 : json_member(&a->api.json, 0, "ticket");
    if (status || (ticket && json_kind(&a->api.json, ticket) == MIRE_JSON_OBJECT))
        return status ? status : print_ticket(a, ticket);
    say(stdout, "The issue has no ticket: mire tickets make APP ISSUE\n");
    return CLI_DONE;
}

/* Title and text of the ticket from the issue's Markdown, whose first line is the title: the same as on the page. */
static void add_text(struct text *body, const struct text *markdown)
{
    const char *text = markdown->bytes + strspn(markdown->bytes, "# ");
    size_t len = strcspn(text, "\n");
    MIRE_SCOPED(text_fini) struct text title = {0};
    const char *rest = text + len + strspn(text + len, "\n ");

    for (size_t i = 0; i < len; i++)
        if (text[i] != '`')
            text_append(&title, text + i, 1);
    text_add(body, "{\"title\":");
    text_add_json(body, title.bytes ? title.bytes : "", text_cut(title.bytes, title.len, TITLE_MAX));
    text_add(body, ",\"body\":");
    text_add_json(body, rest, text_cut(rest, strlen(rest), BODY_MAX));
    text_add(body, "}");
}

static int run_make(struct tickets_asking *a)
{
    MIRE_SCOPED(text_fini) struct text page = {0}, path = {0}, markdown = {0}, body = {0};
    struct fetch_session session = {.server = a->api.server, .key = a->api.key};

    text_add(&page, "/i/");
    fetch_escape(&page, a->words[1]);
    text_add(&page, ".md");
    add_issue_path(&path, a, "/ticket");
    if (text_failed(&page) || text_failed(&path))
        return CLI_FAILED;
    long code = fetch_ask(&session, &markdown, "GET", page.bytes, NULL);
    if (code != 200 || !markdown.bytes) {
        fetch_say_problem(page.bytes, code, &markdown);
        return CLI_FAILED;
    }
    add_text(&body, &markdown);
    int status = asking_send(&a->api, "POST", path.bytes, &body);
    return status ? status : print_ticket(a, 0);
}

static const struct tickets_verb {
    struct cli_verb verb;
    int (*run)(struct tickets_asking *a);
} verbs[] = {
    {{"show", "APP", "the tracker in which tickets of the app are made"}, run_show},
    {{"set", "APP KIND ADDRESS PROJECT", "name it: KIND is github, gitlab, jira or linear, ADDRESS that of its API"},
     run_set},
    {{"remove", "APP", "make no more tickets; those that wait are given up"}, run_remove},
    {{"of", "APP ISSUE", "state and address of the ticket of an issue"}, run_of},
    {{"make", "APP ISSUE", "make it, unless there is one"}, run_make},
};

int cli_tickets(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs),
        .about =
            "docs/triage.md has the addresses, projects and tokens of each kind. A token is never an argument, which "
            "other users of the machine can see."};
    struct tickets_asking a = {.api = asking_begin("mire tickets")};
    const struct cli_option options[] = {
        {"token-file", "FILE", "of set: its first line is the token; without it the stored one stays", "FILE",
         .text = &a.token_file},
        {"secret-file", "FILE", "of set: its first line is the secret of the webhook, if the tracker made it", "FILE",
         .text = &a.secret_file},
        {"closing-changes-nothing", .help = "of set: closing a ticket does not resolve its issue",
         .flag = &a.stays_open},
        {"reopening-changes-nothing", .help = "of set: reopening a ticket does not open its issue",
         .flag = &a.stays_closed},
        CLI_SERVER(a.api.server),
        CLI_KEY(a.api.key, "key of scope admin"),
        CLI_JSON(a.json_wanted),
    };
    int status;
    int verb = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (verb < 0)
        return status;
    a.words = argv + 2;
    a.api.app = a.words[0];
    status = verbs[verb].run(&a);
    asking_end(&a.api);
    return status;
}
