/*
 * mcp.h - a Model Context Protocol server, without its transport: one message in, at most one answer out.
 *
 *     {"jsonrpc":"2.0","id":1,"method":"tools/call",...}  ->  mcp_handle  ->  {"jsonrpc":"2.0","id":1,"result":{...}}
 *                                                                 |  ask()
 *                                                                 v
 *                                                       GET /api/v1/apps/shop/issues
 *
 * The protocol: https://modelcontextprotocol.io/specification, revisions 2024-11-05 to 2025-11-25. A message that breaks
 * JSON-RPC 2.0 gets an error of that standard. A tool that fails gives a result with isError and the reason, so that the
 * assistant can correct the call. Thread: one at a time per struct mcp.
 */
#ifndef MIRE_MCP_MCP_H
#define MIRE_MCP_MCP_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Ask the server.
 *
 *   out     the answer's body is appended; without an answer the reason, as text
 *   method  "GET" or "POST"; `body` is JSON, NULL of GET
 *   path    begins with /, and is escaped
 *
 * Returns the HTTP status; 0: there was no answer.
 */
typedef long mcp_ask(void *context, struct text *out, const char *method, const char *path, const struct text *body);

struct mcp {
    mcp_ask *ask;
    void *context;     /* of ask */
    const char *app;   /* of tools that are called without an app; NULL: none. Borrowed */
    bool may_write;    /* tools that change something are listed and may be called */
    bool is_begun;     /* initialize was answered; starts false */
    bool takes_arrays; /* the negotiated revision has batches; starts false */
};

/* Handle one message of `len` bytes. Appends its answer to `out`, one line without its end; nothing for a notification. */
void mcp_handle(struct mcp *mcp, struct text *out, const char *message, size_t len);

#endif
