/*
 * rekey.c - `mire rekey`: asks for, previews and watches jobs that derive stored reports again.
 */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS     300000000 /* between looks at a job */
#define FLOWS_SHOWN 20
#define DETAIL_WIDE 48

struct rekey_call {
    struct asking api;
    const char *reason;
    char **words;
};

/* `body` NULL: GET. Returns an exit status. */
static int ask(struct rekey_call *call, const struct text *body)
{
    return asking_send(&call->api, body ? "POST" : NULL, "/rekey", body);
}

static bool is_preview(const struct json *json, uint32_t job)
{
    uint32_t at = json_member(json, job, "preview");
    return at && json_kind(json, at) == MIRE_JSON_TRUE;
}

static bool has_ended(const struct json *json, uint32_t job)
{
    uint32_t at = json_member(json, job, "state");
    return at && (json_is(json, at, "done") || json_is(json, at, "cancelled"));
}

/* A job of the answer; number 0: the newest. 0 is none. */
static uint32_t find_job(const struct json *json, int64_t number)
{
    uint32_t list = json_member(json, 0, "jobs");
    if (!list || json_kind(json, list) != MIRE_JSON_ARRAY)
        return 0;
    for (uint32_t i = 0, at = list + 1; i < json_size(json, list); i++, at = json_next(json, at))
        if (!number || answer_number(json, at, "job") == number)
            return at;
    return 0;
}

/* Print the progress on one line, over the line before. */
static void show(const struct json *json, uint32_t job)
{
    MIRE_SCOPED(free_memory) char *state = answer_text(json, job, "state");
    say(stderr, "\r\033[Kjob %" PRId64 ": %s, %" PRId64 " of %" PRId64 " reports", answer_number(json, job, "job"),
        state ? state : "", answer_number(json, job, "done"), answer_number(json, job, "queued"));
}

static void print_job(const struct json *json, uint32_t job)
{
    int64_t done = answer_number(json, job, "done");
    int64_t failed = answer_number(json, job, "failed");

    if (is_preview(json, job))
        answer_print_preview(json, job, done);
    else
        say(stdout, "%" PRId64 " of %" PRId64 " reports moved\n", answer_number(json, job, "moved"), done);
    if (failed)
        say(stdout, "%" PRId64 " could not be derived, and stay as they were\n", failed);
    answer_print_flows(json, job, FLOWS_SHOWN);
}

