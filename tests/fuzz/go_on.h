/* go_on.h - a decoded report through symbols and feature, and its document and back. */
#ifndef MIRE_FUZZ_GO_ON_H
#define MIRE_FUZZ_GO_ON_H

#include "base/arena.h"
#include "document/document.h"
#include "feature/memory.h"
#include "symbolicate/symbolicate.h"

#include <stdlib.h>

/* Abort if the document that is read back differs from the written one. */
static void go_on(const struct report *report, struct arena *arena)
{
    static struct symbols *symbols;
    static struct rules *rules;
    static struct suspect_rules *suspects;
    struct resolved doc, again;
    struct symbolicate_counts counts;
    struct feature feature;
    struct rules_fault fault;
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    unsigned char *bytes;
    size_t len;
    if (!symbols &&
        (symbols_open(&symbols, &options) || rules_builtin(&rules, &fault) || suspect_rules_builtin(&suspects, &fault)))
        abort();
    if (symbolicate(&doc, &counts, arena, symbols, report, 0))
        return; /* limit of the arena */
    const struct memory_packs packs = {rules, suspects, {MIRE_HEALTHY_NONE, NULL}, NULL};
    if (report->kind == MIRE_REPORT_EVENT ? feature_find(&feature, arena, &doc, report, rules, NULL)
                                          : feature_find_memory(&feature, arena, &doc, report, &packs))
        return;
    if (resolved_encode(&bytes, &len, &doc) || resolved_decode(&again, arena, bytes, len))
        abort();
    if (again.node_count != doc.node_count || again.sample_count != doc.sample_count ||
        again.hot.depth != doc.hot.depth || again.hot.caller1 != doc.hot.caller1 ||
        again.hot.thread != doc.hot.thread || again.thread_count != doc.thread_count ||
        again.holder.thread != doc.holder.thread || again.holder.frame != doc.holder.frame ||
        again.verdict.known != doc.verdict.known || again.bucket_count != doc.bucket_count ||
        again.memory.category_count != doc.memory.category_count ||
        again.memory.stack_count != doc.memory.stack_count || again.memory.held_bytes != doc.memory.held_bytes ||
        again.memory.point_count != doc.memory.point_count)
        abort();
    free(bytes);
}

#endif
