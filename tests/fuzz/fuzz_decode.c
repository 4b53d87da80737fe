/* A body of any encoding through decode, as at ingest; a report continues through symbols, feature, and its document
 * and back. */
#include "decode/decode.h"
#include "fuzz/go_on.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, 64 << 20);
    if (decode_report(&report, &arena, &fault, "mire", decode_encoding_of(data, size), data, size) == MIRE_DECODE_OK &&
        report.kind != MIRE_REPORT_SESSION)
        go_on(&report, &arena);
    arena_fini(&arena);
    return 0;
}
