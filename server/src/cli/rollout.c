/*
 * rollout.c - `mire rollout`: the plugins of an app's installations. Every change is a new version.
 */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/rollout_asking.h"
#include "cli/rollout_rule.h"
#include "cli/say.h"

#include "base/scope.h"
#include "rollout/rollout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (64u << 20)

int rollout_wrong(const char *what)
{
    return cli_wrong("mire rollout", "%s", what);
}

int rollout_no_memory(void)
{
    fputs("mire rollout: no memory\n", stderr);
    return CLI_FAILED;
}

int rollout_fetch(struct rollout_options *asking, const char *version)
{
    MIRE_SCOPED(text_fini) struct text path = {0};
    struct bind_fault where = {.text = "no rules"};
    struct json *json = &asking->api.json;
    struct bind bind = {.json = json, .arena = &asking->arena, .fault = &where};

    text_add(&path, version ? "/rollout?version=" : "/rollout");
    if (version)
        fetch_escape(&path, version);
    if (text_failed(&path))
        return rollout_no_memory();
    if (asking_get(&asking->api, path.bytes) != CLI_DONE)
        return CLI_FAILED;
    uint32_t number = json_member(json, 0, "version"), rules = json_member(json, 0, "rules");
    if (number && rules && json_i64(&asking->version, json, number) &&
        rollout_read(&asking->rules, &bind, rules) == MIRE_BIND_OK)
        return CLI_DONE;
    say(stderr, "mire rollout: %s sent an answer that this mire does not understand: %s %s\n", asking->api.server,
        where.path, where.text);
    return CLI_FAILED;
}

int rollout_change(struct rollout_options *asking, const char *method, const char *path, const struct text *more)
{
    MIRE_SCOPED(text_fini) struct text body = {0};

    if (!asking_has_key(&asking->api))
        return rollout_wrong("a change needs --key or MIRE_KEY, or `mire login`");
    if (!asking->reason || !*asking->reason)
        return rollout_wrong("a change needs a --reason");
    text_printf(&body, "{\"base\":%" PRId64 ",\"author\":", asking->version);
    text_add_json(&body, asking->author, strlen(asking->author));
    text_add(&body, ",\"reason\":");
    text_add_json(&body, asking->reason, strlen(asking->reason));
    text_add(&body, ",");
    text_append(&body, more->bytes, more->len);
    text_add(&body, "}");
    if (text_failed(&body) || text_failed(more))
        return rollout_no_memory();
    if (asking_send(&asking->api, method, path, &body) != CLI_DONE)
        return CLI_FAILED;
    say(stdout, "version %" PRId64 " is in force\n", answer_number(&asking->api.json, 0, "version"));
    return CLI_DONE;
}

static int put_rules(struct rollout_options *asking)
{
    MIRE_SCOPED(text_fini) struct text more = {0};

    text_add(&more, "\"rules\":");
    rollout_write(&more, &asking->rules);
    return rollout_change(asking, "PUT", "/rollout", &more);
}

static int run_show(struct rollout_options *asking)
{
    int status = rollout_fetch(asking, NULL);

    if (status != CLI_DONE)
        return status;
    if (asking->version)
        say(stdout, "version %" PRId64 ", asked for every %" PRIu64 " s%s\n", asking->version, asking->rules.fetch_s,
            asking->rules.kill ? ", KILLED: everything is off" : "");
    else
        say(stdout, "the default; nobody has changed it\n");
    for (size_t i = 0; i < asking->rules.count; i++)
        rollout_print_rule(&asking->rules.rules[i]);
    return CLI_DONE;
}

/* A member's text in `room` bytes. */
static const char *text_of(char *out, size_t room, const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);

    out[0] = '\0';
    if (at && json_kind(json, at) == MIRE_JSON_STRING && json_size(json, at) < room)
        out[json_text(out, json, at)] = '\0';
    return out;
}

static int run_history(struct rollout_options *asking)
{
    char made[64], author[600], *reason;
    int status = rollout_fetch(asking, NULL);
    uint32_t list = status == CLI_DONE ? json_member(&asking->api.json, 0, "history") : 0;

    if (!list || json_kind(&asking->api.json, list) != MIRE_JSON_ARRAY)
        return status;
    reason = arena_alloc(&asking->arena, asking->api.answer.len + 1);
    if (!reason)
        return rollout_no_memory();
    say(stdout, "%-7s  %-20s  %-16s  %s\n", "VERSION", "MADE", "AUTHOR", "REASON");
    for (uint32_t i = 0, at = list + 1; i < json_size(&asking->api.json, list);
         i++, at = json_next(&asking->api.json, at)) {
        int64_t number = 0;
        json_i64(&number, &asking->api.json, json_member(&asking->api.json, at, "version"));
        say(stdout, "%-7" PRId64 "  %-20.20s  %-16s  %s\n", number,
            text_of(made, sizeof made, &asking->api.json, at, "made_at"),
            text_of(author, sizeof author, &asking->api.json, at, "author"),
            text_of(reason, asking->api.answer.len, &asking->api.json, at, "reason"));
    }

    return CLI_DONE;
}

static int run_get(struct rollout_options *asking)
{
    MIRE_SCOPED(text_fini) struct text out = {0};
    int status = rollout_fetch(asking, asking->word_count ? asking->words[0] : NULL);

    if (status != CLI_DONE)
        return status;
    rollout_write(&out, &asking->rules);
    if (text_failed(&out))
        return rollout_no_memory();
    puts(out.bytes);
    return CLI_DONE;
}

