/* arguments.c - the schema of a tool, and the check of the arguments by it. */
#include "mcp/inside.h"

#include "base/scope.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 10000 /* bytes of an argument */

const char *mcp_value(const struct mcp_call *call, const char *name)
{
    for (size_t i = 0; call->tool->params[i].name; i++)
        if (!strcmp(call->tool->params[i].name, name))
            return call->values[i];
    return NULL;
}

void mcp_fail(struct mcp_call *call, const char *format, ...)
{
    char why[1200];
    va_list args;

    va_start(args, format);
    text_vformat(why, sizeof why, format, args);
    va_end(args);
    text_fini(&call->out);
    text_add_valid(&call->out, why, strlen(why));
    call->failed = true;
}

static void put(struct text *out, const char *before, const char *text)
{
    text_add(out, before);
    text_add_json(out, text, strlen(text));
}

static void put_param(struct text *out, const struct mcp_param *param)
{
    put(out, "", param->name);
    text_printf(out, ":{\"type\":\"%s\"", param->most ? "integer" : "string");
    put(out, ",\"description\":", param->description);
    if (param->most)
        text_printf(out, ",\"minimum\":%ld,\"maximum\":%ld", param->least, param->most);
    for (size_t i = 0; param->words && param->words[i]; i++)
        put(out, i ? "," : ",\"enum\":[", param->words[i]);
    text_add(out, param->words ? "]}" : "}");
}

void mcp_tool_put(struct text *out, const struct mcp_tool *tool)
{
    const char *before = "";

    put(out, "{\"name\":", tool->name);
    put(out, ",\"title\":", tool->title);
    put(out, ",\"description\":", tool->description);
    text_add(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < MCP_PARAMS_MAX && tool->params[i].name; i++) {
        text_add(out, i ? "," : "");
        put_param(out, &tool->params[i]);
    }
    text_add(out, "},\"required\":[");
    for (size_t i = 0; i < MCP_PARAMS_MAX && tool->params[i].name; i++)
        if (tool->params[i].required) {
            put(out, before, tool->params[i].name);
            before = ",";
        }
    text_printf(out,
                "],\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":%s,\"openWorldHint\":false%s}}",
                tool->changes ? "false" : "true", tool->changes ? ",\"destructiveHint\":false" : "");
}

/* --- arguments --- */

/* A value that the parameter takes, as text. NULL: the call has failed. */
static char *take_value(struct mcp_call *call, const struct mcp_param *param, const struct json *json, uint32_t at)
{
    int64_t number;

    if (param->most) {
        enum json_kind kind = json_kind(json, at);
        bool is_number = (kind == MIRE_JSON_UINT || kind == MIRE_JSON_INT || kind == MIRE_JSON_DOUBLE) &&
                         json_i64(&number, json, at);
        MIRE_SCOPED(text_fini) struct text text = {0};
        if (!is_number || number < param->least || number > param->most) {
            mcp_fail(call, "%s must be a whole number from %ld to %ld", param->name, param->least, param->most);
            return NULL;
        }
        text_printf(&text, "%" PRId64, number);
        return text_failed(&text) ? NULL : strdup(text.bytes);
    }
    if (json_kind(json, at) != MIRE_JSON_STRING || json_size(json, at) > TEXT_MAX) {
        mcp_fail(call, "%s must be a text of at most %d bytes", param->name, TEXT_MAX);
        return NULL;
    }
    char *value = calloc(1, json_size(json, at) + 1);
    size_t len = value ? json_text(value, json, at) : 0;
    bool is_word = !param->words;
    for (size_t i = 0; value && param->words && param->words[i]; i++)
        is_word |= !strcmp(param->words[i], value);
    if (value && (!is_word || strlen(value) != len)) {
        mcp_fail(call,
                 is_word ? "%s holds a character that no text has"
                         : "%s is none of the words that the tool's schema lists",
                 param->name);
        free(value);
        return NULL;
    }
    return value;
}

static void take_argument(struct mcp_call *call, const struct json *json, uint32_t name, uint32_t at)
{
    const struct mcp_param *params = call->tool->params;
    size_t i = 0;

    while (i < MCP_PARAMS_MAX && params[i].name && !json_is(json, name, params[i].name))
        i++;
    if (i == MCP_PARAMS_MAX || !params[i].name) {
        mcp_fail(call, "The tool %s has no such argument; its schema lists them", call->tool->name);
        return;
    }
    free(call->values[i]);
    call->values[i] = NULL;
    if (json_kind(json, at) != MIRE_JSON_NULL) /* as good as left out */
        call->values[i] = take_value(call, &params[i], json, at);
}

void mcp_call_run(struct mcp_call *call, struct mcp *mcp, const struct mcp_tool *tool, const struct json *json,
                  uint32_t at)
{
    *call = (struct mcp_call){.mcp = mcp, .tool = tool};
    for (uint32_t i = 0, name = at + 1; at && i < json_size(json, at) && !call->failed; i++) {
        uint32_t value = json_next(json, name);
        take_argument(call, json, name, value);
        name = json_next(json, value);
    }
    for (size_t i = 0; !call->failed && i < MCP_PARAMS_MAX && tool->params[i].name; i++)
        if (tool->params[i].required && (!call->values[i] || !*call->values[i]))
            mcp_fail(call, "%s is missing: %s", tool->params[i].name, tool->params[i].description);
    if (!call->failed)
        tool->run(call);
}

void mcp_call_fini(struct mcp_call *call)
{
    for (size_t i = 0; i < MCP_PARAMS_MAX; i++)
        free(call->values[i]);
    text_fini(&call->out);
}
