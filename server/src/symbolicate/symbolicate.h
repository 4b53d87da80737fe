/*
 * symbolicate.h - addresses -> functions, files, lines.
 *
 *     wire trie             resolved trie
 *     n1 frame a     -->    m1 a
 *     n2 frame b     -->    m2 b's function
 *                           m3 what is inlined into it there
 *
 * A frame becomes one node for each function that is inlined at its address, outermost first. An address that no file
 * has a name for has the name that the sender told. A frame of Java whose mapping is not there keeps the name it came
 * with, and the id of the mapping as its build: another build may call another function so.
 */
#ifndef MIRE_SYMBOLICATE_SYMBOLICATE_H
#define MIRE_SYMBOLICATE_SYMBOLICATE_H

#include "base/arena.h"
#include "model/resolved.h"
#include "symbolizer/symbolizer.h"

/* An image that frames lie in and that would be known better with another debug file. */
struct symbolicate_missing {
    const struct report_image *image;
    enum symbol_depth had;              /* UNKNOWN: nothing; NAMES, or a part of it; LINES */
    bool there;                         /* it is, but for other files that its DWARF refers to */
    const struct symbol_splits *splits; /* those of them that are split files; NULL: none is */
    const char *defect;                 /* what is wrong with what is there; "" */
};

struct symbolicate_counts {
    size_t frames;                             /* distinct frames of the report */
    size_t unresolved;                         /* of them without a function's name, or one that a mapping may change */
    const struct symbolicate_missing *missing; /* in the arena, by rising build id, each once */
    size_t missing_count;
};

/*
 * Resolve a report.
 *
 *   out      filled: locations (role MIRE_ROLE_UNKNOWN), nodes, samples, threads, facts, cost; of hot only the device's
 *            choice (node, run)
 *   arena    everything new lies in it; `out` also borrows from the report
 *   symbols  the calling thread's own
 *   now_ms   as in symbols_find
 *
 * Returns 0 or a fault (MIRE_FAULT_MEMORY, or what fetching an uploaded file gave).
 */
int symbolicate(struct resolved *out, struct symbolicate_counts *counts_out, struct arena *arena,
                struct symbols *symbols, const struct report *report, uint64_t now_ms);

#endif
