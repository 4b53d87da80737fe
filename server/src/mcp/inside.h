/* inside.h - what the files of mcp/ share. */
#ifndef MIRE_MCP_INSIDE_H
#define MIRE_MCP_INSIDE_H

#include "json/json.h"
#include "mcp/mcp.h"

#include <stdint.h>

#define MCP_PARAMS_MAX 9 /* with the one that ends them */

/* A parameter of a tool, as its schema has it. */
struct mcp_param {
    const char *name;
    const char *description;
    const char *const *words; /* NULL-ended: one of them; NULL: any text */
    long least, most;         /* of a whole number; most 0: it is a text */
    bool required;
};

/* A call of a tool. */
struct mcp_call {
    struct mcp *mcp;
    const struct mcp_tool *tool;
    char *values[MCP_PARAMS_MAX]; /* by tool->params; NULL: absent. Owned */
    struct text out;              /* the text for the assistant */
    bool failed;                  /* `out` is the reason */
};

struct mcp_tool {
    const char *name, *title, *description;
    struct mcp_param params[MCP_PARAMS_MAX]; /* ended by one without a name */
    bool changes;
    void (*run)(struct mcp_call *call);
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tool_count;

/* The value of a parameter, or NULL. */
const char *mcp_value(const struct mcp_call *call, const char *name);

/* End the call with a reason. */
__attribute__((format(printf, 2, 3))) void mcp_fail(struct mcp_call *call, const char *format, ...);

/*
 * Call the tool at `tool` with the object of arguments at `at` of `json`, 0 for none. `call` is filled; give it back with
 * mcp_call_fini.
 */
void mcp_call_run(struct mcp_call *call, struct mcp *mcp, const struct mcp_tool *tool, const struct json *json,
                  uint32_t at);
void mcp_call_fini(struct mcp_call *call);

/* Append a tool as tools/list has it. */
void mcp_tool_put(struct text *out, const struct mcp_tool *tool);

/*
 * Get a path and its answer, which must be an object. False: the call has failed, and says why in the server's words.
 * `body` stays as long as `json`.
 */
bool mcp_get(struct mcp_call *call, struct json *json, struct text *body, const char *path);

/* The same for any answer, of status 200; POST if `sent` is not NULL. */
bool mcp_ask_plain(struct mcp_call *call, struct text *body, const char *path, const struct text *sent);

/* Append `value`, escaped for a path or a query. */
void mcp_escape(struct text *out, const char *value);

/* Texts of answers. Each appends to call->out. */
void mcp_write_apps(struct mcp_call *call, const struct json *json);
void mcp_write_issues(struct mcp_call *call, const struct json *json);
void mcp_write_changes(struct mcp_call *call, const struct json *json);
void mcp_write_rates(struct mcp_call *call, const struct json *json);
void mcp_write_alerts(struct mcp_call *call, const struct json *json);
void mcp_write_tree(struct mcp_call *call, const struct json *json, double least_percent);
void mcp_write_frames(struct mcp_call *call, const struct json *json, const char *text);

/* A member's text, "" if there is none. Owned by the caller; NULL: out of memory. */
char *mcp_text(const struct json *json, uint32_t object, const char *name);
double mcp_number(const struct json *json, uint32_t object, const char *name); /* 0 without one */

#endif
