/* call.c - what all answers of the API have in common. */
#include "api/call.h"

#include "api/csv.h"
#include "api/slow.h"

#include "base/clock.h"
#include "base/hash.h"
#include "access/access.h"
#include "api/body.h"
#include "api/params.h"
#include "base/id.h"
#include "base/text.h"
#include "model/category.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/demo.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/replica.h"
#include "rows/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SPAN "14d"
#define QUERY_WORDS  16
#define QUERY_BYTES  200
#define WIDE_DAYS    100 /* a query over a longer range is expensive */
#define DAY_S        86400

static const char *const states[] = {"open", "regressed", "resolved", "ignored", NULL};

void call_etag(struct request *request, struct reply *reply, const void *body, size_t len)
{
    uint8_t hash[16];
    char hex[33];
    const char *known = request_header(request, "If-None-Match");

    hash_blake2b(hash, sizeof hash, body, len);
    hex_format(hex, hash, sizeof hash);
    reply_header(reply, "ETag", arena_printf(request->arena, "\"%s\"", hex));
    if (reply->status != 200 || !known || (strcmp(known, "*") != 0 && !strstr(known, hex)))
        return;
    text_fini(&reply->text);
    reply->status = 304;
    reply->type = NULL;
    reply->body = "";
    reply->body_len = 0;
}

int call_refuse(struct call *call, const char *name, const char *allowed)
{
    const char *value = request_query(call->request, name);
    reply_error(call->reply, call->request, 400, "parameter", "Parameter %s is \"%.*s\"; allowed: %s.", name,
                TEXT_CUT(value ? value : "", 60), allowed);
    return CALL_REPLIED;
}

int call_missing(struct call *call, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    reply_error(call->reply, call->request, 404, NULL, "%s", text);
    return CALL_REPLIED;
}

int call_problem(struct call *call, int status, const char *code, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    reply_error(call->reply, call->request, status, code, "%s", text);
    return CALL_REPLIED;
}

int call_body(void *out, struct call *call, const struct bind_field *fields, size_t count, const char *about)
{
    int rc = body_read(out, call->request, call->reply, fields, count, about);

    return rc == 1 ? CALL_REPLIED : rc;
}

struct apps_seen call_seen(const struct request *request)
{
    const struct http_grant *grant = &request->grant;
    bool is_local = grant->via && !strcmp(grant->via, "local");

    return (struct apps_seen){
        .all = is_local || grant->role == MIRE_ACCESS_SERVER, .app = grant->app_id, .account = grant->account_id};
}

int audit_request(struct pg_tx *tx, const struct request *request, const struct audit_row *row)
{
    struct audit_row whole = *row;
    char address[MIRE_HTTP_PEER_TEXT];

    http_peer_format(address, &request->grant.client);
    whole.who = request->grant.who ? request->grant.who : "";
    whole.via = request->grant.via ? request->grant.via : "nobody";
    whole.address = address;
    return rows_audit_add(tx, &whole);
}

int call_audit(struct call *call, const struct audit_row *row)
{
    struct audit_row whole = *row;

    whole.app = call->view.app;
    return audit_request(call->tx, call->request, &whole);
}

int call_integer(int64_t *out, struct call *call, const char *name, int64_t low, int64_t high, int64_t otherwise)
{
    const char *text = request_query(call->request, name);

    *out = otherwise;
    if (!text || integer_parse(out, text, low, high) == 0)
        return 0;
    return call_refuse(call, name,
                       arena_printf(call->arena, "a whole number from %lld to %lld", (long long)low, (long long)high));
}

/* With its end, so that two texts in a row are not one. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    return fnv_bytes(h, text, strlen(text) + 1);
}

uint64_t call_query_hash(const struct call *call)
{
    const struct request *q = call->request;
    uint64_t h = hash_text(MIRE_HASH_START, q->path);

    for (size_t i = 0; i < q->query_count; i++) {
        uint64_t one = hash_text(hash_text(MIRE_HASH_START, q->query[i].name), q->query[i].value);
        if (strcmp(q->query[i].name, "cursor") != 0 && strcmp(q->query[i].name, "limit") != 0)
            h += one * 0x9e3779b97f4a7c15u; /* whatever the order */
    }
    return h;
}

static const char *const *names_of(const struct call_kind *kind)
{
    static const char *const none[] = {NULL};
    return kind->names ? kind->names : none;
}

