/*
 * footprint.h - the process's memory, its limits, and the kernel's signs of a shortage. Signal-safe: it reads small
 * files, and neither allocates nor keeps files open.
 */
#ifndef MIRE_PLATFORM_FOOTPRINT_H
#define MIRE_PLATFORM_FOOTPRINT_H

#include "base/base.h"

/* The process itself. */
struct footprint {
    uint64_t bytes;      /* memory that cannot be read from a file again: anonymous, shared and swapped */
    uint64_t file_bytes; /* further memory: of files */
    uint64_t peak_rss_bytes;
    uint32_t thread_count;
    bool traced; /* a debugger is attached */
};

/* Zeros if the kernel does not report it. */
void mire__footprint(struct footprint *out);

/* Number of open descriptors; 0 if the kernel does not report it. */
uint32_t mire__fd_count(void);

/* The cgroup in which the process's memory is counted. */
struct cgroup {
    char dir[MIRE_PATH_BYTES]; /* "" if no readable one exists */
    uint32_t top;              /* length of the mount point in it: levels above have no limits */
    uint64_t inode;            /* differs from that of a later cgroup with the same name */
};

/* Find the cgroup. Thread: one at a time. */
void mire__cgroup_find(struct cgroup *out);

/*
 * The same from the texts of "/proc/self/cgroup" and "/proc/self/mountinfo", without the inode. The memory controller's
 * own hierarchy is preferred to the unified one.
 */
void mire__cgroup_from(struct cgroup *out, const char *cgroup, const char *mountinfo);

/* The kind of the limit. */
enum mire__limit {
    MIRE_LIMIT_NONE,
    MIRE_LIMIT_MACHINE, /* all of its memory */
    MIRE_LIMIT_CGROUP   /* the process's own cgroup, or one above */
};

/* The limit of the memory. */
struct memory_room {
    enum mire__limit limit;
    uint64_t limit_bytes;     /* of several limits the one with the fewest bytes left */
    uint64_t used_bytes;      /* of the limit, by all processes below it, without droppable caches */
    uint64_t available_bytes; /* in the machine */
};
void mire__memory_room(struct memory_room *out, const struct cgroup *cgroup);

/* Bytes that this user may still write to a directory's disk; 0: unknown, or a system on which apps must justify the
 * question. */
uint64_t mire__disk_free(const char *directory);

/* OOM kills by the kernel's count. */
struct oom_counts {
    uint64_t cgroup; /* of processes in it */
    uint64_t system;
    uint8_t cgroup_known, system_known;
    uint8_t unused[6];
};

/* Read the counts. The count of a removed or replaced cgroup (see inode) is unknown. */
void mire__oom_counts(struct oom_counts *out, const struct cgroup *cgroup);

/* Share of the last 10 s in which a task stalled for lack of memory, in millionths: in the cgroup, otherwise in the
 * machine. 0 if the kernel does not count. */
uint32_t mire__memory_pressure_ppm(const struct cgroup *cgroup);

#endif
