/* outbox.c - the statements behind outbox.h. */
#include "rows/outbox.h"
#include "rows/rows.h"

#define CHANNEL_COLUMNS "c.channel_id, c.app_id, c.kind, c.name, c.target, c.secret, c.made_by, c.made_at"

static const char *keep(bool *failed, struct arena *arena, const struct pg_rows *rows, size_t row, int column)
{
    const char *text = arena_strdup(arena, pg_text(rows, row, column));

    *failed |= !text;
    return text;
}

static int take_channel(struct outbox_channel *out, struct arena *arena, const struct pg_rows *rows, size_t row, int at)
{
    bool failed = false;

    *out = (struct outbox_channel){.channel = pg_int(rows, row, at),
                                   .app = (int32_t)pg_int(rows, row, at + 1),
                                   .kind = keep(&failed, arena, rows, row, at + 2),
                                   .name = keep(&failed, arena, rows, row, at + 3),
                                   .target = keep(&failed, arena, rows, row, at + 4),
                                   .secret = keep(&failed, arena, rows, row, at + 5),
                                   .made_by = keep(&failed, arena, rows, row, at + 6),
                                   .made_us = pg_time(rows, row, at + 7)};
    return failed ? MIRE_FAULT_MEMORY : 0;
}

int rows_channel_list(struct outbox_channel **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " CHANNEL_COLUMNS ", coalesce(f.failed_at, 'epoch'), coalesce(f.fault, '')"
                      " FROM alert_channel c LEFT JOIN LATERAL (SELECT failed_at, fault FROM alert_message m"
                      "  WHERE m.app_id = c.app_id AND m.channel_id = c.channel_id AND m.failed_at IS NOT NULL"
                      "  ORDER BY made_at DESC LIMIT 1) f ON true"
                      " WHERE c.app_id = $1 AND c.removed_at IS NULL ORDER BY c.channel_id LIMIT $2",
                      PG_INT4(app), PG_INT8(MIRE_ALERT_CHANNELS_OF_APP_MAX));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++) {
        bool failed = false;
        rc = take_channel(&(*out)[i], arena, rows, i, 0);
        (*out)[i].failed_us = pg_time(rows, i, 8);
        (*out)[i].failed_as = keep(&failed, arena, rows, i, 9);
        rc = rc || !failed ? rc : MIRE_FAULT_MEMORY;
    }
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_channel_find(struct outbox_channel *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t channel)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " CHANNEL_COLUMNS " FROM alert_channel c WHERE c.app_id = $1 AND c.channel_id = $2"
                      " AND c.removed_at IS NULL",
                      PG_INT4(app), PG_INT8(channel));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take_channel(out, arena, rows, 0, 0) : READ_NONE;
}

int rows_channel_add(struct outbox_channel *channel, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "INSERT INTO alert_channel (app_id, kind, name, target, secret, made_by)"
                      " VALUES ($1, $2, $3, $4, $5, $6) RETURNING channel_id",
                      PG_INT4(channel->app), PG_TEXT(channel->kind), PG_TEXT(channel->name), PG_TEXT(channel->target),
                      PG_TEXT(channel->secret), PG_TEXT(channel->made_by));
    if (!rc)
        channel->channel = pg_int(rows, 0, 0);
    return rc;
}

int rows_channel_remove(struct pg_tx *tx, int32_t app, int64_t channel)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "UPDATE alert_channel SET removed_at = now(), target = '-', secret = '' WHERE app_id = $1 AND channel_id = $2"
        " AND removed_at IS NULL",
        PG_INT4(app), PG_INT8(channel));
    if (rc || !pg_touched(rows))
        return rc ? rc : READ_NONE;
    return pg_query(NULL, tx,
                    "UPDATE alert_message SET failed_at = now(), fault = 'the channel was removed'"
                    " WHERE channel_id = $1 AND sent_at IS NULL AND failed_at IS NULL",
                    PG_INT8(channel));
}

int rows_message_add(struct pg_tx *tx, const struct outbox_message *message)
{
    return pg_query(
        NULL, tx,
        "INSERT INTO alert_message (message_id, app_id, alert_id, channel_id, occasion, title, body, made_at,"
        " due_at) VALUES ($1, $2, nullif($3::bigint, 0), $4, $5, $6, $7, $8, $8)",
        PG_UUID(&message->id), PG_INT4(message->app), PG_INT8(message->alert), PG_INT8(message->channel),
        PG_TEXT(message->occasion), PG_TEXT(message->title), PG_TEXT(message->body), PG_TIME(message->made_us));
}

