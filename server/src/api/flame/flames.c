/* flames.c - the call tree of all samples in an issue's reports, or of all stacks of their live memory. */
#include "api/call.h"
#include "api/flame/export.h"
#include "api/flame/flame.h"
#include "api/handlers.h"
#include "api/params.h"
#include "document/document.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/reports.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REPORTS_MAX   2000        /* merged into one graph, newest first: under half a second */
#define UNIT_MS       2           /* after those of enum flame_of */
#define DOCUMENT_ROOM (64u << 20) /* bytes of one decoded document */

static const char *const units[] = {"bytes", "objects", "ms"};

struct merging {
    struct flame *flame;
    struct arena arena;
    unsigned unit;        /* of units */
    const char *category; /* stacks of this category only; NULL: all */
    const char *title;    /* Caller1, or the category of memory */
    double weight;        /* of the reports merged */
    int64_t reports, unreadable;
};

static void merging_fini(struct merging *m)
{
    flame_free(m->flame);
    arena_fini(&m->arena);
}

static int merge_one(void *context, double weight, const void *bytes, size_t len)
{
    struct merging *m = context;
    struct resolved doc;

    arena_reset(&m->arena);
    if (resolved_decode(&doc, &m->arena, bytes, len) != 0) {
        m->unreadable++;
        return 0;
    }
    int rc = m->unit == UNIT_MS ? flame_add(m->flame, &doc, weight)
                                : flame_add_memory(m->flame, &doc, (enum flame_of)m->unit, m->category, weight);
    m->reports += rc == 0;
    m->weight += rc == 0 ? weight : 0;
    return rc < 0 ? MIRE_FAULT_MEMORY : rc;
}

static void put_numbers(struct json_writer *w, const char *key, const struct flame_view *v, const uint32_t *numbers)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < v->count; i++)
        json_write_u64(w, NULL, numbers[i]);
    json_write_close(w, ']');
}

static void put_times(struct json_writer *w, const char *key, const struct flame_view *v, const double *times)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < v->count; i++)
        json_write_real(w, NULL, times[i]);
    json_write_close(w, ']');
}

static void put_words(struct json_writer *w, const char *key, const char *const *words, size_t count)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < count; i++)
        json_write_text(w, NULL, words[i]);
    json_write_close(w, ']');
}

static void put_view(struct json_writer *w, const struct flame_view *v)
{
    put_words(w, "names", v->names, v->name_count);
    put_words(w, "images", v->images, v->image_count);
    json_write_open(w, "roles", '[');
    for (int r = 0; r < MIRE_ROLE_COUNT; r++)
        json_write_text(w, NULL, role_name((enum role)r));
    json_write_close(w, ']');
    put_numbers(w, "name", v, v->name);
    put_numbers(w, "image", v, v->image);
    json_write_open(w, "role", '[');
    for (size_t i = 0; i < v->count; i++)
        json_write_u64(w, NULL, v->role[i]);
    json_write_close(w, ']');
    json_write_open(w, "parent", '[');
    for (size_t i = 0; i < v->count; i++)
        json_write_i64(w, NULL, v->parent[i]);
    json_write_close(w, ']');
    put_times(w, "self", v, v->self);
    put_times(w, "value", v, v->value);
    json_write_open(w, "hash", '[');
    for (size_t i = 0; i < v->count; i++) {
        char hash[17];
        snprintf(hash, sizeof hash, "%016" PRIx64, v->hash[i]);
        json_write_text(w, NULL, hash);
    }

    json_write_close(w, ']');
}

/* The formats besides JSON. */
static const struct {
    const char *name, *type, *ending;
    void (*put)(struct text *out, const struct flame_export *e);
} formats[] = {
    {"folded", "text/plain; charset=utf-8", "folded.txt", flame_folded},
    {"speedscope", "application/json", "speedscope.json", flame_speedscope},
    {"pprof", "application/octet-stream", "pb", flame_pprof},
    {"svg", "image/svg+xml", "svg", flame_svg},
};
#define FORMATS "json, folded, speedscope, pprof, svg"

/* The index of the format that is asked for; of none, or json, their number. -1: there is no such format. */
static int format_asked(const struct call *call)
{
    const char *name = request_query(call->request, "format");
    int i = 0, count = (int)(sizeof formats / sizeof *formats);

    if (!name || !strcmp(name, "json"))
        return count;
    while (i < count && strcmp(name, formats[i].name) != 0)
        i++;
    return i < count ? i : -1;
}

