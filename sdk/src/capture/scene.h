/*
 * scene.h - the frame counter of the app: a thread ticks, and the check thread samples it while frames are overdue.
 *
 *     half the limit dropped in this window ---> each period the check thread samples the ticking thread if a frame is
 *                                                overdue
 *     the window or scene ends over the limit -> an event with these stacks; otherwise it is discarded
 *
 * Smooth frames wake no thread. The ticking thread owns its counts, and hands over complete windows, one at a time; a
 * window that ends before the check thread has taken the last one is left out.
 *
 * Thread: the first three functions: the thread that ticks; calls from two threads at a time are ignored. The rest:
 * check thread.
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

/* Frames since the process began, while watched. Thread: any. */
void mire__scene_counts(uint64_t *drawn_out, uint64_t *dropped_out);

void mire__scene_start(struct check *check);
uint64_t mire__scene_step(struct check *check, struct process_record *of);
void mire__scene_stop(struct check *check, struct process_record *of);

#endif
