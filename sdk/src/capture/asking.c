/* asking.c - pings the loops of the watched threads. See asking.h. */
#include "capture/asking.h"

#include "platform/platform.h"

enum { OFF, ON, POSTING, STOPPING };

/* A token is the count of all posts, above the bits of the lane. The number of a ping has its round there. */
#define LANE_BITS 4
_Static_assert(MIRE_WATCHED_MAX <= 1 << LANE_BITS, "a lane fits");

/* One per lane. Invariant: the fields that are not atomic are written by start, before `state`. */
static struct {
    _Atomic uint32_t state;
    _Atomic uint32_t round;
    uint32_t interval_ms; /* 0: a quarter of the threshold */
    mire_post_fn *post;
    void *context;
    struct ping_words words;
} loops[MIRE_WATCHED_MAX];

static uint64_t posts; /* owner: the check thread */

static uint64_t lane_of(uint64_t number)
{
    return number & ((1u << LANE_BITS) - 1);
}

static bool change(uint32_t lane, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&loops[lane].state, &from, to);
}

/* Call post, unless the pings are being stopped. */
static void post(struct asking *asking, uint32_t lane)
{
    uint64_t token = ++posts << LANE_BITS | lane;
    bool queued;

    if (!change(lane, ON, POSTING))
        return;
    mire__ping_words_expect(&loops[lane].words, token);
    queued = loops[lane].post(loops[lane].context, token) == 0;
    mire__ping_posted(&asking->ping, token, queued, mire__now_ns());
    if (!change(lane, POSTING, ON)) {
        atomic_store(&loops[lane].state, OFF);
        mire__futex_wake(&loops[lane].state);
    }
}

/* True: the lane has the same ping as at the last look. */
static bool keeps_asking(struct loop_response *out, struct asking *asking, const struct check *check, uint32_t lane)
{
    uint32_t round = atomic_load(&loops[lane].state) == ON ? loops[lane].round : 0;
    uint64_t interval_ms;

    if (round == asking->round)
        return round != 0;
    if (asking->ping.waiting)
        out->answered_ns = check->now_ns;
    asking->ping = (struct ping){0};
    asking->round = round;
    if (round == 0)
        return false;
    interval_ms = loops[lane].interval_ms ? loops[lane].interval_ms : check->settings.unanswered_ms / 4;
    loops[lane].words.wake = check->wake;
    mire__ping_init(&asking->ping, interval_ms * MIRE_NS_PER_MS, check->now_ns);
    return true;
}

void mire__asking_look(struct loop_response *out, struct asking *asking, const struct check *check, uint32_t lane,
                       uint64_t late_ns, uint64_t patience_ns)
{
    struct ping *ping = &asking->ping;
    struct ping_answer answer;

    *out = (struct loop_response){.next_ns = UINT64_MAX};
    if (!keeps_asking(out, asking, check, lane))
        return;
    mire__ping_excuse(ping, late_ns);
    mire__ping_words_read(&answer, &loops[lane].words);
    if (mire__ping_see(ping, &answer))
        out->answered_ns = answer.at_ns;
    if (mire__ping_is_due(ping, check->now_ns))
        post(asking, lane);
    if (mire__ping_is_slow(ping, patience_ns, check->now_ns) && !mire__ping_words_ask(&loops[lane].words))
        out->next_ns = check->now_ns; /* a new ping: look again */
    else
        out->next_ns = mire__ping_next_ns(ping, patience_ns, check->now_ns);
    if (ping->waiting) {
        out->waiting_ns = mire__ping_age_ns(ping, check->now_ns);
        out->posted_ns = ping->posted_ns;
        out->slack_ns = mire__ping_slack_ns(ping);
        out->late_ns = ping->late_ns;
    }
}

void mire__asking_reported(struct asking *asking, uint64_t until_ns)
{
    mire__ping_count_from(&asking->ping, until_ns);
}

enum mire_err mire__asking_start(uint64_t *number_out, uint32_t lane, mire_post_fn *post_token, void *context,
                                 uint32_t interval_ms)
{
    static _Atomic uint32_t rounds;

    if (atomic_load(&loops[lane].state) != OFF)
        return MIRE_E_STATE;
    loops[lane].round = atomic_fetch_add(&rounds, 1) + 1;
    loops[lane].interval_ms = interval_ms;
    loops[lane].post = post_token;
    loops[lane].context = context;
    atomic_store(&loops[lane].state, ON);
    *number_out = (uint64_t)loops[lane].round << LANE_BITS | lane;
    return MIRE_OK;
}

enum mire_err mire__asking_stop(uint64_t number)
{
    uint32_t lane = (uint32_t)lane_of(number);

    if (lane >= MIRE_WATCHED_MAX || loops[lane].round != number >> LANE_BITS)
        return MIRE_E_STATE;
    while (!change(lane, ON, OFF)) {
        if (atomic_load(&loops[lane].state) == OFF)
            return MIRE_E_STATE;
        if (!change(lane, POSTING, STOPPING))
            continue; /* post has just returned */
        while (atomic_load(&loops[lane].state) == STOPPING)
            mire__futex_wait(&loops[lane].state, STOPPING, UINT64_MAX);
        break;
    }
    return MIRE_OK;
}

bool mire__asking_as_answer(uint64_t token)
{
    uint64_t lane = lane_of(token);

    return lane < MIRE_WATCHED_MAX && mire__ping_words_as_answer(&loops[lane].words, token, mire__now_ns());
}

void mire__asking_drop(uint32_t lane)
{
    change(lane, ON, OFF);
}

void mire__asking_reset(void)
{
    for (uint32_t lane = 0; lane < MIRE_WATCHED_MAX; lane++) {
        atomic_store(&loops[lane].state, OFF);
        mire__ping_words_expect(&loops[lane].words, 0);
    }
}
