/*
 * platform.h - the SDK's calls to the operating system. Signal-safe: unless its comment says otherwise, every function
 * here may run in a signal handler, allocates nothing and keeps errno.
 *
 * No file descriptor stays open: a program that closes all descriptors when it becomes a daemon would close the
 * library's, and get its number for a file of its own.
 */
#ifndef MIRE_PLATFORM_PLATFORM_H
#define MIRE_PLATFORM_PLATFORM_H

#include "base/base.h"

struct regs; /* platform/arch.h */

/* ---- time ---- */

uint64_t mire__now_ns(void);        /* CLOCK_MONOTONIC */
uint64_t mire__now_coarse_ns(void); /* the same, cheaper, up to 4 ms behind */
uint64_t mire__boot_now_ns(void);   /* includes suspended time */
uint64_t mire__wall_now_ms(void);   /* since 1970-01-01 UTC */

/* CPU time of a thread of this process; 0 if there is no such thread. tid 0: the caller. */
uint64_t mire__thread_cpu_ns(uint32_t tid);

/* CPU time of all threads of this process. */
uint64_t mire__process_cpu_ns(void);

/*
 * A timer on the process's CPU clock: it signals one thread after an amount of CPU time of the process, and never wakes
 * an idle process. A forked child and an executed program do not inherit it.
 */
struct cpu_timer {
    int id;
    bool open;
};

/*
 * Create the timer, disarmed.
 *   tid     thread of this process that gets the signal
 *   signal  its handler finds si_code SI_TIMER, and `value` in si_value
 * Returns false if the system has no such timer.
 */
bool mire__cpu_timer_open(struct cpu_timer *timer, uint32_t tid, int signal, void *value);

/* Signal once, after `after_ns` more of the process's CPU time; 0 disarms. No effect on a closed timer. */
void mire__cpu_timer_arm(const struct cpu_timer *timer, uint64_t after_ns);

/* Delete it. Not in a forked child, which never had it. */
void mire__cpu_timer_close(struct cpu_timer *timer);

/* ---- threads ---- */

uint32_t mire__pid(void);
uint32_t mire__tid(void);
uint32_t mire__tid_of_kernel(void); /* without thread-local state: another number inside mire__apart_run */

/*
 * Sleep while *word == expected, until deadline_ns on CLOCK_MONOTONIC (UINT64_MAX: for ever). Returns at once, on a
 * wake, at the deadline, or spuriously; check the word. False: a sandbox refuses the call.
 */
bool mire__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);
void mire__futex_wake(_Atomic uint32_t *word);

/*
 * A memory barrier in every running thread of the process: the caller afterwards sees all earlier stores of the
 * threads, and the threads see the caller's. So a thread on a hot path needs no barrier of its own. Cost: 1 to 2 us. If
 * the kernel has no such call, or a sandbox forbids it, this sleeps for 1 ms, after which every processor has published
 * its stores.
 */
void mire__barrier_all(void);

/* Send a signal to one thread of this process. False: no such thread. */
bool mire__thread_signal(uint32_t tid, int signal);

/* Has a thread of this process any capability? 0: the caller. */
bool mire__thread_has_rights(uint32_t tid);

/* Wait for the end of a thread that has returned; 0: none. The kernel counts it among the process's threads until
 * then. */
void mire__thread_await_end(uint32_t tid);

/* Has a thread of this process at least the calling thread's capabilities? True if that is unknown. */
bool mire__thread_may_as_much(uint32_t tid);

/* Signal sets of one thread of this process, a bit each; zeros if the kernel does not show them. */
struct thread_signals {
    uint64_t blocked;
    uint64_t pending; /* sent to this thread, and not delivered yet */
    bool by_parent;   /* the parent of the process traces the thread */
};
#define MIRE_SIGNAL_BIT(signal) (1ull << ((signal)-1))
void mire__thread_signals(struct thread_signals *out, uint32_t tid);

/* Fill with random bytes; from the clock where the kernel has none to give. */
void mire__random(void *out, size_t size_bytes);

/* A UUIDv7 of this instant: 48 bits of wall clock, 74 random bits. */
void mire__uuid7(uint8_t out[16]);

/* ---- memory ---- */

/*
 * Copy own memory that may be unmapped.
 * Returns the number of copied bytes: size_bytes, or fewer, up to the first unreadable page.
 */
size_t mire__peek(void *out, uint64_t address, size_t size_bytes);

