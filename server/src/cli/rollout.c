/*
 * rollout.c - `mire rollout`: the plugins of an app's installations. Every change is a new version.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
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

static void put_url(struct text *url, const struct rollout_options *asking, const char *rest)
{
    text_printf(url, "%s/api/v1/apps/", asking->server);
    fetch_escape(url, asking->app);
    text_add(url, rest);
}

int rollout_fetch(struct rollout_options *asking, const char *version)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;

    MIRE_SCOPED(text_fini) struct text url = {0};
    struct json_fault fault;
    struct bind_fault where = {.text = "no rules"};
    struct bind bind = {.json = &asking->json, .arena = &asking->arena, .fault = &where};

    put_url(&url, asking, version ? "/rollout?version=" : "/rollout");
    if (version)
        fetch_escape(&url, version);
    if (text_failed(&url))
        return rollout_no_memory();
    if (fetch_get(&asking->answer, url.bytes, asking->key) != 0)
        return CLI_FAILED;
    bool good = json_read(&asking->json, &fault, asking->answer.bytes, asking->answer.len, &limits) == MIRE_JSON_OK &&
                json_kind(&asking->json, 0) == MIRE_JSON_OBJECT;
    uint32_t number = good ? json_member(&asking->json, 0, "version") : 0;
    uint32_t rules = good ? json_member(&asking->json, 0, "rules") : 0;
    if (number && rules && json_i64(&asking->version, &asking->json, number) &&
        rollout_read(&asking->rules, &bind, rules) == MIRE_BIND_OK)
        return CLI_DONE;
    say(stderr, "mire rollout: %s answers what this mire does not know: %s %s\n", asking->server, where.path,
        where.text);
    return CLI_FAILED;
}

int rollout_change(struct rollout_options *asking, const char *method, const char *rest, const struct text *more)
{
    MIRE_SCOPED(text_fini) struct text url = {0}, body = {0}, answer = {0};

    if (!asking->key && !fetch_token(asking->server))
        return rollout_wrong("a change needs --key or MIRE_KEY, or `mire login`");
    if (!asking->reason || !*asking->reason)
        return rollout_wrong("a change needs a --reason");
    put_url(&url, asking, rest);
    text_printf(&body, "{\"base\":%" PRId64 ",\"author\":", asking->version);
    text_add_json(&body, asking->author, strlen(asking->author));
    text_add(&body, ",\"reason\":");
    text_add_json(&body, asking->reason, strlen(asking->reason));
    text_add(&body, ",");
    text_append(&body, more->bytes, more->len);
    text_add(&body, "}");
    if (text_failed(&url) || text_failed(&body) || text_failed(more))
        return rollout_no_memory();
    if (fetch_send(&answer, method, url.bytes, asking->key, &body) != 0)
        return CLI_FAILED;
    struct json json;
    struct json_fault fault;
    int64_t version = asking->version + 1;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    json_init(&json);
    if (json_read(&json, &fault, answer.bytes, answer.len, &limits) == MIRE_JSON_OK &&
        json_kind(&json, 0) == MIRE_JSON_OBJECT)
        json_i64(&version, &json, json_member(&json, 0, "version"));
    json_fini(&json);
    say(stdout, "version %" PRId64 " holds\n", version);
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
    uint32_t list = status == CLI_DONE ? json_member(&asking->json, 0, "history") : 0;

    if (!list || json_kind(&asking->json, list) != MIRE_JSON_ARRAY)
        return status;
    reason = arena_alloc(&asking->arena, asking->answer.len + 1);
    if (!reason)
        return rollout_no_memory();
    say(stdout, "%-7s  %-20s  %-16s  %s\n", "VERSION", "MADE", "AUTHOR", "REASON");
    for (uint32_t i = 0, at = list + 1; i < json_size(&asking->json, list); i++, at = json_next(&asking->json, at)) {
        int64_t number = 0;
        json_i64(&number, &asking->json, json_member(&asking->json, at, "version"));
        say(stdout, "%-7" PRId64 "  %-20.20s  %-16s  %s\n", number,
            text_of(made, sizeof made, &asking->json, at, "made_at"),
            text_of(author, sizeof author, &asking->json, at, "author"),
            text_of(reason, asking->answer.len, &asking->json, at, "reason"));
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
    const char *path = asking->words[0];
    FILE *file MIRE_SCOPED(close_file) = strcmp(path, "-") == 0 ? fdopen(dup(0), "r") : fopen(path, "r");
    char piece[4096];

    if (!file) {
        say(stderr, "mire rollout: cannot read %s\n", path);
        return CLI_FAILED;
    }
    text_add(&more, "\"rules\":");
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0 && more.len <= MIRE_ROLLOUT_TEXT_MAX;)
        text_append(&more, piece, got);
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
} verbs[] = {{{"show", "APP", "the rules that hold, rule by rule"}, run_show},
             {{"history", "APP", "every version: when, who, why"}, run_history},
             {{"get", "APP [VERSION]", "the rules as JSON"}, run_get},
             {{"put", "APP FILE", "make these rules hold; - reads standard input"}, run_put},
             {{"set", "APP PLUGIN=PERCENT...", "change shares of one rule: hang=2 memory=0.5"}, run_set},
             {{"kill", "APP", "everything off, everywhere"}, run_kill},
             {{"revive", "APP", "and on again"}, run_revive},
             {{"back", "APP VERSION", "make the rules of an older version hold again"}, run_back},
             {{"ramp", "APP PLUGIN PERCENT,...|pause|resume|back",
               "raise a share step by step, hang 1,5,20,100; or pause it, resume it, take it back"},
              rollout_ramp}};

int cli_rollout(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs), .about = "Plugins: hang, memory, exit, session. A change reaches a device when it asks next: "
                                   "fetch_s, an hour by default. docs/rollout.md describes the rules."};
    const char *user = getenv("USER");
    struct rollout_options asking = {.server = fetch_server(),
                                     .key = getenv("MIRE_KEY"),
                                     .author = user && *user ? user : "mire",
                                     .rule = "public",
                                     .hold_h = 24,
                                     .crash = 0.1};
    const struct cli_option options[] = {
        {"rule", "NAME", "whose shares `set` and `ramp` change; default public", .text = &asking.rule},
        {"hold", "HOURS", "how long each step of a ramp holds at least; default 24", .take = rollout_take_hold,
         .context = &asking},
        {"guard", "WHAT=N",
         "what stops a ramp, once for each: crash=0.1 (percentage points by which runs with the plugin end badly more "
         "often than without), cpu=1 (percent of a processor), reports=100000 (an hour); default crash=0.1",
         .take = rollout_take_guard, .context = &asking},
        {"on-guard", "WHAT", "pause (default), or back: to the share from before", "pause back",
         .take = rollout_take_on_guard, .context = &asking},
        {"reason", "TEXT", "why; every change needs one", .text = &asking.reason},
        {"author", "NAME", "who; default $USER", .text = &asking.author},
        CLI_SERVER(asking.server),
        CLI_KEY(asking.key, "key of scope rollout"),
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    int v = cli_pick_verb(argc, argv, &verbs->verb, sizeof *verbs, CLI_COUNT(verbs));
    if (v < 0)
        return CLI_USAGE;
    asking.app = argv[2];
    asking.words = argv + 3;
    asking.word_count = argc - 3;
    arena_init(&asking.arena, ARENA_BYTES);
    json_init(&asking.json);
    status = verbs[v].run(&asking);
    json_fini(&asking.json);
    text_fini(&asking.answer);
    arena_fini(&asking.arena);
    return status;
}
