/*
 * report.h - one lane of a blackbox becomes one report: JSON as schema/wire says, compressed with zstd.
 *
 * The box may be a live one on the check thread, or that of a killed process: the code, the report and its id are the
 * same, however often it is built. The content of the box is untrusted.
 *
 * Thread: any; uses the heap.  Signal handler: no.
 */
#ifndef MIRE_REPORT_REPORT_H
#define MIRE_REPORT_REPORT_H

#include "exit/judge.h"
#include "mire/exit.h"
#include "ring/blackbox.h"
#include "store/runs.h"
#include "store/store.h"

#define MIRE_REPORT_JSON_MAX (8u << 20) /* bytes; 256 samples of 128 distinct frames stay below 2 MB */

struct report {
    char id[MIRE_STORE_ID_LENGTH + 1];
    void *body; /* zstd; owned by the report, see mire__report_fini */
    size_t size;
};

/* The contents of a report besides its event: counts since the last report that was sealed. */
struct report_attached {
    uint64_t drops[MIRE_DROP_REASONS];  /* records lost, by reason */
    uint64_t micro[MIRE_MICRO_BUCKETS]; /* turns, as in struct micro */
    const struct exit_end *end;         /* of the report's process; NULL: it lives, or the end is unknown */
    const void *trace;                  /* the system's, of that end; NULL: none */
    size_t trace_size;                  /* bytes, at most MIRE_WIRE_TRACE_MAX */
    const char *note;                   /* a sentence for people; NULL: none */
};

/*
 * The class of a device by its memory, rounded up to 1, 1.5, 2, 3, 4, 6, 8, ..., because the kernel reserves some of
 * it: "6gb", "512mb"; "" if the memory is unknown.
 */
#define MIRE_REPORT_CLASS_BYTES 32
void mire__report_class(char out[MIRE_REPORT_CLASS_BYTES], uint64_t memory_bytes);

/* Does the lane hold an event that is worth a report? The box has passed mire__blackbox_check. */
bool mire__report_wanted(const struct blackbox *box, uint32_t lane);

/*
 * Build the report.
 *
 *   out    zeroed unless MIRE_OK
 *   told   NULL for none
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE   the lane holds no event
 *         MIRE_E_FORMAT  the event has no valid id: the box is damaged
 *         MIRE_E_MEMORY
 *         MIRE_E_FULL    larger than MIRE_REPORT_JSON_MAX
 */
enum mire_err mire__report_build(struct report *out, const struct blackbox *box, uint32_t lane,
                                 const struct report_attached *attached);
void mire__report_fini(struct report *report);

/*
 * Seal a payload of the system's own. It stays as it is; in front of an object's members comes one more, `mire`, with
 * the installation and its last runs, by which the server finds the run of a diagnostic or an exit
 * (server/src/decode/metrickit_run.c).
 *   json  size bytes, at most MIRE_REPORT_JSON_MAX
 *   now   the run that lasts
 * Returns MIRE_OK, MIRE_E_ARG (no diagnostic and no count of exits is in it), MIRE_E_MEMORY, or as mire__store_put.
 */
enum mire_err mire__report_payload(struct store *store, enum store_format format, const char *json, size_t size,
                                   const struct blackbox_facts *now, uint64_t now_ms);

/*
 * Build the report and put it into the store, with all counts that are in no report yet.
 *
 *   end     of its process; NULL: it lives, or the end is unknown
 *   now_ms  wall clock
 *
 * Returns as mire__report_build and mire__store_put. A report that can never be sealed is counted as lost; after
 * MIRE_E_MEMORY and MIRE_E_STORE it is not, because another attempt may succeed.
 */
enum mire_err mire__report_seal(struct store *store, struct blackbox *box, uint32_t lane, const struct exit_end *end,
                                uint64_t now_ms);

/* The end of a process as its parent observed it. */
struct report_ended {
    uint32_t pid;
    uint64_t start_ticks; /* mire__process_start_ticks, read while it existed */
    bool killed;          /* by a signal; false: it ended itself */
    uint32_t status;      /* the signal, or the exit status */
    uint64_t peak_bytes;  /* largest resident set */
    uint64_t end_ns;      /* CLOCK_MONOTONIC, when it was reaped; 0: unknown */
};

/* The end of a run by the system's record; see mire_options_add_end. */
struct report_witness {
    char run[MIRE_STORE_RUN_BYTES];
    enum mire_end end;
    uint32_t status;
};

/* Reports that runs could not store, added up. */
struct report_unkept {
    uint64_t reports;
    int why; /* errno of one of them */
};

/* The process that recovers ended runs. */
struct report_finder {
    uint64_t now_ms;                        /* wall clock */
    const struct evidence_start *next;      /* the app's new run; NULL: it has not started again */
    const struct report_ended *ended;       /* a process whose end the parent observed; NULL: none */
    const struct report_witness *witnesses; /* `witness_count` of them */
    size_t witness_count;
    mire_trace_fn *read_trace; /* of a witness's run; NULL: none */
    void *trace_context;
    struct report_unkept *unkept;            /* receives reports that cannot be recovered yet; may be NULL */
    bool settles;                            /* make records of ended sessions; false: mire-run does */
    struct blackbox *own;                    /* of the finder's own process; NULL: none */
    const char *session;                     /* name of the finder's open session; NULL: none */
    bool (*is_leaving)(const void *context); /* called after each run; true: leave the rest. NULL: never */
    const void *context;
};

/*
 * The compressor of reports, like ZSTD_compress; NULL: none, and no report can be made. Set it while no thread makes
 * one. A binary without zstd sets its own, and leaves pack.c out.
 */
typedef size_t mire__pack_fn(void *out, size_t cap, const void *text, size_t size, int level);
extern mire__pack_fn *mire__report_pack;

/*
 * Judge ended runs, store the verdicts (store/ends.h), seal their reports with the verdicts, and delete their files.
 * Open events of a process that has ended itself, or continues as another program, count as ended with the program.
 * Each run is judged once, also with several finders. At least one run is taken, even if is_leaving is true from the
 * start, so that a program of short runs gets its reports sealed.
 *
 * Returns the number of sealed reports.
 */
size_t mire__report_recover(struct store *store, const struct report_finder *finder);

/*
 * The uncompressed text of the same report.
 *
 *   text_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *   id                  the report's id and a NUL
 *
 * Returns as mire__report_build.
 */
enum mire_err mire__report_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                const struct blackbox *box, uint32_t lane, const struct report_attached *attached);

#endif
