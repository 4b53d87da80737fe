/* issues.c - `mire issues`: the issues of an app, for a terminal or a script. */
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

#define NAME_WIDTH_MAX   44
#define NAME_WIDTH_LEAST 12
#define NUMBERS_WIDTH    33 /* the last three columns with the gaps before them */
#define ABOVE_WIDTH      11 /* bytes above healthy processes, in a list with memory issues */

struct issues_options {
    const char *server, *app, *t, *limit, *version, *kind, *state, *words, *sort;
    const char *os, *os_version, *model, *class, *channel;
    bool json;
};

struct issue_line {
    char *id, *caller1, *caller2, *why;
    uint64_t events, devices;
    double longest_s;
    double most_bytes, above_bytes; /* of a memory issue; otherwise 0 */
};

/* The member's text, owned by caller; "" if it is no text. */
static char *member_text(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);
    bool is_text = at && json_kind(json, at) == MIRE_JSON_STRING;
    char *text = calloc(1, (is_text ? json_size(json, at) : 0) + 1);

    if (text && is_text)
        json_text(text, json, at);
    return text;
}

static double member_number(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);
    double value = at ? json_double(json, at) : 0;
    return value > 0 ? value : 0;
}

static bool line_fill(struct issue_line *line, const struct json *json, uint32_t feature)
{
    uint32_t totals = json_member(json, feature, "totals");
    char *category MIRE_SCOPED(free_memory) = member_text(json, feature, "category");
    char *reason MIRE_SCOPED(free_memory) = member_text(json, feature, "reason");
    char *subject MIRE_SCOPED(free_memory) = member_text(json, feature, "subject");
    size_t room = category && reason && subject ? strlen(category) + strlen(reason) + strlen(subject) + 4 : 1;

    *line = (struct issue_line){.id = member_text(json, feature, "id"),
                                .caller1 = member_text(json, feature, "caller1"),
                                .caller2 = member_text(json, feature, "caller2"),
                                .why = malloc(room)};
    if (!line->id || !line->caller1 || !line->caller2 || !line->why || !category || !reason || !subject)
        return false;
    snprintf(line->why, room, "%s/%s%s%s", category, reason, *subject ? ": " : "", subject);
    line->most_bytes = *subject ? member_number(json, feature, "most_bytes") + 1 : 0;
    line->above_bytes = member_number(json, feature, "above_bytes");
    if (totals && json_kind(json, totals) == MIRE_JSON_OBJECT) {
        line->events = (uint64_t)(member_number(json, totals, "events") + 0.5);
        line->devices = (uint64_t)member_number(json, totals, "devices");
        line->longest_s = member_number(json, totals, "longest_ms") / 1000;
    }

    return true;
}

static void line_fini(struct issue_line *line)
{
    free(line->id);
    free(line->caller1);
    free(line->caller2);
    free(line->why);
}

static int wider(int width, const char *text)
{
    size_t own = table_width(text);
    own = own > NAME_WIDTH_MAX ? NAME_WIDTH_MAX : own;
    return (int)own > width ? (int)own : width;
}

static void print_lines(const struct issue_line *lines, size_t count)
{
    int id = 5, caller1 = 7, caller2 = 7, why = 9;
    bool has_memory = false;
    struct text out MIRE_SCOPED(text_fini) = {0};

    for (size_t i = 0; i < count; i++) {
        id = wider(id, lines[i].id);
        caller1 = wider(caller1, lines[i].caller1);
        caller2 = wider(caller2, lines[i].caller2);
        why = wider(why, lines[i].why);
        has_memory = has_memory || lines[i].most_bytes > 0;
    }

    int columns = table_terminal();
    if (columns)
        table_fit((int *[]){&caller1, &caller2}, 2, NAME_WIDTH_LEAST,
                  columns - id - why - 3 * 2 - NUMBERS_WIDTH - (has_memory ? ABOVE_WIDTH : 0));
    text_printf(&out, "%-*s  %-*s  %-*s  %-*s  %9s  %7s  %9s%s\n", id, "ISSUE", caller1, "CALLER1", caller2, "CALLER2",
                why, "WHY", "EVENTS", "DEVICES", "WORST", has_memory ? "      ABOVE" : "");
    for (size_t i = 0; i < count; i++) {
        table_cell(&out, lines[i].id, id);
        text_add(&out, "  ");
        table_cell(&out, lines[i].caller1, caller1);
        text_add(&out, "  ");
        table_cell(&out, lines[i].caller2, caller2);
        text_add(&out, "  ");
        table_cell(&out, lines[i].why, why);
        text_printf(&out, "  %9" PRIu64 "  %7" PRIu64 "  ", lines[i].events, lines[i].devices);
        if (lines[i].most_bytes > 0)
            text_printf(&out, "%5.0f MiB  %5.0f MiB\n", lines[i].most_bytes / (1u << 20),
                        lines[i].above_bytes / (1u << 20));
        else
            text_printf(&out, "%7.1f s\n", lines[i].longest_s);
    }

    fwrite(out.bytes, 1, out.len, stdout);
}