static int run_put(struct rollout_options *asking)
{
    MIRE_SCOPED(text_fini) struct text more = {0};
    size_t len;
    MIRE_SCOPED(free_memory) char *rules = cli_read_file(&len, "mire rollout", asking->words[0]);

    if (!rules)
        return CLI_FAILED;
    text_add(&more, "\"rules\":");
    text_append(&more, rules, len);
    int status = rollout_fetch(asking, NULL);
    return status == CLI_DONE ? rollout_change(asking, "PUT", "/rollout", &more) : status;
}

static struct rollout_rule *find_rule(struct rollout_options *asking)
{
    for (size_t i = 0; i < asking->rules.count; i++)
        if (strcmp(asking->rules.rules[i].name, asking->rule) == 0)
            return &asking->rules.rules[i];
    return NULL;
}

/* "hang=2": two percent. */
static bool set_share(struct rollout_rule *rule, const char *word)
{
    const char *equals = strchr(word, '=');
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : -1;

    if (!equals || end == equals + 1 || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
        return false;
    for (int i = 0; i < MIRE_PLUGINS; i++) {
        const char *name = mire__plugin_name(i);
        if (strlen(name) != (size_t)(equals - word) || strncmp(name, word, strlen(name)) != 0)
            continue;
        rule->plugins[i].known = true;
        rule->plugins[i].ppm = (uint32_t)(percent * 1e4 + 0.5);
        return true;
    }

    return false;
}

static int run_set(struct rollout_options *asking)
{
    int status = rollout_fetch(asking, NULL);
    struct rollout_rule *rule = status == CLI_DONE ? find_rule(asking) : NULL;

    if (status != CLI_DONE)
        return status;
    if (!rule)
        return rollout_wrong("there is no rule of that name; `mire rollout show` lists them");
    for (int i = 0; i < asking->word_count; i++)
        if (!set_share(rule, asking->words[i]))
            return rollout_wrong("shares look like hang=2, percent from 0 to 100, of hang, memory, exit and session");
    return put_rules(asking);
}

static int run_switch(struct rollout_options *asking, bool kill)
{
    int status = rollout_fetch(asking, NULL);

    if (status != CLI_DONE)
        return status;
    if (asking->rules.kill == kill)
        return rollout_wrong(kill ? "everything is off already" : "it is not off");
    asking->rules.kill = kill;
    return put_rules(asking);
}

static int run_kill(struct rollout_options *asking)
{
    return run_switch(asking, true);
}

static int run_revive(struct rollout_options *asking)
{
    return run_switch(asking, false);
}

static int run_back(struct rollout_options *asking)
{
    MIRE_SCOPED(text_fini) struct text more = {0};
    char *end;
    long long to = strtoll(asking->words[0], &end, 10);

    if (*end || end == asking->words[0] || to < 1)
        return rollout_wrong("VERSION is a number of `mire rollout history`");
    int status = rollout_fetch(asking, NULL);
    text_printf(&more, "\"to\":%lld", to);
    return status == CLI_DONE ? rollout_change(asking, "POST", "/rollout/back", &more) : status;
}

static const struct {
    struct cli_verb verb;
    int (*run)(struct rollout_options *asking);
} verbs[] = {{{"show", "APP", "the rules in force"}, run_show},
             {{"history", "APP", "every version with its time, author and reason"}, run_history},
             {{"get", "APP [VERSION]", "the rules as JSON"}, run_get},
             {{"put", "APP FILE", "put these rules into force; - reads standard input"}, run_put},
             {{"set", "APP PLUGIN=PERCENT...", "change shares of one rule: hang=2 memory=0.5"}, run_set},
             {{"kill", "APP", "switch everything off on all devices"}, run_kill},
             {{"revive", "APP", "switch it on again"}, run_revive},
             {{"back", "APP VERSION", "restore the rules of an older version"}, run_back},
             {{"ramp", "APP PLUGIN PERCENT,...|pause|resume|back",
               "raise a share step by step: hang 1,5,20,100; or pause, resume or revert that"},
              rollout_ramp}};

int cli_rollout(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs), .about = "Plugins: hang, memory, exit, session. A change reaches a device at its next "
                                   "request, after fetch_s, an hour by default. docs/rollout.md describes the rules."};
    const char *user = getenv("USER");
    struct rollout_options asking = {.api = asking_begin("mire rollout"),
                                     .author = user && *user ? user : "mire",
                                     .rule = "public",
                                     .hold_h = 24,
                                     .crash = 0.1};
    const struct cli_option options[] = {
        {"rule", "NAME", "the rule whose shares `set` and `ramp` change; default public", .text = &asking.rule},
        {"hold", "HOURS", "minimum duration of each step of a ramp; default 24", .take = rollout_take_hold,
         .context = &asking},
        {"guard", "WHAT=N",
         "a condition that stops a ramp; may be repeated: crash=0.1 (percentage points by which runs with the plugin "
         "end badly more often than without), cpu=1 (percent of a processor), reports=100000 (an hour); default "
         "crash=0.1",
         .take = rollout_take_guard, .context = &asking},
        {"on-guard", "WHAT", "pause (default), or back: restore the previous share", "pause back",
         .take = rollout_take_on_guard, .context = &asking},
        {"reason", "TEXT", "the reason, required for every change", .text = &asking.reason},
        {"author", "NAME", "the author; default $USER", .text = &asking.author},
        CLI_SERVER(asking.api.server),
        CLI_KEY(asking.api.key, "key of scope rollout"),
    };
    int status;
    int v = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (v < 0)
        return status;
    asking.api.app = argv[2];
    asking.words = argv + 3;
    asking.word_count = argc - 3;
    arena_init(&asking.arena, ARENA_BYTES);
    status = verbs[v].run(&asking);
    asking_end(&asking.api);
    arena_fini(&asking.arena);
    return status;
}
