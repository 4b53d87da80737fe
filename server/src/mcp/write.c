/* write.c - answers of the API as text: one line each, since an assistant pays by the word. */
#include "mcp/inside.h"

#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

/* Append a text without the ends of lines that it may hold: a name must not begin a line. */
static void add_name(struct text *out, const char *name)
{
    for (; *name; name++)
        text_append(out, *name == '\n' || *name == '\r' ? " " : name, 1);
}

static void add_of(struct text *out, const char *before, const struct json *json, uint32_t object, const char *member)
{
    MIRE_SCOPED(free_memory) char *text = mcp_text(json, object, member);

    if (!text || !*text)
        return;
    text_add(out, before);
    add_name(out, text);
}

/* The list under a name; *at is its first element. */
static uint32_t list_of(uint32_t *at, const struct json *json, uint32_t object, const char *name)
{
    uint32_t list = object || json_kind(json, 0) == MIRE_JSON_OBJECT ? json_member(json, object, name) : 0;

    if (!list || json_kind(json, list) != MIRE_JSON_ARRAY)
        return 0;
    *at = list + 1;
    return json_size(json, list);
}

void mcp_write_apps(struct mcp_call *call, const struct json *json)
{
    uint32_t at, count = list_of(&at, json, 0, "apps");

    if (!count)
        text_add(&call->out, "There is no app.\n");
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        add_of(&call->out, "- ", json, at, "slug");
        add_of(&call->out, ": ", json, at, "name");
        text_printf(&call->out, "; %.0f reports in 24 hours", mcp_number(json, at, "reports_24h"));
        add_of(&call->out, ", the last at ", json, at, "last_seen_at");
        text_add(&call->out, "\n");
    }
}

/* "I-1 keysCommand (redis-server db.c:910) in processCommand: hang, cpu, open; 46 events, 21 devices, ..." */
static void write_issue(struct text *out, const struct json *json, uint32_t issue)
{
    uint32_t totals = json_member(json, issue, "totals");
    double most_bytes = mcp_number(json, issue, "most_bytes");

    add_of(out, "", json, issue, "id");
    add_of(out, " ", json, issue, "caller1");
    add_of(out, " (", json, issue, "caller1_image");
    add_of(out, " ", json, issue, "caller1_location");
    text_add(out, ")");
    add_of(out, " in ", json, issue, "caller2");
    add_of(out, ": ", json, issue, "category");
    add_of(out, ", ", json, issue, "reason");
    add_of(out, ", ", json, issue, "state");
    add_of(out, " in ", json, issue, "state_version");
    add_of(out, ", assigned to ", json, issue, "assignee");
    if (totals)
        text_printf(out, "; %.0f events, %.0f devices, longest %.1f s", mcp_number(json, totals, "events"),
                    mcp_number(json, totals, "devices"), mcp_number(json, totals, "longest_ms") / 1000);
    if (most_bytes > 0) {
        text_printf(out, "; at most %.0f bytes", most_bytes);
        add_of(out, " of ", json, issue, "subject");
        text_printf(out, ", on average %.0f above healthy processes", mcp_number(json, issue, "above_bytes"));
    }
    add_of(out, "; versions ", json, issue, "first_version");
    add_of(out, " to ", json, issue, "last_version");
    text_add(out, "\n");
}

void mcp_write_issues(struct mcp_call *call, const struct json *json)
{
    uint32_t group, count = list_of(&group, json, 0, "groups"), range = json_member(json, 0, "range");

    text_printf(&call->out, "%.0f groups with %.0f issues", mcp_number(json, 0, "total"),
                mcp_number(json, 0, "issues_total"));
    if (range) {
        add_of(&call->out, ", from ", json, range, "from");
        add_of(&call->out, " to ", json, range, "to");
    }
    add_of(&call->out, ", sorted by ", json, 0, "sort");
    text_add(&call->out, "\n");
    for (uint32_t i = 0; i < count; i++, group = json_next(json, group)) {
        uint32_t issue, issues = list_of(&issue, json, group, "issues");
        for (uint32_t k = 0; k < issues; k++, issue = json_next(json, issue)) {
            text_add(&call->out, k ? "  " : "- ");
            write_issue(&call->out, json, issue);
        }
    }
    add_of(&call->out, "More: call again with the cursor ", json, 0, "next");
    text_add(&call->out, "\n");
}

