/*
 * rollout_device.c - GET /api/v1/apps/{app}/rollout/device: what an installation with the given facts gets, and by which
 * rule. An installation's bucket never changes, so the answer holds for a real one.
 */
#include "api/call.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "rollout/rollout.h"
#include "rows/document.h"
#include "wire/bucket.h"

#include <string.h>

#define INSTALL_DIGITS 32

static const char *given(const struct call *call, const char *name)
{
    const char *value = request_query(call->request, name);

    return value ? value : "";
}

static bool is_install(const char *text)
{
    return !*text || (strlen(text) == INSTALL_DIGITS && strspn(text, "0123456789abcdef") == INSTALL_DIGITS);
}

static void put_parameters(struct json_writer *w, const struct rule_plugin *plugin)
{
    json_write_open(w, "parameters", '{');
    for (size_t i = 0; i < plugin->parameter_count; i++)
        if (plugin->parameters[i].word)
            json_write_text(w, plugin->parameters[i].name, plugin->parameters[i].word);
        else
            json_write_u64(w, plugin->parameters[i].name, plugin->parameters[i].number);
    json_write_close(w, '}');
}

/* Without a rule the options of the app itself hold. Without an installation only the share is known. */
static void put_plugin(struct json_writer *w, const struct rollout *rules, const struct rollout_device *device,
                       enum mire__plugin plugin)
{
    const struct rollout_rule *rule = rollout_decide(rules, device, plugin);
    const char *name = mire__plugin_name(plugin);
    const struct rule_plugin *decided = rule ? &rule->plugins[plugin] : NULL;
    uint32_t bucket = decided ? mire__bucket(device->install, name, decided->salt) : 0;

    json_write_open(w, NULL, '{');
    json_write_text(w, "plugin", name);
    if (!decided) {
        json_write_null(w, "rule");
        json_write_null(w, "ppm");
        json_write_null(w, "bucket");
        json_write_null(w, "on");
        json_write_close(w, '}');
        return;
    }
    json_write_text(w, "rule", rule->name);
    json_write_u64(w, "ppm", decided->ppm);
    if (*device->install) {
        json_write_u64(w, "bucket", bucket);
        json_write_bool(w, "on", !rules->kill && bucket < decided->ppm);
    } else {
        json_write_null(w, "bucket");
        json_write_null(w, "on");
    }
    put_parameters(w, decided);
    json_write_close(w, '}');
}

static int answer_device(struct call *call)
{
    const struct rollout_device device = {.install = given(call, "install"),
                                          .version = given(call, "version"),
                                          .channel = given(call, "channel"),
                                          .os = given(call, "os"),
                                          .os_version = given(call, "os_version"),
                                          .class = given(call, "class"),
                                          .arch = given(call, "arch")};
    struct json_writer *w = &call->json;
    struct rows_document_version row;
    struct rollout rules;

    if (!is_install(device.install))
        return call_refuse(call, "install", "the 32 hex digits of an installation, as reports have it");
    int rc = rows_document_find(&row, call->tx, call->arena, ROWS_DOCUMENT_ROLLOUT, call->view.app, 0);
    if (rc)
        return rc;
    if (rollout_parse(&rules, call->arena, row.version ? row.rules : rollout_default) != 0)
        return MIRE_FAULT_BROKEN;
    json_write_open(w, NULL, '{');
    json_write_i64(w, "version", row.version);
    json_write_bool(w, "kill", rules.kill);
    json_write_open(w, "plugins", '[');
    for (int p = 0; p < MIRE_PLUGINS; p++)
        put_plugin(w, &rules, &device, p);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return 0;
}

int get_rollout_device(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"install", "version", "channel", "os", "class", "os_version", "arch", NULL};
    static const struct call_kind kind = {.names = names, .has_app = true, .answer = answer_device};

    return call_run(api, request, reply, &kind);
}
