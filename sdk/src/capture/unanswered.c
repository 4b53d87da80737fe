/*
 * unanswered.c - a loop that does not answer its ping although it turns or idles. See lane.h.
 */
#include "capture/lane.h"

/* A token that waits for less than this share of the threshold is ignored, because answers take time. */
#define LEAST_PPM 125000u

/*
 * Is one long turn the reason? Then the turn is the hang, with a begin known to the nanosecond. A turn of less than
 * half the wait is not the reason: the loop turned, or idled, in between.
 */
static bool is_the_turns(const struct check *check, const struct lane_watch *lane, const struct loop_response *response)
{
    if (lane->state == LANE_OPEN)
        return true;
    return (lane->state == LANE_BUSY || lane->state == LANE_LONG) &&
           mire__minus(check->now_ns, lane->since_ns) >= response->waiting_ns / 2;
}

/* The counters of the event begin here: the use since the post is unknown. */
static void open_record(struct check *check, struct lane_watch *lane, const struct gate_view *view,
                        const struct loop_response *response)
{
    struct event event = {.gate = view->kind,
                          .trigger = MIRE_TRIGGER_UNANSWERED,
                          .foreground = (uint8_t)check->foreground,
                          .tid = lane->tid,
                          .threshold_ms = check->settings.unanswered_ms,
                          .begin_ns = response->posted_ns,
                          .slack_ns = response->slack_ns,
                          .late_ns = response->late_ns};
    const char *name = mire__gate_name(lane->record.lane);

    mire__thread_counters(&lane->record.base, lane->tid);
    mire__text_copy(event.thread_name, sizeof(event.thread_name), name[0] ? name : lane->record.base.name);
    lane->unanswered = true;
    lane->sampled_ns = lane->due_ns = lane->excused_ns = 0;
    mire__record_open(check, &lane->record, &event);
}

uint64_t mire__lane_ask(struct check *check, struct lane_watch *lane, const struct gate_view *view, uint64_t late_ns)
{
    uint64_t share_ppm = check->settings.sample_from_ppm > LEAST_PPM ? check->settings.sample_from_ppm : LEAST_PPM;
    uint64_t open_ns = check->settings.unanswered_ms * share_ppm; /* ms of 1e-6 are ns */
    struct loop_response response;

    mire__asking_look(&response, &lane->asking, check, lane->record.lane, late_ns, open_ns);
    if (lane->unanswered && response.answered_ns) {
        mire__record_close(check, &lane->record, response.answered_ns, false);
        lane->unanswered = false;
    }
    if (!lane->unanswered) {
        if (response.waiting_ns == 0 || response.waiting_ns < open_ns || is_the_turns(check, lane, &response))
            return response.next_ns;
        open_record(check, lane, view, &response);
    }
    lane->record.event.late_ns = response.late_ns;
    lane->excused_ns += late_ns;
    return mire__min(response.next_ns, mire__lane_follow(check, lane, view));
}
