/*
 * evidence.h - the facts about a run from which the reason of its end is derived: one small mapped file per process,
 * written with plain stores.
 *
 *     [ magic, version, size | start | what happened | trail ]
 *
 * A run is a process, from the first mire_start on, also if the library is stopped and started again in it.
 *
 * Writers: core writes `start` once. Any thread, also in signal handlers, stores what happened, on transitions only;
 * each field is one atomic word, or is covered by one stored last. The worker writes the trail. So the file of a dead
 * process holds complete records only. Numbers are in the machine's byte order. Readers treat the content as untrusted.
 *
 * The layout grows at its end only, and `size_bytes` has its size, so the files of an older or newer library can still
 * be read (mire__evidence_read).
 */
#ifndef MIRE_EXIT_EVIDENCE_H
#define MIRE_EXIT_EVIDENCE_H

#include "mire/exit.h"
#include "platform/footprint.h"

#define MIRE_EVIDENCE_MAGIC   0x31747865726d696dull /* "mimrext1" */
#define MIRE_EVIDENCE_VERSION 1u /* others are refused: the layout changed otherwise than by growing */
#define MIRE_TRAIL_ROWS       64u

/* Written once. Texts end with a zero byte; unknown ones are empty. */
struct evidence_start {
    uint32_t pid;
    uint32_t unused;
    uint64_t start_ticks; /* with pid and boot_id it identifies the process for ever */
    uint64_t wall_ms;     /* the same instant on two clocks, taken at the start of the watch */
    uint64_t boot_ns;
    char boot_id[40];
    char app_version[MIRE_FACT_BYTES];
    char app_build[MIRE_FACT_BYTES];
    char os_version[MIRE_FACT_BYTES];
    char os_build[MIRE_FACT_BYTES]; /* the kernel's */
    char process_name[MIRE_FACT_BYTES];
    struct cgroup cgroup;
    struct oom_counts oom;
};

/* The first crash of the run. After a recovered crash `signal` is 0 again. */
struct evidence_crash {
    _Atomic uint32_t signal; /* stored last; 0: none */
    _Atomic uint32_t depth;  /* crashes within the handling of a crash, the first included */
    int32_t code;            /* si_code */
    uint32_t sender;         /* process that sent the signal; 0: the kernel */
    uint32_t tid;
    uint32_t unused;
    uint64_t address; /* si_addr */
    uint64_t boot_ns;
};

/* One look at the process. */
struct trail_row {
    _Atomic uint64_t boot_ns; /* time of the look; stored last, 0 while the row is written */
    uint64_t footprint_bytes; /* anonymous, shared and swapped memory, which cannot be read from a file again */
    uint64_t used_bytes;      /* of the limit, by all processes below it, without droppable caches */
    uint64_t limit_bytes;     /* see limit */
    uint64_t available_bytes; /* in the machine */
    uint32_t pressure_ppm;    /* share of the last 10 s in which tasks stalled for memory */
    uint32_t thread_count;
    uint32_t fd_count;     /* when last counted */
    uint8_t debugger;      /* it is traced */
    uint8_t limit;         /* enum mire__limit */
    uint16_t foreign;      /* a bit for each of the marker's signals whose handler was replaced */
    struct oom_counts oom; /* by then */
};

struct evidence {
    uint64_t magic; /* stored last by mire__evidence_init */
    uint32_t version;
    uint32_t unused;
    uint64_t size_bytes;
    struct evidence_start start;

    _Atomic uint64_t ground; /* enum mire__ground in the lowest 2 bits; above them the boot clock in us at the change */
    _Atomic uint64_t stopped_ns;  /* boot clock; 0: not stopped, or started again */
    _Atomic uint64_t left_ns;     /* boot clock; see mire__left */
    _Atomic uint32_t left;        /* enum mire__left */
    _Atomic uint32_t quit;        /* enum mire_quit, from mire_set_quit */
    _Atomic uint32_t quit_signal; /* that ended the program by its default action */
    _Atomic uint32_t quit_sender;
    struct evidence_crash crash;

    _Atomic uint64_t footprint_peak_bytes;
    struct trail_row trail[MIRE_TRAIL_ROWS]; /* in no order; rows of the past thin out, see trail.h */

    _Atomic uint64_t file_bytes; /* of files, in memory, at the last look */
    char session[40]; /* mire-run's session of the process; "": it is one by itself; written by core at the start */
};

/* Initialise evidence in zeroed memory. Thread: before any other thread can see it. */
void mire__evidence_init(struct evidence *evidence, const struct evidence_start *start);

/*
 * Read the evidence of another process.
 *
 *   bytes, size  content of the file
 *   out       fields that the file does not have are 0. Texts end, enums are in range, and the trail is sorted by time,
 *             with the used rows first
 *   rows_out  number of used rows
 *
 * Returns MIRE_OK, MIRE_E_FORMAT.
 */
enum mire_err mire__evidence_read(struct evidence *out, uint32_t *rows_out, const void *bytes, size_t size);

#endif
