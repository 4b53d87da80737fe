/*
 * tree.h - call trees with counts, as other formats nest them, into samples. Inside decode/ only.
 *
 *     root at the thread's entry    {a, 7, [{b, 6, [{c, 1}, {d, 3}]}]}   a 1, a>b 2, a>b>c 1, a>b>d 3
 *     root at the leaf              {c, 4, [{b, 3}, {x, 1}]}             c<b 3, c<x 1
 *
 * The count of a node includes those of all nodes below it; its own count is the rest. Nothing recurses.
 */
#ifndef MIRE_DECODE_TREE_H
#define MIRE_DECODE_TREE_H

#include "decode/apple.h"

struct tree_format {
    const char *count;    /* name of a node's count */
    const char *children; /* name of its list of nodes */
    bool from_leaf;       /* the root is the innermost frame */
    uint32_t unit_ms;     /* time of one count */
    uint32_t thread;      /* whose samples they are, as report_sample.thread */
    void *context;
    /* The frame of a node; `caller` as of modules_frame. */
    uint32_t (*frame)(void *context, uint32_t at, bool caller);
};

/*
 * The trees of the array at `roots` as samples of b->report->event, one a distinct stack.
 *
 *   counted_out  sum of the counts
 */
void tree_samples(uint64_t *counted_out, struct build *b, const struct json *json, uint32_t roots,
                  const struct tree_format *format);

#endif
