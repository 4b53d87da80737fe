/* document_versions.c - see document_versions.h. */
#include "api/document_versions.h"

#include "api/parts.h"
#include "rows/rekey.h"

static void put_version(struct json_writer *w, const struct rows_document_version *row)
{
    json_write_i64(w, "version", row->version);
    if (row->version)
        part_time(w, "made_at", row->made_us);
    else
        json_write_null(w, "made_at");
    json_write_text(w, "author", row->author);
    json_write_text(w, "reason", row->reason);
}

int document_versions_read(struct document_versions *out, struct call *call, enum rows_document of, const char *what)
{
    int64_t version;
    int rc = call_integer(&version, call, "version", 1, INT64_MAX, 0);

    if (rc == 0)
        rc = rows_document_find(&out->row, call->tx, call->arena, of, call->view.app, version);
    if (rc == MIRE_DOCUMENT_NONE)
        return call_missing(call, "App %s has no version %lld of its %s.", call->slug, (long long)version, what);
    if (rc == 0)
        rc = rows_document_history(&out->history, &out->count, call->tx, call->arena, of, call->view.app);
    return rc;
}

void document_versions_put(struct json_writer *w, const struct document_versions *versions)
{
    put_version(w, &versions->row);
}

void document_versions_put_history(struct json_writer *w, const struct document_versions *versions)
{
    json_write_open(w, "history", '[');
    for (size_t i = 0; i < versions->count; i++) {
        json_write_open(w, NULL, '{');
        put_version(w, &versions->history[i]);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

int document_versions_put_flows(struct json_writer *w, struct pg_tx *tx, int64_t job, int most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = rows_rekey_flows(&rows, tx, job, most);
    json_write_open(w, "flows", '[');
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct rekey_flow flow;
        rows_rekey_read_flow(&flow, rows, i);
        json_write_open(w, NULL, '{');
        json_write_i64(w, "from_issue", flow.from_issue);
        json_write_text(w, "from_caller1", flow.from_caller1);
        if (flow.to_issue)
            json_write_i64(w, "to_issue", flow.to_issue);
        else
            json_write_null(w, "to_issue");
        json_write_text(w, "caller1", flow.caller1);
        json_write_text(w, "caller2", flow.caller2);
        json_write_text(w, "category", flow.category);
        json_write_text(w, "reason", flow.reason);
        json_write_i64(w, "reports", flow.reports);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return rc;
}
