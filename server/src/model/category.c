/* category.c - the kinds, one row each. */
#include "model/category.h"

#include <string.h>

static const struct {
    const char *name;
    bool of_process;
} kinds[MIRE_CATEGORY_COUNT] = {
    [MIRE_CATEGORY_HANG] = {"hang", false},
    [MIRE_CATEGORY_LAUNCH] = {"launch", false},
    [MIRE_CATEGORY_BACKGROUND] = {"background", false},
    [MIRE_CATEGORY_KILLED] = {"killed", false},
    [MIRE_CATEGORY_THREADS] = {"threads", false},
    [MIRE_CATEGORY_CPU] = {"cpu", true},
    [MIRE_CATEGORY_POWER] = {"power", true},
    [MIRE_CATEGORY_DISK] = {"disk", true},
    [MIRE_CATEGORY_FRAMES] = {"frames", true},
    [MIRE_CATEGORY_FOOM] = {"foom", true},
    [MIRE_CATEGORY_MEMORY] = {"memory", true},
    [MIRE_CATEGORY_CRASH] = {"crash", true},
    [MIRE_CATEGORY_CUSTOM] = {"custom", true},
    [MIRE_CATEGORY_TEST] = {"test", true},
    [MIRE_CATEGORY_SYSTEM] = {"system", false},
    [MIRE_CATEGORY_IDLE] = {"idle", false},
};

const char *category_name(enum event_category category)
{
    return kinds[category].name;
}

bool category_named(enum event_category *out, const char *name)
{
    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        *out = (enum event_category)i;
        return true;
    }
    return false;
}

bool category_is_of_process(enum event_category category)
{
    return kinds[category].of_process;
}

bool category_is_apart(enum event_category category)
{
    return category == MIRE_CATEGORY_TEST || category == MIRE_CATEGORY_SYSTEM || category == MIRE_CATEGORY_IDLE;
}

bool category_may_be_nobodys(enum event_category category)
{
    return category <= MIRE_CATEGORY_FRAMES;
}

/* In an event without a function of the app, the trigger decides whether a thread was waited for. */
static bool is_of_thread(const struct report *report)
{
    const char *trigger = report->event.trigger;
    return !strcmp(trigger, "busy") || !strcmp(trigger, "unanswered");
}

uint64_t category_waited_ms(enum event_category category, const struct report *report)
{
    if ((category == MIRE_CATEGORY_SYSTEM || category == MIRE_CATEGORY_IDLE) && !is_of_thread(report))
        return report->event.frames.longest_ms.value;
    if (category == MIRE_CATEGORY_FRAMES)
        return report->event.frames.longest_ms.value;
    return category_is_of_process(category) ? 0 : report->event.duration_ms;
}