static int put_export(struct call *call, const struct flame_export *e, int format)
{
    struct reply *reply = call->reply;

    text_fini(&reply->text);
    formats[format].put(&reply->text, e);
    const char *disposition = arena_printf(call->arena, "attachment; filename=\"%.40s.%s\"",
                                           request_param(call->request, 1), formats[format].ending);
    if (text_failed(&reply->text) || !disposition)
        return MIRE_FAULT_MEMORY;
    reply->status = 200;
    reply->type = formats[format].type;
    reply_header(reply, "Content-Disposition", disposition);
    reply_header(reply, "Cache-Control", "private, no-cache");
    return CALL_REPLIED;
}

static int put_flame(struct call *call, struct merging *m, int64_t total, int64_t max, const uint64_t *root)
{
    struct json_writer *w = &call->json;
    struct flame_view view MIRE_SCOPED(flame_view_fini) = {0};
    int rc = flame_view_init(&view, m->flame, (size_t)max, root);

    if (rc == FLAME_NO_SUCH_ROOT)
        return call_missing(call, "No stack in this range passes the frame %s.", request_query(call->request, "root"));
    if (rc != 0)
        return MIRE_FAULT_MEMORY;
    int format = format_asked(call);
    if (format < (int)(sizeof formats / sizeof *formats)) {
        const char *title = arena_printf(call->arena, "%s %.40s: %.*s", call->slug, request_param(call->request, 1),
                                         TEXT_CUT(m->title, 200));
        return title ? put_export(call, &(struct flame_export){&view, title, units[m->unit]}, format)
                     : MIRE_FAULT_MEMORY;
    }
    json_write_open(w, NULL, '{');
    json_write_text(w, "unit", units[m->unit]);
    json_write_i64(w, "reports", m->reports);
    json_write_i64(w, "reports_total", total);
    json_write_i64(w, "reports_unreadable", m->unreadable);
    put_view(w, &view);
    json_write_close(w, '}');
    return 0;
}

static int merge(struct merging *m, struct call *call, const struct uuid *one)
{
    arena_init(&m->arena, DOCUMENT_ROOM);
    m->flame = flame_new(MIRE_FLAME_FRAMES_MAX);
    if (!m->flame)
        return MIRE_FAULT_MEMORY;
    int rc = rows_stacks_read(call->tx, &call->view, call->issue, one, REPORTS_MAX, merge_one, m);
    if (m->unit != UNIT_MS && m->weight > 0) /* average of one process, because sums mean nothing */
        flame_scale(m->flame, 1 / m->weight);
    return rc == FLAME_FULL ? 0 : rc;
}

/* The unit of memory issues is bytes, or objects on request; of other issues time. */
static int choose_unit(struct merging *m, struct call *call, const struct issue_summary *summary)
{
    const char *of = request_query(call->request, "of");
    m->category = request_query(call->request, "category");
    m->title = summary->subject[0] ? summary->subject : summary->caller1;
    m->unit = summary->subject[0] ? FLAME_OF_BYTES : UNIT_MS;
    if (of && summary->subject[0] && !strcmp(of, units[FLAME_OF_OBJECTS]))
        m->unit = FLAME_OF_OBJECTS;
    if (of && strcmp(of, units[m->unit]) != 0)
        return call_refuse(call, "of", summary->subject[0] ? "bytes, objects" : "ms");
    return 0;
}

static int answer_flame(struct call *call)
{
    const char *hash = request_query(call->request, "root"), *report = request_query(call->request, "report");
    struct merging m MIRE_SCOPED(merging_fini) = {0};
    struct event_totals totals;
    struct issue_summary *summary;
    struct uuid one;
    uint64_t root;
    int64_t max;
    int rc;

    if (format_asked(call) < 0)
        return call_refuse(call, "format", FORMATS);
    if (hash && hash_parse(&root, hash) != 0)
        return call_refuse(call, "root", "16 hex digits, a hash of the whole graph");
    if (report && !(text_is_uuid(report) && uuid_parse(&one, report, MIRE_UUID_TEXT - 1)))
        return call_refuse(call, "report", "the id of a report");
    if ((rc = call_integer(&max, call, "max", 10, 200000, 20000)) || (rc = call_summary(&summary, call)))
        return rc;
    if ((rc = choose_unit(&m, call, summary)) ||
        (rc = rows_event_totals_read(&totals, call->tx, call->arena, &call->view, call->issue)) ||
        (rc = merge(&m, call, report ? &one : NULL)))
        return rc;
    if (report && m.reports == 0)
        return call_missing(call, "Issue %.40s has no report %s in this range.", request_param(call->request, 1),
                            report);
    return put_flame(call, &m, report ? 1 : (int64_t)totals.sums.reports, max, hash ? &root : NULL);
}

int get_flame(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "report", "max", "root", "of", "category", "format", NULL};
    static const struct call_kind kind = {.names = names, .has_app = true, .has_issue = true, .answer = answer_flame};
    return call_run(api, request, reply, &kind);
}
