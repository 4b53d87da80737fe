/* A body of any encoding through decode, as at the door; what is a report goes on through symbols, feature and its
 * document and back. */
#include "base/arena.h"
#include "decode/decode.h"
#include "feature/feature.h"
#include "symbolicate/symbolicate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void go_on(const struct report *report, struct arena *arena)
{
    static struct symbols *symbols;
    static struct rules *rules;
    struct resolved doc, again;
    struct symbolicate_counts counts;
    struct feature feature;
    struct rules_fault fault;
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    unsigned char *bytes;
    size_t len;
    if (!symbols && (symbols_open(&symbols, &options) || rules_builtin(&rules, &fault)))
        abort();
    if (symbolicate(&doc, &counts, arena, symbols, report, 0) || feature_find(&feature, arena, &doc, report, rules))
        return; /* the arena's limit */
    if (resolved_encode(&bytes, &len, &doc) || resolved_decode(&again, arena, bytes, len))
        abort();
    if (again.node_count != doc.node_count || again.sample_count != doc.sample_count ||
        again.hot.depth != doc.hot.depth || again.hot.caller1 != doc.hot.caller1 ||
        again.hot.thread != doc.hot.thread || again.thread_count != doc.thread_count ||
        again.holder.thread != doc.holder.thread || again.holder.frame != doc.holder.frame ||
        again.verdict.known != doc.verdict.known || again.bucket_count != doc.bucket_count)
        abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, 64 << 20);
    if (decode_report(&report, &arena, &fault, "mire", decode_encoding_of(data, size), data, size) == MIRE_DECODE_OK)
        go_on(&report, &arena);
    arena_fini(&arena);
    return 0;
}
