/*
 * live.c - GET /api/v1/apps/{app}/live: an event as soon as something changes that the app's pages show (live/live.h).
 */
#include "api/call.h"
#include "api/handlers.h"

#include "access/access.h"
#include "base/fault.h"
#include "live/live.h"

/* Tell the news at once to an asker who has seen no news, or other ones. */
static int answer_live(struct call *call)
{
    struct news now, seen = {0};
    const char *id = request_header(call->request, "Last-Event-ID");

    if (!id || !*id)
        id = request_query(call->request, "seen");
    if (id && !live_parse(&seen, id))
        return call_refuse(call, "seen", "the id of an event, as received");
    int rc = rows_news_read(&now, call->tx, &call->view.app, 1);
    if (rc)
        return rc;
    if (!id || !news_are_same(&now, &seen) || !call->api->live)
        return live_announce(call->reply, &now) ? MIRE_FAULT_MEMORY : CALL_REPLIED;
    struct news *kept = arena_array(call->arena, 1, sizeof *kept);
    if (!kept)
        return MIRE_FAULT_MEMORY;
    *kept = now;
    call->kept = kept;
    return CALL_LATER;
}

static int wait_live(struct call *call)
{
    return live_wait(call->api->live, call->request, call->reply, call->view.app, access_asker(&call->request->grant),
                     call->kept);
}

int get_live(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"seen", NULL};
    static const struct call_kind kind = {.names = names, .has_app = true, .answer = answer_live, .later = wait_live};

    return call_run(api, request, reply, &kind);
}