/* Append the issues of one group to lines; -1 without memory. */
static int collect(struct issue_line **lines, size_t *count, const struct json *json, uint32_t group)
{
    uint32_t issues = json_member(json, group, "issues");

    if (!issues || json_kind(json, issues) != MIRE_JSON_ARRAY)
        return 0;
    struct issue_line *more = realloc(*lines, (*count + json_size(json, issues) + 1) * sizeof *more);
    if (!more)
        return -1;
    *lines = more;
    for (uint32_t f = issues + 1; f < json_next(json, issues); f = json_next(json, f))
        if (json_kind(json, f) == MIRE_JSON_OBJECT && !line_fill(&more[(*count)++], json, f))
            return -1;
    return 0;
}

static int show(const struct text *body)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json json MIRE_SCOPED(json_fini);
    struct json_fault fault;
    struct issue_line *lines = NULL;
    size_t count = 0;
    int rc = 0;

    json_init(&json);
    uint32_t groups = 0;
    if (json_read(&json, &fault, body->bytes ? body->bytes : "", body->len, &limits) == MIRE_JSON_OK &&
        json_kind(&json, 0) == MIRE_JSON_OBJECT)
        groups = json_member(&json, 0, "groups");
    if (!groups || json_kind(&json, groups) != MIRE_JSON_ARRAY) {
        fputs("mire issues: the server answered something that is no list of issues\n", stderr);
        return CLI_FAILED;
    }
    for (uint32_t g = groups + 1; rc == 0 && g < json_next(&json, groups); g = json_next(&json, g))
        if (json_kind(&json, g) == MIRE_JSON_OBJECT)
            rc = collect(&lines, &count, &json, g);
    if (rc == 0 && count == 0)
        puts("No issues in this range.");
    else if (rc == 0)
        print_lines(lines, count);
    for (size_t i = 0; i < count; i++)
        line_fini(&lines[i]);
    free(lines);
    return rc == 0 ? CLI_DONE : CLI_FAILED;
}

/* Print the names of the apps, after a wrong one. */
static void say_apps(const char *url)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct text body MIRE_SCOPED(text_fini) = {0};
    struct json json MIRE_SCOPED(json_fini);
    struct json_fault fault;
    const char *before = "mire issues: known apps: ";

    json_init(&json);
    if (fetch_get(&body, url, getenv("MIRE_KEY")) != 0 ||
        json_read(&json, &fault, body.bytes, body.len, &limits) != MIRE_JSON_OK ||
        json_kind(&json, 0) != MIRE_JSON_OBJECT)
        return;
    uint32_t apps = json_member(&json, 0, "apps");
    if (!apps || json_kind(&json, apps) != MIRE_JSON_ARRAY)
        return;
    for (uint32_t a = apps + 1; a < json_next(&json, apps); a = json_next(&json, a)) {
        char *slug MIRE_SCOPED(free_memory) =
            json_kind(&json, a) == MIRE_JSON_OBJECT ? member_text(&json, a, "slug") : NULL;
        if (slug && *slug)
            say(stderr, "%s%s", before, slug);
        before = slug && *slug ? ", " : before;
    }

    fputs(*before == ',' ? "\n" : "mire issues: there is no app yet: `mire key create APP` makes one\n", stderr);
}