static void write_side(struct text *out, const char *before, const struct json *json, const char *name)
{
    uint32_t side = json_member(json, 0, name);

    text_add(out, before);
    if (!side)
        return;
    add_of(out, "version ", json, side, "version");
    text_printf(out, " (%.0f sessions", mcp_number(json, side, "sessions"));
    add_of(out, ", ", json, side, "from");
    add_of(out, " to ", json, side, "to");
    text_add(out, ")");
}

void mcp_write_changes(struct mcp_call *call, const struct json *json)
{
    uint32_t at, count = list_of(&at, json, 0, "issues");

    write_side(&call->out, "", json, "after");
    write_side(&call->out, " against ", json, "before");
    text_add(&call->out, "\n");
    if (!count)
        text_add(&call->out, mcp_number(json, json_member(json, 0, "before"), "sessions") > 0
                                 ? "No issue changed beyond chance.\n"
                                 : "There are no sessions on both sides, so nothing can be compared.\n");
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        uint32_t before = json_member(json, at, "before"), after = json_member(json, at, "after");
        uint32_t ratio = json_member(json, at, "ratio"), issue = json_member(json, at, "issue");
        if (!before || !after || !ratio || !issue)
            continue;
        add_of(&call->out, "- ", json, at, "verdict");
        if (mcp_number(json, ratio, "value") > 0)
            text_printf(&call->out, " x%.3g (%.3g to %.3g)", mcp_number(json, ratio, "value"),
                        mcp_number(json, ratio, "low"), mcp_number(json, ratio, "high"));
        text_printf(&call->out,
                    ", events per 1,000 sessions %.3g, before %.3g: ", mcp_number(json, after, "events_per_1000"),
                    mcp_number(json, before, "events_per_1000"));
        write_issue(&call->out, json, issue);
    }
    text_printf(&call->out, "%.0f issues more changed; %.0f have too few reports to tell\n",
                mcp_number(json, 0, "more"), mcp_number(json, 0, "few"));
}

static void write_rate(struct text *out, const char *name, const char *unit, const struct json *json, uint32_t row,
                       const char *member)
{
    uint32_t rate = json_member(json, row, member);

    if (rate && json_kind(json, rate) == MIRE_JSON_OBJECT)
        text_printf(out, ", %s %.3g%s (%.3g to %.3g)", name, mcp_number(json, rate, "value"), unit,
                    mcp_number(json, rate, "low"), mcp_number(json, rate, "high"));
}

static void write_rates(struct text *out, const struct json *json, uint32_t row)
{
    text_printf(out, ": %.0f sessions", mcp_number(json, row, "sessions"));
    write_rate(out, "sessions with a hang", " %", json, row, "lag_percent");
    write_rate(out, "hang time per hour", " s", json, row, "hang_s_per_hour");
    write_rate(out, "killed out of memory", " %", json, row, "foom_percent");
    write_rate(out, "killed while hung", " %", json, row, "watchdog_percent");
    write_rate(out, "crashed", " %", json, row, "crash_percent");
    text_add(out, "\n");
}

void mcp_write_rates(struct mcp_call *call, const struct json *json)
{
    uint32_t at, count = list_of(&at, json, 0, "versions"), total = json_member(json, 0, "total");

    if (total) {
        text_add(&call->out, "All versions");
        write_rates(&call->out, json, total);
    }
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        add_of(&call->out, "- ", json, at, "version");
        write_rates(&call->out, json, at);
    }
}

void mcp_write_alerts(struct mcp_call *call, const struct json *json)
{
    uint32_t at, count = list_of(&at, json, 0, "open");

    if (!count)
        text_add(&call->out, "No alert is firing.\n");
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        text_printf(&call->out, "- %.0f", mcp_number(json, at, "id"));
        add_of(&call->out, " ", json, at, "state");
        add_of(&call->out, " since ", json, at, "began_at");
        add_of(&call->out, ": ", json, at, "rule_name");
        add_of(&call->out, ". ", json, at, "verdict");
        add_of(&call->out, " Acknowledged by ", json, at, "acked_by");
        text_add(&call->out, "\n");
    }
}
