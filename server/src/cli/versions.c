/* versions.c - `mire versions`: the versions of an app with their rates; `mire compare`: one against another. */
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 24
#define LISTED     10 /* changes of each kind, unless --all */

struct versions_options {
    const char *server, *app, *t, *range;
    const char *version, *against;
    bool json, week, all;
};

/* The rates that both commands print, in order. */
static const struct {
    const char *member, *title, *head, *unit;
} rates[] = {
    {"lag_percent", "Sessions with a hang", "LAG %", "%"},      {"foom_percent", "Out of memory", "OOM %", "%"},
    {"watchdog_percent", "Killed while hung", "KILLED %", "%"}, {"crash_percent", "Crashes", "CRASH %", "%"},
    {"hang_s_per_hour", "Hang time per hour", "HANG s/h", "s"},
};

struct rate_cell {
    char text[40];
    bool known;
    double low, high;
};

static double real_of(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = object ? json_member(json, object, name) : 0;
    double value = at ? json_double(json, at) : NAN;

    return isfinite(value) ? value : 0;
}

/* "2.22 ±0.06": as many digits as the interval leaves. */
static struct rate_cell rate_text(const struct json *json, uint32_t object, const char *member)
{
    uint32_t at = object ? json_member(json, object, member) : 0;
    struct rate_cell out = {.text = "-"};

    if (!at || json_kind(json, at) != MIRE_JSON_OBJECT)
        return out;
    out.low = real_of(json, at, "low");
    out.high = real_of(json, at, "high");
    out.known = true;
    double half = (out.high - out.low) / 2;
    int digits = half > 0 ? 1 - (int)floor(log10(half)) : 2;
    digits = digits < 0 ? 0 : digits > 4 ? 4 : digits;
    snprintf(out.text, sizeof out.text, "%.*f ±%.*f", digits, real_of(json, at, "value"), digits, half);
    return out;
}

static int ask(struct text *body, const struct versions_options *o, const char *path)
{
    struct text url MIRE_SCOPED(text_fini) = {0};

    fetch_app_url(&url, o->server, o->app);
    text_printf(&url, "/%s?t=", path);
    fetch_escape(&url, o->t);
    const char *const more[][2] = {
        {"&v=", o->version}, {"&against=", o->week ? "week" : o->against}, {"&before=", o->range}};
    for (size_t i = 0; i < CLI_COUNT(more); i++)
        if (more[i][1]) {
            text_add(&url, more[i][0]);
            fetch_escape(&url, more[i][1]);
        }
    if (text_failed(&url) || fetch_get(body, url.bytes, getenv("MIRE_KEY")) != 0)
        return CLI_FAILED;
    if (!o->json)
        return CLI_DONE;
    fwrite(body->bytes, 1, body->len, stdout);
    putchar('\n');
    return CLI_DONE;
}

/* Share of the sessions of the last day that the version had any. */
static double last_share(const struct json *json, uint32_t version)
{
    uint32_t days = json_member(json, version, "days");
    double share = 0;

    for (uint32_t d = days + 1; days && d < json_next(json, days); d = json_next(json, d))
        share = real_of(json, d, "share");
    return share;
}

/* Quantities of sessions, by what nine of ten do not exceed. */
static const struct spread_column {
    const char *member, *head, *unit;
    double scale;
    int digits;
} spreads[] = {{"launch_ms", "LAUNCH P90", "s", 1e-3, 2},
               {"footprint_peak_bytes", "MEMORY P90", "MB", 1.0 / (1 << 20), 0},
               {"cpu_percent", "CPU P90", "%", 1, 1},
               {"dropped_percent", "DROPPED P90", "%", 1, 2}};

/* "812 MB"; "-": no session tells it. */
static void print_spread(struct text *out, const struct json *json, uint32_t all, const struct spread_column *column,
                         int width)
{
    uint32_t at = all && json_kind(json, all) == MIRE_JSON_OBJECT ? json_member(json, all, column->member) : 0;
    char text[32] = "-";

    if (at && json_kind(json, at) == MIRE_JSON_OBJECT)
        snprintf(text, sizeof text, "%.*f %s", column->digits, real_of(json, at, "p90") * column->scale, column->unit);
    text_add(out, "  ");
    table_cell(out, text, width);
}

