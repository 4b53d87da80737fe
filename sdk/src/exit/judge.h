/*
 * judge.h - the end of one run: from its evidence, and what is seen of it afterwards, to signs, a verdict and the facts
 * that a report tells. Pure: every clock, file and process has been looked at before.
 */
#ifndef MIRE_EXIT_JUDGE_H
#define MIRE_EXIT_JUDGE_H

#include "exit/evidence.h"
#include "exit/verdict.h"

#define MIRE_JUST_NS        MIRE_NS_PER_S         /* the foreground counts when it has lasted so long */
#define MIRE_SURVIVED_NS    (60 * MIRE_NS_PER_S)  /* a handler that writes a dump takes some 10 s at most */
#define MIRE_FOUND_LATE_NS  (600 * MIRE_NS_PER_S) /* others may well have been killed meanwhile */
#define MIRE_GREW_WITHIN_NS (60 * MIRE_NS_PER_S)

/* What the parent of a process knows of its end. */
enum mire__parent { MIRE_PARENT_NONE /* nobody asked */, MIRE_PARENT_EXITED, MIRE_PARENT_SIGNALED };

/* What whoever finds the run dead sees. */
struct exit_after {
    bool next_start; /* the app has started again: the texts below are the new run's. Else it has just ended */
    const char *app_version, *app_build, *process_name;
    const char *os_version, *os_build;
    const char *boot_id; /* now */
    uint64_t now_boot_ns;
    bool runs;         /* the process lives on, as another program */
    bool crash_file;   /* there is one, however little is in it */
    bool box_read;     /* the blackbox was there; else nothing is known of hangs */
    bool stuck;        /* a hang was going on that counts */
    uint64_t stuck_ms; /* for how long */
    struct oom_counts oom;
    enum mire__parent parent;
    uint32_t parent_status;     /* exit status or signal */
    uint64_t parent_peak_bytes; /* largest resident set; 0 if not known */
};

/* What a report says of it. Facts are as they were when last seen; 0 where not known. */
struct exit_end {
    struct exit_verdict verdict;
    uint32_t signal;        /* that ended it, or began its end; 0: none is known */
    int32_t signal_code;    /* si_code, where the crash marker saw it */
    uint64_t crash_address; /* the same */
    uint32_t crash_depth;   /* the same; 0: it saw nothing */
    uint32_t ground;        /* enum mire__ground */
    uint64_t ground_ms;     /* for so long */
    bool stuck;             /* a hang was going on */
    uint64_t stuck_ms;
    uint64_t start_wall_ms;
    uint64_t seen_wall_ms; /* when last seen */
    uint64_t footprint_bytes;
    uint64_t footprint_peak_bytes; /* by looks, and by the parent's word */
    uint64_t looked_peak_bytes;    /* by looks alone */
    uint64_t parent_peak_bytes;    /* largest resident set, files' pages among it, by the parent's word */
    uint64_t file_bytes;           /* of files, in memory, when last seen */
    uint64_t used_bytes, limit_bytes, available_bytes;
    uint32_t pressure_ppm;
    bool oom_known;
    uint32_t oom_kills; /* that the kernel has counted in its cgroup since it started */
    uint32_t thread_count, fd_count;
    bool debugger;
    uint32_t trail_rows; /* oldest first; see evidence.h */
    struct trail_row trail[MIRE_TRAIL_ROWS];
};

/*
 * Judge one run.
 *
 *   evidence, rows  from mire__evidence_read
 *
 * Thread: any.  Signal handler: no.
 */
void mire__exit_judge(struct exit_end *out, const struct evidence *evidence, uint32_t rows,
                      const struct exit_after *after);

/* The signs alone. */
uint64_t mire__exit_signs(const struct evidence *evidence, uint32_t rows, const struct exit_after *after);

#endif
