/* rates.c - `mire apps` and `mire rates`: the apps, and how often their sessions hang and die. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_WIDTH 40

struct rates_options {
    const char *server, *app, *t, *version, *channel, *by;
    bool json;
};

static int width_of(const struct json *json, uint32_t list, const char *name, int width)
{
    for (uint32_t i = 0, at = list + 1; list && i < json_size(json, list); i++, at = json_next(json, at)) {
        MIRE_SCOPED(free_memory) char *text = answer_text(json, at, name);
        int own = text ? (int)table_width(text) : 0;
        width = own > width ? own : width;
    }
    return width < NAME_MAX_WIDTH ? width : NAME_MAX_WIDTH;
}

static void print_apps(const struct json *json)
{
    uint32_t list = json_member(json, 0, "apps");
    int slug_width = width_of(json, list, "slug", 3), name_width = width_of(json, list, "name", 4);

    if (!list || !json_size(json, list)) {
        say(stdout, "There is no app yet: `mire key create APP` makes one.\n");
        return;
    }
    say(stdout, "%-*s  %-*s  %11s  %s\n", slug_width, "APP", name_width, "NAME", "REPORTS 24H", "LAST REPORT");
    for (uint32_t i = 0, at = list + 1; i < json_size(json, list); i++, at = json_next(json, at)) {
        MIRE_SCOPED(free_memory) char *slug = answer_text(json, at, "slug");
        MIRE_SCOPED(free_memory) char *name = answer_text(json, at, "name");
        MIRE_SCOPED(free_memory) char *last = answer_text(json, at, "last_seen_at");
        MIRE_SCOPED(text_fini) struct text cells = {0};
        table_cell(&cells, slug ? slug : "", slug_width);
        text_add(&cells, "  ");
        table_cell(&cells, name ? name : "", name_width);
        say(stdout, "%s  %11" PRId64 "  %.16s\n", cells.bytes ? cells.bytes : "",
            answer_number(json, at, "reports_24h"), last && *last ? last : "-");
    }
}

/* A rate with its interval, in a column: "2.12 (1.9-2.4)"; "-" if nothing is known. */
static void add_rate(struct text *out, const struct json *json, uint32_t row, const char *name)
{
    uint32_t rate = json_member(json, row, name);
    char cell[64] = "-";

    if (rate && json_kind(json, rate) == MIRE_JSON_OBJECT)
        snprintf(cell, sizeof cell, "%.3g (%.3g-%.3g)", json_double(json, json_member(json, rate, "value")),
                 json_double(json, json_member(json, rate, "low")), json_double(json, json_member(json, rate, "high")));
    text_printf(out, "  %20s", cell);
}

static void print_row(const struct json *json, uint32_t row, const char *version, int width)
{
    static const char *const rates[] = {"lag_percent", "hang_s_per_hour", "foom_percent", "watchdog_percent",
                                        "crash_percent"};
    uint32_t sessions = json_member(json, row, "sessions");
    MIRE_SCOPED(text_fini) struct text line = {0};

    table_cell(&line, version, width);
    text_printf(&line, "  %9.0f", sessions ? json_double(json, sessions) : 0);
    for (size_t i = 0; i < CLI_COUNT(rates); i++)
        add_rate(&line, json, row, rates[i]);
    say(stdout, "%s\n", line.bytes ? line.bytes : "");
}

/* A row of shares of user days. */
static void print_users(const struct json *json, uint32_t row, const char *name, int width)
{
    static const char *const rates[] = {"lag_percent", "foom_percent", "watchdog_percent", "crash_percent"};
    uint32_t users = json_member(json, row, "users");
    MIRE_SCOPED(text_fini) struct text line = {0};

    if (!users || json_kind(json, users) != MIRE_JSON_OBJECT)
        return;
    table_cell(&line, name, width);
    text_printf(&line, "  %9.0f", json_double(json, json_member(json, users, "days")));
    for (size_t i = 0; i < CLI_COUNT(rates); i++)
        add_rate(&line, json, users, rates[i]);
    say(stdout, "%s\n", line.bytes ? line.bytes : "");
}

