/*
 * judge.h - judges the end of one run: from its evidence, and from observations afterwards, to signs, a verdict and the
 * facts for its reports. Pure: clocks, files and processes are read before.
 */
#ifndef MIRE_EXIT_JUDGE_H
#define MIRE_EXIT_JUDGE_H

#include "exit/evidence.h"
#include "exit/verdict.h"

#define MIRE_JUST_NS        MIRE_NS_PER_S         /* the foreground counts from this duration on */
#define MIRE_SURVIVED_NS    (60 * MIRE_NS_PER_S)  /* a handler that writes a dump takes about 10 s at most */
#define MIRE_FOUND_LATE_NS  (600 * MIRE_NS_PER_S) /* other processes may have been killed meanwhile */
#define MIRE_GREW_WITHIN_NS (60 * MIRE_NS_PER_S)

/* The wait status of the parent. */
enum mire__parent { MIRE_PARENT_NONE /* unknown */, MIRE_PARENT_EXITED, MIRE_PARENT_SIGNALED };

/* Observations of the process that finds the dead run. */
struct exit_after {
    bool next_start; /* the app has started again, and the texts below are the new run's; false: it has just ended */
    const char *app_version, *app_build, *process_name;
    const char *os_version, *os_build;
    const char *boot_id; /* now */
    uint64_t now_boot_ns;
    bool runs;         /* the process continues as another program */
    bool crash_file;   /* a crash file exists */
    bool box_read;     /* the blackbox was read; false: hangs are unknown */
    bool stuck;        /* a hang that counts was open */
    uint64_t stuck_ms; /* its duration */
    struct oom_counts oom;
    enum mire__parent parent;
    uint32_t parent_status;     /* exit status or signal */
    uint64_t parent_peak_bytes; /* largest resident set; 0 if not known */
    enum mire_end system_end;   /* by the system's record */
    uint32_t system_status;     /* the signal of MIRE_END_SIGNAL */
};

/* The facts for reports, as at the last look; 0: unknown. */
struct exit_end {
    struct exit_verdict verdict;
    uint32_t signal;        /* the signal that ended it, or began its end; 0: none is known */
    int32_t signal_code;    /* si_code, if the crash marker saw the signal */
    uint64_t crash_address; /* the same */
    uint32_t crash_depth;   /* the same; 0: the marker saw none */
    uint32_t ground;        /* enum mire__ground */
    uint64_t ground_ms;     /* its duration */
    bool stuck;             /* a hang was open */
    uint64_t stuck_ms;
    uint64_t start_wall_ms;
    uint64_t seen_wall_ms; /* last activity */
    uint64_t footprint_bytes;
    uint64_t footprint_peak_bytes; /* by looks and by the parent */
    uint64_t looked_peak_bytes;    /* by looks alone */
    uint64_t parent_peak_bytes;    /* largest resident set, with pages of files, by the parent */
    uint64_t file_bytes;           /* of files, in memory, at the last look */
    uint64_t used_bytes, limit_bytes, available_bytes;
    uint32_t pressure_ppm;
    bool oom_known;
    uint32_t oom_kills; /* counted by the kernel in its cgroup since its start */
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
