/*
 * limits.h - every bound of the SDK's capture side, with its reason.
 */
#ifndef MIRE_BASE_LIMITS_H
#define MIRE_BASE_LIMITS_H

/* Frames kept of one stack, innermost first. Real main loops are 20..60 frames deep; deeper stacks are mostly recursion, which
 * is folded. A stack that is still too deep keeps both ends, and is marked. */
#define MIRE_DEPTH_MAX 128

/* Frames walked to reach the outermost one, usually the whole of a stack of 8 MiB. A frame takes 0.2 us. */
#define MIRE_WALK_FRAMES_MAX 131072

/* Bytes of stack that are read at a time beyond the copy. */
#define MIRE_WALK_WINDOW_BYTES 8192

/* Samples kept of one hang: 12.8 s at the default 50 ms, before the ring thins itself for the first time. */
#define MIRE_RING_SAMPLES 256

/* Modules known at a time, and bytes for the paths. Big desktop programs map some 300 modules. */
#define MIRE_IMAGES_MAX        1024
#define MIRE_IMAGE_PATHS_BYTES (128 * 1024)

/* Functions of scripts known at a time, and bytes for names and files. A hang has some hundred; a table that is more than half
 * full is emptied before the next hang. */
#define MIRE_SCRIPT_FUNCTIONS_MAX 1024
#define MIRE_SCRIPT_TEXTS_BYTES   (96 * 1024)
#define MIRE_SCRIPT_NAME_BYTES    256
#define MIRE_SCRIPT_FILE_BYTES    512

/* A build id is 20 bytes (SHA-1) from GNU ld, 8 or 16 from lld, or any bytes given to the linker. The wire format allows
 * 64. */
#define MIRE_BUILD_ID_MAX 64

/* Bytes of one fact, with the NUL. Paths are cut to this length as well: only the executable's path is a fact. */
#define MIRE_FACT_BYTES 256
#define MIRE_PATH_BYTES 1024

/* Bytes of stack copied at most while a thread is interrupted: 5 us if they lie in the cache, 20 if not. The
 * bytes further out change rarely and are read later, unfrozen. */
#define MIRE_STACK_COPY_BYTES (64 * 1024)

/* Time for a running thread to answer the sampling signal. A thread without a processor for this time is sampled by its state
 * only. */
#define MIRE_ANSWER_NS 100000000ull

/* The same for a thread that blocks the signal, as libc does for moments. */
#define MIRE_DEAF_ANSWER_NS 5000000ull

/* A program that has not waited once in this time has no loop; its launch is no longer watched. */
#define MIRE_LAUNCH_NS 60000000000ull

/* Threads watched at a time: the main thread and a few that draw or take input. Each thread has a lane in the blackbox, and so
 * has the process as a whole. The further lanes are for ended events that are not sealed yet, because of a slow disk. */
#define MIRE_WATCHED_MAX   8
#define MIRE_LANE_PROCESS  MIRE_WATCHED_MAX
#define MIRE_LANE_WAITING  (MIRE_LANE_PROCESS + 1)
#define MIRE_LANES_WAITING 3
#define MIRE_LANES         (MIRE_LANE_WAITING + MIRE_LANES_WAITING)

/* The kernel's names of threads have 15 characters; this is the largest number of names to watch. */
#define MIRE_GATE_NAME_BYTES  16
#define MIRE_THREAD_NAMES_MAX 8

/* Stored paths of a thread's waits: of its loop, and of loops inside callbacks. */
#define MIRE_WAIT_PATHS 4

/* Other threads sampled with one hang: the owner of a lock, and the threads with most CPU time. */
#define MIRE_OTHERS_MAX 8

/* Threads whose CPU time is noted when a hang begins. Further threads of a process are not found busy. */
#define MIRE_THREADS_MAX 512

/* Turns from this length on are counted by their length: 250, 500 ms, 1, 2, 4, 8, 16 s and more. */
#define MIRE_MICRO_NS      250000000ull
#define MIRE_MICRO_BUCKETS 7

/* Bounds of the interval at which devices ask for the rollout document: a server can neither overload itself or the devices'
 * batteries, nor lose its devices for longer than a week. */
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

/* A larger number of threads is itself a reason for a blocked thread. */
#define MIRE_MANY_THREADS 64

#endif