/* Address space of zeros, private, without a file, not inherited by a forked child; no memory until it is stored to.
 * NULL: refused. */
void *mire__pages_map(size_t size_bytes);
void mire__pages_unmap(void *pages, size_t size_bytes);

/* Map a file shared; unmapped as above. NULL: refused. */
void *mire__pages_map_file(size_t size_bytes, int fd);

/* Give the memory of private pages without a file back: they read as zeros from now on. */
void mire__pages_empty(void *pages, size_t size_bytes);

/* Prevent huge pages there; no effect on a system without them. Pages mapped above have none already. */
void mire__pages_keep_small(void *pages, size_t size_bytes);

/*
 * Make fresh pages of a mapping present and writable now, so that a later store neither fails nor waits for the disk.
 * Whole pages, all zeros. Returns false if there is no room: memory or disk full.
 */
bool mire__pages_claim(void *pages, size_t size_bytes);

/*
 * Give pages of a shared mapping back to its file: they become a hole, and read as zeros. False if the file cannot have
 * holes, or if the system's pages are larger than the given range, so that others would go too.
 */
bool mire__pages_punch(void *pages, size_t size_bytes);

/*
 * Counts resident bytes of the process's memory. Unmapped pages count as absent, and a page counts whole. A GiB takes 1
 * ms; of a file 1 to 12 ms, depending on its resident part. Signal handler: no.
 */
struct residence {
    int pagemap; /* -1: none */
};
void mire__residence_open(struct residence *residence);
void mire__residence_close(struct residence *residence);

/*
 * How many bytes of a mapping do.
 *   of_file  of a file's only what this process has touched counts, as it does in VmRSS; where the system does not report it
 *            (no /proc), all that may be in the kernel's cache
 */
uint64_t mire__residence_bytes(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file);

/*
 * How many bytes of a range count in the footprint: the process's own pages, in memory or moved out.
 *   shared  of a shared mapping without a file on a disk: all pages that the process has
 * 0 where the system does not report it (residence->pagemap is -1).
 */
uint64_t mire__residence_held(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool shared);

/* The calling thread's stack, where the C library reports it without an allocation; false elsewhere. */
bool mire__thread_own_stack(uint64_t *start_out, uint64_t *end_out);

/* An address in the last page of the first thread's stack; 0: unknown. */
uint64_t mire__first_stack_mark(void);

/* Yield the processor. */
void mire__yield(void);

/*
 * The same, but a forked child has it as well.
 *   wiped  the child finds zeros there again, from its first instruction on; NULL where the kernel (before 4.14) cannot
 */
void *mire__pages_map_inherited(size_t size_bytes, bool wiped);

/* Have a child find zeros in these whole pages of variables, from its first instruction on, where the kernel can. */
void mire__pages_wipe_on_fork(void *pages, size_t size_bytes);

/* ---- /proc ---- */

/* Read a small file whole, cut to cap_bytes - 1, and end it with a zero byte. Returns its bytes, -1 if it cannot be
 * read. */
long mire__file_read(char *out, size_t cap_bytes, const char *path);

/* The state of a thread. */
struct thread_state {
    char letter;  /* scheduler's state, '?' if unknown */
    bool known;   /* the kernel names system calls; it does not after setuid, nor in some sandboxes */
    bool blocked; /* asleep in the kernel; the three below are valid */
    int syscall;  /* its number, -1 if it is in a page fault */
    uint64_t sp;  /* its user registers */
    uint64_t pc;
    uint64_t args[6]; /* of the system call; zeros if it is -1 */
};

/* Read the state of a thread. If the kernel does not report it, it counts as not blocked. Thread: any. */
void mire__thread_state(struct thread_state *out, uint32_t tid);

/* Is this descriptor of the thread a terminal? Thread: any. */
bool mire__thread_has_terminal(uint32_t tid, uint64_t fd);

/*
 * For the calling thread, keep open the files that mire__thread_state (for one thread) and mire__mappings_visit read.
 * Then these work after a chroot, and after a change of the user, when the files of /proc belong to root. Only for a
 * calling thread with a descriptor table of its own (platform/apart.h); otherwise no effect. Threads: the last eight
 * are kept.
 */
void mire__proc_keep(uint32_t tid);

/*
 * Does /proc show the threads of this program? Under an emulator it shows the emulator's system calls and registers.
 * The answer comes from a comparison with the caller's own.
 */
