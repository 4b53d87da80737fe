/*
 * sdk.c - the program's calls of libmire; empty if it is built without.
 */
#include "hanger.h"

#ifdef WITH_MIRE
#include "mire/mire.h"

#include <stdlib.h>

/* Returns 0, which libmire refuses, if the variable is not set. */
static uint32_t number(const char *name)
{
    const char *text = getenv(name);

    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

bool sdk_start(void)
{
    static const char *const thresholds[] = {"foreground_ms", "background_ms", "launch_ms"};
    mire_options *options = mire_options_new();
    uint32_t threshold_ms = number("MIRE_THRESHOLD_MS");
    bool started;

    for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
        mire_options_set_number(options, thresholds[i], threshold_ms);
    started = !mire_options_set_app(options, "hanger", "1") && !mire_options_set_store(options, getenv("MIRE_STORE")) &&
              !mire_options_set_period_ms(options, number("MIRE_PERIOD_MS")) &&
              !mire_options_set_number(options, "suppress_ms", 0) &&
              !mire_options_set_number(options, "daily_cap", 1000) && !mire_options_add_thread(options, THREAD_NAME) &&
              !mire_start(options);
    mire_options_free(options);
    return started;
}

bool sdk_watch(void)
{
    return mire_watch_thread(NULL) == MIRE_OK;
}

void sdk_set_foreground(bool foreground)
{
    mire_set_foreground(foreground);
}
#else
bool sdk_start(void)
{
    return true; /* mire-run has started it */
}

bool sdk_watch(void)
{
    return false;
}

void sdk_set_foreground(bool foreground)
{
    (void)foreground;
}
#endif
