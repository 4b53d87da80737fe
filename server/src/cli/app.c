/* app.c - `mire app`: the pages Settings and Symbols on the command line, over the API: settings, members, keys, audit log. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/listing.h"
#include "cli/say.h"

#include "base/scope.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP_DAYS "7" /* a rotated key goes on being good */

struct app_asking {
    struct asking api;
    const char *name, *label, *days;
    bool json_wanted;
    char **words; /* after the verb */
};

static void add_member(struct text *body, const char *before, const char *value)
{
    text_add(body, before);
    text_add_json(body, value, strlen(value));
}

/* Ask for a list and print it. */
static int list_of(struct app_asking *a, const char *path, const char *name, const struct listing_column *columns,
                   size_t count, const char *none)
{
    int status = asking_get(&a->api, path);

    if (status)
        return status;
    if (!a->json_wanted)
        return listing_print(&a->api.json, json_member(&a->api.json, 0, name), columns, count, none);
    asking_print(&a->api);
    return CLI_DONE;
}

/* Send a change. Its answer is printed with --json alone. */
static int change(struct app_asking *a, const char *method, const char *path, const struct text *body)
{
    int status = asking_send(&a->api, method, path, body);

    if (!status && a->json_wanted)
        asking_print(&a->api);
    return status;
}

static int run_create(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text url = {0}, body = {0}, answer = {0};

    fetch_api_url(&url, a->api.server);
    text_add(&url, "/apps");
    add_member(&body, "{\"slug\":", a->words[0]);
    if (a->name)
        add_member(&body, ",\"name\":", a->name);
    text_add(&body, "}");
    if (text_failed(&url) || text_failed(&body) || fetch_send(&answer, "POST", url.bytes, a->api.key, &body))
        return CLI_FAILED;
    if (a->json_wanted)
        say(stdout, "%s\n", answer.bytes ? answer.bytes : "");
    else
        say(stdout, "%s is there. Its first key: mire app key %s ingest\n", a->words[0], a->words[0]);
    return CLI_DONE;
}

/* --- settings --- */

static const struct app_setting {
    const char *name;
    enum { TEXT, NUMBER, LIST } kind;
} settings[] = {
    {"name", TEXT},
    {"retention_days", NUMBER},
    {"quota_reports_day", NUMBER},
    {"quota_bytes_day", NUMBER},
    {"enough_per_issue_day", NUMBER},
    {"merge_above", NUMBER},
    {"goal_lag_percent", NUMBER},
    {"goal_hang_s_per_hour", NUMBER},
    {"goal_foom_percent", NUMBER},
    {"goal_watchdog_percent", NUMBER},
    {"goal_crash_percent", NUMBER},
    {"idle", TEXT},
    {"kept_tags", LIST},
    {"left_out", LIST},
    {"owners", TEXT},
    {"source_link", TEXT},
    {"source_root", TEXT},
    {"ticket_link", TEXT},
};

static int print_settings(struct app_asking *a, int status)
{
    const struct json *json = &a->api.json;
    MIRE_SCOPED(text_fini) struct text out = {0};

    if (status || a->json_wanted) {
        if (!status)
            asking_print(&a->api);
        return status;
    }
    for (size_t i = 0; i < CLI_COUNT(settings); i++) {
        uint32_t at = json_member(json, 0, settings[i].name);
        MIRE_SCOPED(text_fini) struct text value = {0};
        if (!at)
            continue;
        listing_value(&value, json, at);
        bool is_long = value.bytes && strchr(value.bytes, '\n');
        text_printf(&out, "%-21s%s%s", settings[i].name, is_long ? "\n" : " ", value.len ? value.bytes : "-");
        if (!value.len || value.bytes[value.len - 1] != '\n')
            text_add(&out, "\n");
    }
    if (text_failed(&out))
        return CLI_FAILED;
    answer_print_lines(&out);
    return CLI_DONE;
}

static int run_settings(struct app_asking *a)
{
    return print_settings(a, asking_get(&a->api, "/settings"));
}

/* The elements of "a,b" or "a b" as JSON. */
static void add_list(struct text *body, const char *value)
{
    const char *before = "";

    text_add(body, "[");
    while (*(value += strspn(value, ", "))) {
        size_t len = strcspn(value, ", ");
        text_add(body, before);
        text_add_json(body, value, len);
        value += len;
        before = ",";
    }
    text_add(body, "]");
}

