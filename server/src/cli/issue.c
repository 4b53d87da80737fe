/* issue.c - `mire issue`: what was done with issues, and what is to be: their states, assignees and comments. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "json/json.h"
#include "json/write.h"

#include "base/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISSUES_MAX 50

struct issue_options {
    const char *server, *app, *in, *until, *lasts, *devices, *rate, *reason;
    bool json;
    char **issues;
    int issue_count;
    const char *verb, *word; /* the verb, and the word behind it or NULL */
};

/* "12h", "7d" in seconds; 0: it is neither. */
static long long seconds_of(const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);

    if (n <= 0 || n > 100000 || !*end || end[1])
        return 0;
    return *end == 'h' ? n * 3600 : *end == 'd' ? n * 86400 : 0;
}

static void put_number(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        json_write_real(w, key, strtod(text, NULL));
}

static void put_triage(struct json_writer *w, const struct issue_options *o)
{
    json_write_open(w, "issues", '[');
    for (int i = 0; i < o->issue_count; i++)
        json_write_text(w, NULL, o->issues[i]);
    json_write_close(w, ']');
    json_write_text(w, "reason", o->reason);
    if (!strcmp(o->verb, "assign")) {
        json_write_text(w, "assignee", strcmp(o->word, "-") ? o->word : "");
        return;
    }
    json_write_text(w, "state",
                    !strcmp(o->verb, "resolve")  ? "resolved"
                    : !strcmp(o->verb, "ignore") ? "ignored"
                                                 : "open");
    if (o->in)
        json_write_text(w, "in", o->in);
    if (o->until)
        json_write_text(w, "until_version", o->until);
    if (o->lasts)
        json_write_i64(w, "for_s", seconds_of(o->lasts));
    if (o->devices)
        json_write_raw(w, "until_devices", o->devices);
    put_number(w, "until_per_1000", o->rate);
}

static void put_body(struct json_writer *w, const struct issue_options *o)
{
    json_write_begin(w);
    json_write_open(w, NULL, '{');
    if (!strcmp(o->verb, "comment"))
        json_write_text(w, "text", o->word);
    else if (!strcmp(o->verb, "undo"))
        json_write_raw(w, "batch", o->word);
    else
        put_triage(w, o);
    json_write_close(w, '}');
}

static void put_url(struct text *url, const struct issue_options *o)
{
    bool of_one = !strcmp(o->verb, "comment") || !strcmp(o->verb, "activity");

    fetch_app_url(url, o->server, o->app);
    if (of_one) {
        text_add(url, "/issues/");
        fetch_escape(url, o->issues[0]);
        text_add(url, strcmp(o->verb, "comment") ? "/activity" : "/comments");
    } else {
        text_add(url, strcmp(o->verb, "undo") ? "/triage" : "/triage/undo");
    }
}

static void print_act(const struct json *json, uint32_t act)
{
    MIRE_SCOPED(free_memory) char *at = answer_text(json, act, "at");
    MIRE_SCOPED(free_memory) char *who = answer_text(json, act, "who");
    MIRE_SCOPED(free_memory) char *kind = answer_text(json, act, "kind");
    MIRE_SCOPED(free_memory) char *body = answer_text(json, act, "body");
    MIRE_SCOPED(free_memory) char *issues = answer_text(json, act, "issues");
    MIRE_SCOPED(free_memory) char *undone = answer_text(json, act, "undone_by");
    uint32_t after = json_member(json, act, "after");
    bool has_state = after && json_kind(json, after) == MIRE_JSON_OBJECT;
    MIRE_SCOPED(free_memory) char *state = has_state ? answer_text(json, after, "state") : NULL;
    MIRE_SCOPED(free_memory) char *version = has_state ? answer_text(json, after, "state_version") : NULL;
    MIRE_SCOPED(free_memory) char *assignee = has_state ? answer_text(json, after, "assignee") : NULL;

    say(stdout, "%.16s  %s  %s", at ? at : "", who ? who : "", kind ? kind : "");
    if (state && *state)
        say(stdout, ": %s%s%s", state, version && *version ? " in " : "", version ? version : "");
    if (assignee && kind && !strcmp(kind, "assigned"))
        say(stdout, ": %s", *assignee ? assignee : "nobody");
    if (issues && *issues)
        say(stdout, ": %s", issues);
    if (body && *body)
        say(stdout, "  %s", body);
    say(stdout, undone && *undone ? "  (undone by %s)\n" : "\n", undone ? undone : "");
}

