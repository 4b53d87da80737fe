/* flame.c - `mire flame ISSUE`: the flame graph of an issue in a format of another tool. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"

#include "base/scope.h"

#include <stdio.h>
#include <stdlib.h>

struct flame_options {
    const char *server, *app, *t, *version, *format, *of, *category, *report;
};

static void add_query(struct text *path, const char *before, const char *value)
{
    if (!value)
        return;
    text_add(path, before);
    fetch_escape(path, value);
}

static int print_flame(const struct flame_options *o, const char *issue)
{
    struct fetch_session session = {.server = o->server, .key = getenv("MIRE_KEY")};
    MIRE_SCOPED(text_fini) struct text path = {0}, answer = {0};

    add_query(&path, "/api/v1/apps/", o->app);
    add_query(&path, "/issues/", issue);
    add_query(&path, "/flame?t=", o->t);
    add_query(&path, "&format=", o->format);
    add_query(&path, "&v=", o->version);
    add_query(&path, "&of=", o->of);
    add_query(&path, "&category=", o->category);
    add_query(&path, "&report=", o->report);
    if (text_failed(&path))
        return CLI_FAILED;
    long status = fetch_ask(&session, &answer, "GET", path.bytes, NULL);
    if (status != 200) {
        fetch_say_problem(path.bytes, status, &answer);
        return CLI_FAILED;
    }
    fwrite(answer.bytes, 1, answer.len, stdout);
    return fflush(stdout) ? CLI_FAILED : CLI_DONE;
}

int cli_flame(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "ISSUE [OPTION]...",
        .about = "Print the merged call tree of an issue's reports: collapsed stacks for flamegraph.pl, speedscope's "
                 "JSON, pprof's profile, a picture, or the server's own JSON. See docs/export.md."};
    struct flame_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d", .format = "folded"};
    const struct cli_option options[] = {
        {"format", "FORMAT", "folded (default), speedscope, pprof, svg or json", "folded speedscope pprof svg json",
         .text = &o.format},
        CLI_APP(o.app),
        CLI_RANGE(o.t),
        {"v", "VERSIONS", "only these, separated by commas; ! in front excludes one", .text = &o.version},
        {"report", "ID", "only this report", .text = &o.report},
        {"of", "UNIT", "of memory bytes (default) or objects", "bytes objects", .text = &o.of},
        {"category", "NAME", "of memory: only the part of this category", .text = &o.category},
        CLI_SERVER(o.server)};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc != 2)
        return cli_wrong(argv[0], "which issue? Say ISSUE");
    if (!o.app || !*o.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    return print_flame(&o, argv[1]);
}
