/*
 * frames.h - counts frames that the app has drawn, and frames that it has dropped.
 *
 *     tick   tick   tick                 tick   tick
 *      |      |      |      (.)    (.)    |      |          (.) dropped: frame_us passed without a tick
 *
 * Frames are counted in windows of MIRE_FRAMES_WINDOW_NS, or from the begin to the end of a scene. A window with
 * settings.frames_dropped dropped frames makes an event. Pauses do not count: the app announces them, and outside a
 * scene a gap longer than MIRE_FRAMES_PAUSE_NS is a pause.
 *
 * Pure: time is an argument. Thread: the one that ticks. The memory is the caller's, zeroed.
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

/* Begin a window or a scene; the counts become 0. */
void mire__frames_begin(struct frames *frames, uint64_t now_ns, bool scene);

/*
 * A frame was drawn.
 *   when_ns    CLOCK_MONOTONIC; a time before the last frame counts as the last frame's
 *   frame_ns   duration of one frame
 * Returns true at the end of a window: read `frames`, then call mire__frames_begin. Never true within a scene.
 */
bool mire__frames_tick(struct frames *frames, uint64_t when_ns, uint64_t frame_ns);

/* The scene ends: frames that are missing since the last one count as dropped. */
void mire__frames_end(struct frames *frames, uint64_t now_ns, uint64_t frame_ns);

/* A pause: no frame is due until the next one. */
void mire__frames_pause(struct frames *frames);

#endif
