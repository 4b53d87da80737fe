/* links.c - short permalinks: /i/I-1042 and /r/<report id> lead to the page, /i/I-1042.md is the issue for a ticket. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/clock.h"
#include "base/text.h"
#include "document/document.h"
#include "model/resolved.h"
#include "rows/apps.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/reports.h"
#include "rows/rows.h"

#include <math.h>
#include <inttypes.h>
#include <string.h>

#define TICKET_FRAMES 40

static int redirect(struct call *call, const char *to)
{
    if (!to)
        return MIRE_FAULT_MEMORY;
    call->reply->status = 302;
    call->reply->body = "";
    reply_header(call->reply, "Location", to);
    reply_header(call->reply, "Cache-Control", "no-cache");
    return CALL_REPLIED;
}

/* Text inside `...` or a fenced block: no backtick may end it, no line may break it. */
static void add_code(struct text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '`')
            text_add(out, "'");
        else if (*text == '\n' || *text == '\r')
            text_add(out, " ");
        else
            text_append(out, text, 1);
    }
}

static void add_field(struct text *out, const char *name, const char *value, const char *more)
{
    text_printf(out, "- %s: `", name);
    add_code(out, value);
    text_add(out, "`");
    if (more && *more) {
        text_add(out, " (`");
        add_code(out, more);
        text_add(out, "`)");
    }
    text_add(out, "\n");
}

struct ticket {
    struct text *out;
    struct arena *arena;
};

static void add_frame(struct ticket *ticket, const struct resolved_location *p)
{
    add_code(ticket->out, p->function);
    text_add(ticket->out, "  ");
    add_code(ticket->out, p->image);
    if (p->line) {
        text_add(ticket->out, "  ");
        add_code(ticket->out, p->file);
        text_printf(ticket->out, ":%u", p->line);
    }
}

/* The bytes of the first suspect, and the stack with most of them. */
static void add_memory(struct ticket *ticket, const struct resolved *doc)
{
    const struct memory *memory = &doc->memory;
    size_t at = 0;

    while (at < memory->category_count && memory->found[at].rank != 1)
        at++;
    if (at == memory->category_count || !memory_stacks_of(memory, at).count)
        return;
    const struct memory_stack *stack = &memory->stacks[memory_stacks_of(memory, at).first];
    text_add(ticket->out, "\nLargest stack of `");
    add_code(ticket->out, memory->categories[at].name);
    text_printf(ticket->out, "` in the newest report, %" PRIu64 " of %" PRIu64 " bytes, innermost first:\n\n```\n",
                stack->bytes, memory->categories[at].live_bytes);
    int32_t depth = 0;
    for (uint32_t n = stack->node; n && depth < TICKET_FRAMES; n = doc->nodes[n].parent, depth++) {
        add_frame(ticket, &doc->locations[doc->nodes[n].location]);
        text_add(ticket->out, depth == stack->caller1 ? "   <- Caller1\n" : "\n");
    }
    text_add(ticket->out, "```\n");
}

static int add_stack(void *context, double weight, const void *bytes, size_t len)
{
    struct ticket *ticket = context;
    struct resolved doc;
    size_t depth = 0;

    (void)weight;
    if (resolved_decode(&doc, ticket->arena, bytes, len) != 0)
        return 0; /* the rest of the ticket is good without it */
    if (doc.memory.known) {
        add_memory(ticket, &doc);
        return 0;
    }
    text_add(ticket->out, "\nHottest stack of the newest report, innermost first:\n\n```\n");
    for (uint32_t n = doc.hot.node; n && depth < TICKET_FRAMES; n = doc.nodes[n].parent, depth++) {
        const struct resolved_location *p = &doc.locations[doc.nodes[n].location];
        uint32_t repeat = depth < doc.hot.depth ? doc.hot.repeat[depth] : 0;
        text_printf(ticket->out, "%3u/%-3zu ", repeat, doc.sample_count);
        add_frame(ticket, p);
        text_add(ticket->out, (int32_t)depth == doc.hot.caller1   ? "   <- Caller1\n"
                              : (int32_t)depth == doc.hot.caller2 ? "   <- Caller2\n"
                                                                  : "\n");
    }

    text_add(ticket->out, "```\n");
    return 0;
}

