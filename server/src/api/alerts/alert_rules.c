/*
 * alert_rules.c - POST .../alerts/rules, PUT and DELETE .../alerts/rules/{rule}, POST .../alerts/rules/{rule}/snooze, and
 * POST .../alerts/replay, which tries a rule on the past month.
 */
#include "api/alerts/alerts.h"

#include "alert/points.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "base/fault.h"
#include "model/category.h"
#include "rows/alert.h"
#include "rows/audit.h"
#include "rows/outbox.h"
#include "rows/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S        86400
#define HOUR_S       3600
#define MINUTES      1440
#define SNOOZE_MAX   720 /* hours */
#define FILTER_BYTES 500

/* --- the rule of a body --- */

struct rule_asked {
    struct alert_rule rule;
    const char *kind, *measure, *against;
    uint32_t quiet_from, quiet_to;
};

static enum bind_outcome take_bound(struct bind *bind, void *out, uint32_t at)
{
    double *bound = &((struct rule_asked *)out)->rule.bound;

    *bound = json_double(bind->json, at);
    return isfinite(*bound) ? MIRE_BIND_OK : bind_wrong(bind, "must be a number");
}

static enum bind_outcome take_list(int64_t *list, uint32_t *count, struct bind *bind, uint32_t at)
{
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_ALERT_CHANNELS_MAX);

    *count = 0;
    for (uint32_t i = 0, e = at + 1; !outcome && i < json_size(bind->json, at); i++, e = json_next(bind->json, e))
        if (!json_i64(&list[(*count)++], bind->json, e))
            return bind_wrong(bind, "must be numbers of channels");
    return outcome;
}

static enum bind_outcome take_notifies(struct bind *bind, void *out, uint32_t at)
{
    struct alert_rule *rule = &((struct rule_asked *)out)->rule;
    return take_list(rule->notifies, &rule->notify_count, bind, at);
}

static enum bind_outcome take_escalates(struct bind *bind, void *out, uint32_t at)
{
    struct alert_rule *rule = &((struct rule_asked *)out)->rule;
    return take_list(rule->escalates, &rule->escalate_count, bind, at);
}

#define AT(member) offsetof(struct rule_asked, member)
static const struct bind_field rule_fields[] = {
    {"name", MIRE_BIND_TEXT, AT(rule.name), .required = true, .max = MIRE_ALERT_NAME_MAX},
    {"kind", MIRE_BIND_TEXT, AT(kind), .required = true, .max = 16},
    {"measure", MIRE_BIND_TEXT, AT(measure), .max = 16},
    {"scope", MIRE_BIND_TEXT, AT(rule.scope), .max = 16},
    {"versions", MIRE_BIND_TEXT, AT(rule.versions), .max = FILTER_BYTES},
    {"kinds", MIRE_BIND_TEXT, AT(rule.kinds), .max = FILTER_BYTES},
    {"channel", MIRE_BIND_TEXT, AT(rule.channel), .max = FILTER_BYTES},
    {"against", MIRE_BIND_TEXT, AT(against), .max = 16},
    {"bound", MIRE_BIND_OTHER, 0, .read = take_bound},
    {"window_s", MIRE_BIND_U32, AT(rule.window_s), .max = 30 * DAY_S},
    {"hold_s", MIRE_BIND_U32, AT(rule.hold_s), .max = 7 * DAY_S},
    {"repeat_s", MIRE_BIND_U32, AT(rule.repeat_s), .max = 30 * DAY_S},
    {"escalate_s", MIRE_BIND_U32, AT(rule.escalate_s), .max = 7 * DAY_S},
    {"quiet_from", MIRE_BIND_U32, AT(quiet_from), .max = MINUTES - 1},
    {"quiet_to", MIRE_BIND_U32, AT(quiet_to), .max = MINUTES - 1},
    {"quiet_zone", MIRE_BIND_TEXT, AT(rule.quiet_zone), .max = 64},
    {"notifies", MIRE_BIND_OTHER, 0, .read = take_notifies},
    {"escalates", MIRE_BIND_OTHER, 0, .read = take_escalates},
};

int alerts_wrong(struct call *call, const char *text)
{
    return call_problem(call, 422, "alert.wrong", "%s", text);
}

static bool filter_is_good(struct call *call, const char *text, const char *const *allowed)
{
    struct filter filter;
    return !*text || filter_parse(&filter, call->arena, text, allowed) == 0;
}

