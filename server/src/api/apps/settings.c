/* settings.c - what admins of an app set: GET and PUT .../settings. */
#include "api/call.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "model/context.h"
#include "model/owners.h"
#include "rows/audit.h"
#include "rows/door.h"
#include "rows/owners.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 100 /* characters */
#define DAYS_MAX     36500
#define QUOTA_MAX    1000000000000 /* reports, or bytes, a day */
#define ENOUGH_MAX   1000000000
#define DOOR_DAYS    7
#define GOAL_MAX     3600 /* percent, or seconds an hour */
#define LINK_MAX_LEN 1000 /* characters */
#define INSTALL_LEN  32
#define LEFT_OUT_MAX 100

static void put_days(struct json_writer *w, const char *key, int64_t days)
{
    if (days < 0)
        json_write_null(w, key);
    else
        json_write_i64(w, key, days);
}

/* A list of words with blanks between, as an array. */
static void put_words(struct call *call, const char *key, const char *list)
{
    struct json_writer *w = &call->json;
    char *copy = arena_strdup(call->arena, list), *word;

    w->failed |= !copy;
    json_write_open(w, key, '[');
    while ((word = strsep(&copy, " ")))
        if (*word)
            json_write_text(w, NULL, word);
    json_write_close(w, ']');
}

static void put_goals(struct json_writer *w, const double goals[MIRE_GOALS])
{
    for (int i = 0; i < MIRE_GOALS; i++)
        if (goals[i] < 0)
            json_write_null(w, rows_goal_names[i]);
        else
            json_write_real(w, rows_goal_names[i], goals[i]);
}

static void put_settings(struct call *call, const struct app_settings *settings)
{
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    json_write_text(w, "name", settings->name);
    put_days(w, "retention_days", settings->retention_days);
    json_write_i64(w, "server_retention_days", call->api->retention_days);
    put_days(w, "quota_reports_day", settings->quota_reports);
    json_write_i64(w, "server_quota_reports_day", call->api->quota_reports_day);
    put_days(w, "quota_bytes_day", settings->quota_bytes);
    json_write_i64(w, "server_quota_bytes_day", call->api->quota_bytes_day);
    json_write_text(w, "source_link", settings->source_link);
    json_write_text(w, "source_root", settings->source_root);
    json_write_text(w, "ticket_link", settings->ticket_link);
    json_write_text(w, "owners", settings->owners);
    put_words(call, "left_out", settings->left_out);
    put_words(call, "kept_tags", settings->kept_tags);
    if (settings->merge_above > 0)
        json_write_real(w, "merge_above", settings->merge_above);
    else
        json_write_null(w, "merge_above");
    put_goals(w, settings->goals);
    json_write_text(w, "idle", settings->idle);
    json_write_i64(w, "server_idle_days", call->api->idle_days);
    put_days(w, "enough_per_issue_day", settings->enough);
    json_write_i64(w, "server_enough_per_issue_day", call->api->enough_per_issue_day);
}

/* The outcomes at the door, a day a row. */
static int put_door(struct call *call)
{
    struct json_writer *w = &call->json;
    struct rows_door_day *days = NULL;
    size_t count = 0;
    int rc = rows_door_days(&days, &count, call->tx, call->arena, call->view.app, DOOR_DAYS);

    json_write_open(w, "door", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        char day[32];
        clock_format(day, (int64_t)days[i].day * 86400 * 1000000);
        json_write_open(w, NULL, '{');
        json_write_text(w, "day", arena_copy(call->arena, day, 10));
        json_write_text(w, "outcome", days[i].outcome);
        json_write_i64(w, "reports", days[i].reports);
        json_write_i64(w, "bytes", days[i].bytes);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return rc;
}

/* The answer. 0 or a fault. */
static int put_answer(struct call *call, const struct app_settings *settings)
{
    put_settings(call, settings);
    int rc = put_door(call);
    json_write_close(&call->json, '}');
    return rc;
}

static int answer_settings(struct call *call)
{
    struct app_settings settings;
    int rc = rows_app_settings_read(&settings, call->tx, call->arena, call->view.app);

    return rc ? rc : put_answer(call, &settings);
}

int get_app_settings(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .answer = answer_settings};
    return call_run(api, request, reply, &kind);
}

