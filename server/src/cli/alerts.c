/* alerts.c - `mire alerts`: what fires, rules and channels of an app. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/scope.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alerts_asking {
    struct asking api;
    const char *secret;
    bool json_wanted;
    char **words; /* after the verb */
};

/* For each element of a list: `print`, or with --json the answer as it is. */
static int print_list(struct alerts_asking *a, const char *name, const char *none,
                      void (*print)(const struct json *json, uint32_t at))
{
    uint32_t list = json_member(&a->api.json, 0, name);

    if (a->json_wanted) {
        asking_print(&a->api);
        return CLI_DONE;
    }
    if (!list || !json_size(&a->api.json, list))
        say(stdout, "%s\n", none);
    for (uint32_t i = 0, at = list + 1; list && i < json_size(&a->api.json, list);
         i++, at = json_next(&a->api.json, at))
        print(&a->api.json, at);
    return CLI_DONE;
}

static void print_alert(const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *state = answer_text(json, at, "state");
    MIRE_SCOPED(free_memory) char *since = answer_text(json, at, "began_at");
    MIRE_SCOPED(free_memory) char *rule = answer_text(json, at, "rule_name");
    MIRE_SCOPED(free_memory) char *verdict = answer_text(json, at, "verdict");
    MIRE_SCOPED(free_memory) char *acked = answer_text(json, at, "acked_by");

    if (!state || !since || !rule || !verdict || !acked)
        return;
    say(stdout, "%5" PRId64 "  %-7s  since %.16s  %s%s%s\n       %s\n", answer_number(json, at, "id"), state, since,
        rule, *acked ? "  acknowledged by " : "", acked, verdict);
}

static int run_list(struct alerts_asking *a)
{
    int status = asking_get(&a->api, "/alerts");
    return status ? status : print_list(a, "open", "No alert is firing.", print_alert);
}

static int run_history(struct alerts_asking *a)
{
    int status = asking_get(&a->api, "/alerts/history");
    return status ? status : print_list(a, "alerts", "No alert has fired.", print_alert);
}

static void print_rule(const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *name = answer_text(json, at, "name");
    MIRE_SCOPED(free_memory) char *kind = answer_text(json, at, "kind");
    MIRE_SCOPED(free_memory) char *measure = answer_text(json, at, "measure");
    MIRE_SCOPED(free_memory) char *against = answer_text(json, at, "against");
    MIRE_SCOPED(free_memory) char *snoozed = answer_text(json, at, "snoozed_until");
    uint32_t bound = json_member(json, at, "bound");

    if (!name || !kind || !measure || !against || !snoozed)
        return;
    say(stdout, "%5" PRId64 "  %-7s  %-9s  %8.6g%s  %s%s%s\n", answer_number(json, at, "id"), kind, measure,
        bound ? json_double(json, bound) : 0, *against ? " x week" : "", name, *snoozed ? "  silent until " : "",
        snoozed);
}

static int run_rules(struct alerts_asking *a)
{
    int status = asking_get(&a->api, "/alerts");
    return status ? status : print_list(a, "rules", "There is no rule.", print_rule);
}

static void print_channel(const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *name = answer_text(json, at, "name");
    MIRE_SCOPED(free_memory) char *kind = answer_text(json, at, "kind");
    MIRE_SCOPED(free_memory) char *target = answer_text(json, at, "target");
    MIRE_SCOPED(free_memory) char *failed = answer_text(json, at, "failed_as");

    if (!name || !kind || !target || !failed)
        return;
    say(stdout, "%5" PRId64 "  %-9s  %-20s  %s%s%s\n", answer_number(json, at, "id"), kind, name, target,
        *failed ? "  a message was given up: " : "", failed);
}

static int run_channels(struct alerts_asking *a)
{
    int status = asking_get(&a->api, "/alerts");
    return status ? status : print_list(a, "channels", "There is no channel, so nobody is notified.", print_channel);
}

/* --- changes --- */

static bool read_file(struct text *out, const char *path)
{
    size_t len;
    MIRE_SCOPED(free_memory) char *bytes = cli_read_file(&len, "mire alerts", path);

    if (bytes && !len)
        say(stderr, "mire alerts: %s is empty\n", path);
    if (!bytes || !len)
        return false;
    text_append(out, bytes, len);
    return !text_failed(out);
}

/* Print the number of what was made, and a secret that is told once. */
static int print_made(struct alerts_asking *a, int status)
{
    MIRE_SCOPED(free_memory) char *secret = status ? NULL : answer_text(&a->api.json, 0, "secret");

    if (status)
        return status;
    if (a->json_wanted)
        asking_print(&a->api);
    else if (answer_number(&a->api.json, 0, "id"))
        say(stdout, "%" PRId64 "\n", answer_number(&a->api.json, 0, "id"));
    if (!a->json_wanted && secret && *secret)
        say(stdout, "%s\n", secret);
    return CLI_DONE;
}

static int send_file(struct alerts_asking *a, const char *method, const char *path, const char *file)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    return read_file(&body, file) ? asking_send(&a->api, method, path, &body) : CLI_FAILED;
}

static int run_add(struct alerts_asking *a)
{
    return print_made(a, send_file(a, "POST", "/alerts/rules", a->words[1]));
}