/* Append the value of a setting as JSON; @FILE is the content of a file. False: the error is printed. */
static bool add_setting(struct text *body, const struct app_setting *setting, const char *value)
{
    size_t len = 0;
    MIRE_SCOPED(free_memory) char *content = *value == '@' ? cli_read_file(&len, "mire app", value + 1) : NULL;
    if (*value == '@' && !content)
        return false;
    text_printf(body, ",\"%s\":", setting->name);
    if (setting->kind == TEXT) {
        text_add_json(body, content ? content : value, content ? len : strlen(value));
        return true;
    }
    if (content) {
        cli_wrong("mire app", "only a text has its value in a file: %s is none", setting->name);
        return false;
    }
    if (setting->kind == LIST) {
        add_list(body, value);
        return true;
    }
    bool is_none = !*value || !strcmp(value, "null"), is_number = !value[strspn(value, "0123456789.")];
    if (!is_none && !is_number)
        cli_wrong("mire app", "%s is a number, or null for that of the server; not '%s'", setting->name, value);
    text_add(body, is_none ? "null" : value);
    return is_none || is_number;
}

static const struct app_setting *find_setting(const char *word, size_t len)
{
    const char *names[CLI_COUNT(settings)];
    char name[64];

    for (size_t i = 0; i < CLI_COUNT(settings); i++) {
        names[i] = settings[i].name;
        if (strlen(settings[i].name) == len && !strncmp(settings[i].name, word, len))
            return &settings[i];
    }
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    const char *near = cli_nearest(name, names, CLI_COUNT(names));
    cli_wrong("mire app", "there is no setting '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
              near ? "'?" : "");
    return NULL;
}

/* The two settings that every change has, as they are, unless the words change them. */
static void add_others(struct text *body, struct app_asking *a, const char *name, uint32_t days)
{
    bool names = false, sets_days = false;

    for (char **word = a->words + 1; *word; word++) {
        names = names || !strncmp(*word, "name=", 5);
        sets_days = sets_days || !strncmp(*word, "retention_days=", 15);
    }
    if (!names)
        add_member(body, ",\"name\":", name);
    if (sets_days)
        return;
    text_add(body, ",\"retention_days\":");
    if (json_kind(&a->api.json, days) == MIRE_JSON_NULL)
        text_add(body, "null");
    else
        listing_value(body, &a->api.json, days);
}

static int run_set(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    int status = asking_get(&a->api, "/settings");
    uint32_t days = status ? 0 : json_member(&a->api.json, 0, "retention_days");
    MIRE_SCOPED(free_memory) char *name = days ? answer_text(&a->api.json, 0, "name") : NULL;

    if (!name)
        return CLI_FAILED;
    for (char **word = a->words + 1; *word; word++) {
        size_t len = strcspn(*word, "=");
        if (!(*word)[len])
            return cli_wrong("mire app", "'%s' is not NAME=VALUE", *word);
        const struct app_setting *setting = find_setting(*word, len);
        if (!setting || !add_setting(&body, setting, *word + len + 1))
            return CLI_USAGE;
    }
    add_others(&body, a, name, days);
    text_add(&body, "}");
    if (text_failed(&body))
        return CLI_FAILED;
    body.bytes[0] = '{'; /* the comma of the first */
    return print_settings(a, asking_send(&a->api, "PUT", "/settings", &body));
}

/* --- people and keys --- */

static int run_members(struct app_asking *a)
{
    static const struct listing_column columns[] = {
        {"NAME", "name", 40}, {"ROLE", "role", 0}, {"IN EVERY APP", "in_every_app", 0}};
    return list_of(a, "/members", "members", columns, CLI_COUNT(columns), "There is no member.");
}

static int run_member(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text path = {0}, body = {0};

    text_add(&path, "/members/");
    fetch_escape(&path, a->words[1]);
    add_member(&body, "{\"role\":", strcmp(a->words[2], "none") == 0 ? "" : a->words[2]);
    text_add(&body, "}");
    return text_failed(&path) ? CLI_FAILED : change(a, "PUT", path.bytes, &body);
}

static int run_keys(struct app_asking *a)
{
    static const struct listing_column columns[] = {{"KEY", "id", 0},
                                                    {"BEGINS WITH", "prefix", 0},
                                                    {"SCOPE", "scope", 0},
                                                    {"MADE", "made_at", 0},
                                                    {"LAST USED", "used_at", 0},
                                                    {"EXPIRES", "expires_at", 0},
                                                    {"REVOKED", "revoked_at", 0},
                                                    {"LABEL", "label", 40}};
    return list_of(a, "/keys", "keys", columns, CLI_COUNT(columns), "There is no key.");
}

