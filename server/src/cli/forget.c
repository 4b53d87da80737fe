/*
 * forget.c - `mire forget`: reports that are taken out again, with their share of every counter.
 */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS    300000000 /* between looks at a job */
#define WHY_WIDE   40
#define WHOSE_WIDE 36
#define DIGITS_MAX 18

struct forget_call {
    struct asking api;
    const char *install, *number, *report, *t, *reason;
    bool dry;
};

/* `body` NULL: GET. Returns an exit status. */
static int fetch(struct forget_call *call, const struct text *body)
{
    return asking_send(&call->api, body ? "POST" : NULL, "/forget", body);
}

/* The first job of the answer with that number. 0: there is none. */
static uint32_t find_job(const struct forget_call *call, int64_t number)
{
    uint32_t list = json_member(&call->api.json, 0, "jobs");
    if (!list || json_kind(&call->api.json, list) != MIRE_JSON_ARRAY)
        return 0;
    for (uint32_t i = 0, at = list + 1; i < json_size(&call->api.json, list); i++, at = json_next(&call->api.json, at))
        if (answer_number(&call->api.json, at, "job") == number)
            return at;
    return 0;
}

static int wait_for(struct forget_call *call, int64_t number)
{
    for (;;) {
        if (fetch(call, NULL))
            return CLI_FAILED;
        uint32_t job = find_job(call, number), state = job ? json_member(&call->api.json, job, "state") : 0;
        if (!state) {
            say(stderr, "mire forget: job %" PRId64 " is not among the newest; see mire forget list\n", number);
            return CLI_FAILED;
        }
        if (json_is(&call->api.json, state, "done")) {
            say(stdout, "%" PRId64 " reports are forgotten\n", answer_number(&call->api.json, job, "done"));
            return CLI_DONE;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

static void put_text(struct text *body, const char *name, const char *value)
{
    if (!value)
        return;
    text_printf(body, ",\"%s\":", name);
    text_add_json(body, value, strlen(value));
}

static void print_preview(const struct forget_call *call)
{
    int64_t waiting = answer_number(&call->api.json, 0, "waiting");

    say(stdout, "%" PRId64 " reports would be forgotten; they stand for %" PRId64 " events and %" PRId64 " sessions\n",
        answer_number(&call->api.json, 0, "reports"), answer_number(&call->api.json, 0, "events"),
        answer_number(&call->api.json, 0, "sessions"));
    if (waiting && call->install)
        say(stdout, "%" PRId64 " reports of %s wait to be worked on; those of the installation would go, too\n",
            waiting, call->api.app);
}

static int run_reports(struct forget_call *call)
{
    MIRE_SCOPED(text_fini) struct text body = {0};

    if (!!call->install + !!call->number + !!call->report != 1)
        return cli_wrong("mire forget", "give one of --install ID, --key NUMBER and --report ID");
    if (!call->reason)
        return cli_wrong("mire forget", "give --reason TEXT: it stays in the audit log");
    if (!asking_has_key(&call->api))
        return cli_wrong("mire forget", "that needs a key of scope admin in MIRE_KEY, or `mire login`");
    text_printf(&body, "{\"preview\":%s", call->dry ? "true" : "false");
    if (call->number)
        text_printf(&body, ",\"key\":%s", call->number);
    put_text(&body, "install", call->install);
    put_text(&body, "report", call->report);
    put_text(&body, "t", call->t);
    put_text(&body, "reason", call->reason);
    text_add(&body, "}");
    if (text_failed(&body) || fetch(call, &body))
        return CLI_FAILED;
    if (!call->dry)
        return wait_for(call, answer_number(&call->api.json, 0, "job"));
    print_preview(call);
    return CLI_DONE;
}

static void put_cell(struct text *line, char *cell, int wide)
{
    table_cell(line, cell ? cell : "", wide);
    text_add(line, "  ");
    free(cell);
}

static void print_job(const struct forget_call *call, uint32_t job)
{
    MIRE_SCOPED(text_fini) struct text line = {0};

    text_printf(&line, "%-5" PRId64 "  ", answer_number(&call->api.json, job, "job"));
    put_cell(&line, answer_text(&call->api.json, job, "asked_at"), 20);
    put_cell(&line, answer_text(&call->api.json, job, "author"), 12);
    put_cell(&line, answer_text(&call->api.json, job, "what"), 7);
    put_cell(&line, answer_text(&call->api.json, job, "of"), WHOSE_WIDE);
    text_printf(&line, "%8" PRId64 "  ", answer_number(&call->api.json, job, "done"));
    put_cell(&line, answer_text(&call->api.json, job, "state"), 8);
    put_cell(&line, answer_text(&call->api.json, job, "reason"), WHY_WIDE);
    if (!text_failed(&line))
        say(stdout, "%s\n", line.bytes);
}

static int run_list(struct forget_call *call)
{
    int status = fetch(call, NULL);
    uint32_t list = status ? 0 : json_member(&call->api.json, 0, "jobs");

    if (!list || json_kind(&call->api.json, list) != MIRE_JSON_ARRAY)
        return status;
    say(stdout, "%-5s  %-20s  %-12s  %-7s  %-*s  %8s  %-8s  %s\n", "JOB", "ASKED", "WHO", "BY", WHOSE_WIDE, "OF",
        "REPORTS", "STATE", "WHY");
    for (uint32_t i = 0, at = list + 1; i < json_size(&call->api.json, list); i++, at = json_next(&call->api.json, at))
        print_job(call, at);
    return CLI_DONE;
}

/* --key NUMBER names the key whose reports go; --key mk_... is the caller's own. */
static const char *take_key(void *context, char *value)
{
    struct forget_call *call = context;
    size_t digits = strspn(value, "0123456789");

    if (!digits || value[digits]) {
        call->api.key = value;
        return NULL;
    }
    if (digits > DIGITS_MAX || value[0] == '0')
        return "NUMBER is the first column of `mire key list`";
    call->number = value;
    return NULL;
}

int cli_forget(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "APP --install ID|--key NUMBER|--report ID --reason TEXT [OPTION]...\nlist APP",
        .about = "Forget reports, with their derived rows and their share of every counter, and wait "
                 "until they are gone. Use it when a user asks for deletion, and for reports that were made up. "
                 "Nothing brings them back. `list` prints which reports were forgotten, by whom and why."};
    struct forget_call call = {.api = asking_begin("mire forget")};
    const struct cli_option options[] = {
        {"install", "ID", "those of an installation: 32 hex digits, as mire_install_id gives them in the app",
         .text = &call.install},
        {"key", "NUMBER",
         "those that a key sent: the first column of `mire key list`; or a key of scope admin, mk_..., that may do it: "
         "default $MIRE_KEY, or the token that `mire login` keeps",
         .take = take_key, .context = &call},
        {"report", "ID", "one report", .text = &call.report},
        {"t", "RANGE", "only those received then: 24h, 14d, or 2026-11-01T00Z..2026-11-08T00Z; default: all",
         .text = &call.t},
        {"dry-run", .help = "count what would go; take out nothing", .flag = &call.dry},
        {"reason", "TEXT", "why, for the audit log", .text = &call.reason},
        CLI_SERVER(call.api.server)};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    bool lists = argc == 3 && !strcmp(argv[1], "list");
    if (!lists && argc != 2)
        return cli_wrong("mire forget", "say which app: mire forget APP ..., or mire forget list APP");
    call.api.app = argv[argc - 1];
    status = lists ? run_list(&call) : run_reports(&call);
    asking_end(&call.api);
    return status;
}
