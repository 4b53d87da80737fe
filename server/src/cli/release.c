/* release.c - `mire release`: marks of releases, and the commits that are new in a version. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/gitlog.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"
#include "json/json.h"
#include "rows/release.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct release_asking {
    struct asking api;
    const char *commit, *at, *environment;
    bool json_wanted;
    char **words; /* after the verb */
    int word_count;
};

/* Ask, and print the answer if it is wanted as JSON. `body` NULL: GET. Returns an exit status. */
static int ask(struct release_asking *a, const char *path, const struct text *body)
{
    int status = asking_send(&a->api, body ? "POST" : NULL, path, body);

    if (!status && a->json_wanted)
        asking_print(&a->api);
    return status;
}

static int run_list(struct release_asking *a)
{
    int status = ask(a, "/releases", NULL);
    uint32_t list = status ? 0 : json_member(&a->api.json, 0, "releases");

    if (status || a->json_wanted)
        return status;
    if (!list || !json_size(&a->api.json, list))
        say(stdout, "There are no marks. Create one: mire release create APP VERSION\n");
    for (uint32_t i = 0, at = list + 1; list && i < json_size(&a->api.json, list);
         i++, at = json_next(&a->api.json, at)) {
        MIRE_SCOPED(free_memory) char *version = answer_text(&a->api.json, at, "version");
        MIRE_SCOPED(free_memory) char *environment = answer_text(&a->api.json, at, "environment");
        MIRE_SCOPED(free_memory) char *commit = answer_text(&a->api.json, at, "commit");
        MIRE_SCOPED(free_memory) char *when = answer_text(&a->api.json, at, "released_at");
        MIRE_SCOPED(text_fini) struct text cells = {0};
        table_cell(&cells, version ? version : "", 20);
        text_add(&cells, "  ");
        table_cell(&cells, environment ? environment : "", 14);
        say(stdout, "%.16s  %s  %-12.12s  %" PRId64 " commits\n", when ? when : "", cells.bytes ? cells.bytes : "",
            commit ? commit : "", answer_number(&a->api.json, at, "commits"));
    }
    return CLI_DONE;
}

/* Append a member, if it has a value. */
static void add_member(struct text *body, const char *name, const char *value)
{
    if (!value)
        return;
    text_printf(body, "%s\"%s\":", body->len ? "," : "{", name);
    text_add_json(body, value, strlen(value));
}

static int run_create(struct release_asking *a)
{
    MIRE_SCOPED(text_fini) struct text body = {0};

    add_member(&body, "version", a->words[1]);
    add_member(&body, "commit", a->commit);
    add_member(&body, "environment", a->environment);
    add_member(&body, "released_at", a->at);
    text_add(&body, "}");
    return text_failed(&body) ? CLI_FAILED : ask(a, "/releases", &body);
}

static int run_commits(struct release_asking *a)
{
    const char *path = a->word_count > 2 ? a->words[2] : "-";
    FILE *log MIRE_SCOPED(close_file) = !strcmp(path, "-") ? fdopen(dup(0), "r") : fopen(path, "re");
    MIRE_SCOPED(text_fini) struct text body = {0};
    struct gitlog_counts counts;

    if (!log) {
        say(stderr, "mire release: cannot read %s\n", path);
        return CLI_FAILED;
    }
    add_member(&body, "version", a->words[1]);
    text_add(&body, ",\"commits\":");
    const char *wrong = gitlog_read(&body, &counts, log, MIRE_RELEASE_COMMITS_MAX);
    text_add(&body, "}");
    if (!wrong && !counts.commits)
        wrong = "there is no commit in it";
    if (!wrong && !counts.files)
        wrong = "no commit names a file: use git log --name-only";
    if (wrong) {
        say(stderr, "mire release: %s: %s\n", path, wrong);
        return CLI_FAILED;
    }
    int status = text_failed(&body) ? CLI_FAILED : ask(a, "/releases/commits", &body);
    if (!status && !a->json_wanted)
        say(stdout, "%zu commits, %zu changed files\n", counts.commits, counts.files);
    if (!status && counts.more)
        say(stderr, "mire release: %zu older commits are left out\n", counts.more);
    return status;
}

static const struct release_verb {
    struct cli_verb verb;
    int (*run)(struct release_asking *a);
} verbs[] = {
    {{"list", "APP", "the marks, newest first"}, run_list},
    {{"create", "APP VERSION", "mark that a version was released, or deployed"}, run_create},
    {{"commits", "APP VERSION [FILE]",
      "record the commits that are new in the version, from the output of git log --name-only"},
     run_commits},
};

int cli_release(int argc, char **argv)
{
    static const struct cli_page page = {CLI_VERBS(verbs), .about = "docs/releases.md describes marks and commits."};
    struct release_asking a = {.api = asking_begin("mire release")};
    const struct cli_option options[] = {
        {"commit", "HASH", "of create: the commit of the build", .text = &a.commit},
        {"at", "TIME", "of create: the time of the release, 2026-11-01T14:30:05Z; default now", .text = &a.at},
        {"environment", "NAME", "of create: the environment; default production", .text = &a.environment},
        CLI_SERVER(a.api.server),
        CLI_KEY(a.api.key, "key of scope symbols or admin"),
        CLI_JSON(a.json_wanted),
    };
    int status;
    int verb = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (verb < 0)
        return status;
    a.words = argv + 2;
    a.word_count = argc - 2;
    a.api.app = a.words[0];
    status = verbs[verb].run(&a);
    asking_end(&a.api);
    return status;
}
