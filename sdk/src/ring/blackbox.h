/*
 * blackbox.h - everything about a watched process that must survive it: one mapped file, written with plain stores.
 *
 *     [ magic, version, size | facts | left | turns | session | losses | images, paths | scripts | lanes ]
 *     lanes: [ 0 | 1 | 2 | ... | process ]     lane: [ hang, two copies | paths of waits | other threads | ring ]
 *
 * A lane is what can hang by itself: each watched thread has one, the first one is the main thread's. The last one is
 * the process's, for what concerns all of it.
 *
 * Who writes what: the facts are written by core before the watch starts and, shares aside, never again; all the rest
 * but `left_ns` belongs to the check thread. A record that could be half written exists twice, or is published by
 * a counter stored last; so whoever opens the file of a killed process finds whole records or none. Numbers are in the
 * machine's own order: the file never leaves the machine. Readers treat it as untrusted all the same: use the functions
 * below, which check every bound.
 */
#ifndef MIRE_RING_BLACKBOX_H
#define MIRE_RING_BLACKBOX_H

#include "ring/hang.h"
#include "ring/ring.h"
#include "ring/session.h"
#include "wire/plugin.h"

#define MIRE_BLACKBOX_MAGIC   0x3178626572696dull /* "mirebx1" */
#define MIRE_BLACKBOX_VERSION 5u                  /* others are refused; magic, version and size stay where they are */

/* What core knows at start. Texts end with a zero byte. */
struct blackbox_facts {
    uint32_t pid;
    uint32_t cpu_count;
    uint64_t memory_bytes;
    uint64_t start_ticks;   /* field 22 of /proc/PID/stat: with pid and boot_id it names the process for good */
    uint64_t start_mono_ns; /* the same instant on three clocks, taken when the watch started */
    uint64_t start_wall_ms;
    uint64_t start_boot_ns;
    /* Share of installations that have each plugin on, millionths. Core lowers it while the process runs, and never
     * raises it: who is out at the start stays out, and who is in stays only as long as a smaller share holds it. */
    _Atomic uint32_t sampling_ppm[MIRE_PLUGINS];
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

/* A loaded module. */
struct image {
    uint64_t start, end; /* addresses it spans, end excluded */
    uint64_t load;       /* load bias: address less the address in the file's program headers */
    uint64_t base;       /* where the module begins in the file's program headers */
    uint32_t path_at;    /* in blackbox.paths */
    uint32_t id_size;    /* bytes of id, 0 if it has none */
    uint8_t id[MIRE_BUILD_ID_MAX];
};

/* A function of a script; its texts end with a zero byte. */
struct script_function {
    uint64_t hash;             /* of both */
    uint32_t name_at, file_at; /* in scripts.texts */
};

/* Only appended to, but for mire__blackbox_tidy_scripts. */
struct scripts {
    _Atomic uint32_t count;
    uint32_t epoch; /* how often numbers have changed */
    uint32_t used_bytes;
    uint32_t unused;
    struct script_function functions[MIRE_SCRIPT_FUNCTIONS_MAX];
    char texts[MIRE_SCRIPT_TEXTS_BYTES];
};

/* Why another thread is taken along. */
enum mire__role {
    MIRE_ROLE_OWNER = 1, /* holds the lock that the lane's thread waits for */
    MIRE_ROLE_BUSY = 2   /* uses much CPU */
};

struct other {
    uint32_t tid;
    uint32_t role; /* enum mire__role */
    char name[18];
    uint64_t cpu_ns; /* while the hang lasted */
    struct sample sample;
};

/* Where the lane's thread has waited for events: its loop. A row is there while its depth is not 0, stored last. */
struct wait_path {
    _Atomic uint32_t depth;
    uint32_t unused;
    struct sample sample;
};

struct lane {
    _Atomic uint32_t hang_active; /* which of the two holds */
    _Atomic uint32_t other_count; /* emptied when a hang begins, stored after what it counts */
    struct hang hangs[2];
    struct wait_path waits[MIRE_WAIT_PATHS];
    struct other others[MIRE_OTHERS_MAX];
    struct ring ring; /* a sample's tid tells whose it is: 0 the lane's own thread's */
};

/*
 * Turns of MIRE_MICRO_NS and more, hangs included, by their length: the first bucket begins at MIRE_MICRO_NS, each is
 * twice as long as the one before, the last has no end. Counts since start; `told` are those a report has told.
 */
struct micro {
    _Atomic uint64_t count[MIRE_MICRO_BUCKETS];
    _Atomic uint64_t told[MIRE_MICRO_BUCKETS];
};

/* Reports and counts that found no place. Any thread adds. */
#define MIRE_LOSSES_MAX 16u /* reasons; see enum store_reason */
struct losses {
    _Atomic uint64_t waiting[MIRE_LOSSES_MAX]; /* to be counted in the store's ledger, when somebody may write it */
    _Atomic uint32_t unkept;                   /* reports of this process that could be kept nowhere, since its start */
    _Atomic uint32_t why;                      /* errno of the last one */
};

struct blackbox {
    uint64_t magic; /* stored last by mire__blackbox_init */
    uint32_t version;
    _Atomic uint32_t lacking; /* a bit for each lane that has no disk yet: not to be looked at, see below */
    uint64_t size_bytes;
    struct blackbox_facts facts;

