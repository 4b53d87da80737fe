/* one_stack.h - makes a report with one sample from one stack, for feature_find. */
#ifndef MIRE_BENCH_ONE_STACK_H
#define MIRE_BENCH_ONE_STACK_H

#include "model/report.h"
#include "model/resolved.h"

enum { ONE_STACK_FRAMES = 1024 };

struct one_stack {
    struct resolved doc;
    struct report report;
    struct resolved_location locations[ONE_STACK_FRAMES];
    struct resolved_node nodes[ONE_STACK_FRAMES + 1];
    struct report_sample sample;
    struct report_image image;
};

/*
 * Make a report of the kind `busy` with a stack. All texts are borrowed.
 *
 *   names  innermost first; the first ONE_STACK_FRAMES are used
 *   image  module of all functions; "": none
 */
void one_stack_fill(struct one_stack *out, const char *const *names, size_t count, const char *image);

#endif
