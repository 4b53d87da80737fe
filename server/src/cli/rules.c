/*
 * rules.c - `mire rules`: an app's own rules of blame, and the check of a rule file without a server. Every change is a
 * new version.
 */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/scope.h"
#include "base/text.h"
#include "feature/rules.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREVIEW_MOST_S 600 /* maximal wait for a preview */
#define FLOWS_SHOWN    20

struct rules_call {
    struct asking api;
    const char *author, *reason;
    char **words;
};

static int wrong(const char *what)
{
    return cli_wrong("mire rules", "%s", what);
}

/* GET below /rules. Returns an exit status. */
static int ask(struct rules_call *call, const char *rest)
{
    MIRE_SCOPED(text_fini) struct text path = {0};
    text_printf(&path, "/rules%s", rest);
    return text_failed(&path) ? CLI_FAILED : asking_get(&call->api, path.bytes);
}

static int send(struct rules_call *call, const char *method, const char *rest, const struct text *more)
{
    MIRE_SCOPED(text_fini) struct text path = {0}, body = {0};
    if (!asking_has_key(&call->api))
        return wrong("that needs --key or MIRE_KEY, or `mire login`");
    if (strcmp(rest, "/preview") != 0) {
        if (!call->reason || !*call->reason)
            return wrong("a change needs a --reason");
        int status = ask(call, "");
        if (status)
            return status;
        text_printf(&body, "{\"base\":%" PRId64 ",\"author\":", answer_number(&call->api.json, 0, "version"));
        text_add_json(&body, call->author, strlen(call->author));
        text_add(&body, ",\"reason\":");
        text_add_json(&body, call->reason, strlen(call->reason));
        text_add(&body, ",");
    } else {
        text_add(&body, "{");
    }
    text_append(&body, more->bytes, more->len);
    text_add(&body, "}");
    text_printf(&path, "/rules%s", rest);
    return text_failed(&path) ? CLI_FAILED : asking_send(&call->api, method, path.bytes, &body);
}

/* Read a rule file in UTF-8, the encoding of names. False: it cannot be read; the error is printed. */
static bool read_rules(struct text *out, const char *path)
{
    size_t len;

    MIRE_SCOPED(free_memory) char *bytes = cli_read_file(&len, "mire rules", path);
    if (!bytes)
        return false;
    if (memchr(bytes, '\0', len)) /* not a text; the reader of rules reports it */
        text_append(out, bytes, len);
    else
        text_add_valid(out, bytes, len);
    return !text_failed(out);
}

/* "rules": the file as a JSON text. */
static bool put_file(struct text *out, const char *path)
{
    MIRE_SCOPED(text_fini) struct text rules = {0};
    if (!read_rules(&rules, path))
        return false;
    text_add(out, "\"rules\":");
    text_add_json(out, rules.bytes, rules.len);
    return !text_failed(out);
}

static int run_check(struct rules_call *call)
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    struct rules_fault fault = {0};
    struct rules *rules = NULL;
    if (!read_rules(&text, call->api.app))
        return CLI_FAILED;
    /* A pack has its version in its text; the rules of an app have none. */
    struct rules_source source = {"extra", text.bytes ? text.bytes : "", text.len, 0};
    enum rules_outcome outcome = rules_make(&rules, &fault, &source, 1);
    if (outcome == MIRE_RULES_WRONG && strstr(fault.text, "a pack begins with")) {
        source.version = 1;
        outcome = rules_make(&rules, &fault, &source, 1);
    }
    if (outcome == MIRE_RULES_WRONG)
        say(stderr, "%s:%u: %s\n", call->api.app, fault.line, fault.text);
    if (outcome != MIRE_RULES_OK)
        return CLI_FAILED;
    say(stdout, "%s: %zu rules, all valid\n", call->api.app, rules_pack(rules, 0).rule_count);
    rules_free(rules);
    return CLI_DONE;
}

static int run_packs(struct rules_call *call)
{
    struct rules_fault fault;
    struct rules *rules;

    (void)call;
    if (rules_builtin(&rules, &fault) != MIRE_RULES_OK)
        return CLI_FAILED;
    say(stdout, "%-10s %8s %7s\n", "PACK", "VERSION", "RULES");
    for (size_t i = 0; i < rules_pack_count(rules); i++) {
        struct rules_pack pack = rules_pack(rules, i);
        say(stdout, "%-10s %8d %7zu\n", pack.name, pack.version, pack.rule_count);
    }
    rules_free(rules);
    return CLI_DONE;
}

static int run_get(struct rules_call *call)
{
    MIRE_SCOPED(text_fini) struct text rest = {0};
    if (call->words[0]) {
        text_add(&rest, "?version=");
        fetch_escape(&rest, call->words[0]);
    }
    int status = ask(call, rest.len ? rest.bytes : "");
    MIRE_SCOPED(free_memory) char *rules = status ? NULL : answer_text(&call->api.json, 0, "rules");
    if (rules)
        fputs(rules, stdout);
    return status;
}

