/*
 * session.c - see session.h. Signal-safe.
 */
#include "ring/session.h"

const char *mire__session_class_name(enum mire__session_class class)
{
    static const char *const names[MIRE_SESSION_CLASSES] = {[MIRE_SESSION_FOREGROUND] = "foreground",
                                                            [MIRE_SESSION_BACKGROUND] = "background",
                                                            [MIRE_SESSION_LAUNCH] = "launch",
                                                            [MIRE_SESSION_UNANSWERED] = "unanswered"};

    return names[class];
}

bool mire__session_class_of(enum mire__session_class *class_out, const struct event *event)
{
    if (event->trigger == MIRE_TRIGGER_UNANSWERED)
        *class_out = MIRE_SESSION_UNANSWERED;
    else if (event->launch)
        *class_out = MIRE_SESSION_LAUNCH;
    else
        *class_out = event->foreground == MIRE_GROUND_BACK ? MIRE_SESSION_BACKGROUND : MIRE_SESSION_FOREGROUND;
    return (event->trigger == MIRE_TRIGGER_BUSY || event->trigger == MIRE_TRIGGER_UNANSWERED) &&
           !mire__event_may_be_idle(event);
}

void mire__session_count(struct session *session, uint32_t lane, const struct event *event)
{
    enum mire__session_class class;
    uint64_t ms = event->end_ns > event->begin_ns ? (event->end_ns - event->begin_ns) / MIRE_NS_PER_MS : 0;

    if (!mire__session_class_of(&class, event))
        return;
    atomic_fetch_add_explicit(&session->hangs[class], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&session->hang_ms[class], ms, memory_order_relaxed);
    atomic_store_explicit(&session->counted[lane], event->begin_ns, memory_order_relaxed);
    atomic_store_explicit(&session->loop, 1, memory_order_relaxed); /* a program without a loop has no hangs */
}

void mire__session_peak(struct session *session, uint64_t footprint_bytes)
{
    uint64_t peak = atomic_load_explicit(&session->footprint_peak_bytes, memory_order_relaxed);

    while (peak < footprint_bytes &&
           !atomic_compare_exchange_weak_explicit(&session->footprint_peak_bytes, &peak, footprint_bytes,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