static int put_ticket(struct call *call, const struct issue_summary *f, const struct issue_facts *facts,
                      const char *slug)
{
    struct text *out = &call->reply->text;
    struct ticket ticket = {out, call->arena};
    struct issue_name name = part_issue_name(f->issue, f->subject[0]);
    char from[32], to[32];

    clock_format(from, call->view.span.from_s * 1000000);
    clock_format(to, call->view.span.to_s * 1000000);
    text_printf(out, "# %s: `", name.text);
    add_code(out, f->caller1);
    text_add(out, "`\n\n");
    add_field(out, "Caller1", f->caller1, f->caller1_location);
    add_field(out, "Caller2", f->caller2, f->caller2_image);
    text_printf(out, "- %s, %s, %s\n", f->category, f->reason, f->state);
    text_printf(out, "- Events %.0f, from %" PRId64 " reports of %" PRId64 " devices", f->totals.events,
                f->totals.reports, f->totals.devices);
    if (f->subject[0]) {
        text_printf(out, "; at most %" PRId64 " bytes of `", f->most_bytes);
        add_code(out, f->subject);
        text_printf(out, "`, on average %.0f above healthy processes\n", f->above_bytes);
    } else {
        text_printf(out, "; p50 %" PRId64 " ms, p95 %" PRId64 " ms, longest %" PRId64 " ms\n", facts->p50_ms,
                    facts->p95_ms, f->totals.longest_ms);
    }
    bool is_one = !strcmp(f->first_version, f->last_version);
    add_field(out, is_one ? "Version" : "First version", f->first_version, NULL);
    if (!is_one)
        add_field(out, "Last version", f->last_version, NULL);
    text_printf(out, "- Range %s to %s\n- Page %s/%s/%s/%s?t=%.13sZ..%.13sZ\n", from, to,
                call->api->base ? call->api->base : "", slug, f->subject[0] ? "memory" : "issues", name.text, from, to);
    int rc = rows_stacks_read(call->tx, &call->view, call->issue, NULL, 1, add_stack, &ticket);
    if (rc == 0 && text_failed(out))
        rc = MIRE_FAULT_MEMORY;
    return rc;
}

static int answer_ticket(struct call *call, const char *slug)
{
    struct issue_facts facts;
    struct issue_summary *summary;
    struct event_totals totals;
    size_t count;
    int rc = rows_summaries_read(&summary, &count, call->tx, call->arena, &call->view, &call->issue, 1);

    if (rc == 0)
        rc =
            count ? rows_event_totals_read(&totals, call->tx, call->arena, &call->view, call->issue) : MIRE_FAULT_RACED;
    if (rc == 0) {
        rows_issue_facts(&facts, &totals);
        summary->totals.devices = llround(distinct_count(&totals.sums.devices));
        rc = put_ticket(call, summary, &facts, slug);
    }
    if (rc != 0)
        return rc;
    call->reply->status = 200;
    call->reply->type = "text/markdown; charset=utf-8";
    reply_header(call->reply, "Cache-Control", "private, no-cache");
    call_etag(call->request, call->reply, call->reply->text.bytes, call->reply->text.len);
    return CALL_REPLIED;
}

/* The path of the page: "/redis/issues/I-1", "/redis/memory/M-77". */
static char *path_of(struct arena *arena, const struct home *home)
{
    return arena_printf(arena, "/%s/%s/%s", home->slug, home->memory ? "memory" : "issues",
                        part_issue_name(home->issue, home->memory).text);
}

/* An app that who asks may not see is as good as none. 0, READ_NONE, or a fault. */
static int see(struct call *call, const struct home *home)
{
    struct apps_seen seen = call_seen(call->request);
    bool may;
    int rc = rows_app_seen_read(&may, call->tx, &seen, home->app);
    if (rc)
        return rc;
    return may ? 0 : READ_NONE;
}

static int answer_issue_link(struct call *call)
{
    char *name = arena_strdup(call->arena, request_param(call->request, 0));
    struct home home;
    size_t len = name ? strlen(name) : 0;
    bool ticket = len > 3 && strcmp(name + len - 3, ".md") == 0;

    if (!name)
        return MIRE_FAULT_MEMORY;
    if (ticket)
        name[len - 3] = '\0';
    if (issue_parse(&call->issue, name) != 0)
        return call_missing(call, "\"%.*s\" is no issue; they look like I-1042 or M-77.", TEXT_CUT(name, 40));
    int rc = rows_issue_home_read(&home, call->tx, call->arena, call->issue);
    if (rc == 0)
        rc = see(call, &home);
    if (rc == READ_NONE)
        return call_missing(call, "There is no issue %.40s.", name);
    if (rc != 0)
        return rc;
    call->view.app = home.app;
    call->issue = home.issue;
    if ((rc = call_show(call)) != 0)
        return rc;
    if (ticket)
        return answer_ticket(call, home.slug);
    return redirect(call, path_of(call->arena, &home));
}

static int answer_report_link(struct call *call)
{
    const char *name = request_param(call->request, 0);
    struct home home;
    struct uuid id;

    if (!text_is_uuid(name) || !uuid_parse(&id, name, MIRE_UUID_TEXT - 1))
        return call_missing(call, "\"%.*s\" is no report id.", TEXT_CUT(name, 40));
    int rc = rows_report_home_read(&home, call->tx, call->arena, &id);
    if (rc == 0)
        rc = see(call, &home);
    if (rc == READ_NONE)
        return call_missing(call, "There is no report %s; it may not have been processed yet.", name);
    if (rc != 0)
        return rc;
    char *path = path_of(call->arena, &home);
    return redirect(call, path ? arena_printf(call->arena, "%s/reports/%s", path, name) : NULL);
}

int get_issue_link(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", NULL};
    static const struct call_kind kind = {.names = names, .answer = answer_issue_link};
    return call_run(api, request, reply, &kind);
}

int get_report_link(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_report_link};
    return call_run(api, request, reply, &kind);
}
