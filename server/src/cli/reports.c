/* reports.c - `mire reports`: reports of an app or an issue, of a user, of a scene or with a tag. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reports_options {
    const char *server, *app, *issue, *t, *version, *user, *scene, *tag, *limit, *cursor;
    bool json;
};

static void put_url(struct text *url, const struct reports_options *o, int64_t limit, const char *cursor)
{
    const char *const given[][2] = {
        {"v", o->version}, {"user", o->user}, {"scene", o->scene}, {"tag", o->tag}, {"cursor", cursor}};

    fetch_app_url(url, o->server, o->app);
    if (o->issue) {
        text_add(url, "/issues/");
        fetch_escape(url, o->issue);
    }
    text_printf(url, "/reports?limit=%" PRId64 "&t=", limit);
    fetch_escape(url, o->t);
    for (size_t i = 0; i < CLI_COUNT(given); i++)
        if (given[i][1]) {
            text_printf(url, "&%s=", given[i][0]);
            fetch_escape(url, given[i][1]);
        }
}

static void add_cell(struct text *out, const struct json *json, uint32_t row, const char *name, int width)
{
    MIRE_SCOPED(free_memory) char *text = answer_text(json, row, name);
    table_cell(out, text ? text : "", width);
    text_add(out, "  ");
}

static void print_row(const struct json *json, uint32_t row)
{
    MIRE_SCOPED(text_fini) struct text out = {0};
    MIRE_SCOPED(free_memory) char *began = answer_text(json, row, "occurred_at");
    MIRE_SCOPED(free_memory) char *id = answer_text(json, row, "id");

    text_printf(&out, "%.19sZ  %8.1f s  ", began ? began : "", (double)answer_number(json, row, "duration_ms") / 1000);
    add_cell(&out, json, row, "version", 12);
    add_cell(&out, json, row, "os_version", 12);
    add_cell(&out, json, row, "install", 32);
    table_cell(&out, id ? id : "", 36);
    say(stdout, "%s\n", out.bytes ? out.bytes : "");
}

/* Print the rows of an answer; the cursor of the next one, owned by the caller, or NULL. */
static char *print_page(const struct text *body, const struct reports_options *o, int64_t *printed, int *status)
{
    struct json json MIRE_SCOPED(json_fini);

    json_init(&json);
    if (!answer_read(&json, body, "mire reports", o->server)) {
        *status = CLI_FAILED;
        return NULL;
    }
    uint32_t list = json_member(&json, 0, "reports");
    for (uint32_t row = list + 1; list && row < json_next(&json, list); row = json_next(&json, row)) {
        if (!(*printed)++)
            say(stdout, "%-20s  %10s  %-12s  %-12s  %-32s  %s\n", "BEGAN", "LASTED", "VERSION", "SYSTEM",
                "INSTALLATION", "REPORT");
        print_row(&json, row);
    }
    uint32_t next = json_member(&json, 0, "next");
    return next && json_kind(&json, next) == MIRE_JSON_STRING ? answer_text(&json, 0, "next") : NULL;
}

/* An answer may have fewer rows than asked for, and more behind. */
static int print_all(const struct reports_options *o, int64_t limit)
{
    int64_t printed = 0;
    int status = CLI_DONE;
    char *cursor = NULL;

    do {
        MIRE_SCOPED(text_fini) struct text url = {0}, body = {0};
        put_url(&url, o, limit - printed, cursor ? cursor : o->cursor);
        free(cursor);
        cursor = NULL;
        if (text_failed(&url) || fetch_get(&body, url.bytes, getenv("MIRE_KEY")) != 0)
            return CLI_FAILED;
        cursor = print_page(&body, o, &printed, &status);
    } while (cursor && printed < limit);
    free(cursor);
    if (status == CLI_DONE && !printed)
        say(stdout, "No such report in this range.\n");
    return status;
}

static int print_json(const struct reports_options *o, int64_t limit)
{
    MIRE_SCOPED(text_fini) struct text url = {0}, body = {0};

    put_url(&url, o, limit, o->cursor);
    if (text_failed(&url) || fetch_get(&body, url.bytes, getenv("MIRE_KEY")) != 0)
        return CLI_FAILED;
    fwrite(body.bytes, 1, body.len, stdout);
    putchar('\n');
    return CLI_DONE;
}

int cli_reports(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[ISSUE] [OPTION]...",
        .about = "List the reports of an app, or of an issue, newest first. The address SERVER/r/REPORT leads to one. "
                 "Tags are those that the app's settings name."};
    struct reports_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d", .limit = "50"};
    const struct cli_option options[] = {
        CLI_APP(o.app),
        CLI_RANGE(o.t),
        {"v", "VERSIONS", "only these versions, separated by commas; ! in front excludes one", .text = &o.version},
        {"user", "ID", "of this user: the app's id or its hash of 32 hex digits", .text = &o.user},
        {"scene", "NAME", "of this scene", .text = &o.scene},
        {"tag", "NAME=VALUE", "with this tag", .text = &o.tag},
        {"limit", "N", "maximum number of reports, 1 to 200; default 50", .text = &o.limit},
        {"cursor", "TEXT", "the page that begins here: `next` of an answer with --json", .text = &o.cursor},
        CLI_JSON(o.json),
        CLI_SERVER(o.server),
    };
    char *end;
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 2)
        return cli_wrong(argv[0], "at most one issue, and '%s' is one more word", argv[2]);
    if (!o.app || !*o.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    long limit = strtol(o.limit, &end, 10);
    if (end == o.limit || *end || limit < 1 || limit > 200)
        return cli_wrong(argv[0], "--limit is a number from 1 to 200");
    o.issue = argc > 1 ? argv[1] : NULL;
    return o.json ? print_json(&o, limit) : print_all(&o, limit);
}
