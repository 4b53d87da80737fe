/*
 * get_rollout.c - GET /api/v1/rollout: the document for the installation that asks.
 *
 * The ETag is the document's hash, so all installations of one class share it. A new version that changes nothing for a
 * class is sent to it once, in some hundred bytes.
 */
#include "api/call.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "rows/document.h"
#include "rollout/rollout.h"

#include <string.h>

/* A fact in the query. An unknown name may come from a newer SDK. */
static const char *given(const struct request *request, const char *name)
{
    const char *value = request_query(request, name);

    return value ? value : "";
}

static int find(struct rows_document_version *out, struct pg *pg, const struct request *request)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    const char *key = request_bearer(request);
    uint8_t hash[MIRE_KEY_HASH];
    int rc;

    if (!key || !key_is_wellformed(key, strlen(key)))
        return MIRE_DOCUMENT_NONE;
    key_hash(hash, key, strlen(key));
    rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    return rc ? rc : rows_rollout_of_key(out, tx, request->arena, hash);
}

int get_rollout(void *api, struct request *request, struct reply *reply)
{
    const struct rollout_device device = {.install = given(request, "install"),
                                          .version = given(request, "version"),
                                          .channel = given(request, "channel"),
                                          .os = given(request, "os"),
                                          .os_version = given(request, "os_version"),
                                          .class = given(request, "class"),
                                          .arch = given(request, "arch")};
    struct rows_document_version row;
    struct rollout rules;
    int rc = find(&row, ((struct api *)api)->pg, request);

    if (rc == MIRE_DOCUMENT_NONE) {
        reply_header(reply, "WWW-Authenticate", "Bearer realm=\"mire\"");
        return reply_error(reply, request, 401, "key", "Send Authorization: Bearer with a key of scope ingest.");
    }
    if (rc)
        return rc;
    if (rollout_parse(&rules, request->arena, row.version ? row.rules : rollout_default) != 0)
        return MIRE_FAULT_BROKEN;
    rollout_evaluate(&reply->text, &rules, row.version, &device);
    rc = reply_json(reply, 200);
    reply_header(reply, "Cache-Control", "private, no-cache");
    call_etag(request, reply, reply->text.bytes, reply->text.len);
    return rc;
}