static int check_view(struct call *call, const struct alert_rule *rule)
{
    const char *kinds[MIRE_CATEGORY_COUNT + 1] = {NULL};

    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++)
        kinds[i] = category_name((enum event_category)i);
    if (!filter_is_good(call, rule->versions, NULL) || !filter_is_good(call, rule->channel, NULL))
        return alerts_wrong(call, "Versions and channels are up to 64 names, separated by commas; !x excludes x.");
    if (!filter_is_good(call, rule->kinds, kinds))
        return alerts_wrong(call, "Kinds are those of issues, separated by commas; !x excludes x.");
    return 0;
}

static int check_channels(struct call *call, const int64_t *list, uint32_t count)
{
    struct outbox_channel channel;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < count; i++)
        rc = rows_channel_find(&channel, call->tx, call->arena, call->view.app, list[i]);
    return rc == READ_NONE ? alerts_wrong(call, "A channel of the rule is not a channel of the app.") : rc;
}

/* The number is one the kind allows. */
static int check_numbers(struct call *call, struct alert_rule *rule)
{
    const struct alert_limits *limits = alert_limits(rule->kind);

    if (!rule->window_s)
        rule->window_s = limits->window_s;
    if (rule->window_s < limits->window_min_s || rule->window_s > limits->window_max_s ||
        (limits->window_min_s && rule->window_s % limits->window_min_s) ||
        (limits->window_max_s == DAY_S && DAY_S % rule->window_s))
        return alerts_wrong(
            call, "The window is one day of rate and missing, 1 to 30 days of new, and a part of a day in whole "
                  "hours of growth and silence.");
    if (!alert_is_fact(rule->kind) && !(rule->bound >= limits->bound_min && rule->bound <= limits->bound_max))
        return call_problem(call, 422, "alert.wrong", "The bound of kind %s is from %g to %g.",
                            alert_kind_name(rule->kind), limits->bound_min, limits->bound_max);
    if (rule->escalate_s && !rule->escalate_count)
        return alerts_wrong(call, "An escalation needs channels: escalates.");
    return 0;
}

static int check_words(struct call *call, struct rule_asked *asked)
{
    struct alert_rule *rule = &asked->rule;

    rule->kind = alert_kind_parse(asked->kind);
    rule->measure = alert_measure_parse(asked->measure);
    rule->against_week = !strcmp(asked->against, "week");
    if (!*rule->name)
        return alerts_wrong(call, "A rule has a name.");
    if (rule->kind == ALERT_KINDS)
        return alerts_wrong(call, "The kind is rate, new, growth, missing, silence, guard or regressed.");
    if (rule->kind != ALERT_RATE) {
        rule->measure = ALERT_LAG;
        rule->scope = "";
        rule->against_week = false;
        return 0;
    }
    if (rule->measure == ALERT_MEASURES)
        return alerts_wrong(call, "The measure of kind rate is lag, hang_time, foom, killed or crash.");
    if (strcmp(rule->scope, "newest") != 0 && strcmp(rule->scope, "each") != 0 && strcmp(rule->scope, "all") != 0)
        return alerts_wrong(call, "The scope of kind rate is newest, each or all.");
    if (*asked->against && !rule->against_week)
        return alerts_wrong(call, "A rate is compared with a value, or with the week before: week.");
    return 0;
}

static int check_quiet(struct call *call, struct rule_asked *asked)
{
    bool from = asked->quiet_from != UINT32_MAX, to = asked->quiet_to != UINT32_MAX;

    asked->rule.quiet_from = from ? (int32_t)asked->quiet_from : -1;
    asked->rule.quiet_to = to ? (int32_t)asked->quiet_to : -1;
    if (from != to)
        return alerts_wrong(call, "Quiet hours have a beginning and an end.");
    int rc = rows_alert_zone_check(call->tx, asked->rule.quiet_zone);
    return rc == READ_NONE ? alerts_wrong(call, "The zone of quiet hours is a name such as Europe/Berlin.") : rc;
}

int alerts_read_rule(struct alert_rule *out, struct call *call)
{
    struct rule_asked asked = {.rule = {.app = call->view.app,
                                        .scope = "",
                                        .versions = "",
                                        .kinds = "",
                                        .channel = "",
                                        .repeat_s = DAY_S,
                                        .quiet_zone = "UTC",
                                        .made_by = call->request->grant.who ? call->request->grant.who : "",
                                        .fault = ""},
                               .measure = "",
                               .against = "",
                               .quiet_from = UINT32_MAX,
                               .quiet_to = UINT32_MAX};
    int rc = call_body(&asked, call, rule_fields, sizeof rule_fields / sizeof *rule_fields, "alert");

    if (!rc)
        rc = check_words(call, &asked);
    if (!rc)
        rc = check_view(call, &asked.rule);
    if (!rc)
        rc = check_numbers(call, &asked.rule);
    if (!rc)
        rc = check_quiet(call, &asked);
    if (!rc)
        rc = check_channels(call, asked.rule.notifies, asked.rule.notify_count);
    if (!rc)
        rc = check_channels(call, asked.rule.escalates, asked.rule.escalate_count);
    *out = asked.rule;
    return rc;
}