/* Days, or null for those of the server. */
static enum bind_outcome read_days(struct bind *bind, void *out, uint32_t at)
{
    struct app_settings *settings = out;
    uint64_t days = 0;

    settings->retention_days = -1;
    if (json_kind(bind->json, at) == MIRE_JSON_NULL)
        return MIRE_BIND_OK;
    enum bind_outcome outcome = bind_number(&days, bind, at, 0, DAYS_MAX);
    settings->retention_days = outcome ? -1 : (int64_t)days;
    return outcome;
}

/* Reports or bytes, or null for the server's number. */
static enum bind_outcome read_quota(int64_t *quota, struct bind *bind, uint32_t at, uint64_t most)
{
    uint64_t value = 0;

    *quota = -1;
    if (json_kind(bind->json, at) == MIRE_JSON_NULL)
        return MIRE_BIND_OK;
    enum bind_outcome outcome = bind_number(&value, bind, at, 0, most);
    *quota = outcome ? -1 : (int64_t)value;
    return outcome;
}

static enum bind_outcome read_reports(struct bind *bind, void *out, uint32_t at)
{
    return read_quota(&((struct app_settings *)out)->quota_reports, bind, at, QUOTA_MAX);
}

static enum bind_outcome read_bytes(struct bind *bind, void *out, uint32_t at)
{
    return read_quota(&((struct app_settings *)out)->quota_bytes, bind, at, QUOTA_MAX);
}

static enum bind_outcome read_enough(struct bind *bind, void *out, uint32_t at)
{
    return read_quota(&((struct app_settings *)out)->enough, bind, at, ENOUGH_MAX);
}

/* A share, or null: no issue is merged by itself. */
static enum bind_outcome read_merge_above(struct bind *bind, void *out, uint32_t at)
{
    struct app_settings *settings = out;
    enum json_kind kind = json_kind(bind->json, at);

    settings->merge_above = 0;
    if (kind == MIRE_JSON_NULL)
        return MIRE_BIND_OK;
    double value = kind == MIRE_JSON_UINT || kind == MIRE_JSON_DOUBLE ? json_double(bind->json, at) : 0;
    if (!(value >= 0.5 && value <= 1))
        return bind_wrong(bind, "must be a number from 0.5 to 1, or null");
    settings->merge_above = value;
    return MIRE_BIND_OK;
}

/* A rate, or null: none. */
static enum bind_outcome read_goal(double *goal, struct bind *bind, uint32_t at)
{
    enum json_kind kind = json_kind(bind->json, at);

    *goal = -1;
    if (kind == MIRE_JSON_NULL)
        return MIRE_BIND_OK;
    double value = kind == MIRE_JSON_UINT || kind == MIRE_JSON_DOUBLE ? json_double(bind->json, at) : -1;
    if (!(value >= 0 && value <= GOAL_MAX))
        return bind_wrong(bind, "must be a number from 0 to 3600, or null");
    *goal = value;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_goal_0(struct bind *bind, void *out, uint32_t at)
{
    return read_goal(&((struct app_settings *)out)->goals[0], bind, at);
}

static enum bind_outcome read_goal_1(struct bind *bind, void *out, uint32_t at)
{
    return read_goal(&((struct app_settings *)out)->goals[1], bind, at);
}

static enum bind_outcome read_goal_2(struct bind *bind, void *out, uint32_t at)
{
    return read_goal(&((struct app_settings *)out)->goals[2], bind, at);
}

static enum bind_outcome read_goal_3(struct bind *bind, void *out, uint32_t at)
{
    return read_goal(&((struct app_settings *)out)->goals[3], bind, at);
}

static enum bind_outcome read_goal_4(struct bind *bind, void *out, uint32_t at)
{
    return read_goal(&((struct app_settings *)out)->goals[4], bind, at);
}

static enum bind_outcome read_idle(struct bind *bind, void *out, uint32_t at)
{
    static const char *const ways[] = {"keep", "archive", "delete"};
    struct app_settings *settings = out;
    const char *text = NULL;
    enum bind_outcome outcome = bind_text(&text, bind, at, 16);