static int print_answer(const struct text *body, const struct issue_options *o)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct json json;

    json_init(&json);
    bool is_read = json_read(&json, &fault, body->bytes, body->len, &limits) == MIRE_JSON_OK &&
                   json_kind(&json, 0) == MIRE_JSON_OBJECT;
    uint32_t issues = is_read ? json_member(&json, 0, "issues") : 0, acts = is_read ? json_member(&json, 0, "acts") : 0;
    for (uint32_t a = acts + 1; acts && a < json_next(&json, acts); a = json_next(&json, a))
        print_act(&json, a);
    for (uint32_t i = issues + 1; issues && i < json_next(&json, issues); i = json_next(&json, i)) {
        MIRE_SCOPED(free_memory) char *id = answer_text(&json, i, "id");
        MIRE_SCOPED(free_memory) char *state = answer_text(&json, i, "state");
        MIRE_SCOPED(free_memory) char *version = answer_text(&json, i, "state_version");
        MIRE_SCOPED(free_memory) char *assignee = answer_text(&json, i, "assignee");
        say(stdout, "%s  %s%s%s", id ? id : "", state ? state : "",
            version && *version && state ? (*state == 'i' ? " until " : " in ") : "", version ? version : "");
        say(stdout, assignee && *assignee ? ", assigned to %s\n" : "\n", assignee ? assignee : "");
    }
    if (is_read && issues && strcmp(o->verb, "undo") != 0)
        say(stdout, "mire issue undo %lld takes it back\n", (long long)answer_number(&json, 0, "batch"));
    json_fini(&json);
    return is_read ? CLI_DONE : CLI_FAILED;
}

static int ask(const struct issue_options *o)
{
    struct text url MIRE_SCOPED(text_fini) = {0}, answer MIRE_SCOPED(text_fini) = {0};
    struct json_writer w;
    int rc;

    put_url(&url, o);
    if (text_failed(&url))
        return CLI_FAILED;
    if (!strcmp(o->verb, "activity")) {
        rc = fetch_get(&answer, url.bytes, getenv("MIRE_KEY"));
    } else {
        put_body(&w, o);
        struct text body = {.bytes = w.text, .len = w.len, .room = w.room};
        rc = w.failed ? -1 : fetch_send(&answer, "POST", url.bytes, getenv("MIRE_KEY"), &body);
        text_fini(&body);
    }
    if (rc)
        return CLI_FAILED;
    if (o->json) {
        fwrite(answer.bytes, 1, answer.len, stdout);
        putchar('\n');
        return CLI_DONE;
    }
    return print_answer(&answer, o);
}

static bool is_number(const char *text, bool whole)
{
    char *end;
    double value = strtod(text, &end);
    return *text && !*end && value > 0 && value < 1e9 && (!whole || strspn(text, "0123456789") == strlen(text));
}

