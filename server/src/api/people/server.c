/* server.c - GET /api/v1/server: the configuration that this process runs with, and where each setting is from. */
#include "api/handlers.h"
#include "api/people/people.h"

static int answer_server(struct call *call)
{
    const struct api *api = call->api;
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    json_write_text(w, "version", MIRE_VERSION);
    json_write_text(w, "file", api->config_file ? api->config_file : "");
    json_write_open(w, "settings", '[');
    for (size_t i = 0; i < api->setting_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", api->settings[i].name);
        json_write_text(w, "value", api->settings[i].value);
        json_write_text(w, "from", api->settings[i].from);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
    return 0;
}

int get_server(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_server};
    return call_run(api, request, reply, &kind);
}
