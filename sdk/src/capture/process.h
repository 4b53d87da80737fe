/*
 * process.h - the monitors of the process as a whole, which share its lane (process_lane.h): load (usage.h), dropped
 * frames (scene.h), requests of the app (demand.h) and crashes (crash.h).
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_PROCESS_H
#define MIRE_CAPTURE_PROCESS_H

#include "capture/check.h"

/* The row in watch.c's table. */
extern const struct check_step mire__process_monitor;

#endif
