/* watch.c - see watch.h. */
#include "alert/watch.h"
#include "alert/message.h"
#include "alert/points.h"

#include "base/fault.h"
#include "base/log.h"
#include "pg/pg.h"
#include "rows/alert.h"
#include "rows/outbox.h"

#include <string.h>

#define ARENA_BYTES (256u << 20)
#define RECENT      2 /* windows that are judged: if the newest is undecided, the one before counts */
#define US          1000000ll
#define LIMIT       "SET LOCAL statement_timeout = '20s'"

struct watch {
    struct pg_tx *tx;
    struct arena arena;
    const struct log *log;
    const char *base, *slug;
    const struct alert_budget *budget;
    struct alert_rule rule;
    int64_t now_us;
    bool is_mute;
    struct alert_row *open;
    size_t open_count;
    struct outbox_channel *channels;
    size_t channel_count;
    bool has_channels; /* they were read */
    size_t written;    /* messages about the alert at hand */
};

/* --- messages --- */

static bool is_among(int64_t channel, const int64_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == channel)
            return true;
    return false;
}

static int write_one(struct watch *w, const struct alert_row *alert, const struct outbox_channel *channel,
                     const struct alert_text *text)
{
    struct alert_text own = *text;
    char token[MIRE_ACK_TOKEN];

    uuid_make(&own.id, w->now_us);
    if (strcmp(text->occasion, "over") != 0) {
        alert_ack_token(token, alert->ack_key, alert->alert, channel->channel, w->now_us / US + MIRE_ACK_S);
        own.ack_url = arena_printf(&w->arena, "%s/-/ack#%s", w->base, token);
    }
    const char *body = alert_body(&w->arena, channel->kind, &own);
    if (!body)
        return MIRE_FAULT_MEMORY;
    w->written++;
    return rows_message_add(w->tx, &(struct outbox_message){.id = own.id,
                                                            .app = alert->app,
                                                            .alert = alert->alert,
                                                            .channel = channel->channel,
                                                            .occasion = own.occasion,
                                                            .title = own.title,
                                                            .body = body,
                                                            .made_us = w->now_us});
}

static int notify(struct watch *w, const struct alert_row *alert, const char *occasion, const int64_t *list,
                  uint32_t count, bool all)
{
    struct alert_text text;
    int rc = alert_text_of(&text, &w->arena, alert, w->rule.name, w->rule.kind, w->slug, occasion);

    if (!rc && !w->has_channels)
        rc = rows_channel_list(&w->channels, &w->channel_count, w->tx, &w->arena, w->rule.app);
    w->has_channels = !rc;
    text.at_us = w->now_us;
    text.url = arena_printf(&w->arena, "%s%s", w->base, alert->page);
    if (!rc && !text.url)
        rc = MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < w->channel_count; i++)
        if (all || is_among(w->channels[i].channel, list, count))
            rc = write_one(w, alert, &w->channels[i], &text);
    return rc;
}

static int notify_all(struct watch *w, const struct alert_row *alert, unsigned due)
{
    const struct alert_rule *rule = &w->rule;
    bool all = !rule->notify_count;
    int rc = 0;

    w->written = 0;
    if (due & ALERT_NOTIFY_FIRED)
        rc = notify(w, alert, "fired", rule->notifies, rule->notify_count, all);
    if (!rc && due & ALERT_NOTIFY_AGAIN)
        rc = notify(w, alert, "again", rule->notifies, rule->notify_count, all);
    if (!rc && due & ALERT_NOTIFY_ESCALATED)
        rc = notify(w, alert, "escalated", rule->escalates, rule->escalate_count, false);
    if (!rc && due & ALERT_NOTIFY_OVER && rule->kind != ALERT_NEW) /* the end of being new is no news */
        rc = notify(w, alert, "over", rule->notifies, rule->notify_count, all);
    if (!rc && w->written)
        log_event(w->log, MIRE_LOG_INFO, due & ALERT_NOTIFY_OVER ? "alert.over" : "alert.notified",
                  LOG_TEXT("app", w->slug), LOG_TEXT("rule", rule->name), LOG_NUMBER("alert", alert->alert),
                  LOG_TEXT("what", alert->verdict));
    return rc;
}

/* --- judging --- */