static void print_version(struct text *out, const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *version = answer_text(json, at, "version");
    MIRE_SCOPED(free_memory) char *first = answer_text(json, at, "first_seen_at");

    table_cell(out, version ? version : "", NAME_WIDTH);
    text_printf(out, "  %.10s  %5.0f %%  %9.0f", first ? first : "", 100 * last_share(json, at),
                real_of(json, at, "sessions"));
    for (size_t i = 0; i < CLI_COUNT(rates); i++) {
        text_add(out, "  ");
        table_cell(out, rate_text(json, at, rates[i].member).text, -13);
    }
    for (size_t i = 0; i < CLI_COUNT(spreads); i++)
        print_spread(out, json, json_member(json, at, "spreads"), &spreads[i], -11);
    text_printf(out, "  %4" PRId64 "  %8" PRId64 "\n", answer_number(json, at, "issues_new"),
                answer_number(json, at, "issues_resolved"));
}

static int show_versions(const struct text *body, const struct versions_options *o)
{
    struct json json MIRE_SCOPED(json_fini);
    struct text out MIRE_SCOPED(text_fini) = {0};

    json_init(&json);
    if (!answer_read(&json, body, "mire versions", o->server))
        return CLI_FAILED;
    uint32_t list = json_member(&json, 0, "versions");
    if (!list || json_size(&json, list) == 0) {
        puts("No version has sessions or reports in this range.");
        return CLI_DONE;
    }
    table_cell(&out, "VERSION", NAME_WIDTH);
    text_printf(&out, "  %-10s  %7s  %9s", "FIRST SEEN", "SHARE", "SESSIONS");
    for (size_t i = 0; i < CLI_COUNT(rates); i++)
        text_printf(&out, "  %13s", rates[i].head);
    for (size_t i = 0; i < CLI_COUNT(spreads); i++)
        text_printf(&out, "  %11s", spreads[i].head);
    text_printf(&out, "  %4s  %8s\n", "NEW", "RESOLVED");
    for (uint32_t v = list + 1; v < json_next(&json, list); v = json_next(&json, v))
        print_version(&out, &json, v);
    fwrite(out.bytes, 1, out.len, stdout);
    return CLI_DONE;
}

/* Append a text as wide as it is, without what could control the terminal. */
static void add_clean(struct text *out, const char *text)
{
    table_cell(out, text ? text : "", text ? (int)table_width(text) : 0);
}

/* "8.0.40", or "BEFORE" where the sides differ in time; then a line a side says which days they are of. */
static void print_sides(struct text *out, const struct json *json, const uint32_t sides[2])
{
    static const char *const names[2] = {"BEFORE", "AFTER"};
    MIRE_SCOPED(free_memory) char *was = answer_text(json, sides[0], "from");
    MIRE_SCOPED(free_memory) char *is = answer_text(json, sides[1], "from");
    bool in_time = was && is && strcmp(was, is) != 0;

    for (int i = 0; in_time && i < 2; i++) {
        MIRE_SCOPED(free_memory) char *version = answer_text(json, sides[i], "version");
        MIRE_SCOPED(free_memory) char *from = answer_text(json, sides[i], "from");
        MIRE_SCOPED(free_memory) char *to = answer_text(json, sides[i], "to");
        text_printf(out, "%-7s %.13sZ..%.13sZ  ", names[i], from ? from : "", to ? to : "");
        add_clean(out, version && *version ? version : "all versions");
        text_add(out, "\n");
    }
    text_printf(out, "%-21s", "");
    for (int i = 0; i < 2; i++) {
        MIRE_SCOPED(free_memory) char *version = answer_text(json, sides[i], "version");
        text_add(out, "  ");
        table_cell(out, in_time || !version || !*version ? names[i] : version, -16);
    }
    text_add(out, "\n");
}

static void print_rates(struct text *out, const struct json *json, uint32_t before, uint32_t after)
{
    uint32_t was = json_member(json, before, "rates"), is = json_member(json, after, "rates");

    text_printf(out, "%-21s  %16.0f  %16.0f\n", "Sessions", real_of(json, before, "sessions"),
                real_of(json, after, "sessions"));
    for (size_t i = 0; i < CLI_COUNT(rates); i++) {
        struct rate_cell a = rate_text(json, was, rates[i].member), b = rate_text(json, is, rates[i].member);
        bool known = a.known && b.known;
        text_printf(out, "%-21s  ", rates[i].title);
        table_cell(out, a.text, -16);
        text_add(out, "  ");
        table_cell(out, b.text, -16);
        text_printf(out, "  %s%s\n", rates[i].unit,
                    known && b.low > a.high   ? "  worse"
                    : known && b.high < a.low ? "  better"
                                              : "");
    }
}

