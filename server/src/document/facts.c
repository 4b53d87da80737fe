/*
 * facts.c - see facts.h. The section "exit" has a file of its own.
 */
#include "document/facts.h"
#include "document/fields.h"

#include "model/report.h"
#include "wire/limits.h"
#include "wire/names.h"

/* clang-format off */
static const struct bind_field lock[] = {
    REQUIRED_U64(struct report_lock, address, MIRE_NAME_ADDRESS, UINT64_MAX),
    FACT(struct report_lock, owner_tid, MIRE_NAME_OWNER_TID, UINT32_MAX),
};
static const struct bind_field cpu[] = {
    REQUIRED_U64(struct report_cpu, window_ms, MIRE_NAME_WINDOW_MS, UINT32_MAX),
    REQUIRED_U64(struct report_cpu, percent, MIRE_NAME_PERCENT, UINT32_MAX),
    FACT(struct report_cpu, limit_percent, MIRE_NAME_LIMIT_PERCENT, UINT32_MAX),
};
static const struct bind_field disk[] = {
    REQUIRED_U64(struct report_disk, window_ms, MIRE_NAME_WINDOW_MS, UINT32_MAX),
    REQUIRED_U64(struct report_disk, read_bytes, MIRE_NAME_READ_BYTES, UINT64_MAX),
    REQUIRED_U64(struct report_disk, write_bytes, MIRE_NAME_WRITE_BYTES, UINT64_MAX),
    FACT(struct report_disk, limit_bytes, MIRE_NAME_LIMIT_BYTES, UINT64_MAX),
};
static const struct bind_field frames[] = {
    FACT(struct report_frames, window_ms, MIRE_NAME_WINDOW_MS, UINT32_MAX),
    FACT(struct report_frames, period_us, MIRE_NAME_PERIOD_US, UINT32_MAX),
    REQUIRED_U64(struct report_frames, ticks, MIRE_NAME_TICKS, UINT32_MAX),
    REQUIRED_U64(struct report_frames, dropped, MIRE_NAME_DROPPED, UINT32_MAX),
    FACT(struct report_frames, longest_ms, MIRE_NAME_LONGEST_MS, UINT32_MAX),
};
static const struct bind_field suppressed[] = {
    REQUIRED_U64(struct report_suppressed, count, MIRE_NAME_COUNT, UINT32_MAX),
    FACT(struct report_suppressed, duration_ms, MIRE_NAME_DURATION_MS, UINT64_MAX),
};
static const struct bind_field watched[] = {
    FACT(struct report_watched, tid, MIRE_NAME_TID, UINT32_MAX),
    TEXT(struct report_watched, name, MIRE_NAME_NAME, MIRE_WIRE_TEXT_MAX),
    FACT(struct report_watched, cpu_ms, MIRE_NAME_CPU_MS, UINT64_MAX),
    FACT(struct report_watched, voluntary_switches, MIRE_NAME_VOLUNTARY_SWITCHES, UINT64_MAX),
    FACT(struct report_watched, involuntary_switches, MIRE_NAME_INVOLUNTARY_SWITCHES, UINT64_MAX),
    FACT(struct report_watched, major_faults, MIRE_NAME_MAJOR_FAULTS, UINT64_MAX),
    FACT(struct report_watched, read_bytes, MIRE_NAME_READ_BYTES, UINT64_MAX),
    FACT(struct report_watched, write_bytes, MIRE_NAME_WRITE_BYTES, UINT64_MAX),
};
static const struct bind_field cost[] = {
    U64(struct report_cost, samples, MIRE_NAME_SAMPLES, UINT32_MAX),
    U64(struct report_cost, stopped_max_ns, MIRE_NAME_STOPPED_MAX_NS, UINT64_MAX),
    U64(struct report_cost, stopped_sum_ns, MIRE_NAME_STOPPED_SUM_NS, UINT64_MAX),
    U64(struct report_cost, unwind_sum_ns, MIRE_NAME_UNWIND_SUM_NS, UINT64_MAX),
    U64(struct report_cost, watch_cpu_us, MIRE_NAME_WATCH_CPU_US, UINT64_MAX),
    FACT(struct report_cost, wakeups, MIRE_NAME_WAKEUPS, UINT64_MAX),
    FACT(struct report_cost, stored_bytes, MIRE_NAME_STORED_BYTES, UINT64_MAX),
    FACT(struct report_cost, period_raised, MIRE_NAME_PERIOD_RAISED, UINT32_MAX),
};
static const struct bind_field memory[] = {
    FACT(struct memory, interval_bytes, MIRE_NAME_INTERVAL_BYTES, UINT64_MAX),
    FACT(struct memory, footprint_bytes, MIRE_NAME_FOOTPRINT_BYTES, UINT64_MAX),
    FACT(struct memory, footprint_peak_bytes, MIRE_NAME_FOOTPRINT_PEAK_BYTES, UINT64_MAX),
    FACT(struct memory, limit_bytes, MIRE_NAME_LIMIT_BYTES, UINT64_MAX),
    FACT(struct memory, limit_used_bytes, MIRE_NAME_LIMIT_USED_BYTES, UINT64_MAX),
    FACT(struct memory, threshold_bytes, MIRE_NAME_THRESHOLD_BYTES, UINT64_MAX),
    FACT(struct memory, explained_bytes, MIRE_NAME_EXPLAINED_BYTES, UINT64_MAX),
    REQUIRED_U64(struct memory, live_bytes, MIRE_NAME_LIVE_BYTES, UINT64_MAX),
    REQUIRED_U64(struct memory, live_count, MIRE_NAME_LIVE_COUNT, UINT64_MAX),
    FACT(struct memory, error_count, MIRE_NAME_ERROR_COUNT, UINT64_MAX),
    FACT(struct memory, error_bytes, MIRE_NAME_ERROR_BYTES, UINT64_MAX),
    FACT(struct memory, mapped_bytes, MIRE_NAME_MAPPED_BYTES, UINT64_MAX),
    FACT(struct memory, grown_ms, MIRE_NAME_GROWN_MS, UINT64_MAX),
};
/* clang-format on */

const struct bind_table facts_lock = BIND_TABLE(lock);
const struct bind_table facts_cpu = BIND_TABLE(cpu);
const struct bind_table facts_disk = BIND_TABLE(disk);
const struct bind_table facts_frames = BIND_TABLE(frames);
const struct bind_table facts_suppressed = BIND_TABLE(suppressed);
const struct bind_table facts_watched = BIND_TABLE(watched);
const struct bind_table facts_cost = BIND_TABLE(cost);
const struct bind_table facts_memory = BIND_TABLE(memory);

enum bind_outcome facts_read(struct bind *bind, void *out, uint32_t at, const struct bind_table *table)
{
    return bind_object(bind, out, at, table->fields, table->count);
}
