/* tree.c - a walk with a stack of its own; its depth is bounded by that of the document. */
#include "decode/tree.h"

#include <string.h>

struct step {
    uint32_t next;  /* place of the child to visit next */
    uint32_t left;  /* children that are left */
    uint32_t frame; /* of this node */
    uint32_t node;  /* in the trie, where the root is the entry */
    uint64_t own;   /* count, less that of the children seen */
};

struct call_walk {
    struct build *b;
    const struct json *json;
    const struct tree_format *format;
    struct step *steps;
    uint32_t *frames;
    size_t depth;
    uint64_t counted;
};

static uint64_t count_of(const struct call_walk *w, uint32_t at)
{
    struct fact count = look_number(w->json, look_one(w->json, at, w->format->count));
    return count.known && count.value < UINT32_MAX ? count.value : !count.known;
}

static void enter(struct call_walk *w, uint32_t at)
{
    const struct tree_format *format = w->format;
    uint32_t children = look_one(w->json, at, format->children);
    uint32_t count = look_count(w->json, children);
    bool caller = format->from_leaf ? w->depth > 0 : count > 0;
    struct step *step = &w->steps[w->depth];
    *step = (struct step){.next = children + 1, .left = count, .own = count_of(w, at)};
    step->frame = format->frame(format->context, at, caller);
    if (!format->from_leaf)
        step->node = build_node(w->b, w->depth ? w->steps[w->depth - 1].node : 0, step->frame);
    if (w->depth) {
        struct step *parent = &w->steps[w->depth - 1];
        parent->own -= step->own < parent->own ? step->own : parent->own;
    } else {
        w->counted += step->own;
    }
    w->depth++;
}

/* The stack that ends in the node on top, if counts are its own. */
static void leave(struct call_walk *w)
{
    struct step *step = &w->steps[--w->depth];
    if (!step->own)
        return;
    uint32_t node = step->node;
    if (w->format->from_leaf) {
        for (size_t i = 0; i <= w->depth; i++)
            w->frames[i] = w->steps[i].frame;
        node = build_stack(w->b, w->frames, w->depth + 1);
    }
    uint64_t weight = step->own * w->format->unit_ms;
    const struct report_sample sample = {.weight_ms = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX,
                                         .node = node,
                                         .state = '?',
                                         .syscall = -1,
                                         .thread = w->format->thread,
                                         .loss = '.'};
    build_sample(w->b, &sample);
}

void tree_samples(uint64_t *counted_out, struct build *b, const struct json *json, uint32_t roots,
                  const struct tree_format *format)
{
    struct call_walk w = {.b = b, .json = json, .format = format};
    w.steps = arena_array(b->arena, MIRE_FOREIGN_DEPTH_MAX, sizeof *w.steps);
    w.frames = arena_array(b->arena, MIRE_FOREIGN_DEPTH_MAX, sizeof *w.frames);
    b->failed |= !w.steps || !w.frames;
    uint32_t at = roots + 1;
    for (uint32_t i = 0; i < look_count(json, roots) && !b->failed; i++, at = json_next(json, at)) {
        enter(&w, at);
        while (w.depth) {
            struct step *top = &w.steps[w.depth - 1];
            if (!top->left) {
                leave(&w);
                continue;
            }
            uint32_t child = top->next;
            top->left--;
            top->next = json_next(json, child);
            enter(&w, child); /* of nodes within each other there are fewer than containers of the document */
        }
    }
    *counted_out = w.counted;
}
