/* editions.c - see editions.h. */
#include "api/editions.h"

#include "api/parts.h"
#include "pg/rekey.h"

static void put_edition(struct json_writer *w, const struct pg_edition *row)
{
    json_write_i64(w, "version", row->version);
    if (row->version)
        part_time(w, "made_at", row->made_us);
    else
        json_write_null(w, "made_at");
    json_write_text(w, "author", row->author);
    json_write_text(w, "reason", row->reason);
}

int editions_read(struct editions *out, struct call *call, enum pg_edition_of of, const char *what)
{
    int64_t version;
    int rc = call_integer(&version, call, "version", 1, INT64_MAX, 0);

    if (rc == 0)
        rc = pg_edition_find(&out->row, call->tx, call->arena, of, call->view.app, version);
    if (rc == MIRE_EDITION_NONE)
        return call_missing(call, "App %s has no version %lld of its %s.", call->slug, (long long)version, what);
    if (rc == 0)
        rc = pg_edition_history(&out->history, &out->count, call->tx, call->arena, of, call->view.app);
    return rc;
}

void editions_put(struct json_writer *w, const struct editions *editions)
{
    put_edition(w, &editions->row);
}

void editions_put_history(struct json_writer *w, const struct editions *editions)
{
    json_write_open(w, "history", '[');
    for (size_t i = 0; i < editions->count; i++) {
        json_write_open(w, NULL, '{');
        put_edition(w, &editions->history[i]);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

int editions_put_flows(struct json_writer *w, struct pg_tx *tx, int64_t job, int most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_rekey_flows(&rows, tx, job, most);
    json_write_open(w, "flows", '[');
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct rekey_flow flow;
        pg_rekey_read_flow(&flow, rows, i);
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