#define MESSAGE_COLUMNS                                                                                                \
    "m.message_id, m.app_id, coalesce(m.alert_id, 0), m.channel_id, m.occasion, m.title, m.body, m.made_at, m.due_at," \
    " coalesce(m.sent_at, 'epoch'), coalesce(m.failed_at, 'epoch'), m.tries, m.fault"

static int take_message(struct outbox_message *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    bool failed = false;

    *out = (struct outbox_message){.id = pg_uuid(rows, row, 0),
                                   .app = (int32_t)pg_int(rows, row, 1),
                                   .alert = pg_int(rows, row, 2),
                                   .channel = pg_int(rows, row, 3),
                                   .occasion = keep(&failed, arena, rows, row, 4),
                                   .title = keep(&failed, arena, rows, row, 5),
                                   .body = keep(&failed, arena, rows, row, 6),
                                   .made_us = pg_time(rows, row, 7),
                                   .due_us = pg_time(rows, row, 8),
                                   .sent_us = pg_time(rows, row, 9),
                                   .failed_us = pg_time(rows, row, 10),
                                   .tries = (int32_t)pg_int(rows, row, 11),
                                   .fault = keep(&failed, arena, rows, row, 12)};
    return failed ? MIRE_FAULT_MEMORY : 0;
}

int rows_message_claim(struct outbox_message *out, struct pg_tx *tx, struct arena *arena, int64_t now_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " MESSAGE_COLUMNS ", " CHANNEL_COLUMNS " FROM alert_message m JOIN alert_channel c USING"
                      " (channel_id) WHERE m.sent_at IS NULL AND m.failed_at IS NULL AND m.due_at <= $1"
                      " AND NOT EXISTS (SELECT FROM alert_message e WHERE e.alert_id = m.alert_id AND e.channel_id ="
                      "  m.channel_id AND e.message_id < m.message_id AND e.sent_at IS NULL AND e.failed_at IS NULL)"
                      " ORDER BY m.due_at, m.message_id LIMIT 1 FOR UPDATE OF m SKIP LOCKED",
                      PG_TIME(now_us));
    if (rc || !pg_row_count(rows))
        return rc;
    rc = take_message(out, arena, rows, 0);
    if (!rc)
        rc = take_channel(&out->to, arena, rows, 0, 13);
    return rc ? rc : 1;
}

int rows_message_wait(int64_t *out, struct pg_tx *tx, int64_t now_us, int64_t most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(ceil(extract(epoch FROM min(due_at) - $1::timestamptz) * 1000), $2)::bigint"
                      " FROM alert_message WHERE sent_at IS NULL AND failed_at IS NULL AND due_at > $1",
                      PG_TIME(now_us), PG_INT8(most));
    if (!rc) {
        *out = pg_int(rows, 0, 0);
        *out = *out > most ? most : *out;
    }
    return rc;
}

int rows_message_sent(struct pg_tx *tx, const struct uuid *id, int64_t now_us)
{
    return pg_query(NULL, tx, "UPDATE alert_message SET sent_at = $2, fault = '' WHERE message_id = $1", PG_UUID(id),
                    PG_TIME(now_us));
}

int rows_message_failed(struct pg_tx *tx, const struct uuid *id, int64_t now_us, int64_t due_us, const char *fault)
{
    return pg_query(
        NULL, tx,
        "UPDATE alert_message SET tries = tries + 1, fault = $4, due_at = CASE WHEN $3::timestamptz = 'epoch'"
        " THEN due_at ELSE $3 END, failed_at = CASE WHEN $3 = 'epoch' THEN $2::timestamptz END"
        " WHERE message_id = $1",
        PG_UUID(id), PG_TIME(now_us), PG_TIME(due_us), PG_TEXT(fault));
}

int rows_message_list(struct outbox_message **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int limit)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " MESSAGE_COLUMNS ", c.name FROM alert_message m JOIN alert_channel c USING (channel_id)"
                      " WHERE m.app_id = $1 ORDER BY m.made_at DESC, m.message_id DESC LIMIT $2",
                      PG_INT4(app), PG_INT8(limit));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++) {
        bool failed = false;
        rc = take_message(&(*out)[i], arena, rows, i);
        (*out)[i].channel_name = keep(&failed, arena, rows, i, 13);
        rc = rc || !failed ? rc : MIRE_FAULT_MEMORY;
    }
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_message_count(int64_t *waiting_out, int64_t *failed_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT count(*) FILTER (WHERE sent_at IS NULL AND failed_at IS NULL),"
                      " count(*) FILTER (WHERE failed_at IS NOT NULL) FROM alert_message");
    if (!rc) {
        *waiting_out = pg_int(rows, 0, 0);
        *failed_out = pg_int(rows, 0, 1);
    }
    return rc;
}