/* Until the job ends. */
static int watch(struct rekey_call *call, int64_t number)
{
    bool terminal = isatty(STDERR_FILENO);

    for (;;) {
        int status = ask(call, NULL);
        uint32_t job = status ? 0 : find_job(&call->api.json, number);
        if (!status && !job)
            say(stderr, "mire rekey: there is no such job among the newest; see mire rekey list\n");
        if (!job)
            return CLI_FAILED;
        number = answer_number(&call->api.json, job, "job");
        bool ended = has_ended(&call->api.json, job);
        if (terminal && !ended)
            show(&call->api.json, job);
        if (terminal && ended)
            fputs("\r\033[K", stderr);
        if (ended) {
            print_job(&call->api.json, job);
            return CLI_DONE;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

/* Ask for a job. */
static int begin(struct rekey_call *call, int64_t *job_out, bool preview)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    if (!asking_has_key(&call->api)) {
        cli_wrong("mire rekey", "that needs --key or MIRE_KEY, or `mire login`");
        return CLI_USAGE;
    }
    text_printf(&body, "{\"preview\":%s,\"detail\":", preview ? "true" : "false");
    text_add_json(&body, call->reason, strlen(call->reason));
    text_add(&body, "}");
    int status = text_failed(&body) ? CLI_FAILED : ask(call, &body);
    *job_out = status ? 0 : answer_number(&call->api.json, 0, "job");
    return status;
}

static int run_preview(struct rekey_call *call)
{
    int64_t job;
    int status = begin(call, &job, true);
    return status ? status : watch(call, job);
}

static int run_start(struct rekey_call *call)
{
    int64_t job;
    int status = begin(call, &job, false);
    if (!status)
        say(stdout,
            "job %" PRId64 " derives stored reports again; mire rekey watch %s %" PRId64 " shows how far it is\n", job,
            call->api.app, job);
    return status;
}

static void print_row(const struct json *json, uint32_t job)
{
    MIRE_SCOPED(text_fini) struct text line = {0};
    MIRE_SCOPED(free_memory) char *cause = answer_text(json, job, "cause");
    MIRE_SCOPED(free_memory) char *state = answer_text(json, job, "state");
    MIRE_SCOPED(free_memory) char *asked = answer_text(json, job, "asked_at");
    MIRE_SCOPED(free_memory) char *detail = answer_text(json, job, "detail");
    if (!cause || !state || !asked || !detail)
        return;
    text_printf(&line, "%-5" PRId64 "  %-20.20s  ", answer_number(json, job, "job"), asked);
    table_cell(&line, is_preview(json, job) ? "preview" : cause, 8);
    text_add(&line, "  ");
    table_cell(&line, state, 9);
    text_printf(&line, "  %8" PRId64 " of %-8" PRId64 "  %8" PRId64 "  ", answer_number(json, job, "done"),
                answer_number(json, job, "queued"), answer_number(json, job, "moved"));
    table_cell(&line, detail, (int)(table_width(detail) < DETAIL_WIDE ? table_width(detail) : DETAIL_WIDE));
    if (!text_failed(&line))
        puts(line.bytes);
}

static int run_list(struct rekey_call *call)
{
    int status = ask(call, NULL);

    uint32_t list = status ? 0 : json_member(&call->api.json, 0, "jobs");
    if (!list || json_kind(&call->api.json, list) != MIRE_JSON_ARRAY)
        return status;
    say(stdout, "%-5s  %-20s  %-8s  %-9s  %20s  %8s  %s\n", "JOB", "ASKED", "CAUSE", "STATE", "REPORTS     ", "MOVED",
        "WHY");
    for (uint32_t i = 0, at = list + 1; i < json_size(&call->api.json, list); i++, at = json_next(&call->api.json, at))
        print_row(&call->api.json, at);
    return CLI_DONE;
}

static int run_watch(struct rekey_call *call)
{
    char *end = NULL;
    long long job = call->words[0] ? strtoll(call->words[0], &end, 10) : 0;
    if (call->words[0] && (*end || job < 1))
        return cli_wrong("mire rekey", "JOB is a number of `mire rekey list`");
    return watch(call, job);
}

static const struct {
    struct cli_verb verb;
    int (*run)(struct rekey_call *call);
} verbs[] = {
    {{"preview", "APP", "count the stored reports that would move to another issue; changes nothing"}, run_preview},
    {{"start", "APP", "derive all stored reports again, in the background"}, run_start},
    {{"list", "APP", "the jobs that derive reports again, with progress and reason"}, run_list},
    {{"watch", "APP [JOB]", "follow the progress of a job until it ends; default: the newest"}, run_watch}};

int cli_rekey(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs),
        .about = "A late debug file and a change of rules start such a job automatically. Start one by hand for other "
                 "causes: a complete debug file that was replaced, or a new mired that computes keys differently. An "
                 "issue whose reports all move redirects to their new issue, which keeps the state and the time of "
                 "first sight.\n\nInterrupting `preview` or `watch` does not stop the job."};
    struct rekey_call call = {.api = asking_begin("mire rekey"), .reason = ""};
    const struct cli_option options[] = {
        {"reason", "TEXT", "why, for the list", .text = &call.reason},
        CLI_SERVER(call.api.server),
        CLI_KEY(call.api.key, "key of scope symbols, for preview and start"),
    };
    int status;
    int v = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (v < 0)
        return status;
    call.api.app = argv[2];
    call.words = argv + 3; /* ended by NULL, as argv is */
    status = verbs[v].run(&call);
    asking_end(&call.api);
    return status;
}