/* A path with a number of the command line in it; it is checked by the server. */
static int at_number(struct alerts_asking *a, const char *method, const char *before, const char *after,
                     const struct text *body)
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    text_add(&path, before);
    fetch_escape(&path, a->words[1]);
    text_add(&path, after);
    return text_failed(&path) ? CLI_FAILED : print_made(a, asking_send(&a->api, method, path.bytes, body));
}

static int run_change(struct alerts_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    return read_file(&body, a->words[2]) ? at_number(a, "PUT", "/alerts/rules/", "", &body) : CLI_FAILED;
}

static int run_remove(struct alerts_asking *a)
{
    return at_number(a, "DELETE", "/alerts/rules/", "", NULL);
}

static int run_snooze(struct alerts_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    char *end;
    long hours = strtol(a->words[2], &end, 10);

    if (*end || hours < 0)
        return cli_wrong("mire alerts", "HOURS is a whole number, not '%s'", a->words[2]);
    text_printf(&body, "{\"hours\":%ld}", hours);
    return at_number(a, "POST", "/alerts/rules/", "/snooze", &body);
}

static const struct text empty_object = {.bytes = "{}", .len = 2};

static int run_ack(struct alerts_asking *a)
{
    return at_number(a, "POST", "/alerts/open/", "/ack", &empty_object);
}

static int run_unchannel(struct alerts_asking *a)
{
    return at_number(a, "DELETE", "/alerts/channels/", "", NULL);
}

static int run_test(struct alerts_asking *a)
{
    return at_number(a, "POST", "/alerts/channels/", "/test", &empty_object);
}

static int run_channel(struct alerts_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    const char *const names[] = {"kind", "name", "target", "secret"};
    const char *const values[] = {a->words[1], a->words[2], a->words[3], a->secret};

    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        text_printf(&body, "%s\"%s\":", i ? "," : "{", names[i]);
        text_add_json(&body, values[i] ? values[i] : "", strlen(values[i] ? values[i] : ""));
    }
    text_add(&body, "}");
    return text_failed(&body) ? CLI_FAILED : print_made(a, asking_send(&a->api, "POST", "/alerts/channels", &body));
}

static void print_tried(const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *title = answer_text(json, at, "title");
    uint32_t points = json_member(json, at, "points");

    if (!title || !points)
        return;
    for (uint32_t i = 0, p = points + 1; i < json_size(json, points); i++, p = json_next(json, p)) {
        MIRE_SCOPED(free_memory) char *when = answer_text(json, p, "at");
        uint32_t fired = json_member(json, p, "fired"), value = json_member(json, p, "value");
        if (when && fired && json_kind(json, fired) == MIRE_JSON_TRUE && value)
            say(stdout, "%.16s  %8.4g  %s\n", when, json_double(json, value), title);
    }
}

static int run_try(struct alerts_asking *a)
{
    int status = send_file(a, "POST", "/alerts/replay", a->words[1]);

    if (status)
        return status;
    if (!a->json_wanted)
        say(stdout, "It would have fired %" PRId64 " times in %" PRId64 " days.\n",
            answer_number(&a->api.json, 0, "times"), answer_number(&a->api.json, 0, "days"));
    return print_list(a, "subjects", "There is no data to check.", print_tried);
}

static const struct alerts_verb {
    struct cli_verb verb;
    int (*run)(struct alerts_asking *a);
} verbs[] = {
    {{"list", "APP", "the alerts that are firing"}, run_list},
    {{"history", "APP", "the alerts that fired, newest first"}, run_history},
    {{"rules", "APP", "conditions"}, run_rules},
    {{"add", "APP FILE", "add the condition in FILE (-: standard input), JSON as `rules --json` has it"}, run_add},
    {{"change", "APP RULE FILE", "replace the rule RULE"}, run_change},
    {{"try", "APP FILE", "when the condition would have fired in the past 30 days"}, run_try},
    {{"remove", "APP RULE", "remove a rule"}, run_remove},
    {{"snooze", "APP RULE HOURS", "suppress a rule's notifications; 0 hours: resume them"}, run_snooze},
    {{"ack", "APP ALERT", "acknowledge an alert"}, run_ack},
    {{"channels", "APP", "the channels"}, run_channels},
    {{"channel", "APP KIND NAME TARGET",
      "add one; KIND is webhook, email, slack, teams, pagerduty, dingtalk, feishu or wecom"},
     run_channel},
    {{"unchannel", "APP CHANNEL", "remove one"}, run_unchannel},
    {{"test", "APP CHANNEL", "send a test to it"}, run_test},
};

int cli_alerts(int argc, char **argv)
{
    static const struct cli_page page = {CLI_VERBS(verbs),
                                         .about = "docs/alerts.md describes conditions and channels."};
    struct alerts_asking a = {.api = asking_begin("mire alerts")};
    const struct cli_option options[] = {
        {"secret", "TEXT", "of a new channel: the routing key of pagerduty, the secret of dingtalk or feishu",
         .text = &a.secret},
        CLI_SERVER(a.api.server),
        CLI_KEY(a.api.key, "key of scope read or admin"),
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