    for (size_t i = 0; !outcome && i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(text, ways[i])) {
            settings->idle = ways[i];
            return MIRE_BIND_OK;
        }
    return outcome ? outcome : bind_wrong(bind, "expected keep, archive or delete");
}

/* Words of at most `max` ASCII characters, with blanks between. */
static enum bind_outcome join_words(const char **out, struct bind *bind, const char *const *words, size_t count,
                                    size_t max)
{
    char *list = arena_alloc(bind->arena, count * (max + 1) + 1), *end = list;

    if (!list)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, "%s%s", i ? " " : "", words[i]);
    *out = list;
    return MIRE_BIND_OK;
}

/* Identifiers of installations, in small letters. */
static enum bind_outcome read_left_out(struct bind *bind, void *out, uint32_t at)
{
    const char **installs = NULL;
    size_t count = 0;
    enum bind_outcome outcome = bind_texts(&installs, &count, bind, at, LEFT_OUT_MAX, INSTALL_LEN);

    for (size_t i = 0; !outcome && i < count; i++)
        if (strspn(installs[i], "0123456789abcdef") != INSTALL_LEN || installs[i][INSTALL_LEN])
            return bind_wrong(bind, "expected 32 hex digits in small letters");
    return outcome ? outcome : join_words(&((struct app_settings *)out)->left_out, bind, installs, count, INSTALL_LEN);
}

/* Names of tags, each once. */
static enum bind_outcome read_kept_tags(struct bind *bind, void *out, uint32_t at)
{
    const char **names = NULL;
    size_t count = 0;
    enum bind_outcome outcome = bind_texts(&names, &count, bind, at, MIRE_TAGS_KEPT, MIRE_TAG_NAME_MAX);

    for (size_t i = 0; !outcome && i < count; i++) {
        if (!context_is_tag_name(names[i]))
            return bind_wrong(bind, "expected letters, digits, _, - and .");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[k], names[i]))
                return bind_wrong(bind, "expected each name once");
    }
    return outcome ? outcome
                   : join_words(&((struct app_settings *)out)->kept_tags, bind, names, count, MIRE_TAG_NAME_MAX);
}

static const struct bind_field fields[] = {
    {"name", MIRE_BIND_TEXT, offsetof(struct app_settings, name), .required = true, .max = NAME_MAX_LEN},
    {"retention_days", MIRE_BIND_OTHER, 0, .required = true, .read = read_days},
    {"quota_reports_day", MIRE_BIND_OTHER, 0, .read = read_reports},
    {"quota_bytes_day", MIRE_BIND_OTHER, 0, .read = read_bytes},
    {"source_link", MIRE_BIND_TEXT, offsetof(struct app_settings, source_link), .max = LINK_MAX_LEN},
    {"source_root", MIRE_BIND_TEXT, offsetof(struct app_settings, source_root), .max = LINK_MAX_LEN},
    {"ticket_link", MIRE_BIND_TEXT, offsetof(struct app_settings, ticket_link), .max = LINK_MAX_LEN},
    {"owners", MIRE_BIND_TEXT, offsetof(struct app_settings, owners), .max = MIRE_OWNERS_TEXT_MAX},
    {"left_out", MIRE_BIND_OTHER, 0, .read = read_left_out},
    {"kept_tags", MIRE_BIND_OTHER, 0, .read = read_kept_tags},
    {"merge_above", MIRE_BIND_OTHER, 0, .read = read_merge_above},
    {"enough_per_issue_day", MIRE_BIND_OTHER, 0, .read = read_enough},
    {"goal_lag_percent", MIRE_BIND_OTHER, 0, .read = read_goal_0},
    {"goal_hang_s_per_hour", MIRE_BIND_OTHER, 0, .read = read_goal_1},
    {"goal_foom_percent", MIRE_BIND_OTHER, 0, .read = read_goal_2},
    {"goal_watchdog_percent", MIRE_BIND_OTHER, 0, .read = read_goal_3},
    {"goal_crash_percent", MIRE_BIND_OTHER, 0, .read = read_goal_4},
    {"idle", MIRE_BIND_OTHER, 0, .read = read_idle},
};