static void print_all_users(const struct json *json, uint32_t total, uint32_t list, const char *name, int width)
{
    uint32_t users = total ? json_member(json, total, "users") : 0;

    if (!users || json_kind(json, users) != MIRE_JSON_OBJECT)
        return;
    say(stdout, "\n%-*s  %9s  %20s  %20s  %20s  %20s\n", width, "", "USER DAYS", "WITH A HANG %", "OUT OF MEMORY %",
        "KILLED HUNG %", "CRASHED %");
    print_users(json, total, "all", width);
    for (uint32_t i = 0, at = list + 1; list && i < json_size(json, list); i++, at = json_next(json, at)) {
        MIRE_SCOPED(free_memory) char *text = answer_text(json, at, name);
        print_users(json, at, text ? text : "", width);
    }
}

static void print_rates(const struct json *json)
{
    uint32_t total = json_member(json, 0, "total"), values = json_member(json, 0, "values");
    uint32_t list = values ? values : json_member(json, 0, "versions");
    const char *name = values ? "value" : "version";
    int width = width_of(json, list, name, 7);

    say(stdout, "%-*s  %9s  %20s  %20s  %20s  %20s  %20s\n", width, values ? "VALUE" : "VERSION", "SESSIONS",
        "WITH A HANG %", "HANG S PER HOUR", "OUT OF MEMORY %", "KILLED HUNG %", "CRASHED %");
    if (total)
        print_row(json, total, "all", width);
    for (uint32_t i = 0, at = list + 1; list && i < json_size(json, list); i++, at = json_next(json, at)) {
        MIRE_SCOPED(free_memory) char *version = answer_text(json, at, name);
        print_row(json, at, version ? version : "", width);
    }
    print_all_users(json, total, list, name, width);
    say(stdout, "In parentheses: the 95 %% interval.\n");
}

/* Ask for `path`, and print the answer as it is or by `print`. */
static int ask(const struct rates_options *o, const char *command, const struct text *path,
               void (*print)(const struct json *json))
{
    struct fetch_session session = {.server = o->server, .key = getenv("MIRE_KEY")};
    MIRE_SCOPED(text_fini) struct text answer = {0};
    struct json json;

    if (text_failed(path))
        return CLI_FAILED;
    long status = fetch_ask(&session, &answer, "GET", path->bytes, NULL);
    if (status != 200) {
        fetch_say_problem(path->bytes, status, &answer);
        return CLI_FAILED;
    }
    json_init(&json);
    bool good = answer_read(&json, &answer, command, o->server);
    if (good && o->json) {
        fwrite(answer.bytes, 1, answer.len, stdout);
        putchar('\n');
    } else if (good) {
        print(&json);
    }
    json_fini(&json);
    return good ? CLI_DONE : CLI_FAILED;
}

int cli_apps(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]...", .about = "List the apps that you may see, with their reports of the last 24 hours."};
    struct rates_options o = {.server = fetch_server()};
    const struct cli_option options[] = {CLI_JSON(o.json), CLI_SERVER(o.server)};
    MIRE_SCOPED(text_fini) struct text path = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong(argv[0], "it takes options alone, not '%s'", argv[1]);
    text_add(&path, "/api/v1/apps");
    return ask(&o, argv[0], &path, print_apps);
}

static void add_query(struct text *path, const char *before, const char *value)
{
    if (!value)
        return;
    text_add(path, before);
    fetch_escape(path, value);
}

int cli_rates(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]...",
        .about =
            "List how often sessions of an app hang and end badly, of all versions and of each, with 95 % intervals: "
            "sessions with a hang, seconds in "
            "hangs per hour, and of the ended runs those that were out of memory, were killed while hung, crashed. "
            "Below, the same of user days: days on which an installation had a session."};
    struct rates_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d"};
    const struct cli_option options[] = {
        CLI_APP(o.app),
        CLI_RANGE(o.t),
        {"v", "VERSIONS", "only these, separated by commas; ! in front excludes one", .text = &o.version},
        {"channel", "CHANNELS", "only installations of these, in the same way", "public gray internal",
         .text = &o.channel},
        {"by", "FACET", "by each value of a facet, not by version; not together with --v or --channel",
         "version os os_version arch model process class channel country", .text = &o.by},
        CLI_JSON(o.json),
        CLI_SERVER(o.server)};
    MIRE_SCOPED(text_fini) struct text path = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong(argv[0], "it takes options alone, not '%s'", argv[1]);
    if (!o.app || !*o.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    add_query(&path, "/api/v1/apps/", o.app);
    add_query(&path, "/rates?t=", o.t);
    add_query(&path, "&v=", o.version);
    add_query(&path, "&channel=", o.channel);
    add_query(&path, "&by=", o.by);
    return ask(&o, argv[0], &path, print_rates);
}