/* The missing part of the command, in words; NULL: complete. */
static const char *missing_option(const struct issue_options *o)
{
    bool resolves = !strcmp(o->verb, "resolve"), ignores = !strcmp(o->verb, "ignore");

    if (!o->app || !*o->app)
        return "the app is missing: --app APP";
    if (strcmp(o->verb, "undo") == 0)
        return is_number(o->word, true) ? NULL : "undo takes the number of a batch, as the change printed it";
    if (!o->issue_count)
        return "which issue?";
    if (o->issue_count > ISSUES_MAX)
        return "at most 50 issues at once";
    if ((!strcmp(o->verb, "comment") || !strcmp(o->verb, "activity")) && o->issue_count > 1)
        return "one issue, please";
    if (o->in && !resolves)
        return "--in is for resolve";
    if ((o->until || o->lasts || o->devices || o->rate) && !ignores)
        return "--until, --for, --devices and --rate are for ignore";
    if (o->lasts && !seconds_of(o->lasts))
        return "--for takes hours or days, such as 12h or 7d";
    if (o->devices && !is_number(o->devices, true))
        return "--devices takes a number";
    if (o->rate && !is_number(o->rate, false))
        return "--rate takes a number of hits per 1,000 sessions";
    return NULL;
}

/* Find the verb among the words: before it are issues, behind it what it takes. NULL, or what is wrong. */
static const char *split_words(struct issue_options *o, int argc, char **argv)
{
    static const struct {
        const char *name;
        bool takes_word;
    } verbs[] = {{"resolve", false}, {"ignore", false},   {"open", false}, {"assign", true},
                 {"comment", true},  {"activity", false}, {"undo", true}};

    o->issues = argv;
    for (int i = 0; i < argc; i++)
        for (size_t v = 0; v < CLI_COUNT(verbs); v++) {
            if (strcmp(argv[i], verbs[v].name) != 0)
                continue;
            o->verb = argv[i];
            o->issue_count = i;
            o->word = i + 1 < argc ? argv[i + 1] : NULL;
            if (argc - i - 1 != verbs[v].takes_word)
                return verbs[v].takes_word ? "one word follows assign, comment and undo" : "no word follows the verb";
            return NULL;
        }
    return "say what to do: resolve, ignore, open, assign, comment, activity or undo";
}

/* Print the text of one issue for a ticket. */
static int print_issue(const struct issue_options *o, const char *issue)
{
    struct fetch_session session = {.server = o->server, .key = getenv("MIRE_KEY")};
    MIRE_SCOPED(text_fini) struct text path = {0}, answer = {0};

    text_add(&path, "/i/");
    fetch_escape(&path, issue);
    text_add(&path, ".md");
    if (text_failed(&path))
        return CLI_FAILED;
    long status = fetch_ask(&session, &answer, "GET", path.bytes, NULL);
    if (status != 200) {
        fetch_say_problem(path.bytes, status, &answer);
        return CLI_FAILED;
    }
    answer_print_lines(&answer);
    return CLI_DONE;
}

int cli_issue(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "ISSUE                           print the text for a ticket\nISSUE... resolve [--in VERSION] a "
                    "report of a later version opens them as regressed\nISSUE... ignore [CONDITION]...  until a "
                    "condition is met, or forever\nISSUE... open\nISSUE... assign NAME            NAME of an account; "
                    "- for nobody\nISSUE comment TEXT\nISSUE activity [--json]         the changes by people and the "
                    "server\nundo BATCH                      undo the changes of one command",
        .about = "`mire login` determines the author."};
    struct issue_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .reason = ""};
    const struct cli_option options[] = {
        {"in", "VERSION", "of resolve: the version with the fix; default: the newest", .text = &o.in},
        {"until", "VERSION", "ignore until a report of this version or a later one", .text = &o.until},
        {"for", "TIME", "ignore for 12h, 7d", .text = &o.lasts},
        {"devices", "N", "ignore until N more devices have it", .text = &o.devices},
        {"rate", "N", "ignore until N hits per 1,000 sessions", .text = &o.rate},
        {"reason", "TEXT", "why", .text = &o.reason},
        CLI_JSON(o.json),
        CLI_APP(o.app),
        CLI_SERVER(o.server),
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc == 2 && strcmp(argv[1], "undo") != 0 && strpbrk(argv[1], "0123456789"))
        return print_issue(&o, argv[1]);
    const char *wrong = split_words(&o, argc - 1, argv + 1);
    wrong = wrong ? wrong : missing_option(&o);
    return wrong ? cli_wrong(argv[0], "%s", wrong) : ask(&o);
}
