/*
 * ground_apple.c - see ground.h. UIKit's names are looked up, so that libmire needs no UIKit.
 */
#include "core/ground.h"

#include "base/base.h"
#include "mire/context.h"
#include "mire/exit.h"

#include <CoreFoundation/CoreFoundation.h>
#include <dlfcn.h>

#define IMMEDIATELY 4 /* CFNotificationSuspensionBehaviorDeliverImmediately */

enum notice { NOTICE_ACTIVE, NOTICE_INACTIVE, NOTICE_BACKGROUND, NOTICE_TERMINATES };

static const struct {
    const char *name;
    enum notice notice;
} notices[] = {{"UIApplicationDidBecomeActiveNotification", NOTICE_ACTIVE},
               {"UIApplicationWillResignActiveNotification", NOTICE_INACTIVE},
               {"UIApplicationDidEnterBackgroundNotification", NOTICE_BACKGROUND},
               {"UIApplicationWillTerminateNotification", NOTICE_TERMINATES}};

/* `observer` is the notice's row. */
static void on_notice(CFNotificationCenterRef center, void *observer, CFStringRef name, const void *object,
                      CFDictionaryRef info)
{
    static const enum mire_app_state states[] = {MIRE_APP_FOREGROUND, MIRE_APP_VISIBLE, MIRE_APP_BACKGROUND};
    size_t row = (size_t)((const char *)observer - (const char *)notices) / sizeof(notices[0]);
    enum notice notice = notices[row].notice;

    (void)center;
    (void)name;
    (void)object;
    (void)info;
    if (notice == NOTICE_TERMINATES)
        mire_set_quit(MIRE_QUIT_USER); /* or the system, which the app cannot tell apart */
    else
        mire_set_app_state(states[notice]);
}

void mire__ground_hear(void)
{
    static _Atomic bool hears;

    if (atomic_exchange(&hears, true))
        return;
    for (size_t i = 0; i < MIRE_COUNT(notices); i++) {
        const CFStringRef *name = dlsym(RTLD_DEFAULT, notices[i].name);

        if (name)
            CFNotificationCenterAddObserver(CFNotificationCenterGetLocalCenter(), &notices[i], on_notice, *name, NULL,
                                            IMMEDIATELY);
    }
}