static void print_spreads(struct text *out, const struct json *json, uint32_t before, uint32_t after)
{
    static const char *const titles[] = {"Launch, p90", "Memory peak, p90", "CPU time, p90", "Dropped frames, p90"};
    uint32_t was = json_member(json, before, "rates"), is = json_member(json, after, "rates");

    for (size_t i = 0; i < CLI_COUNT(spreads); i++) {
        text_printf(out, "%-21s", titles[i]);
        print_spread(out, json, json_member(json, was, "spreads"), &spreads[i], -16);
        print_spread(out, json, json_member(json, is, "spreads"), &spreads[i], -16);
        text_add(out, "\n");
    }
}

static void print_times(struct text *out, const struct json *json, uint32_t change, const char *verdict)
{
    uint32_t ratio = json_member(json, change, "ratio");
    uint32_t at = ratio ? json_member(json, ratio, "value") : 0;
    double value = at && json_kind(json, at) != MIRE_JSON_NULL ? real_of(json, ratio, "value") : INFINITY;
    char text[32];

    if (!isfinite(value) || !strcmp(verdict, "gone"))
        snprintf(text, sizeof text, "%s", verdict);
    else if (value >= 1)
        snprintf(text, sizeof text, value < 10 ? "x%.1f" : "x%.0f", value);
    else
        snprintf(text, sizeof text, "-%.0f %%", 100 * (1 - value));
    text_printf(out, "  %7s", text);
}

/* The value of a facet that explains a change, if one does. */
static void print_why(struct text *out, const struct json *json, uint32_t why)
{
    if (!why || json_kind(json, why) == MIRE_JSON_NULL)
        return;
    MIRE_SCOPED(free_memory) char *facet = answer_text(json, why, "facet");
    MIRE_SCOPED(free_memory) char *value = answer_text(json, why, "value");

    text_printf(out, ", %.0f %% of it on %s ", 100 * real_of(json, why, "share"), facet ? facet : "");
    add_clean(out, value);
    uint32_t sampled = json_member(json, why, "sampled");
    text_printf(out, " (%.2g %% of other issues%s)", 100 * real_of(json, why, "of_others"),
                sampled && json_kind(json, sampled) == MIRE_JSON_TRUE ? ", by the newest 10,000 events" : "");
}

static void print_change(struct text *out, const struct json *json, uint32_t change, const char *verdict)
{
    uint32_t issue = json_member(json, change, "issue");
    uint32_t was = json_member(json, change, "before"), is = json_member(json, change, "after");
    MIRE_SCOPED(free_memory) char *id = answer_text(json, issue, "id");
    MIRE_SCOPED(free_memory) char *caller1 = answer_text(json, issue, "caller1");
    MIRE_SCOPED(free_memory) char *caller2 = answer_text(json, issue, "caller2");
    MIRE_SCOPED(free_memory) char *kind = answer_text(json, issue, "category");

    text_add(out, "  ");
    table_cell(out, id ? id : "", 8);
    print_times(out, json, change, verdict);
    text_printf(out, "  %8.3g -> %-8.3g  ", real_of(json, was, "hits_per_1000"), real_of(json, is, "hits_per_1000"));
    add_clean(out, caller1);
    if (caller1 && caller2 && *caller2 && strcmp(caller1, caller2) != 0) {
        text_add(out, " in ");
        add_clean(out, caller2);
    }
    text_printf(out, " (%s)", kind ? kind : "");
    print_why(out, json, json_member(json, change, "explained"));
    text_add(out, "\n");
}

/* The changes with one of two verdicts, under a heading. */
static void print_changes(const struct json *json, uint32_t list, const char *heading, const char *const verdicts[2],
                          bool all)
{
    struct text out MIRE_SCOPED(text_fini) = {0};
    size_t count = 0;

    for (uint32_t c = list + 1; list && c < json_next(json, list); c = json_next(json, c)) {
        MIRE_SCOPED(free_memory) char *verdict = answer_text(json, c, "verdict");
        if (!verdict || (strcmp(verdict, verdicts[0]) != 0 && strcmp(verdict, verdicts[1]) != 0))
            continue;
        if (++count <= LISTED || all)
            print_change(&out, json, c, verdict);
    }
    say(stdout, count ? "\n%s (%zu), hits per 1,000 sessions\n" : "\n%s: none\n", heading, count);
    if (!text_failed(&out) && out.len)
        fwrite(out.bytes, 1, out.len, stdout);
    if (count > LISTED && !all)
        say(stdout, "  and %zu more: --all\n", count - LISTED);
}