static int check_names(struct call *call, const struct call_kind *kind)
{
    const char *const *names = names_of(kind);
    const struct request *q = call->request;

    for (size_t i = 0; i < q->query_count; i++) {
        const char *name = q->query[i].name;
        size_t n = 0;
        while (names[n] && strcmp(names[n], name) != 0)
            n++;
        bool is_format = kind->table && (!strcmp(name, "format") || !strcmp(name, "table"));
        bool twice = false;
        for (size_t k = 0; k < i; k++)
            twice |= strcmp(q->query[k].name, name) == 0;
        if ((names[n] || is_format) && !twice)
            continue;
        char known[200] = "";
        for (n = 0; names[n]; n++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", n ? ", " : "", names[n]);
        reply_error(call->reply, call->request, 400, "parameter",
                    twice ? "Parameter %.*s is given twice." : "Parameter %.*s is unknown; known: %s.",
                    TEXT_CUT(name, 60), names[0] ? known : "none");
        return CALL_REPLIED;
    }

    return 0;
}

static int read_filter(struct filter *out, struct call *call, const char *name, const char *const *allowed,
                       const char *words)
{
    const char *text = request_query(call->request, name);

    if (!text || filter_parse(out, call->arena, text, allowed) == 0)
        return 0;
    return call_refuse(call, name, words);
}

/* Kinds by name. Without any that is wanted, what is nobody's trouble is left out where kinds can be chosen. */
static int read_kinds(struct call *call, const char *const *names)
{
    static const char wanted[] = "hang, launch, background, killed, threads, cpu, power, disk, frames, foom, memory, "
                                 "crash, custom, test, system, idle, !x to exclude";
    const char *kinds[MIRE_CATEGORY_COUNT + 1] = {NULL};
    struct filter *filter = &call->view.kind;
    bool choice = false;

    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++)
        kinds[i] = category_name((enum event_category)i);
    int rc = read_filter(filter, call, "kind", kinds, wanted);
    for (; *names; names++)
        choice |= strcmp(*names, "kind") == 0;
    if (rc || !choice || filter->with_count)
        return rc;
    const char **without = arena_array(call->arena, filter->without_count + MIRE_CATEGORY_COUNT, sizeof *without);
    if (!without)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < filter->without_count; i++)
        without[i] = filter->without[i];
    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++)
        if (category_is_apart((enum event_category)i))
            without[filter->without_count++] = category_name((enum event_category)i);
    filter->without = without;
    return 0;
}

static int read_words(struct call *call)
{
    const char *text = request_query(call->request, "q");
    char *copy, *word;

    if (!text)
        return 0;
    if (strlen(text) > QUERY_BYTES || !(copy = arena_strdup(call->arena, text)) ||
        !(call->view.words = arena_array(call->arena, QUERY_WORDS, sizeof *call->view.words)))
        return call_refuse(call, "q", "at most 200 bytes");
    while ((word = strsep(&copy, " \t")))
        if (*word && call->view.word_count == QUERY_WORDS)
            return call_refuse(call, "q", "at most 16 words");
        else if (*word)
            call->view.words[call->view.word_count++] = word;
    return 0;
}

static int read_facets(struct call *call)
{
    int rc = 0;

    for (int i = 0; !rc && i < VIEW_FACETS; i++)
        rc = read_filter(&call->view.facets[i], call, view_facet_names[i], NULL,
                         "up to 64 values with commas between, !x to exclude; a comma in a value is \\,");
    return rc;
}

static int read_view(struct call *call, const char *const *names)
{
    const char *t = request_query(call->request, "t");
    int rc;

    call->view.now_us = call->api->now_us();
    if (span_parse(&call->view.span, t ? t : DEFAULT_SPAN, call->api->now_us() / 1000000) != 0)
        return call_refuse(
            call, "t", "30m, 24h, 14d, or FROM..TO in UTC such as 2026-11-01T00Z..2026-11-08T00Z, ten years at most");
    if ((rc = read_filter(&call->view.version, call, "v", NULL,
                          "up to 64 versions with commas between, !x to exclude")) ||
        (rc = read_kinds(call, names)) ||
        (rc = read_filter(&call->view.state, call, "state", states,
                          "open, regressed, resolved, ignored, !x to exclude")))
        return rc;
    return read_words(call);
}

