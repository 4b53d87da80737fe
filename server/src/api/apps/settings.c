/* settings.c - what admins of an app set: GET and PUT .../settings. */
#include "api/call.h"
#include "api/handlers.h"
#include "rows/audit.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_LEN 100 /* characters */
#define DAYS_MAX     36500

static const char *const no_names[] = {NULL};

static void put_days(struct json_writer *w, const char *key, int64_t days)
{
    if (days < 0)
        json_write_null(w, key);
    else
        json_write_i64(w, key, days);
}

static void put_settings(struct call *call, const struct app_settings *settings)
{
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    json_write_text(w, "name", settings->name);
    put_days(w, "retention_days", settings->retention_days);
    json_write_i64(w, "server_retention_days", call->api->retention_days);
    json_write_close(w, '}');
}

static int answer_settings(struct call *call)
{
    struct app_settings settings;
    int rc = rows_app_settings_read(&settings, call->tx, call->arena, call->view.app);

    if (!rc)
        put_settings(call, &settings);
    return rc;
}

int get_app_settings(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = no_names, .has_app = true, .answer = answer_settings};
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

static const struct bind_field fields[] = {
    {"name", MIRE_BIND_TEXT, offsetof(struct app_settings, name), .required = true, .max = NAME_MAX_LEN},
    {"retention_days", MIRE_BIND_OTHER, 0, .required = true, .read = read_days},
};

/* As the audit log has it: name, and days. */
static const char *tell(struct call *call, const struct app_settings *settings)
{
    if (settings->retention_days < 0)
        return arena_printf(call->arena, "%s; reports are kept as the server is configured", settings->name);
    return arena_printf(call->arena, "%s; reports are kept for %" PRId64 " days%s", settings->name,
                        settings->retention_days, settings->retention_days ? "" : " (0: for ever)");
}

static int answer_put_settings(struct call *call)
{
    struct app_settings before, after = {.name = ""};
    int rc = call_body(&after, call, fields, sizeof fields / sizeof *fields, "settings");

    if (!rc && !after.name[strspn(after.name, " ")])
        return call_problem(call, 422, "settings.wrong", "The name is empty.");
    if (!rc)
        rc = rows_app_settings_read(&before, call->tx, call->arena, call->view.app);
    if (!rc)
        rc = rows_app_settings_write(call->tx, call->view.app, &after);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "settings.changed",
                                                  .subject = call->slug,
                                                  .before = tell(call, &before),
                                                  .after = tell(call, &after)});
    if (!rc)
        rc = pg_commit(&call->tx);
    if (!rc)
        put_settings(call, &after);
    return rc;
}

int put_app_settings(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .names = no_names, .has_app = true, .writes = true, .answer = answer_put_settings};
    return call_run(api, request, reply, &kind);
}