/* Is the text empty, or the address of a page with the placeholder in it and without blanks? */
static bool is_link(const char *text, const char *placeholder)
{
    bool http = !strncmp(text, "https://", 8) || !strncmp(text, "http://", 7);

    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return false;
    return !*text || (http && strstr(text, placeholder));
}

/* A limit as the audit log has it. */
static const char *write_limit(struct call *call, int64_t value, const char *what, const char *none)
{
    if (value < 0)
        return arena_printf(call->arena, "%s as the server is configured", what);
    return value ? arena_printf(call->arena, "%s %" PRId64, what, value)
                 : arena_printf(call->arena, "%s %s", what, none);
}

/* As the audit log has it: name, days and budget. */
static const char *describe(struct call *call, const struct app_settings *settings)
{
    const char *days = write_limit(call, settings->retention_days, "days that reports are kept:", "for ever");
    const char *reports = write_limit(call, settings->quota_reports, "reports a day:", "no limit");
    const char *bytes = write_limit(call, settings->quota_bytes, "bytes a day:", "no limit");
    const char *enough = write_limit(call, settings->enough, "reports of an issue, version and day kept whole:", "all");

    if (!days || !reports || !bytes || !enough)
        return NULL;
    const char *merges = settings->merge_above > 0
                             ? arena_printf(call->arena, "; merges from %.0f %% on", settings->merge_above * 100)
                             : "";
    return arena_printf(call->arena, "%s; %s; %s; %s; %s; without reports for long: %s%s%s%s%s%s%s%s%s%s%s%s%s%s",
                        settings->name, days, reports, bytes, enough, settings->idle, merges ? merges : "",
                        *settings->source_link ? "; source " : "", settings->source_link,
                        *settings->source_root ? "; built in " : "", settings->source_root,
                        *settings->ticket_link ? "; tickets " : "", settings->ticket_link,
                        *settings->left_out ? "; installations left out: " : "", settings->left_out,
                        *settings->kept_tags ? "; tags kept: " : "", settings->kept_tags,
                        *settings->owners ? "; owners: " : "", settings->owners);
}

/* The goals as the audit log has them. */
static const char *describe_goals(struct call *call, const char *told, const struct app_settings *settings)
{
    for (int i = 0; told && i < MIRE_GOALS; i++)
        if (settings->goals[i] >= 0)
            told = arena_printf(call->arena, "%s; %s %.6g", told, rows_goal_names[i], settings->goals[i]);
    return told;
}

static int answer_put_settings(struct call *call)
{
    struct app_settings before, after;
    const char *why = "";
    int rc = rows_app_settings_read(&before, call->tx, call->arena, call->view.app);

    if (rc)
        return rc;
    after = before;
    rc = call_body(&after, call, fields, sizeof fields / sizeof *fields, "settings");
    if (!rc && !after.name[strspn(after.name, " ")])
        return call_problem(call, 422, "settings.wrong", "The name is empty.");
    if (!rc && !is_link(after.source_link, "{file}"))
        return call_problem(call, 422, "settings.wrong",
                            "The link to the source is https://... with {file} in it, such as "
                            "https://git.example/shop/blob/{commit}/{file}#L{line}.");
    if (!rc && !is_link(after.ticket_link, "{title}"))
        return call_problem(call, 422, "settings.wrong",
                            "The form for a ticket is https://... with {title} in it, such as "
                            "https://git.example/shop/issues/new?title={title}&body={body}.");
    unsigned line = rc ? 0 : owners_wrong(&why, after.owners);
    if (line)
        return call_problem(call, 422, "settings.wrong", "Line %u of the owners: %s.", line, why);
    if (!rc)
        rc = rows_app_settings_write(call->tx, call->view.app, &after);
    if (!rc && strcmp(before.owners, after.owners) != 0)
        rc = rows_owners_again(call->tx, call->view.app);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "settings.changed",
                                                  .subject = call->slug,
                                                  .before = describe_goals(call, describe(call, &before), &before),
                                                  .after = describe_goals(call, describe(call, &after), &after)});
    if (!rc)
        rc = put_answer(call, &after);
    return rc ? rc : pg_commit(&call->tx);
}

int put_app_settings(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_put_settings};
    return call_run(api, request, reply, &kind);
}
