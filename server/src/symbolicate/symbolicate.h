/*
 * symbolicate.h - addresses -> functions, files, lines.
 *
 *     wire trie             resolved trie
 *     n1 frame a     -->    m1 a
 *     n2 frame b     -->    m2 b's function
 *                           m3 what is inlined into it there
 *
 * A frame becomes one node for each function that is inlined at its address, outermost first. An address without a name
 * in any file has the name in the report. A frame of Java without its mapping keeps its name, and has the id of the
 * mapping as its build, because another build may give the name to another function.
 */
#ifndef MIRE_SYMBOLICATE_SYMBOLICATE_H
#define MIRE_SYMBOLICATE_SYMBOLICATE_H

#include "base/arena.h"
#include "model/resolved.h"
#include "symbolizer/symbolizer.h"

/* An image whose frames another debug file would name better. */
struct symbolicate_missing {
    const struct report_image *image;
    enum symbol_depth had;              /* UNKNOWN: no names; NAMES: some names; LINES: names and lines */
    bool there;                         /* its own file is there; files that its DWARF refers to are missing */
    const struct symbol_splits *splits; /* the missing split files; NULL: none */
    const char *defect;                 /* the defect of the file that is there; "" */
};

struct symbolicate_counts {
    size_t frames;                             /* distinct frames of the report */
    size_t unresolved;                         /* locations without a function's name, or with a provisional one */
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
 * Returns 0 or a fault: MIRE_FAULT_MEMORY, or a fault of fetching an uploaded file.
 */
int symbolicate(struct resolved *out, struct symbolicate_counts *counts_out, struct arena *arena,
                struct symbols *symbols, const struct report *report, uint64_t now_ms);

#endif
