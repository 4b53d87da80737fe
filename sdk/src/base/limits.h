/*
 * limits.h - every bound of the SDK's capture side, with its reason.
 */
#ifndef MIRE_BASE_LIMITS_H
#define MIRE_BASE_LIMITS_H

/* Frames kept of one stack, innermost first. Real main loops stand 20..60 deep; deeper is mostly recursion, which is
 * folded. A stack that is deeper still keeps both ends, and is marked. */
#define MIRE_DEPTH_MAX 128

/* Frames that are walked over to come to the outermost one: mostly all that a stack of 8 MiB has. It takes 0.2 us each.
 */
#define MIRE_WALK_FRAMES_MAX 131072

/* Bytes of stack beyond the copy that are read at a time on that way. */
#define MIRE_WALK_WINDOW_BYTES 8192

/* Samples kept of one hang. At the default 50 ms that is 12.8 s before the ring thins itself for the first time. */
#define MIRE_RING_SAMPLES 256

/* Modules known at a time, and bytes for their paths. Big desktop programs map some 300 modules. */
#define MIRE_IMAGES_MAX        1024
#define MIRE_IMAGE_PATHS_BYTES (128 * 1024)

/* Functions of scripts known at a time, and bytes for their names and files. A hang has some hundred; a table that is
 * more than half full is emptied before the next one. */
#define MIRE_SCRIPT_FUNCTIONS_MAX 1024
#define MIRE_SCRIPT_TEXTS_BYTES   (96 * 1024)
#define MIRE_SCRIPT_NAME_BYTES    256
#define MIRE_SCRIPT_FILE_BYTES    512

/* A build id is 20 bytes (SHA-1) from GNU ld, 8 or 16 from lld; a linker takes any given one. The wire format
 * allows 64. */
#define MIRE_BUILD_ID_MAX 64

/* Bytes of one fact, its end included. Paths are cut to this as well: only the executable's is kept as a fact. */
#define MIRE_FACT_BYTES 256
#define MIRE_PATH_BYTES 1024

/* Bytes of stack copied at most while a thread is interrupted: 5 us if they lie in the cache, 20 if not. The
 * bytes further out change rarely and are read later, unfrozen. */
#define MIRE_STACK_COPY_BYTES (64 * 1024)

/* How long the check thread waits for a running thread to answer the signal. A thread that gets no processor for so
 * long is sampled by its state only. */
#define MIRE_ANSWER_NS 100000000ull

/* The same for a thread that blocks the signal when it is sent: long enough for the moments in which libc does so. */
#define MIRE_DEAF_ANSWER_NS 5000000ull

/* A program that has not waited once in this time has no loop that could hang: its launch is no longer watched. */
#define MIRE_LAUNCH_NS 60000000000ull

/* Threads watched at a time: the main thread and a few that draw or take input. Each has a lane in the blackbox, and
 * so has the process as a whole. Behind them are lanes for ended events that are not sealed yet: as many as may end
 * while a slow disk holds one up. */
#define MIRE_WATCHED_MAX   8
#define MIRE_LANE_PROCESS  MIRE_WATCHED_MAX
#define MIRE_LANE_WAITING  (MIRE_LANE_PROCESS + 1)
#define MIRE_LANES_WAITING 3
#define MIRE_LANES         (MIRE_LANE_WAITING + MIRE_LANES_WAITING)

/* The kernel's names of threads have 15 characters; threads can be watched by this many of them. */
#define MIRE_GATE_NAME_BYTES  16
#define MIRE_THREAD_NAMES_MAX 8

/* Paths of a thread's waits that are kept: its loop's, and those of loops inside callbacks. */
#define MIRE_WAIT_PATHS 4

/* Other threads taken along with one hang: the owner of a lock, and those that use most CPU. */
#define MIRE_OTHERS_MAX 8

/* Threads whose CPU time is noted when a hang begins. Further threads of a process are not found busy. */
#define MIRE_THREADS_MAX 512

/* Turns from this length on are counted by their length: 250, 500 ms, 1, 2, 4, 8, 16 s and more. */
#define MIRE_MICRO_NS      250000000ull
#define MIRE_MICRO_BUCKETS 7

/* How often a rollout document may be asked for: no server makes its devices a burden to itself or to their batteries,
 * nor loses them for longer than a week. */
#define MIRE_ROLLOUT_FETCH_MIN_S 60u
#define MIRE_ROLLOUT_FETCH_MAX_S (7u * 24 * 3600)

/*
 * Bounds of a rollout's numbers for the memory plugin. Below 4 KiB sampling costs as much as recording everything; a
 * budget below 1 MiB holds no stacks, one above 64 MiB would be noticed.
 */
#define MIRE_MEMORY_INTERVAL_MIN (4ull << 10)
#define MIRE_MEMORY_INTERVAL_MAX (64ull << 20)
#define MIRE_MEMORY_BUDGET_MIN   (1ull << 20)
#define MIRE_MEMORY_BUDGET_MAX   (64ull << 20)

/* More threads than this are a reason to be blocked by themselves. */
#define MIRE_MANY_THREADS 64

#endif
