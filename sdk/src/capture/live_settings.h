/*
 * live_settings.h - the check thread's view of the settings that other threads change (capture.h). Private to capture/.
 */
#ifndef MIRE_CAPTURE_LIVE_SETTINGS_H
#define MIRE_CAPTURE_LIVE_SETTINGS_H

#include "capture/check.h"

/*
 * Take over settings and foreground. The settings are copied only if their version is not `version`, which is then that of
 * the copy. Thread: check thread, or before it begins.
 */
void mire__live_settings_look(struct check *check, uint32_t *version);

#endif
