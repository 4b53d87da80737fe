/*
 * limits.h - the bounds of a report, the same on both sides; schema/wire/report.schema.json says them too.
 */
#ifndef MIRE_WIRE_LIMITS_H
#define MIRE_WIRE_LIMITS_H

#define MIRE_WIRE_VERSION        1
#define MIRE_WIRE_TEXT_MAX       4096u       /* characters of any text; paths are the longest (PATH_MAX) */
#define MIRE_WIRE_IMAGES_MAX     4096u       /* a process with more modules than this has not been seen */
#define MIRE_WIRE_FRAMES_MAX     65536u      /* distinct places; a hang has some hundreds */
#define MIRE_WIRE_SCRIPT_MAX     65536u      /* the same of frames of scripts */
#define MIRE_WIRE_JAVA_MAX       65536u      /* rows, and texts, of frames of Java: as many as there can be frames */
#define MIRE_WIRE_NODES_MAX      262144u     /* 4096 samples of 64 frames that share nothing */
#define MIRE_WIRE_SAMPLES_MAX    4096u       /* one at_ms column; the ring thins long before */
#define MIRE_WIRE_REPEAT_MAX     512u        /* deepest stack whose frames get a count */
#define MIRE_WIRE_THREADS_MAX    1024u       /* other threads in one report */
#define MIRE_WIRE_NOTES_MAX      64u         /* a format has some dozens of notes */
#define MIRE_WIRE_TRACE_MAX      1048576u    /* bytes of the system's trace of an end; a large app's ANR has 300 KB */
#define MIRE_WIRE_BUCKETS_MAX    64u         /* rows of the histogram of turns */
#define MIRE_WIRE_TRAIL_MAX      1024u       /* points of the footprint's way */
#define MIRE_WIRE_CATEGORIES_MAX 4096u       /* size classes, mappings, and a few thousand classes of objects */
#define MIRE_WIRE_STACKS_MAX     16384u      /* stacks that asked for memory; a report has some hundreds */
#define MIRE_WIRE_CRUMBS_MAX     256u        /* breadcrumbs; libmire keeps 64 */
#define MIRE_WIRE_DURATION_MAX   604800000u  /* ms, a week: only a sleeping machine takes longer */
#define MIRE_WIRE_THRESHOLD_MAX  600000u     /* ms, ten minutes */
#define MIRE_WIRE_PERIOD_MAX     60000u      /* ms between samples */
#define MIRE_WIRE_SYSCALL_MAX    2147483647u /* a system call's number is an int to the kernel */
#define MIRE_WIRE_INSTALL_LENGTH 32u         /* hex digits of the installation's identifier */
#define MIRE_WIRE_BUILD_ID_MIN   1u          /* bytes */
#define MIRE_WIRE_BUILD_ID_MAX   64u         /* bytes; a SHA-512 */
#define MIRE_WIRE_DEPTH_MAX      16u         /* nesting a writer can open; a report of version 1 needs 5 */

/* Limits of a rollout document. */
#define MIRE_WIRE_ROLLOUT_VERSION 1
#define MIRE_WIRE_ROLLOUT_MAX     16384u   /* bytes; one with every number has 2 KB */
#define MIRE_WIRE_SALT_MAX        32u      /* bytes of a salt */
#define MIRE_WIRE_LEAVE_OUT_MAX   511u     /* bytes of its words that are left out */
#define MIRE_WIRE_PPM_MAX         1000000u /* a share is in millionths */

#endif