static void add_query(struct text *url, const char *before, const char *value)
{
    if (!value)
        return;
    text_add(url, before);
    fetch_escape(url, value);
}

static int ask(const struct issues_options *a)
{
    struct text url MIRE_SCOPED(text_fini) = {0}, body MIRE_SCOPED(text_fini) = {0};
    struct text apps MIRE_SCOPED(text_fini) = {0};

    fetch_api_url(&apps, a->server);
    text_add(&apps, "/apps");
    fetch_app_url(&url, a->server, a->app);
    text_add(&url, "/issues?t=");
    fetch_escape(&url, a->t);
    add_query(&url, "&limit=", a->limit);
    add_query(&url, "&v=", a->version);
    add_query(&url, "&kind=", a->kind);
    add_query(&url, "&state=", a->state);
    add_query(&url, "&q=", a->words);
    add_query(&url, "&os=", a->os);
    add_query(&url, "&os_version=", a->os_version);
    add_query(&url, "&model=", a->model);
    add_query(&url, "&class=", a->class);
    add_query(&url, "&channel=", a->channel);
    add_query(&url, "&sort=", a->sort);
    int rc = text_failed(&url) || text_failed(&apps) ? -1 : fetch_get(&body, url.bytes, getenv("MIRE_KEY"));
    if (rc == FETCH_MISSING)
        say_apps(apps.bytes);
    if (rc != 0)
        return CLI_FAILED;
    if (!a->json)
        return show(&body);
    fwrite(body.bytes, 1, body.len, stdout);
    putchar('\n');
    return CLI_DONE;
}

int cli_issues(int argc, char **argv)
{
    static const struct cli_page page = {.synopsis = "[OPTION]...\nmerge|split|unmerge ISSUE... [OPTION]...",
                                         .about =
                                             "List the causes of hangs and memory problems of an app: changed ones "
                                             "first, then most time lost. merge, split and unmerge "
                                             "show issues as one, or separately; each has its own --help."};
    static const char *const regroup[] = {"merge", "split", "unmerge"};
    struct issues_options a = {
        .server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d", .limit = "50", .sort = "auto"};
    const struct cli_option options[] = {
        CLI_APP(a.app),
        CLI_RANGE(a.t),
        {"v", "VERSIONS", "only these versions, separated by commas; ! in front excludes one", .text = &a.version},
        {"kind", "KINDS", "only these kinds, in the same way",
         "hang launch background killed threads cpu power disk frames foom memory crash custom test system idle",
         .text = &a.kind},
        {"state", "STATES", "only these states, in the same way", "open regressed resolved ignored", .text = &a.state},
        {"os", "SYSTEMS", "only issues of these operating systems, in the same way", .text = &a.os},
        {"os-version", "VERSIONS", "only issues of these versions of the system", .text = &a.os_version},
        {"model", "MODELS", "only issues of these models of device; a comma in a name is \\,", .text = &a.model},
        {"class", "CLASSES", "only issues of these device classes", .text = &a.class},
        {"channel", "CHANNELS", "only issues of these channels", .text = &a.channel},
        {"q", "WORDS", "only issues with these words in function, location, file, module, reason or id",
         .text = &a.words},
        {"sort", "ORDER",
         "sort order; default auto: changed issues first, then the time lost, of memory issues bytes above healthy "
         "processes",
         "auto -impact -change -events -devices -longest -last -bytes -above title", .text = &a.sort},
        {"limit", "N", "maximum number of groups, 1 to 200; default 50", .text = &a.limit},
        CLI_JSON(a.json),
        CLI_SERVER(a.server),
    };
    int status;

    for (size_t i = 0; argc > 1 && i < CLI_COUNT(regroup); i++)
        if (strcmp(argv[1], regroup[i]) == 0)
            return cli_issues_regroup(argc, argv);
    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong(argv[0], "there is no '%s': merge, split, unmerge, or options alone for the list", argv[1]);
    if (!a.app || !*a.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    return ask(&a);
}
