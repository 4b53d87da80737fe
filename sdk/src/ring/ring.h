/*
 * ring.h - the stacks of one event, from the first sample to the last, in fixed memory.
 *
 *     slots    [ s0 | s1 | s2 | s3 | ... ]        samples, in no order
 *     views    [ (slot, weight) ... oldest first ]   two of them; `active` is the index of the valid one
 *
 * A full ring thins itself: of each two neighbours one stays, chosen at random in proportion to the weights, and takes
 * over the weight of the other. So the samples cover the whole event, and the sum of the weights never changes.
 *
 * The ring is in a mapped file and is readable after SIGKILL at any instant. Invariants: a slot is complete before a
 * view refers to it; thinning builds the other view and then flips `active`; a slot of the active view is never
 * overwritten.
 *
 * One writer, the check thread. Readers: the writer, or any process after the writer's death. No lock, no pointers.
 */
#ifndef MIRE_RING_RING_H
#define MIRE_RING_RING_H

#include "base/base.h"

/* How the unwinder found a frame; the numbers are those of the wire format. */
enum mire__found {
    MIRE_FOUND_PC = 0,     /* the innermost: the pc itself */
    MIRE_FOUND_FP = 1,     /* frame pointer */
    MIRE_FOUND_CFI = 2,    /* call frame information */
    MIRE_FOUND_SIGNAL = 3, /* interrupted by a signal handler further in */
    MIRE_FOUND_LR = 4,     /* link register */
    MIRE_FOUND_SCRIPT = 5  /* a frame of a script, reported by its interpreter */
};

enum mire__sample_flag {
    MIRE_SAMPLE_CUT = 1,     /* deeper than MIRE_DEPTH_MAX: the innermost half and the outermost half are here */
    MIRE_SAMPLE_BROKEN = 2,  /* the unwinder stopped before the outermost frame */
    MIRE_SAMPLE_BLOCKED = 4, /* read while the thread slept in the kernel, without interrupting it */
    MIRE_SAMPLE_SILENT = 8   /* the thread did not answer; there is no stack */
};

/* Why a sample has no stack. */
enum mire__loss {
    MIRE_LOSS_NONE,
    MIRE_LOSS_BLOCKED,    /* the thread blocks all usable signals */
    MIRE_LOSS_NO_SIGNAL,  /* no signal is free, or the system refuses to send one */
    MIRE_LOSS_UNANSWERED, /* the thread did not run in time */
    MIRE_LOSS_GONE,       /* the thread has ended */
    MIRE_LOSS_CONFINED,   /* the program's seccomp filter forbids the signal */
    MIRE_LOSS_HIDDEN,     /* the thread sleeps, and the kernel hides its stack pointer */
    MIRE_LOSSES
};

/*
 * A script's frame is stored in place of an address, with highest bits that no address has. The other bits are the
 * number of its function in the blackbox, and the line, 0 if unknown. `into` is the line, so that a function has one
 * begin.
 */
#define MIRE_SCRIPT_TAG              0x4d53ull
#define MIRE_SCRIPT_LINE_MAX         0xffffffu
#define MIRE_SCRIPT_PC(number, line) (MIRE_SCRIPT_TAG << 48 | (uint64_t)(number) << 24 | (line))

static inline bool mire__is_script(uint64_t pc)
{
    return pc >> 48 == MIRE_SCRIPT_TAG;
}

static inline uint32_t mire__script_number(uint64_t pc)
{
    return (uint32_t)(pc >> 24) & 0xffffff;
}

static inline uint32_t mire__script_line(uint64_t pc)
{
    return (uint32_t)pc & MIRE_SCRIPT_LINE_MAX;
}

/* One stack, innermost frame first. */
struct sample {
    uint64_t t_ns;    /* CLOCK_MONOTONIC when it was taken */
    uint32_t depth;   /* frames, 0..MIRE_DEPTH_MAX; 0 where nothing could be read */
    uint8_t state;    /* scheduler's letter: 'R', 'S', 'D', ..., '?' if unknown */
    uint8_t flags;    /* enum mire__sample_flag */
    int16_t syscall;  /* number of the system call it was blocked in, -1 if none or unknown */
    uint32_t tid;     /* 0: the lane's own thread */
    uint32_t loss;    /* enum mire__loss; NONE where there is a stack */
    uint32_t folded;  /* frames of recursion that were left out (capture/fold.h) */
    uint32_t skipped; /* frames left out between the two halves of a cut stack */
    uint32_t unused;
    uint64_t pc[MIRE_DEPTH_MAX];   /* absolute addresses, of callers inside the call; or see MIRE_SCRIPT_PC */
    uint32_t into[MIRE_DEPTH_MAX]; /* bytes from the begin of the function to pc; 0 if it is unknown */
    uint8_t found[MIRE_DEPTH_MAX];
};

/*
 * The begin of a frame's function; if it is unknown, pc rounded down, so that a drift of some instructions has no
 * effect.
 *   frame  below sample->depth
 */
static inline uint64_t mire__sample_function(const struct sample *sample, uint32_t frame)
{
    return sample->into[frame] ? sample->pc[frame] - sample->into[frame] : sample->pc[frame] & ~(uint64_t)31;
}

/*
 * The number of functions that two stacks share, from the outermost inwards; 0 if the outer end of either is missing.
 */
uint32_t mire__sample_common(const struct sample *one, const struct sample *other);

/* The number of consecutive frames at either end: all, or half of a cut stack. */
static inline uint32_t mire__sample_reach(const struct sample *sample)
{
    return sample->flags & MIRE_SAMPLE_CUT && sample->depth > MIRE_DEPTH_MAX / 2 ? MIRE_DEPTH_MAX / 2 : sample->depth;
}

struct ring_entry {
    uint32_t slot;
    uint32_t unused;
    uint64_t weight_ns;
};

struct ring_view {
    _Atomic uint32_t count;
    uint32_t unused;
    struct ring_entry entries[MIRE_RING_SAMPLES];
};

struct ring {
    _Atomic uint32_t active; /* index of the valid view */
    uint32_t thinned_count;  /* each time the sampler doubles its period */
    uint64_t random;
    struct ring_view views[2];
    struct sample slots[MIRE_RING_SAMPLES];
};

/* Empty the ring. `seed` seeds the choice between neighbours. Thread: writer. */
void mire__ring_reset(struct ring *ring, uint64_t seed);

/*
 * The slot for the next sample, valid until the next call of any function here except mire__ring_append. Thins a full
 * ring first. Thread: writer.
 */
struct sample *mire__ring_reserve(struct ring *ring);

/*
 * Publish the reserved sample.
 *   weight_ns  the time that the sample represents
 * Thread: writer, after mire__ring_reserve.
 */
void mire__ring_append(struct ring *ring, uint64_t weight_ns);

/* Remove the samples taken at t_ns or later, which turned out not to belong to the event. Thread: writer. */
void mire__ring_cut(struct ring *ring, uint64_t t_ns);

/* Make `to` the same as `from`. Writes no more memory than the samples need. Thread: writer of both. */
void mire__ring_copy(struct ring *to, const struct ring *from);

/* Number of samples, 0..MIRE_RING_SAMPLES. Thread: any reader. */
uint32_t mire__ring_count(const struct ring *ring);

/*
 * The index-th sample, oldest first.
 *   weight_ns_out  may be NULL
 * Returns NULL if index is out of range or the ring is damaged. The sample's depth is at most MIRE_DEPTH_MAX.
 * Borrowed from the ring. Thread: any reader.
 */
const struct sample *mire__ring_at(uint64_t *weight_ns_out, const struct ring *ring, uint32_t index);

#endif