int call_show(struct call *call)
{
    int rc = rows_issue_now_read(&call->issue, call->tx);
    return rc ? rc : rows_shown_read(&call->issue, &call->view.many, call->tx, call->view.app, call->issue);
}

int call_no_issue(struct call *call)
{
    return call_missing(call, "App %s has no issue %.40s.", call->slug, request_param(call->request, 1));
}

int call_summary(struct issue_summary **out, struct call *call)
{
    size_t count;
    int rc = rows_summaries_read(out, &count, call->tx, call->arena, &call->view, &call->issue, 1);

    return rc || count ? rc : call_no_issue(call);
}

/* Nothing in the demo app is changed. */
static int refuse_demo(struct call *call)
{
    bool is_demo;
    int rc = rows_demo_is(&is_demo, call->tx, call->view.app);
    return rc || !is_demo ? rc : call_problem(call, 403, "demo.read_only", "Nothing in the demo app can be changed.");
}

static int find_issue(struct call *call)
{
    bool is_of;
    int rc = call_show(call);

    if (!rc)
        rc = rows_issue_is_of(&is_of, call->tx, call->view.app, call->issue);
    return rc || is_of ? rc : call_no_issue(call);
}

static int find_path(struct call *call, const struct call_kind *kind)
{
    if (!kind->has_app)
        return 0;
    call->slug = request_param(call->request, 0);
    int rc = rows_app_read(&call->view.app, call->tx, call->slug);
    if (rc == READ_NONE)
        return call_missing(call, "There is no app \"%.*s\".", TEXT_CUT(call->slug, 63));
    if (rc == 0 && kind->has_issue && issue_parse(&call->issue, request_param(call->request, 1)) != 0)
        return call_missing(call, "\"%.*s\" is no issue; they look like I-1042 or M-77.",
                            TEXT_CUT(request_param(call->request, 1), 40));
    if (rc == 0 && kind->writes)
        rc = refuse_demo(call);
    return rc == 0 && kind->has_issue ? find_issue(call) : rc;
}

