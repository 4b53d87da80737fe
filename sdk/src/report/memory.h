/*
 * memory.h - makes one report of a run's memory tables: live memory by category and by stack.
 *
 *     blocks, mappings --tally.h--> sums by category and stack --memory_draft.h--> the largest ones --> JSON, zstd
 *
 * The tables may be those of this process, which change meanwhile, or the file of a killed process; the code is the
 * same. Their content is untrusted. Cost: about 100 ms for a million live blocks, and at most 20 MB of memory.
 *
 * Thread: any whose allocations are not recorded (it uses the heap).  Signal handler: no.
 */
#ifndef MIRE_REPORT_MEMORY_H
#define MIRE_REPORT_MEMORY_H

#include "exit/judge.h"
#include "heapread/read.h"
#include "report/report.h"
#include "report/snapshot.h"

struct residence; /* platform.h */
struct areas;     /* areas.h */

/* Limits of a report. */
struct memory_caps {
    uint32_t top;     /* categories with stacks: those with most bytes */
    uint32_t objects; /* further object classes with stacks, those with most bytes */
    uint32_t each;    /* stacks per category */
    uint32_t stacks;  /* stacks in all, at most MIRE_WIRE_STACKS_MAX */
};

/* For a report that is sent: about 20 KB. */
#define MIRE_MEMORY_CAPS_INIT                              \
    {                                                      \
        .top = 32, .objects = 64, .each = 8, .stacks = 512 \
    }

/* For mire memory: the maximum of a document. */
#define MIRE_MEMORY_CAPS_ALL                                         \
    {                                                                \
        .top = 4096, .objects = 4096, .each = 16384, .stacks = 16384 \
    }

/* Facts that are not in the tables. All borrowed; NULL or 0 if unknown, except where noted. */
struct memory_said {
    const char *trigger; /* the wire's word; not NULL */
    const char *name;
    char id[MIRE_STORE_ID_LENGTH + 1];  /* of the report */
    const struct blackbox_facts *facts; /* not NULL */
    const struct context *app;          /* what the app told of the moment */
    const struct process_use *use;
    uint64_t taken_ns; /* CLOCK_MONOTONIC */
    uint64_t taken_wall_ms;
    uint32_t ground;               /* enum mire__ground */
    const struct trail_row *trail; /* oldest first; the last one has footprint and limit */
    uint32_t trail_rows;
    uint64_t footprint_peak_bytes;
    uint64_t threshold_bytes;
    const struct exit_end *end;
    const struct report_attached *attached;
    /* How much of a mapping lies in memory (mire__residence_bytes): own process only, NULL in another's tables. */
    uint64_t (*resident)(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file);
    const struct residence *residence;
    const struct areas *areas; /* of this process; NULL: another's tables, or the kernel does not report it */
    void (*on_read)(
        void *context); /* called after each MIRE_MEMORY_STRIDE blocks: pages that were read may be released */
    void *context;
    struct memory_extra *extra; /* receives the snapshot, for later reports */
    struct memory_caps caps;
};

/*
 * The report's text.
 *
 *   text_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_FULL (larger than MIRE_REPORT_JSON_MAX).
 */
enum mire_err mire__memory_json(char **text_out, size_t *size_out, const struct heap_reader *reader,
                                const struct memory_said *said);

/*
 * Build the report and put it into the store. A report that can never be sealed is counted as lost.
 *
 *   now_ms  wall clock
 *
 * Returns as mire__memory_json and mire__store_put.
 */
enum mire_err mire__memory_seal(struct store *store, const struct heap_reader *reader, const struct memory_said *said,
                                uint64_t now_ms);

/*
 * Store the part of the mappings in memory (said->resident) in said->extra, for a report after the run's death. Cost:
 * some ms per GiB.
 */
void mire__memory_look_at_mappings(const struct heap_reader *reader, const struct memory_said *said);

/* Store the live memory as the run's snapshot (said->extra), from which the next report computes growth. As above. */
enum mire_err mire__memory_snapshot(const struct heap_reader *reader, const struct memory_said *said);

/* A report's id as text; false if it is not a UUIDv7. */
bool mire__memory_id(char out[MIRE_STORE_ID_LENGTH + 1], const uint8_t id[16]);

/*
 * Handle the tables of a dead run: make a report if it was killed for its memory, then keep the file among those of the
 * last MIRE_MEMORY_RUNS runs. A damaged file is deleted and counted as broken; a file that cannot be kept is deleted. A
 * second report has the same id.
 *
 *   sealed_out  a report was sealed
 *   run         its name in the store; it may have no tables
 *   box         its blackbox; NULL: there is none
 *   end         its end
 *   now_ms      wall clock
 *
 * Returns MIRE_OK      done
 *         MIRE_E_MEMORY, MIRE_E_STORE  the report could not be sealed; the tables stay for another attempt
 */
enum mire_err mire__report_memory_of_run(bool *sealed_out, struct store *store, const char *run,
                                         const struct blackbox *box, const struct exit_end *end, uint64_t now_ms);

#define MIRE_MEMORY_STRIDE (1u << 16)

/* Number of kept files of dead runs, and their limit on disk. */
#define MIRE_MEMORY_RUNS       3u
#define MIRE_MEMORY_KEPT_BYTES (64u << 20)

#endif
