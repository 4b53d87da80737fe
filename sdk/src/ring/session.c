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

bool mire__session_class_of(enum mire__session_class *class_out, const struct hang *hang)
{
    if (hang->trigger == MIRE_TRIGGER_UNANSWERED)
        *class_out = MIRE_SESSION_UNANSWERED;
    else if (hang->launch)
        *class_out = MIRE_SESSION_LAUNCH;
    else
        *class_out = hang->foreground == MIRE_GROUND_BACK ? MIRE_SESSION_BACKGROUND : MIRE_SESSION_FOREGROUND;
    return hang->trigger == MIRE_TRIGGER_BUSY || hang->trigger == MIRE_TRIGGER_UNANSWERED;
}

void mire__session_count(struct session *session, uint32_t lane, const struct hang *hang)
{
    enum mire__session_class class;
    uint64_t ms = hang->end_ns > hang->begin_ns ? (hang->end_ns - hang->begin_ns) / MIRE_NS_PER_MS : 0;

    if (!mire__session_class_of(&class, hang))
        return;
    atomic_fetch_add_explicit(&session->hangs[class], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&session->hang_ms[class], ms, memory_order_relaxed);
    atomic_store_explicit(&session->counted[lane], hang->begin_ns, memory_order_relaxed);
    atomic_store_explicit(&session->loop, 1, memory_order_relaxed); /* a program without one has no hangs */
}
