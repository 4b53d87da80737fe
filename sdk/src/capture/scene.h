/*
 * scene.h - frames.h in an app: a thread ticks, and the check thread takes stacks of it while frames do not come.
 *
 *     half the limit dropped in this window -> the check thread looks every period whether a frame is overdue, and
 *                                              takes the ticking thread's stack if so
 *     the window or scene ends over the limit -> a record with those stacks; else it was nothing
 *
 * Smooth frames wake nobody. What the ticking thread counts is its own; it hands over whole windows, one at a time: one
 * that ends before the check thread has taken the last is left out.
 *
 * Thread: the first four, the one that ticks; calls from two threads at a time are left out. The rest: check thread.
 */
#ifndef MIRE_CAPTURE_SCENE_H
#define MIRE_CAPTURE_SCENE_H

#include "base/base.h"

struct check;
struct process_record;

/* See mire_frame_tick, mire_scene_begin and mire_scene_end in mire.h. */
void mire__scene_tick(uint64_t when_ns);
void mire__scene_begin(const char *name);
void mire__scene_end(void);

void mire__scene_start(struct check *check);
uint64_t mire__scene_step(struct check *check, struct process_record *of);
void mire__scene_stop(struct check *check, struct process_record *of);

#endif
