/* complete.c - see complete.h. */
#include "api/complete.h"
#include "api/call.h"
#include "api/parts.h"

#include "base/clock.h"
#include "rows/arrivals.h"

#define DAY_S     86400
#define DAYS_BACK 14

int put_completeness(struct call *call, const char *kind)
{
    const struct span *span = &call->view.span;
    struct json_writer *w = &call->json;
    int64_t now_us = call->api->now_us();
    int32_t today = clock_day(now_us), day = clock_day(span->from_s * 1000000);
    struct arrivals *days;
    size_t count;
    int rc = rows_arrivals_read(&days, &count, call->tx, call->arena, call->view.app, kind, now_us);

    if (rc)
        return rc;
    struct completeness completeness = completeness_of(days, count, now_us);
    if (day < today - DAYS_BACK)
        day = today - DAYS_BACK;
    json_write_open(w, "completeness", '[');
    for (; day <= today && (int64_t)day * DAY_S < span->to_s; day++) {
        double share = completeness_share(&completeness, day, now_us);
        if (share >= MIRE_COMPLETENESS_WHOLE)
            continue;
        json_write_open(w, NULL, '{');
        part_time(w, "day", (int64_t)day * DAY_S * 1000000);
        json_write_real(w, "share", share);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return 0;
}
