/*
 * metrickit_tree.h - call stack trees of MetricKit. Inside decode/ only.
 */
#ifndef MIRE_DECODE_METRICKIT_TREE_H
#define MIRE_DECODE_METRICKIT_TREE_H

#include "decode/build.h"

/* Is the object at `at` a tree of its own? 0: the whole document. */
bool metrickit_is_tree(const struct json *json, uint32_t at);

/*
 * Add the frames, stacks and threads of a tree to the report, whose kind and duration are known. If the tree has
 * chains of threads, the attributed thread is the event's; the others are threads beside it. A note names what is missing.
 *
 *   tree  0: the whole document
 */
void metrickit_tree(struct build *b, const struct json *json, uint32_t tree);

#endif
