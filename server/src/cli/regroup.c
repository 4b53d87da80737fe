/* regroup.c - mire issues merge, split, unmerge: sends the change, and prints the issues that are shown differently by
 * it. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "json/json.h"
#include "json/write.h"

#include "base/scope.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REVERSIBLE \
    "Reports are not rewritten, and everything can be undone. The page of an issue lists its trees and acts."

struct regrouping {
    const char *what, *server, *app, *author, *reason, *into, *caller2, *act;
    bool preview;
    const char *trees[50];
    size_t tree_count;
    char **issues;
    size_t issue_count;
};

static void put_list(struct json_writer *w, const char *key, const char *const *names, size_t count)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < count; i++)
        json_write_text(w, NULL, names[i]);
    json_write_close(w, ']');
}

static void put_body(struct json_writer *w, const struct regrouping *r)
{
    const char *const *issues = (const char *const *)r->issues;
    bool merges = strcmp(r->what, "merge") == 0, splits = strcmp(r->what, "split") == 0;

    json_write_begin(w);
    json_write_open(w, NULL, '{');
    json_write_text(w, "author", r->author);
    json_write_text(w, "reason", r->reason);
    json_write_bool(w, "preview", r->preview);
    if (splits && r->caller2)
        json_write_text(w, "caller2", r->caller2);
    else if (splits)
        put_list(w, "trees", r->trees, r->tree_count);
    else if (!merges && r->act)
        json_write_raw(w, "act", r->act);
    else
        put_list(w, "issues", issues, r->issue_count);
    json_write_close(w, '}');
}

/* "I-1 keysCommand in processCommand: 63 reports" of each feature. */
static void print_issues(const struct json *json, const char *key, const char *before)
{
    uint32_t list = json_member(json, 0, key);

    for (uint32_t f = list + 1; list && f < json_next(json, list); f = json_next(json, f)) {
        static const char *const names[] = {"id", "caller1", "caller2"};
        char texts[3][200];
        uint32_t totals = json_member(json, f, "totals");
        for (int i = 0; i < 3; i++) {
            uint32_t at = json_member(json, f, names[i]);
            bool fits = at && json_kind(json, at) == MIRE_JSON_STRING && json_size(json, at) < sizeof texts[i];
            texts[i][fits ? json_text(texts[i], json, at) : 0] = '\0';
        }
        int64_t reports = 0;
        uint32_t count = totals ? json_member(json, totals, "reports") : 0;
        if (count)
            reports = (int64_t)json_double(json, count);
        say(stdout, "%s%s  %s in %s: %lld reports\n", before, texts[0], texts[1], texts[2], (long long)reports);
    }
}

static int print_answer(const struct text *body)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct json json;

    json_init(&json);
    int rc = json_read(&json, &fault, body->bytes, body->len, &limits) == MIRE_JSON_OK &&
                     json_kind(&json, 0) == MIRE_JSON_OBJECT
                 ? CLI_DONE
                 : CLI_FAILED;
    if (rc == CLI_DONE) {
        print_issues(&json, "before", "- ");
        print_issues(&json, "after", "+ ");
        uint32_t act = json_member(&json, 0, "act");
        if (act && json_kind(&json, act) == MIRE_JSON_UINT)
            say(stdout, "act %lld: mire issues unmerge ISSUE --act %lld takes it back\n",
                (long long)json_double(&json, act), (long long)json_double(&json, act));
    }
    json_fini(&json);
    return rc;
}

static int ask(const struct regrouping *r)
{
    struct text url MIRE_SCOPED(text_fini) = {0}, answer MIRE_SCOPED(text_fini) = {0};
    struct json_writer w;

    fetch_app_url(&url, r->server, r->app);
    text_add(&url, "/issues/");
    fetch_escape(&url, r->into ? r->into : r->issues[0]);
    text_add(&url, "/");
    text_add(&url, r->what);
    put_body(&w, r);
    struct text body = {.bytes = w.text, .len = w.len, .room = w.room};
    int rc = text_failed(&url) || w.failed ? -1 : fetch_send(&answer, "POST", url.bytes, NULL, &body);
    text_fini(&body);
    return rc ? CLI_FAILED : print_answer(&answer);
}

/* The missing part of the command, in words; NULL: complete. */
static const char *missing_option(const struct regrouping *r)
{
    if (!r->app || !*r->app)
        return "the app is missing: --app APP";
    if (!r->author || !*r->author)
        return "the author is missing: --author NAME";
    if (!r->issue_count)
        return "which issue?";
    if (strcmp(r->what, "merge") == 0)
        return r->into ? NULL : "into which? Say --into ISSUE";
    if (r->into)
        return "--into is for merge";
    if (strcmp(r->what, "split") == 0 && !r->tree_count == !r->caller2)
        return "give either --tree TREE or --caller2 NAME";
    if (r->act && strspn(r->act, "0123456789") != strlen(r->act))
        return "--act takes a number";
    return NULL;
}

static const char *take_tree(void *context, char *value)
{
    struct regrouping *r = context;
    if (r->tree_count == CLI_COUNT(r->trees))
        return "too many trees";
    r->trees[r->tree_count++] = value;
    return NULL;
}

int cli_issues_regroup(int argc, char **argv)
{
    static const struct cli_page merge = {.synopsis = "ISSUE... --into ISSUE [OPTION]...",
                                          .about = "Show issues as one. " REVERSIBLE};
    static const struct cli_page split = {
        .synopsis = "ISSUE --tree TREE... [OPTION]...\nISSUE --caller2 NAME [OPTION]...",
        .about = "Show trees of an issue as an issue of their own, or take a merged scene out. " REVERSIBLE};
    static const struct cli_page unmerge = {.synopsis = "ISSUE... [OPTION]...\nISSUE --act NUMBER [OPTION]...",
                                            .about = "Take merged issues out again, or undo an act. " REVERSIBLE};
    const struct cli_page *page = !strcmp(argv[1], "merge") ? &merge : !strcmp(argv[1], "split") ? &split : &unmerge;
    struct regrouping r = {.what = argv[1],
                           .server = fetch_server(),
                           .app = getenv("MIRE_APP"),
                           .author = getenv("USER"),
                           .reason = "by mire issues"};
    const struct cli_option options[] = {
        {"into", "ISSUE", "of merge: the issue that shows them", .text = &r.into},
        {"tree", "TREE", "of split: a tree of the issue; may be given more than once", .take = take_tree,
         .context = &r},
        {"caller2", "NAME", "of split: the part that was merged into it with that scene", .text = &r.caller2},
        {"act", "NUMBER", "of unmerge: the act to undo", .text = &r.act},
        {"preview", .help = "change nothing, print the effect", .flag = &r.preview},
        {"author", "NAME", "who you are; default $USER", .text = &r.author},
        {"reason", "TEXT", "why", .text = &r.reason},
        CLI_APP(r.app),
        CLI_SERVER(r.server),
    };
    char command[32];
    int status;

    snprintf(command, sizeof command, "%s %s", argv[0], r.what);
    argv[1] = command;
    argc--;
    argv++;
    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), page))
        return status;
    r.issues = argv + 1;
    r.issue_count = (size_t)(argc - 1);
    const char *missing = missing_option(&r);
    return missing ? cli_wrong(command, "%s", missing) : ask(&r);
}