/* The line of the fortnight before, in windows of the rule. */
static int fill_spark(struct watch *w, struct alert_row *alert)
{
    double values[MIRE_SPARK_PARTS];
    char spark[MIRE_SPARK_BYTES];
    struct alert_points points;
    int rc = alert_points_read(&points, w->tx, &w->arena, &w->rule, w->budget, w->now_us, MIRE_SPARK_PARTS);
    int64_t last_s = 0;

    if (rc)
        return rc == MIRE_ALERT_WRONG ? 0 : rc;
    for (size_t i = 0; i < MIRE_SPARK_PARTS; i++)
        values[i] = -1;
    for (size_t i = 0; i < points.count; i++)
        last_s = points.points[i].at_s > last_s ? points.points[i].at_s : last_s;
    for (size_t i = 0; i < points.count; i++) {
        const struct alert_point *p = &points.points[i];
        int64_t back = (last_s - p->at_s) / points.part_s;
        if (!strcmp(p->subject, alert->subject) && p->rate.known && back >= 0 && back < MIRE_SPARK_PARTS)
            values[MIRE_SPARK_PARTS - 1 - back] = p->rate.value;
    }
    alert_spark(spark, values, MIRE_SPARK_PARTS);
    alert->spark = arena_strdup(&w->arena, spark);
    return alert->spark ? 0 : MIRE_FAULT_MEMORY;
}

static int describe(struct watch *w, struct alert_row *alert, const struct alert_point *point)
{
    alert->value = point->rate.value;
    alert->low = point->rate.low;
    alert->high = point->rate.high;
    alert->bound = point->bound;
    alert->verdict = alert_verdict_text(&w->arena, &w->rule, point);
    alert->page = alert_page_path(&w->arena, &w->rule, point, w->slug, w->now_us);
    return alert->verdict && alert->page ? 0 : MIRE_FAULT_MEMORY;
}

/* `point` is NULL when the subject has no values any more. */
static int move_on(struct watch *w, struct alert_row *alert, enum alert_verdict verdict,
                   const struct alert_point *point)
{
    unsigned due = alert_step(&alert->state, &w->rule, verdict, w->is_mute, w->now_us);
    int rc = 0;

    if (!alert->state.began_us)
        return 0;
    if (point && verdict != ALERT_UNKNOWN)
        rc = describe(w, alert, point);
    if (!rc && (due || !alert->alert))
        rc = fill_spark(w, alert);
    if (!rc && due)
        alert->notifications++;
    if (!rc)
        rc = rows_alert_put(alert, w->tx);
    if (!rc)
        rc = notify_all(w, alert, due);
    if (rc || !(due & ALERT_NOTIFY_FIRED) || w->written)
        return rc;
    alert->state.notified_us = 0; /* there is no channel yet; the message is sent when there is one */
    alert->notifications = 0;
    return rows_alert_put(alert, w->tx);
}

static struct alert_row *open_of(struct watch *w, const char *subject)
{
    for (size_t i = 0; i < w->open_count; i++)
        if (!strcmp(w->open[i].subject, subject))
            return &w->open[i];
    return NULL;
}

/* The newest window with a verdict. */
static enum alert_verdict newest(const struct alert_point **out, enum alert_kind kind, const struct alert_point *points,
                                 size_t count)
{
    for (size_t i = count; i-- > 0;) {
        enum alert_verdict verdict = alert_judge(kind, &points[i]);
        *out = &points[i];
        if (verdict != ALERT_UNKNOWN)
            return verdict;
    }
    return ALERT_UNKNOWN;
}

static int judge(struct watch *w, const struct alert_points *points)
{
    bool *seen = arena_array(&w->arena, w->open_count + 1, sizeof *seen);
    int rc = seen ? 0 : MIRE_FAULT_MEMORY;

    for (size_t i = 0, end; !rc && i < points->count; i = end) {
        const struct alert_point *point = NULL;
        const char *subject = points->points[i].subject;
        for (end = i; end < points->count && !strcmp(points->points[end].subject, subject);)
            end++;
        enum alert_verdict verdict = newest(&point, w->rule.kind, points->points + i, end - i);
        struct alert_row *alert = open_of(w, subject);
        struct alert_row fresh = {
            .rule = w->rule.rule, .app = w->rule.app, .subject = subject, .verdict = "", .spark = "", .page = ""};
        if (alert)
            seen[alert - w->open] = true;
        rc = move_on(w, alert ? alert : &fresh, verdict, point);
    }
    for (size_t i = 0; !rc && i < w->open_count; i++)
        if (!seen[i])
            rc = move_on(w, &w->open[i], ALERT_CLEAR, NULL);
    return rc;
}