/* Begin reading from the replica. 0, or a fault if the replica is away or behind. */
static int begin_on_replica(struct call *call, enum pg_mode mode)
{
    MIRE_SCOPED(pg_end) struct pg_tx *origin = NULL;
    struct rows_seen all, seen;
    int rc = pg_begin(&origin, call->api->pg, MIRE_PG_EACH);

    if (!rc)
        rc = rows_seen_read(&all, origin);
    if (!rc)
        rc = pg_begin(&call->tx, call->api->replica, mode);
    if (!rc)
        rc = rows_seen_read(&seen, call->tx);
    if (!rc && !rows_seen_is_close(&seen, &all))
        rc = MIRE_FAULT_RACED;
    if (rc)
        pg_end(&call->tx);
    return rc;
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

static void question_of(struct slow_question *out, const struct call *call, const struct call_kind *kind)
{
    *out = (struct slow_question){.days = (int)((call->view.span.to_s - call->view.span.from_s + DAY_S - 1) / DAY_S)};
    snprintf(out->pattern, sizeof out->pattern, "%s", call->request->route->pattern);
    snprintf(out->app, sizeof out->app, "%s", kind->has_app ? request_param(call->request, 0) : "");
}

/* Is the request in the lane that cheap questions run in, and could it run in another? */
static bool is_quick(const struct call *call, const struct call_kind *kind)
{
    return call->request->may_block && call->request->lane == MIRE_LANE_QUICK && !kind->writes;
}

/* Begin the transaction. 0, CALL_EXPENSIVE, or a fault. */
static int begin(struct call *call, const struct call_kind *kind, const struct slow_question *question)
{
    enum pg_mode mode = kind->writes ? MIRE_PG_WRITE : MIRE_PG_READ;
    if (is_quick(call, kind)) {
        if (question->days > WIDE_DAYS || slow_is_known(call->api->slow, question, call->view.now_us))
            return CALL_EXPENSIVE;
        mode = MIRE_PG_GLANCE;
    }
    call->is_on_replica = !kind->writes && call->may_use_replica && pg_health(call->api->replica) == MIRE_PG_WELL &&
                          !begin_on_replica(call, mode);
    return call->is_on_replica ? 0 : pg_begin(&call->tx, call->api->pg, mode);
}

/* Ask, and remember the question if that took long. 0, CALL_REPLIED, CALL_EXPENSIVE, or a fault. */
static int ask(struct call *call, const struct call_kind *kind)
{
    struct slow_question question;
    uint64_t begun_ns = clock_mono_ns();
    question_of(&question, call, kind);
    int rc = begin(call, kind, &question);
    if (rc)
        return rc;
    rc = find_path(call, kind);
    if (rc == 0)
        rc = kind->answer(call);
    pg_end(&call->tx);
    if (!kind->writes)
        slow_note(call->api->slow, &question, (int64_t)((clock_mono_ns() - begun_ns) / 1000), call->view.now_us);
    return rc == MIRE_FAULT_TIMEOUT && is_quick(call, kind) ? CALL_EXPENSIVE : rc;
}

/* Find the list of an answer that is wanted as a table. 0, CALL_REPLIED or a fault. */
static int choose_table(struct call *call, const struct call_kind *kind)
{
    const char *wanted = request_query(call->request, "table"), *at = kind->table ? kind->table : "";

    if (!kind->table || (!wanted && !strchr(at, ' ')))
        return 0;
    while (*at && wanted && (strncmp(at, wanted, strlen(wanted)) != 0 || !strchr(".: ", at[strlen(wanted)]))) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (!*at)
        return call_refuse(call, "table", kind->table);
    call->table = arena_copy(call->arena, at, strcspn(at, " "));
    return call->table ? 0 : MIRE_FAULT_MEMORY;
}

/* Forget what a handler has written: it is called again. */
static void clear_reply(struct reply *reply)
{
    text_fini(&reply->text);
    *reply = (struct reply){0};
}

static int answer(struct call *call, const struct call_kind *kind)
{
    int rc = check_names(call, kind);
    const char *format = kind->table ? request_query(call->request, "format") : NULL;
    if (rc == 0 && format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
        rc = call_refuse(call, "format", "json, csv");
    if (rc == 0)
        rc = choose_table(call, kind);
    if (rc == 0)
        rc = read_view(call, names_of(kind));
    if (rc == 0 && kind->has_facets)
        rc = read_facets(call);
    if (rc == 0)
        rc = ask(call, kind);
    if (rc == 0 && call->json.failed)
        return MIRE_FAULT_MEMORY;
    return rc;
}

/* The list of the answer as a table. */
static int reply_csv(struct call *call, const char *table)
{
    struct reply *reply = call->reply;

    text_fini(&reply->text);
    int rc = csv_table(&reply->text, call->json.text, call->json.len, table);
    free(call->json.text);
    if (rc)
        return rc;
    reply->status = 200;
    reply->type = "text/csv; charset=utf-8";
    reply_header(reply, "Content-Disposition", "attachment; filename=\"mire.csv\"");
    reply_header(reply, "Cache-Control", "private, no-store");
    return MIRE_HTTP_DONE;
}

int call_run(void *api, struct request *request, struct reply *reply, const struct call_kind *kind)
{
    struct call call = {.api = api, .request = request, .reply = reply, .arena = request->arena};

    call.may_use_replica = call.api->replica != NULL;
    json_write_begin(&call.json);
    int rc = answer(&call, kind);
    if (rc < 0 && call.is_on_replica) { /* PostgreSQL cancels statements that hold up the replica's replay */
        free(call.json.text);
        clear_reply(reply);
        call = (struct call){.api = api, .request = request, .reply = reply, .arena = request->arena};
        json_write_begin(&call.json);
        rc = answer(&call, kind);
    }
    if (rc != 0) {
        free(call.json.text);
        if (rc == CALL_LATER)
            return kind->later(&call);
        if (rc == CALL_EXPENSIVE)
            clear_reply(reply);
        return rc == CALL_REPLIED ? MIRE_HTTP_DONE : rc == CALL_EXPENSIVE ? MIRE_HTTP_EXPENSIVE : rc;
    }
    const char *format = kind->table ? request_query(request, "format") : NULL;
    if (format && !strcmp(format, "csv"))
        return reply_csv(&call, call.table ? call.table : kind->table);
    text_fini(&reply->text);
    reply->text = (struct text){.bytes = call.json.text, .len = call.json.len, .room = call.json.room};
    rc = reply_json(reply, 200);
    reply_header(reply, "Cache-Control", "private, no-cache");
    call_etag(request, reply, reply->text.bytes, reply->text.len);
    return rc;
}