static int show_compared(const struct text *body, const struct versions_options *o)
{
    static const char *const worse[2] = {"new", "worse"}, *const better[2] = {"better", "gone"};
    struct json json MIRE_SCOPED(json_fini);
    struct text out MIRE_SCOPED(text_fini) = {0};

    json_init(&json);
    if (!answer_read(&json, body, "mire compare", o->server))
        return CLI_FAILED;
    uint32_t before = json_member(&json, 0, "before"), after = json_member(&json, 0, "after");
    uint32_t list = json_member(&json, 0, "issues");
    if (!before || !after || !(real_of(&json, before, "sessions") > 0) || !(real_of(&json, after, "sessions") > 0)) {
        fputs("mire compare: one side has no sessions in this range: choose another --t, or other versions\n", stderr);
        return CLI_FAILED;
    }
    print_sides(&out, &json, (const uint32_t[2]){before, after});
    print_rates(&out, &json, before, after);
    print_spreads(&out, &json, before, after);
    if (text_failed(&out))
        return CLI_FAILED;
    fwrite(out.bytes, 1, out.len, stdout);
    print_changes(&json, list, "Worse", worse, o->all);
    print_changes(&json, list, "Better", better, o->all);
    int64_t same = answer_number(&json, 0, "more");
    for (uint32_t c = list + 1; list && c < json_next(&json, list); c = json_next(&json, c)) {
        MIRE_SCOPED(free_memory) char *verdict = answer_text(&json, c, "verdict");
        same += verdict && !strcmp(verdict, "same");
    }
    say(stdout, "\n%" PRId64 " are unchanged; %" PRId64 " have too few reports to judge.\n", same,
        answer_number(&json, 0, "few"));
    return CLI_DONE;
}

int cli_versions(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]...",
        .about = "List the versions of an app, newest first: share of the sessions of its last day, sessions, rates "
                 "with half their 95 % interval, issues that began in it and issues resolved in it."};
    struct versions_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d"};
    const struct cli_option options[] = {CLI_APP(o.app), CLI_RANGE(o.t), CLI_JSON(o.json), CLI_SERVER(o.server)};
    struct text body MIRE_SCOPED(text_fini) = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong(argv[0], "no word is taken, and '%s' is one; `mire compare` compares two versions", argv[1]);
    if (!o.app || !*o.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    status = ask(&body, &o, "versions");
    return status || o.json ? status : show_versions(&body, &o);
}

int cli_compare(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[VERSION [BEFORE]] [OPTION]...",
        .about =
            "Show which rates and issues became more or less frequent per session from BEFORE to VERSION. Default of "
            "VERSION: the newest version with 1,000 sessions; of BEFORE: the newest such version older than VERSION."};
    struct versions_options o = {.server = fetch_server(), .app = getenv("MIRE_APP"), .t = "14d"};
    const struct cli_option options[] = {
        {"week", .help = "compare the last seven days with the seven before, for all versions or for VERSION",
         .flag = &o.week},
        {"before", "RANGE", "compare the range --t with this one, FROM..TO in UTC, for all versions or for VERSION",
         .text = &o.range},
        {"all", .help = "all issues that changed, not only the first ten", .flag = &o.all},
        CLI_APP(o.app),
        CLI_RANGE(o.t),
        CLI_JSON(o.json),
        CLI_SERVER(o.server)};
    struct text body MIRE_SCOPED(text_fini) = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (!o.app || !*o.app)
        return cli_wrong(argv[0], "the app is missing: --app APP");
    if (argc > 3)
        return cli_wrong(argv[0], "at most two versions: the one to judge, and the one before");
    o.version = argc > 1 ? argv[1] : NULL;
    o.against = argc > 2 ? argv[2] : NULL;
    if (o.week && (o.range || o.against))
        return cli_wrong(argv[0], "--week compares two weeks: leave out --before and the second version");
    status = ask(&body, &o, "changes");
    return status || o.json ? status : show_compared(&body, &o);
}
