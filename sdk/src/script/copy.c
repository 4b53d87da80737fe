/* copy.c - the chain of frames of a thread that does not run. Signal-safe. */
#include "script/script.h"

#include "platform/platform.h"
#include "platform/quiet.h"

#include <string.h>

#define OWNED_BY_C_STACK 3   /* a frame on the C stack that marks the end of an evaluation */
#define THREAD_BYTES     168 /* of a thread state: bytes that are read */
#define CFRAME_BYTES     24
#define EVALUATIONS_MAX  512 /* nested evaluations; each uses C stack */

/* Read from `from` to the end of a frame. False: the memory at `from` is not mapped. */
static bool read_window(struct script_chain *chain, uint64_t from, uint64_t end)
{
    chain->window_at = from;
    chain->window_bytes = mire__peek(chain->window, from, (size_t)(end - from));
    return chain->window_bytes == end - from;
}

/* Read a frame, together with the mapped bytes below it: most outer frames are there. */
static bool read_frame(uint8_t out[MIRE_SCRIPT_FRAME_BYTES], struct script_chain *chain, uint64_t address)
{
    uint64_t end = address + MIRE_SCRIPT_FRAME_BYTES, page = address / MIRE_SCRIPT_PAGE_BYTES * MIRE_SCRIPT_PAGE_BYTES;

    if (page < MIRE_SCRIPT_PAGE_BYTES || address >= MIRE_SCRIPT_ADDRESS_MAX || address % 8 != 0)
        return false;
    if ((address < chain->window_at || end > chain->window_at + chain->window_bytes) &&
        !read_window(chain, page - MIRE_SCRIPT_PAGE_BYTES, end) && !read_window(chain, page, end)) {
        chain->window_bytes = 0;
        return false;
    }
    memcpy(out, chain->window + (address - chain->window_at), MIRE_SCRIPT_FRAME_BYTES);
    return true;
}

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
    uint64_t word;

    memcpy(&word, bytes + at, sizeof(word));
    return word;
}

/* Position of the walk. */
struct chain_walk {
    uint64_t frame;  /* the next one; 0: there is none */
    uint64_t cframe; /* the C frame of the current evaluation; 0: this version has none */
    uint64_t cframe_previous;
    uint32_t evaluations;
    struct script_stack stack;
};

/* Read from the copied C stack, or from memory. */
static bool read_stack(uint8_t *out, const struct script_stack *stack, uint64_t address, size_t size)
{
    uint64_t at = address - stack->address;

    if (address < stack->address || at > stack->size || stack->size - at < size)
        return mire__peek(out, address, size) == size;
    memcpy(out, stack->bytes + at, size);
    return true;
}

static bool read_cframe(uint64_t *frame_out, struct chain_walk *walk, const struct script_layout *layout,
                        uint64_t address)
{
    uint8_t bytes[CFRAME_BYTES];

    if (!read_stack(bytes, &walk->stack, address, sizeof(bytes)))
        return false;
    walk->cframe = address;
    walk->cframe_previous = word_at(bytes, layout->cframe_previous);
    *frame_out = word_at(bytes, layout->cframe_frame);
    return true;
}

static bool begin(struct chain_walk *walk, const struct script *script)
{
    const struct script_layout *layout = script->layout;
    uint8_t thread[THREAD_BYTES];

    if (mire__peek(thread, script->state, sizeof(thread)) != sizeof(thread) ||
        (uint32_t)word_at(thread, layout->thread_number) != script->tid)
        return false;
    walk->frame = word_at(thread, layout->thread_frame);
    return !layout->has_cframe || read_cframe(&walk->frame, walk, layout, walk->frame);
}

/* This frame ends its evaluation. The outer evaluation has its own C frame, which leads to `outer`. */
static bool leave_evaluation(struct chain_walk *walk, const struct script_layout *layout, uint64_t outer)
{
    uint64_t frame;

    return ++walk->evaluations <= EVALUATIONS_MAX && read_cframe(&frame, walk, layout, walk->cframe_previous) &&
           frame == outer;
}

/* One frame. False: it is not valid. */
static bool step(struct script_chain *chain, struct chain_walk *walk, const struct script_layout *layout)
{
    uint8_t bytes[MIRE_SCRIPT_FRAME_BYTES];
    struct script_frame *frame;
    uint64_t outer;

    if (!read_frame(bytes, chain, walk->frame))
        return false;
    outer = word_at(bytes, layout->frame_previous);
    if (!layout->frame_entry && bytes[layout->frame_owner] == OWNED_BY_C_STACK) {
        if (chain->found > 0)
            mire__script_frame(chain, chain->found - 1)->mark = walk->frame;
        walk->frame = outer;
        return ++walk->evaluations <= EVALUATIONS_MAX;
    }
    if (chain->found == MIRE_SCRIPT_WALK_MAX)
        return false;
    frame = mire__script_frame(chain, chain->found++);
    *frame = (struct script_frame){word_at(bytes, layout->frame_code), word_at(bytes, layout->frame_at), 0};
    walk->frame = outer;
    if (!layout->frame_entry || !bytes[layout->frame_entry])
        return true;
    frame->mark = walk->cframe;
    return bytes[layout->frame_entry] == 1 && leave_evaluation(walk, layout, outer);
}

void mire__script_as_copy(struct script *script, struct script_stack stack)
{
    struct script_chain *chain = &script->chain;
    struct chain_walk walk = {.stack = stack};

    chain->found = 0;
    chain->window_bytes = 0;
    if (!script->layout || !script->tid || mire__quiet_is() || !begin(&walk, script))
        return;
    while (walk.frame) {
        if (!step(chain, &walk, script->layout)) {
            chain->found = 0;
            return;
        }
    }
}
