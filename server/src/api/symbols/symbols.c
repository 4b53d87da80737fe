/* symbols.c - GET .../symbols: which debug files an app's reports miss, and which are there. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "rows/symbol_list.h"

#define ROWS_MAX 200

static int put_missing(struct call *call)
{
    struct json_writer *w = &call->json;
    struct missing_row *rows;
    size_t count;
    int rc = rows_missing_read(&rows, &count, call->tx, call->arena, call->view.app, ROWS_MAX);

    json_write_open(w, "missing", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "build_id", rows[i].build_id);
        json_write_text(w, "name", rows[i].name);
        json_write_text(w, "arch", rows[i].arch);
        json_write_i64(w, "reports", rows[i].reports);
        json_write_i64(w, "reports_with_names", rows[i].reports_with_names);
        part_time(w, "first_seen", rows[i].first_seen_us);
        json_write_i64(w, "looks", rows[i].looks);
        if (rows[i].look_at_us)
            part_time(w, "look_at", rows[i].look_at_us);
        json_write_text(w, "answer", rows[i].answer);
        json_write_text(w, "version", rows[i].version);
        json_write_text(w, "build", rows[i].build);
        json_write_text(w, "defect", rows[i].defect);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return rc;
}

static int put_files(struct call *call)
{
    struct json_writer *w = &call->json;
    struct symbol_row *rows;
    struct symbol_sum sum;
    size_t count;

    int rc = rows_symbol_files_read(&rows, &count, &sum, call->tx, call->arena, call->view.app, ROWS_MAX);
    if (rc)
        return rc;
    json_write_i64(w, "file_count", sum.files);
    json_write_i64(w, "file_bytes", sum.bytes);
    json_write_open(w, "files", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "build_id", rows[i].build_id);
        json_write_text(w, "kind", rows[i].kind);
        json_write_text(w, "arch", rows[i].arch);
        json_write_text(w, "name", rows[i].name);
        json_write_i64(w, "size_bytes", rows[i].size_bytes);
        part_time(w, "came_at", rows[i].came_us);
        json_write_text(w, "source", rows[i].source);
        json_write_text(w, "defect", rows[i].defect);
        json_write_text(w, "depth", rows[i].depth);
        json_write_bool(w, "second", rows[i].second);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return 0;
}

static int answer_symbols(struct call *call)
{
    json_write_open(&call->json, NULL, '{');
    int rc = put_missing(call);
    if (!rc)
        rc = put_files(call);
    json_write_close(&call->json, '}');
    return rc;
}

int get_symbols(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "missing", .has_app = true, .answer = answer_symbols};
    return call_run(api, request, reply, &kind);
}