bool mire__thread_states_hold(void);

/* Visit every thread of this process, until the visitor returns false. Returns false if the list cannot be read. */
bool mire__threads_visit(bool (*visit)(void *context, uint32_t tid), void *context);

/* A thread's name; "" if there is no such thread. */
#define MIRE_THREAD_NAME_BYTES 18
void mire__thread_name(char out[MIRE_THREAD_NAME_BYTES], uint32_t tid);

/* The calling thread's name, for the gate: no system call but one. False: the system does not report it. */
bool mire__thread_own_name(char out[MIRE_THREAD_NAME_BYTES]);

/*
 * The known registers of a blocked thread: stack pointer, program counter, and the arguments of the system call, which
 * preserves them.
 */
void mire__arch_as_regs_asleep(struct regs *out, const struct thread_state *state);

/*
 * End the calling thread with the status of the process's first thread, if that has ended: a process's status is that
 * of its last thread. Returns if the first thread runs. Signal handler: no.
 */
void mire__thread_end_as_first(void);

/* Has a thread of this process ended? The first thread stays in the kernel's list until the last one ends. */
bool mire__thread_is_gone(uint32_t tid);

struct thread_counters {
    uint64_t cpu_ns, voluntary_switches, involuntary_switches, major_faults, read_bytes, write_bytes;
    char name[MIRE_THREAD_NAME_BYTES];
};
void mire__thread_counters(struct thread_counters *out, uint32_t tid);

/*
 * waited: the time in which a thread waited for a processor, since its begin; a wait that still lasts counts when it
 * ends. 0 where the kernel does not report it. awake: that and the time in which it ran; the rest it slept, or was
 * stopped.
 */
uint64_t mire__thread_waited_ns(uint32_t tid);
uint64_t mire__thread_awake_ns(uint32_t tid);

/* Bytes fetched from and sent to storage; written ones count when the page becomes dirty, in the thread that wrote. */
struct io_bytes {
    uint64_t read, written;
};

/* A thread's bytes since it began, or the whole process's (tid 0). Zeros where the kernel does not report them. */
void mire__io_bytes(struct io_bytes *out, uint32_t tid);

struct process_counters {
    uint64_t cpu_user_ms, cpu_system_ms, rss_bytes;
    uint32_t thread_count;
};
void mire__process_counters(struct process_counters *out);

/* Start of process pid, in ticks since boot: together with the boot id it distinguishes processes with one pid. 0: no
 * such process. */
uint64_t mire__process_start_ticks(uint32_t pid);

/* Does this process still run a program? False also for a dying process or a zombie. */
bool mire__process_runs(uint32_t pid, uint64_t start_ticks);

/*
 * Have the kernel write the process's death to a file: the calling thread holds `word`, in a page of a shared mapping
 * without other writers, as a robust lock. When the thread dies with the process the kernel stores to the word, and the
 * file's st_mtime is set. A file system in memory does not set it. From then on the thread has no other robust locks
 * (pthread_mutexattr_setrobust).
 *
 * A thread that ends before its process takes the mark back first.
 */
void mire__thread_mark_end(_Atomic uint32_t *word);
void mire__thread_mark_no_end(void);

/* One line of /proc/self/maps. */
struct mapping {
    uint64_t start, end, offset, inode;
    bool readable, writable, executable;
    const char *path; /* borrowed until the visitor returns; "" if anonymous */
};

/*
 * Visit every mapping in address order, until the visitor returns false.
 *   buffer  scratch memory, at least 8 KiB; a line longer than it is skipped
 * Returns false if the list cannot be read to its end.
 */
bool mire__mappings_visit(bool (*visit)(void *context, const struct mapping *mapping), void *context, char *buffer,
                          size_t buffer_bytes);

/* The parts of a mapping in memory and in swap. */
struct mapping_use {
    uint64_t resident_bytes;
    uint64_t anonymous_bytes; /* of these: the process's own pages, with its copies of a file's pages */
    uint64_t swapped_bytes;
};

/*
 * The same of /proc/self/smaps: a GiB in memory takes some 5 ms. A path longer than MIRE_PATH_BYTES is cut.
 * False where the kernel does not let a process see its own (after setuid), or not to the end.
 */
bool mire__smaps_visit(bool (*visit)(void *context, const struct mapping *mapping, const struct mapping_use *use),
                       void *context, char *buffer, size_t buffer_bytes);

#endif