static int run_history(struct rules_call *call)
{
    int status = ask(call, "");

    uint32_t list = status ? 0 : json_member(&call->api.json, 0, "history");
    if (!list || json_kind(&call->api.json, list) != MIRE_JSON_ARRAY)
        return status;
    say(stdout, "%-7s  %-20s  %-16s  %s\n", "VERSION", "MADE", "AUTHOR", "REASON");
    for (uint32_t i = 0, at = list + 1; i < json_size(&call->api.json, list);
         i++, at = json_next(&call->api.json, at)) {
        MIRE_SCOPED(free_memory) char *made = answer_text(&call->api.json, at, "made_at");
        MIRE_SCOPED(free_memory) char *author = answer_text(&call->api.json, at, "author");
        MIRE_SCOPED(free_memory) char *reason = answer_text(&call->api.json, at, "reason");
        if (made && author && reason)
            say(stdout, "%-7" PRId64 "  %-20.20s  %-16s  %s\n", answer_number(&call->api.json, at, "version"), made,
                author, reason);
    }

    return CLI_DONE;
}

static int run_put(struct rules_call *call)
{
    MIRE_SCOPED(text_fini) struct text more = {0};
    int status = put_file(&more, call->words[0]) ? send(call, "PUT", "", &more) : CLI_FAILED;
    if (status == CLI_DONE)
        say(stdout, "version %" PRId64 " is in force; stored reports are derived again (job %" PRId64 ")\n",
            answer_number(&call->api.json, 0, "version"), answer_number(&call->api.json, 0, "job"));
    return status;
}

static int run_back(struct rules_call *call)
{
    MIRE_SCOPED(text_fini) struct text more = {0};
    char *end;
    long long to = strtoll(call->words[0], &end, 10);
    if (*end || end == call->words[0] || to < 1)
        return wrong("VERSION is a number of `mire rules history`");
    text_printf(&more, "\"to\":%lld", to);
    int status = send(call, "POST", "/back", &more);
    if (status == CLI_DONE)
        say(stdout, "version %" PRId64 " is in force\n", answer_number(&call->api.json, 0, "version"));
    return status;
}

static int run_preview(struct rules_call *call)
{
    MIRE_SCOPED(text_fini) struct text more = {0}, rest = {0};
    int status = put_file(&more, call->words[0]) ? send(call, "POST", "/preview", &more) : CLI_FAILED;
    if (status)
        return status;
    text_printf(&rest, "/jobs/%" PRId64, answer_number(&call->api.json, 0, "job"));
    for (int waited = 0; waited < PREVIEW_MOST_S * 5; waited++) {
        status = text_failed(&rest) ? CLI_FAILED : ask(call, rest.bytes);
        MIRE_SCOPED(free_memory) char *state = status ? NULL : answer_text(&call->api.json, 0, "state");
        if (!state)
            return CLI_FAILED;
        if (!strcmp(state, "done") || !strcmp(state, "cancelled"))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }

    answer_print_preview(&call->api.json, 0, answer_number(&call->api.json, 0, "reports"));
    answer_print_flows(&call->api.json, 0, FLOWS_SHOWN);
    return CLI_DONE;
}

static const struct {
    struct cli_verb verb;
    int (*run)(struct rules_call *call);
} verbs[] = {{{"check", "FILE", "check a pack; a mistake is printed with its line and the remedy"}, run_check},
             {{"packs", "", "the built-in packs and their versions"}, run_packs},
             {{"get", "APP [VERSION]", "the app's own rules"}, run_get},
             {{"history", "APP", "every version with its time, author and reason"}, run_history},
             {{"preview", "APP FILE", "which reports would move; changes nothing"}, run_preview},
             {{"put", "APP FILE", "put these rules into force; - reads standard input"}, run_put},
             {{"back", "APP VERSION", "restore the rules of an older version"}, run_back}};

int cli_rules(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs), .about = "Rules of an app come before the built-in packs and need no version line. After a "
                                   "change stored reports are derived again in the background: docs/rules.md."};
    const char *user = getenv("USER");
    struct rules_call call = {.api = asking_begin("mire rules"), .author = user && *user ? user : "mire"};
    const struct cli_option options[] = {
        {"reason", "TEXT", "the reason, required for every change", .text = &call.reason},
        {"author", "NAME", "the author; default $USER", .text = &call.author},
        CLI_SERVER(call.api.server),
        CLI_KEY(call.api.key, "key of scope rules, for preview, put and back"),
    };
    int status;
    int v = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (v < 0)
        return status;
    call.api.app = argv[2];
    call.words = argc > 2 ? argv + 3 : argv + 2; /* ended by NULL, as argv is */
    status = verbs[v].run(&call);
    asking_end(&call.api);
    return status;
}
