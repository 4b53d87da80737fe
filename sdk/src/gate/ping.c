/* ping.c - tests a loop by messages that it must answer. Signal-safe. */
#include "gate/ping.h"

#include "platform/platform.h"

void mire__ping_init(struct ping *ping, uint64_t interval_ns, uint64_t now_ns)
{
    *ping = (struct ping){.interval_ns = interval_ns, .posted_ns = now_ns, .alive_ns = now_ns, .due_ns = now_ns};
}

bool mire__ping_is_due(const struct ping *ping, uint64_t now_ns)
{
    return !ping->waiting && now_ns >= ping->due_ns;
}

void mire__ping_posted(struct ping *ping, uint64_t token, bool queued, uint64_t now_ns)
{
    ping->due_ns = now_ns + ping->interval_ns;
    if (!queued)
        return;
    ping->token = token;
    ping->posted_ns = now_ns;
    ping->slack_ns = mire__minus(now_ns, ping->alive_ns);
    ping->late_ns = 0;
    ping->waiting = true;
}

bool mire__ping_see(struct ping *ping, const struct ping_answer *answer)
{
    if (!ping->waiting || answer->token != ping->token)
        return false;
    ping->waiting = false;
    ping->alive_ns = answer->at_ns;
    return true;
}

void mire__ping_excuse(struct ping *ping, uint64_t late_ns)
{
    if (ping->waiting)
        ping->late_ns += late_ns;
}

void mire__ping_count_from(struct ping *ping, uint64_t at_ns)
{
    if (!ping->waiting || at_ns <= ping->posted_ns)
        return;
    ping->posted_ns = at_ns;
    ping->slack_ns = 0;
    ping->late_ns = 0;
}

uint64_t mire__ping_age_ns(const struct ping *ping, uint64_t now_ns)
{
    return mire__minus(mire__minus(ping->waiting ? now_ns : ping->alive_ns, ping->posted_ns), ping->late_ns);
}

uint64_t mire__ping_slack_ns(const struct ping *ping)
{
    return ping->slack_ns;
}

static uint64_t tired_ns(const struct ping *ping, uint64_t patience_ns)
{
    return ping->posted_ns + ping->late_ns + patience_ns;
}

uint64_t mire__ping_next_ns(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns)
{
    uint64_t look_ns = tired_ns(ping, patience_ns);

    if (!ping->waiting || (now_ns < ping->due_ns && ping->due_ns < look_ns))
        return ping->due_ns;
    return now_ns < look_ns ? look_ns : UINT64_MAX;
}

bool mire__ping_is_slow(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns)
{
    return ping->waiting && (now_ns >= ping->due_ns || now_ns >= tired_ns(ping, patience_ns));
}

void mire__ping_words_expect(struct ping_words *words, uint64_t token)
{
    atomic_store(&words->asked, 0);
    atomic_store(&words->token, token);
}

void mire__ping_words_read(struct ping_answer *out, const struct ping_words *words)
{
    out->token = atomic_load(&words->answered);
    out->at_ns = atomic_load(&words->answered_ns);
}

bool mire__ping_words_ask(struct ping_words *words)
{
    atomic_store(&words->asked, 1);
    return atomic_load(&words->answered) != atomic_load(&words->token);
}

bool mire__ping_words_as_answer(struct ping_words *words, uint64_t token, uint64_t now_ns)
{
    if (token == 0 || token != atomic_load(&words->token) || token == atomic_load(&words->answered))
        return false;
    atomic_store(&words->answered_ns, now_ns);
    atomic_store(&words->answered, token);
    if (atomic_exchange(&words->asked, 0) != 0) {
        atomic_store(words->wake, 1);
        mire__futex_wake(words->wake);
    }
    return true;
}