/* --- changes --- */

/* The rule as JSON, for the audit log. */
static const char *text_of(struct call *call, const struct alert_rule *rule)
{
    struct json_writer w;

    json_write_begin(&w);
    alerts_put_rule(&w, NULL, rule);
    const char *text = w.failed ? NULL : arena_copy(call->arena, w.text, w.len);
    free(w.text);
    return text;
}

static const char *name_of(struct call *call, int64_t rule)
{
    return arena_printf(call->arena, "rule %" PRId64, rule);
}

static int no_rule(struct call *call, int64_t rule)
{
    return call_missing(call, "App %.63s has no rule %" PRId64 " of alerts.", call->slug, rule);
}

static int answer_post_rule(struct call *call)
{
    struct alert_rule rule, *others;
    size_t count;
    int rc = alerts_read_rule(&rule, call);

    if (!rc)
        rc = rows_alert_rule_list(&others, &count, call->tx, call->arena, call->view.app);
    if (!rc && count >= MIRE_ALERT_RULES_MAX)
        return alerts_wrong(call, "An app has at most 100 rules.");
    if (!rc)
        rc = rows_alert_rule_put(&rule, call->tx);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "alert.rule_made",
                                                  .subject = name_of(call, rule.rule),
                                                  .after = text_of(call, &rule)});
    return rc ? rc : alerts_done(call, rule.rule);
}

int post_alert_rule(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_post_rule};
    return call_run(api, request, reply, &kind);
}

static int answer_put_rule(struct call *call)
{
    struct alert_rule rule, before;
    int64_t number = 0;
    int rc = alerts_number(&number, call, "rule");

    if (!rc)
        rc = rows_alert_rule_find(&before, call->tx, call->arena, call->view.app, number);
    if (rc == READ_NONE)
        return no_rule(call, number);
    if (!rc)
        rc = alerts_read_rule(&rule, call);
    if (rc)
        return rc;
    rule.rule = number;
    rc = rows_alert_rule_put(&rule, call->tx);
    if (rc == READ_NONE)
        return no_rule(call, number);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "alert.rule_changed",
                                                  .subject = name_of(call, number),
                                                  .before = text_of(call, &before),
                                                  .after = text_of(call, &rule)});
    return rc ? rc : alerts_done(call, number);
}

int put_alert_rule(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_put_rule};
    return call_run(api, request, reply, &kind);
}

static int answer_delete_rule(struct call *call)
{
    struct alert_rule before;
    int64_t number = 0;
    int rc = alerts_number(&number, call, "rule");

    if (!rc)
        rc = rows_alert_rule_find(&before, call->tx, call->arena, call->view.app, number);
    if (!rc)
        rc = rows_alert_rule_remove(call->tx, call->view.app, number);
    if (rc == READ_NONE)
        return no_rule(call, number);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "alert.rule_removed",
                                                  .subject = name_of(call, number),
                                                  .before = text_of(call, &before)});
    return rc ? rc : alerts_done(call, 0);
}

int delete_alert_rule(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_delete_rule};
    return call_run(api, request, reply, &kind);
}

struct snooze_asked {
    uint32_t hours;
};
static const struct bind_field snooze_fields[] = {
    {"hours", MIRE_BIND_U32, offsetof(struct snooze_asked, hours), .required = true, .max = SNOOZE_MAX},
};

static int answer_snooze(struct call *call)
{
    struct snooze_asked asked = {0};
    int64_t number = 0;
    int rc = alerts_number(&number, call, "rule");

    if (!rc)
        rc = call_body(&asked, call, snooze_fields, sizeof snooze_fields / sizeof *snooze_fields, "alert");
    if (rc)
        return rc;
    int64_t until_us = asked.hours ? call->api->now_us() + (int64_t)asked.hours * HOUR_S * 1000000 : 0;
    rc = rows_alert_rule_snooze(call->tx, call->view.app, number, until_us);
    if (rc == READ_NONE)
        return no_rule(call, number);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "alert.snoozed",
                                                  .subject = name_of(call, number),
                                                  .after = arena_printf(call->arena, "%u hours", asked.hours)});
    return rc ? rc : alerts_done(call, 0);
}

int post_alert_snooze(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_snooze};
    return call_run(api, request, reply, &kind);
}