    _Atomic uint64_t left_ns; /* when the program began to end itself without exit(), 0 if it did not; by any thread */
    struct micro micro;
    struct session session;
    struct losses losses;

    _Atomic uint32_t image_count; /* emptied when a hang begins while no other is open; else only appended to */
    uint32_t paths_used_bytes;
    struct image images[MIRE_IMAGES_MAX];
    char paths[MIRE_IMAGE_PATHS_BYTES];

    struct scripts scripts;

    struct lane lanes[MIRE_LANES];
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
 * Copy a lane's hang; its state may be NONE. One that was open when the program ended itself has ended with it.
 *   lane  0..MIRE_LANES-1, here and below
 * Thread: any reader.
 */
void mire__blackbox_hang(struct hang *out, const struct blackbox *box, uint32_t lane);

/*
 * Which lanes have no disk yet; from the check thread's word on one has. Even a read of such a lane would be SIGBUS
 * where the file lies in a file system in memory that is full: the functions here take it for one without a hang.
 * Thread: before the watch starts; then the check thread.
 */
void mire__blackbox_lacks(struct blackbox *box, uint32_t first, uint32_t last);
void mire__blackbox_has(struct blackbox *box, uint32_t lane);
bool mire__blackbox_is_lacking(const struct blackbox *box, uint32_t lane); /* thread: any */

/* Is a lane's hang there and open? Thread: any reader. */
bool mire__blackbox_is_open(const struct blackbox *box, uint32_t lane);

/* Replace a lane's hang, all of it at one instant. Thread: writer. */
void mire__blackbox_set_hang(struct blackbox *box, uint32_t lane, const struct hang *hang);

/* Is any lane's record not NONE? */
bool mire__blackbox_any_hang(const struct blackbox *box);

/* Other threads taken along, 0..MIRE_OTHERS_MAX; each sample's depth is at most MIRE_DEPTH_MAX. Thread: any reader. */
uint32_t mire__blackbox_other_count(const struct blackbox *box, uint32_t lane);

/* Note the path of a wait, or forget it (NULL). row 0..MIRE_WAIT_PATHS-1. Thread: writer. */
void mire__blackbox_set_wait(struct blackbox *box, uint32_t lane, uint32_t row, const struct sample *sample);

/* The path in a row, NULL if there is none; its depth is at most MIRE_DEPTH_MAX. Thread: any reader. */
const struct sample *mire__blackbox_wait(const struct blackbox *box, uint32_t lane, uint32_t row);

/* Count a turn; one shorter than MIRE_MICRO_NS is none. Thread: writer. */
void mire__blackbox_count_micro(struct blackbox *box, uint64_t duration_ns);

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

/*
 * Number of a function of a script; one that is new is added. -1: there is no room. Texts are cut to
 * MIRE_SCRIPT_NAME_BYTES and MIRE_SCRIPT_FILE_BYTES. Thread: writer.
 */
int mire__blackbox_add_script(struct blackbox *box, const char *name, const char *file);

/*
 * Forget the functions if their table is more than half full, but for those in the paths of waits, which get other
 * numbers there. Thread: writer, while no hang is open.
 */
void mire__blackbox_tidy_scripts(struct blackbox *box);

/* Name and file of a function; false if there is none of that number. Borrowed from the box. Thread: any reader. */
bool mire__blackbox_script(const char **name_out, const char **file_out, const struct blackbox *box, uint32_t number);

/* Index of the image that holds `address`, -1 if none. */
int mire__blackbox_find_image(const struct blackbox *box, uint64_t address);

#endif
