/* frames.c - see frames.h. Signal-safe: arithmetic only. */
#include "capture/frames.h"

void mire__frames_begin(struct frames *frames, uint64_t now_ns, bool scene)
{
    uint64_t last_ns = frames->last_ns;

    *frames = (struct frames){.begin_ns = now_ns, .in_scene = scene, .last_ns = scene ? now_ns : last_ns};
}

/* Frames due in a gap, without the frame that ended the gap: a late frame is not dropped. */
static uint32_t missing(uint64_t gap_ns, uint64_t frame_ns)
{
    uint64_t frames = (gap_ns + frame_ns / 2) / frame_ns;

    return frames > 1 ? (uint32_t)(frames - 1) : 0;
}

static void count_gap(struct frames *frames, uint64_t gap_ns, uint64_t frame_ns)
{
    frames->dropped += missing(gap_ns, frame_ns);
    if (gap_ns > frames->longest_ns)
        frames->longest_ns = gap_ns;
}

bool mire__frames_tick(struct frames *frames, uint64_t when_ns, uint64_t frame_ns)
{
    uint64_t gap_ns = when_ns > frames->last_ns ? when_ns - frames->last_ns : 0;

    if (frames->begin_ns == 0)
        mire__frames_begin(frames, when_ns, false);
    frames->ticks++;
    if (frames->last_ns != 0 && (frames->in_scene || gap_ns <= MIRE_FRAMES_PAUSE_NS))
        count_gap(frames, gap_ns, frame_ns);
    if (when_ns > frames->last_ns)
        frames->last_ns = when_ns;
    return !frames->in_scene && frames->last_ns - frames->begin_ns >= MIRE_FRAMES_WINDOW_NS;
}

void mire__frames_end(struct frames *frames, uint64_t now_ns, uint64_t frame_ns)
{
    if (frames->last_ns != 0 && now_ns > frames->last_ns)
        count_gap(frames, now_ns - frames->last_ns, frame_ns);
}

void mire__frames_pause(struct frames *frames)
{
    frames->last_ns = 0;
}
