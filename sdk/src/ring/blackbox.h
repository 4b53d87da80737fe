/*
 * blackbox.h - everything about a watched process that must survive it: one mapped file, written with plain stores.
 *
 *     [ magic, version, size | facts | hang, two copies | left | images | image paths | ring ]
 *
 * Who writes what: the facts are written by core before the watch starts and never again; all the rest but `left_ns`
 * belongs to the check thread. A record that could be half written exists twice, or is published by a counter stored
 * last; so whoever opens the file of a killed process finds whole records or none. Numbers are in the machine's own
 * order: the file never leaves the machine. Readers treat it as untrusted all the same: use the functions below, which
 * check every bound.
 */
#ifndef MIRE_RING_BLACKBOX_H
#define MIRE_RING_BLACKBOX_H

#include "ring/ring.h"

#define MIRE_BLACKBOX_MAGIC   0x3178626572696dull /* "mirebx1" */
#define MIRE_BLACKBOX_VERSION 1u

/* What core knows at start. Texts end with a zero byte. */
struct blackbox_facts {
    uint32_t pid;
    uint32_t threshold_ms;
    uint32_t period_ms;
    uint32_t cpu_count;
    uint64_t memory_bytes;
    uint64_t start_ticks;   /* field 22 of /proc/PID/stat: with pid and boot_id it names the process for good */
    uint64_t start_mono_ns; /* the same instant on three clocks, taken when the watch started */
    uint64_t start_wall_ms;
    uint64_t start_boot_ns;
    double sampling; /* probability with which this installation is watched */
    char boot_id[40];
    char app_name[MIRE_FACT_BYTES];
    char app_version[MIRE_FACT_BYTES];
    char app_build[MIRE_FACT_BYTES];
    char app_channel[MIRE_FACT_BYTES];
    char install[40]; /* 32 hex digits */
    char os[MIRE_FACT_BYTES];
    char os_version[MIRE_FACT_BYTES];
    char model[MIRE_FACT_BYTES];
    char arch[MIRE_FACT_BYTES];
    char process_name[MIRE_FACT_BYTES];
    char exe_path[MIRE_PATH_BYTES];
};

/*
 * Life of a hang:
 *
 *     NONE --busy for half the threshold--> OPEN --the turn ends--> ENDED --report sealed--> NONE
 *                                            '-- ended before the threshold, or a launch without a loop --> NONE
 */
enum mire__hang_state { MIRE_HANG_NONE = 0, MIRE_HANG_OPEN = 1, MIRE_HANG_ENDED = 2 };

enum mire__gate_kind { MIRE_GATE_NONE = 0, MIRE_GATE_POLL = 1, MIRE_GATE_MARK = 2, MIRE_GATE_PING = 3 };

/* One thread's counters, differences over the hang. */
struct thread_use {
    uint64_t cpu_ns;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t major_faults;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

struct process_use {
    uint64_t cpu_user_ms; /* since the process started */
    uint64_t cpu_system_ms;
    uint64_t rss_bytes;
    uint32_t thread_count;
    uint32_t unused;
};

struct capture_cost {
    uint64_t samples;
    uint64_t stopped_max_ns; /* longest time the thread was interrupted */
    uint64_t stopped_sum_ns;
    uint64_t unwind_sum_ns;
    uint64_t watch_cpu_ns; /* of the check thread, since start */
};

struct hang {
    uint32_t state; /* enum mire__hang_state */
    uint32_t gate;  /* enum mire__gate_kind */
    uint8_t launch; /* 1: the loop had not waited once when it began */
    uint8_t exited; /* 1: ended because the process did (mire_stop, exit, _exit, exec) */
    uint8_t id[16]; /* UUIDv7, made when it began: the report's id, however often it is built */
    char thread_name[18];
    uint32_t tid;
    uint32_t period_ms;    /* between samples now; doubles when the ring thins */
    uint64_t begin_ns;     /* CLOCK_MONOTONIC */
    uint64_t last_seen_ns; /* the last instant at which it was known to be going on */
    uint64_t end_ns;       /* when ENDED */
    uint64_t late_ns;      /* by how much the check thread was late: a stopped or starved process, not a hang */
    struct thread_use use;
    struct process_use process;
    struct capture_cost cost;
};

/* A loaded module. */
struct image {
    uint64_t start, end; /* addresses it spans, end excluded */
    uint64_t load;       /* load bias: address less the address in the file's program headers */
    uint32_t path_at;    /* in blackbox.paths */
    uint32_t id_size;    /* bytes of id, 0 if it has none */
    uint8_t id[MIRE_BUILD_ID_MAX];
};

struct blackbox {
    uint64_t magic; /* stored last by mire__blackbox_init */
    uint32_t version;
    uint32_t unused;
    uint64_t size_bytes;
    struct blackbox_facts facts;

    _Atomic uint32_t hang_active; /* which of the two holds */
    uint32_t unused_too;
    struct hang hangs[2];
    _Atomic uint64_t left_ns; /* when the program began to end itself without exit(), 0 if it did not; by any thread */

    _Atomic uint32_t image_count; /* emptied when a hang begins, then only appended to */
    uint32_t paths_used_bytes;
    struct image images[MIRE_IMAGES_MAX];
    char paths[MIRE_IMAGE_PATHS_BYTES];

    struct ring ring;
};

/*
 * Make fresh memory (a file of sizeof(struct blackbox) zero bytes, mapped shared) a blackbox.
 * The file's descriptor can be closed after mmap; a lock taken with flock stays as long as the mapping does.
 * Thread: before the watch starts.
 */
void mire__blackbox_init(struct blackbox *box, const struct blackbox_facts *facts);

/*
 * Is this memory a blackbox that the functions here can read?
 *   size_bytes  of the memory
 * Returns MIRE_OK, MIRE_E_FORMAT.
 */
enum mire_err mire__blackbox_check(const struct blackbox *box, size_t size_bytes);

/*
 * Copy the hang; its state may be NONE. One that was open when the program ended itself has ended with it.
 * Thread: any reader.
 */
void mire__blackbox_hang(struct hang *out, const struct blackbox *box);

/* Replace the hang, all of it at one instant. Thread: writer. */
void mire__blackbox_set_hang(struct blackbox *box, const struct hang *hang);

/*
 * Was it a hang, by the threshold in the facts? Time in which the check thread was late does not count; neither does a
 * launch without a loop that ended with the process's own exit.
 */
bool mire__hang_counts(const struct hang *hang, uint32_t threshold_ms);

/* Forget all images. Thread: writer, while no hang is open. */
void mire__blackbox_clear_images(struct blackbox *box);

/*
 * Add an image. Later ones win where addresses overlap.
 *   path  borrowed, ends with a zero byte
 * Returns MIRE_OK, MIRE_E_FULL. Thread: writer.
 */
enum mire_err mire__blackbox_add_image(struct blackbox *box, const struct image *image, const char *path);

/* Images to be had, 0..MIRE_IMAGES_MAX. */
uint32_t mire__blackbox_image_count(const struct blackbox *box);

/* The path of images[index], index < image count; "" in a damaged file. Borrowed from the box. */
const char *mire__blackbox_image_path(const struct blackbox *box, uint32_t index);

/* Index of the image that holds `address`, -1 if none. */
int mire__blackbox_find_image(const struct blackbox *box, uint64_t address);

#endif
