/*
 * frames.h - the display's frames as the app ticks them: how many came, how many should have.
 *
 *     tick   tick   tick                 tick   tick
 *      |      |      |      (.)    (.)    |      |          (.) dropped: frame_us passed without a tick
 *
 * Frames are counted in windows of MIRE_FRAMES_WINDOW_NS, or from a scene's begin to its end. A window in which
 * settings.frames_dropped were dropped makes a record. Time in which nothing moves is no jank: a pause is told by the
 * app, and outside a scene a gap over MIRE_FRAMES_PAUSE_NS is taken for one.
 *
 * Pure: time comes in as an argument. Thread: the one that ticks. Memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_FRAMES_H
#define MIRE_CAPTURE_FRAMES_H

#include "base/base.h"

#define MIRE_FRAMES_WINDOW_NS (10 * MIRE_NS_PER_S)
#define MIRE_FRAMES_PAUSE_NS  MIRE_NS_PER_S

struct frames {
    uint64_t begin_ns; /* of the window or the scene; 0: none has begun */
    uint64_t last_ns;  /* the last tick; 0 while nothing moves */
    uint64_t longest_ns;
    uint32_t ticks;
    uint32_t dropped;
    uint32_t in_scene; /* 1: until the scene's end */
    uint32_t unused;
};

/* Begin to count: a window, or a scene. What was counted is forgotten. */
void mire__frames_begin(struct frames *frames, uint64_t now_ns, bool scene);

/*
 * A frame came.
 *   when_ns    CLOCK_MONOTONIC; one before the last is taken for the last
 *   frame_ns   a frame's time
 * Returns true when a window is over: read `frames`, then mire__frames_begin. Never within a scene.
 */
bool mire__frames_tick(struct frames *frames, uint64_t when_ns, uint64_t frame_ns);

/* The scene ends without another frame: those missing since the last one count. */
void mire__frames_end(struct frames *frames, uint64_t now_ns, uint64_t frame_ns);

/* Nothing will move for now. */
void mire__frames_pause(struct frames *frames);

#endif