/* --- one rule --- */

static int look(struct watch *w)
{
    struct alert_points points;
    int rc = alert_points_read(&points, w->tx, &w->arena, &w->rule, w->budget, w->now_us, RECENT);

    if (!rc)
        rc = rows_alert_open(&w->open, &w->open_count, w->tx, &w->arena, w->rule.rule);
    return rc ? rc : judge(w, &points);
}

/* A rule that cannot be judged shows the reason on its page, and the others are judged. */
static int look_safely(struct watch *w)
{
    const char *why = "";
    int rc = pg_save(w->tx);

    if (!rc)
        rc = look(w);
    if (rc == MIRE_FAULT_SQL || rc == MIRE_FAULT_TIMEOUT || rc == MIRE_FAULT_MEMORY || rc == MIRE_ALERT_WRONG) {
        why = rc == MIRE_ALERT_WRONG ? "the view of the rule cannot be read" : fault_name(rc);
        log_event(w->log, MIRE_LOG_WARN, "alert.not_judged", LOG_TEXT("app", w->slug), LOG_TEXT("rule", w->rule.name),
                  LOG_TEXT("why", why));
        rc = pg_undo(w->tx);
    }
    return rc ? rc : rows_alert_rule_looked(w->tx, w->rule.rule, w->now_us, why);
}

/* 1: one was judged, 0: none is due, below zero a fault. */
static int watch_one(struct watch *w, struct pg *pg, int32_t every_s)
{
    int minute;
    int rc = pg_begin(&w->tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = pg_query(NULL, w->tx, LIMIT);
    int found = rc ? rc : rows_alert_rule_claim(&w->rule, &w->slug, &minute, w->tx, &w->arena, w->now_us, every_s);
    if (found <= 0)
        return found;
    w->is_mute = alert_is_quiet(&w->rule, minute) || w->rule.snoozed_us > w->now_us;
    rc = look_safely(w);
    if (!rc)
        rc = pg_commit(&w->tx);
    return rc ? rc : 1;
}

static int add_defaults(struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_alert_defaults(tx);
    return rc ? rc : pg_commit(&tx);
}

int alert_watch(struct pg *pg, const struct log *log, const char *base, const struct alert_budget *budget,
                int64_t now_us, int32_t every_s)
{
    int rc = add_defaults(pg);

    while (!rc || rc == 1) {
        struct watch w = {.log = log, .base = base, .budget = budget, .now_us = now_us};
        arena_init(&w.arena, ARENA_BYTES);
        rc = watch_one(&w, pg, every_s);
        pg_end(&w.tx);
        arena_fini(&w.arena);
        if (rc <= 0)
            break;
    }
    return rc;
}

int alert_send_test(struct pg_tx *tx, struct arena *arena, const struct outbox_channel *channel, const char *slug,
                    const char *base, int64_t now_us)
{
    struct alert_text text = {.occasion = "test",
                              .app = slug,
                              .rule = "Test",
                              .kind = "test",
                              .subject = "",
                              .title = arena_printf(arena, "%s: a test of channel %s", slug, channel->name),
                              .verdict = "Mire sends alerts of this app here. Nothing is wrong.",
                              .spark = "▁▂▃▄▅▆▇█",
                              .url = arena_printf(arena, "%s/%s/alerts", base, slug),
                              .at_us = now_us};

    uuid_make(&text.id, now_us);
    const char *body = alert_body(arena, channel->kind, &text);
    if (!text.title || !text.url || !body)
        return MIRE_FAULT_MEMORY;
    return rows_message_add(tx, &(struct outbox_message){.id = text.id,
                                                         .app = channel->app,
                                                         .channel = channel->channel,
                                                         .occasion = text.occasion,
                                                         .title = text.title,
                                                         .body = body,
                                                         .made_us = now_us});
}
