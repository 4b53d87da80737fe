/*
 * occurred.c - when a report's event happened, by the server's clock; pure arithmetic.
 */
#include "aggregate/aggregate.h"

#define HOUR_US       3600000000ll
#define DAY_US        (24 * HOUR_US)
#define AHEAD_US      (5 * 60 * 1000000ll) /* of the receipt: tolerance of two correct clocks */
#define TRANSFER_MS   60000                /* a request of the SDK ends by then: so much may be transfer */
#define KEEP_DAYS_MAX 3650                 /* an older time is impossible, also if reports are kept for ever */

static const struct fact *device_ms(const struct report *report)
{
    switch (report->kind) {
    case MIRE_REPORT_MEMORY:
    case MIRE_REPORT_BASELINE:
        return &report->memory.taken_wall_ms;
    case MIRE_REPORT_SESSION:
        return &report->session.begin_wall_ms;
    case MIRE_REPORT_EVENT:
        break;
    }
    return &report->event.begin_wall_ms;
}

/* The error of the device's clock. The transfer time of a request is no error. */
static int64_t error_ms(const struct aggregate_clock *clock)
{
    if (!clock->known || (clock->behind_ms >= 0 && clock->behind_ms <= TRANSFER_MS))
        return 0;
    return clock->behind_ms;
}

struct aggregate_instant aggregate_occurred(const struct report *report, int64_t received_us,
                                            const struct aggregate_clock *clock)
{
    const struct aggregate_instant received = {.at_us = received_us};
    const struct fact *given = device_ms(report);
    int days = clock->keep_days > 0 && clock->keep_days < KEEP_DAYS_MAX ? clock->keep_days : KEEP_DAYS_MAX;
    int64_t ms, us;

    if (!given->known || __builtin_add_overflow(given->value, error_ms(clock), &ms) ||
        __builtin_mul_overflow(ms, 1000, &us))
        return received;
    if (us > received_us + AHEAD_US || us < received_us - days * DAY_US)
        return received;
    return (struct aggregate_instant){.at_us = us < received_us ? us : received_us, .is_known = true};
}

int aggregate_delay(const struct aggregate_instant *occurred, int64_t received_us)
{
    int64_t hours = (received_us - occurred->at_us) / HOUR_US;
    int bucket = 0;

    if (!occurred->is_known)
        return -1;
    while (bucket + 1 < MIRE_DELAY_BUCKETS && hours >> bucket)
        bucket++;
    return bucket;
}