static int print_secret(struct app_asking *a, int status)
{
    MIRE_SCOPED(free_memory) char *secret = status ? NULL : answer_text(&a->api.json, 0, "secret");

    if (!status && a->json_wanted)
        asking_print(&a->api);
    else if (!status)
        say(stdout, "%s\n", secret ? secret : "");
    return status;
}

static bool is_days(const char *days)
{
    return *days && !days[strspn(days, "0123456789")];
}

static int run_key(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};

    add_member(&body, "{\"scope\":", a->words[1]);
    if (a->label)
        add_member(&body, ",\"label\":", a->label);
    text_printf(&body, ",\"days\":%s}", a->days ? a->days : "0");
    return print_secret(a, asking_send(&a->api, "POST", "/keys", &body));
}

static int run_rotate(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text path = {0}, body = {0};

    text_add(&path, "/keys/");
    fetch_escape(&path, a->words[1]);
    text_add(&path, "/rotate");
    text_printf(&body, "{\"days\":%s}", a->days ? a->days : OVERLAP_DAYS);
    return text_failed(&path) ? CLI_FAILED : print_secret(a, asking_send(&a->api, "POST", path.bytes, &body));
}

static int run_revoke(struct app_asking *a)
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    text_add(&path, "/keys/");
    fetch_escape(&path, a->words[1]);
    return text_failed(&path) ? CLI_FAILED : change(a, "DELETE", path.bytes, NULL);
}

/* --- lists --- */

static int run_audit(struct app_asking *a)
{
    static const struct listing_column columns[] = {
        {"WHEN", "at", 16},       {"WHO", "who", 24},     {"ACTION", "action", 0}, {"OF", "subject", 24},
        {"BEFORE", "before", 32}, {"AFTER", "after", 32}, {"WHY", "reason", 60}};
    return list_of(a, "/audit", "rows", columns, CLI_COUNT(columns), "Nothing was changed yet.");
}

static int run_missing(struct app_asking *a)
{
    static const struct listing_column columns[] = {{"REPORTS", "reports", 0},    {"MODULE", "name", 40},
                                                    {"BUILD ID", "build_id", 40}, {"ARCH", "arch", 0},
                                                    {"VERSION", "version", 20},   {"SOUGHT", "answer", 60}};
    return list_of(a, "/symbols", "missing", columns, CLI_COUNT(columns), "No debug file is missing.");
}

static const struct app_verb {
    struct cli_verb verb;
    int (*run)(struct app_asking *a);
} verbs[] = {
    {{"create", "APP", "make an app; APP is its name in addresses"}, run_create},
    {{"settings", "APP", "the settings"}, run_settings},
    {{"set", "APP NAME=VALUE...", "change settings: retention_days=30 owners=@CODEOWNERS merge_above=null"}, run_set},
    {{"members", "APP", "the members and their roles"}, run_members},
    {{"member", "APP NAME ROLE", "give an account a role: viewer, triager, admin; none takes it"}, run_member},
    {{"keys", "APP", "the keys"}, run_keys},
    {{"key", "APP SCOPE", "make a key, which is printed once: ingest, symbols, rollout, rules, read or admin"},
     run_key},
    {{"rotate", "APP KEY-NUMBER", "make a key in place of another one, which expires after --days"}, run_rotate},
    {{"revoke", "APP KEY-NUMBER", "revoke a key"}, run_revoke},
    {{"audit", "APP", "the newest changes by people, keys and the server"}, run_audit},
    {{"missing", "APP", "the debug files that reports lack"}, run_missing},
};

int cli_app(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs),
        .about = "The command talks to the server with a personal token (`mire login --scope admin`) or a key. A value "
                 "@FILE is the content of the file. `mire key` and `mire user` do the same on the server's machine, "
                 "before there is an account."};
    struct app_asking a = {.api = asking_begin("mire app")};
    const struct cli_option options[] = {
        {"name", "NAME", "of create: the name as people read it; default APP", .text = &a.name},
        {"label", "TEXT", "of key: a name for the list", .text = &a.label},
        {"days", "N",
         "of key: it expires after N days, default never; of rotate: the old one does, default " OVERLAP_DAYS,
         .text = &a.days},
        CLI_SERVER(a.api.server),
        CLI_KEY(a.api.key, "key of scope read or admin"),
        CLI_JSON(a.json_wanted),
    };
    int status;
    int verb = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (verb < 0)
        return status;
    if (a.days && !is_days(a.days))
        return cli_wrong("mire app", "--days is a whole number, not '%s'", a.days);
    a.words = argv + 2;
    a.api.app = a.words[0];
    status = verbs[verb].run(&a);
    asking_end(&a.api);
    return status;
}
