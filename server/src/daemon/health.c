/*
 * health.c - is it well, and how much has it done.
 */
#include "daemon/health.h"

#include "access/access.h"
#include "alert/sender.h"
#include "base/fault.h"
#include "base/metric.h"
#include "daemon/space.h"
#include "inbox/inbox.h"
#include "ingest/ingest.h"
#include "live/live.h"
#include "pg/pg.h"
#include "pipeline/work.h"
#include "rows/outbox.h"
#include "rows/rollup.h"

/* By the pool's own watch, so that a health check waits for nobody. */
static int get_health(void *context, struct request *request, struct reply *reply)
{
    const struct health *health = context;
    enum pg_health found = pg_health(health->pg);
    if (found == MIRE_PG_UNKNOWN && !request->may_block)
        return MIRE_HTTP_BLOCKS;
    if (found == MIRE_PG_FROZEN)
        return reply_retry(reply, request, 2, "frozen",
                           "The database takes connections and does not answer. Is it stopped, or its disk stuck?");
    if (found == MIRE_PG_AWAY || (found == MIRE_PG_UNKNOWN && pg_ping(health->pg)))
        return reply_retry(reply, request, 2, "unavailable", "The database does not answer.");
    text_add(&reply->text, "{\"status\":\"ok\",\"database\":\"ok\",\"version\":\"" MIRE_VERSION "\"}");
    return reply_json(reply, 200);
}

/* A database that is away must not keep the other figures from being read. */
static void add_inbox(struct text *out, struct pg *pg)
{
    struct inbox_depth depth;
    int rc = inbox_depth(&depth, pg);
    metric_head(out, "mire_database_up", "gauge", "1 while the database answers.");
    metric_value(out, "mire_database_up", NULL, rc == 0);
    if (rc)
        return;
    metric_head(out, "mire_inbox_reports", "gauge", "Stored reports that wait to be processed.");
    metric_value(out, "mire_inbox_reports", NULL, (double)depth.waiting);
    metric_head(out, "mire_inbox_oldest_seconds", "gauge", "Age of the oldest of them.");
    metric_value(out, "mire_inbox_oldest_seconds", NULL, (double)depth.oldest_us / 1e6);
    metric_head(out, "mire_dead_letters", "gauge", "Reports that could not be processed.");
    metric_value(out, "mire_dead_letters", NULL, (double)depth.dead_letters);
}

static void add_rollups(struct text *out, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct rollups_waiting waiting;
    if (pg_begin(&tx, pg, MIRE_PG_READ) || rows_rollups_waiting(&waiting, tx))
        return;
    metric_head(out, "mire_rollup_deltas", "gauge", "Batches of counts that wait to be added to the rollups.");
    metric_value(out, "mire_rollup_deltas", NULL, (double)waiting.deltas);
    metric_head(out, "mire_rollup_oldest_seconds", "gauge", "Age of the oldest of them.");
    metric_value(out, "mire_rollup_oldest_seconds", NULL, (double)waiting.oldest_s);
}

static void add_outbox(struct text *out, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t waiting, failed;
    if (pg_begin(&tx, pg, MIRE_PG_READ) || rows_message_count(&waiting, &failed, tx))
        return;
    metric_head(out, "mire_alert_outbox", "gauge",
                "Messages about alerts that wait to be sent, and that were given up.");
    metric_value(out, "mire_alert_outbox", "state=\"waiting\"", (double)waiting);
    metric_value(out, "mire_alert_outbox", "state=\"given_up\"", (double)failed);
}

static int get_metrics(void *context, struct request *request, struct reply *reply)
{
    struct health *health = context;
    struct text *out = &reply->text;
    (void)request;
    metric_head(out, "mire_build_info", "gauge", "The version that runs.");
    metric_value(out, "mire_build_info", "version=\"" MIRE_VERSION "\"", 1);
    if (health->http)
        http_metrics(health->http, out);
    if (health->access)
        access_metrics(health->access, out);
    if (health->ingest)
        ingest_metrics(health->ingest, out);
    live_metrics(health->live, out);
    if (health->work)
        work_metrics(health->work, out);
    if (health->space) {
        metric_head(out, "mire_disk_free_bytes", "gauge", "Free on the disk of data_dir.");
        metric_value(out, "mire_disk_free_bytes", NULL, (double)space_free(health->space));
    }
    if (health->sender)
        sender_metrics(health->sender, out);
    add_rollups(out, health->pg);
    add_outbox(out, health->pg);
    add_inbox(out, health->pg);
    reply->status = 200;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    return MIRE_HTTP_DONE;
}

const struct http_route health_routes[] = {
    {.method = MIRE_HTTP_GET, .pattern = "/healthz", .handler = get_health, .is_inline = true},
    {.method = MIRE_HTTP_GET, .pattern = "/metrics", .handler = get_metrics},
};
const size_t health_route_count = sizeof health_routes / sizeof *health_routes;
