/*
 * blackbox.h - the data of a watched process that must survive it: one mapped file, written with plain stores.
 *
 *     [ magic, version, size | facts | left | turns | session | losses | context | images, paths | scripts | lanes ]
 *     lanes: [ 0 | 1 | 2 | ... | process | waiting ... ]
 *     lane:  [ event, two copies | paths of waits | other threads | ring ]
 *
 * Each watched thread has a lane; the first is the main thread's. One lane is for events of the whole process. In the
 * last lanes ended events wait to be sealed.
 *
 * Writers: core writes the facts before the watch starts; afterwards only the sampling shares change. The check thread
 * writes all other fields except `left_ns`. A waiting lane belongs to the check thread while its event is NONE, and to
 * the thread that seals while it is ENDED.
 * Readers: a record that could be half written exists twice, or is published by a counter stored last, so the file of a
 * killed process holds complete records only. Numbers are in the machine's byte order, because the file never leaves
 * the machine. The content is untrusted: the functions below check every bound.
 */
#ifndef MIRE_RING_BLACKBOX_H
#define MIRE_RING_BLACKBOX_H

#include "ring/context.h"
#include "ring/event.h"
#include "ring/ring.h"
#include "ring/session.h"
#include "wire/plugin.h"

#define MIRE_BLACKBOX_MAGIC   0x3178626572696dull /* "mirebx1" */
#define MIRE_BLACKBOX_VERSION 8u                  /* others are refused; magic, version and size stay where they are */

/* Facts that core has at the start. Texts end with a zero byte. */
struct blackbox_facts {
    uint32_t pid;
    uint32_t cpu_count;
    uint64_t memory_bytes;
    uint64_t start_ticks;   /* field 22 of /proc/PID/stat: with pid and boot_id it names the process for good */
    uint64_t start_mono_ns; /* the same instant on three clocks, taken when the watch started */
    uint64_t start_wall_ms;
    uint64_t start_boot_ns;
    /* Share of installations in which each plugin is on, in millionths. While the process runs core may lower it, and
     * never raises it: an installation that is out at the start stays out. */
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
    char device_class[MIRE_FACT_BYTES]; /* empty: by the size of the memory */
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

/* The source of a function's name. Java's are called "package.Class.method". */
enum mire__language { MIRE_LANGUAGE_PYTHON, MIRE_LANGUAGE_JAVA };

/* A function of a script; its texts end with a zero byte. */
struct script_function {
    uint64_t hash;             /* of both texts and the kind */
    uint32_t name_at, file_at; /* in scripts.texts */
    uint32_t kind;             /* enum mire__language */
    uint32_t unused;
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

/* Why the stack of another thread is in the event. */
enum mire__role {
    MIRE_ROLE_OWNER = 1, /* holds the lock that the lane's thread waits for */
    MIRE_ROLE_BUSY = 2   /* uses much CPU */
};

struct other {
    uint32_t tid;
    uint32_t role; /* enum mire__role */
    char name[18];
    uint64_t cpu_ns; /* during the event */
    struct sample sample;
};

/*
 * A stack in which the lane's thread has waited for events: its loop. A row is valid if depth, stored last, is not 0.
 */
struct wait_path {
    _Atomic uint32_t depth;
    uint32_t unused;
    struct sample sample;
};

struct lane {
    _Atomic uint32_t event_active; /* index of the valid copy in events */
    _Atomic uint32_t other_count;  /* 0 when an event begins; stored after the row that it counts */
    struct event events[2];
    struct wait_path waits[MIRE_WAIT_PATHS];
    struct other others[MIRE_OTHERS_MAX];
    struct ring ring; /* samples with tid 0 are of the lane's own thread */
};

/*
 * Turns of at least MIRE_MICRO_NS, hangs included, by their length: the first bucket begins at MIRE_MICRO_NS, each
 * further one at twice the length, and the last has no end. Counts since the start; `reported` is the part in reports.
 */
struct micro {
    _Atomic uint64_t count[MIRE_MICRO_BUCKETS];
    _Atomic uint64_t reported[MIRE_MICRO_BUCKETS];
};

/* Reports and counts that could not be stored. Any thread adds. */
#define MIRE_LOSSES_MAX 16u /* reasons; see enum store_reason */
struct losses {
    _Atomic uint64_t waiting[MIRE_LOSSES_MAX]; /* to be added to the store's ledger by a process that may write it */
    _Atomic uint32_t unkept;                   /* reports of this process that could not be stored, since its start */
    _Atomic uint32_t why;                      /* errno of the last one */
};

struct blackbox {
    uint64_t magic; /* stored last by mire__blackbox_init */
    uint32_t version;
    _Atomic uint32_t unreserved; /* a bit for each lane without reserved disk: must not be accessed, see below */
    uint64_t size_bytes;
    struct blackbox_facts facts;

    _Atomic uint64_t left_ns; /* begin of an end without exit(); 0: there was none. Any thread writes */
    struct micro micro;
    struct session session;
    struct losses losses;
    struct context context; /* its writers: see context.h */

    _Atomic uint32_t image_count; /* 0 when an event begins while no other is open; otherwise it only grows */
    uint32_t paths_used_bytes;
    struct image images[MIRE_IMAGES_MAX];
    char paths[MIRE_IMAGE_PATHS_BYTES];

    struct scripts scripts;

    struct lane lanes[MIRE_LANES];
};

/*
 * Initialise a blackbox in fresh memory: a file of sizeof(struct blackbox) zero bytes, mapped shared. The file's
 * descriptor can be closed after mmap; a lock by flock lasts as long as the mapping.
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
 * Copy a lane's event; its state may be NONE. An event that was open when the program ended itself has ended with it.
 *   lane  0..MIRE_LANES-1, here and below
 * Thread: any reader.
 */
void mire__blackbox_event(struct event *out, const struct blackbox *box, uint32_t lane);

/*
 * Mark lanes as without reserved disk, and one as reserved. An access to a lane without disk can raise SIGBUS on a full
 * file system in memory; the functions here treat such a lane as one without an event.
 * Thread: before the watch starts; then the check thread.
 */
void mire__blackbox_unreserve(struct blackbox *box, uint32_t first, uint32_t last);
void mire__blackbox_has(struct blackbox *box, uint32_t lane);
bool mire__blackbox_is_unreserved(const struct blackbox *box, uint32_t lane); /* thread: any */

/* Does a lane have an open event? Thread: any reader. */
bool mire__blackbox_is_open(const struct blackbox *box, uint32_t lane);

/* Replace a lane's event; readers see the old or the new one. Thread: writer. */
void mire__blackbox_set_event(struct blackbox *box, uint32_t lane, const struct event *event);

/*
 * Copy an ended event, with all in its lane, to a waiting lane without an event. A process that is killed meanwhile may
 * leave the event in both lanes.
 *
 *   move   Thread: writer
 *   clear  remove the event from its waiting lane. Thread: the one that has sealed it
 */
void mire__blackbox_move(struct blackbox *box, uint32_t to, uint32_t from);
void mire__blackbox_clear(struct blackbox *box, uint32_t lane);

/* Does a lane have an ended event? Thread: any reader. */
bool mire__blackbox_is_ended(const struct blackbox *box, uint32_t lane);

/* Does any lane have an event, open or ended? */
bool mire__blackbox_any_event(const struct blackbox *box);

/* Number of other threads in the event, 0..MIRE_OTHERS_MAX; the depth of each sample is checked. Thread: any reader. */
uint32_t mire__blackbox_other_count(const struct blackbox *box, uint32_t lane);

/* Set the stack of a wait, or clear the row (NULL). row 0..MIRE_WAIT_PATHS-1. Thread: writer. */
void mire__blackbox_set_wait(struct blackbox *box, uint32_t lane, uint32_t row, const struct sample *sample);

/* The stack in a row, NULL if there is none; its depth is at most MIRE_DEPTH_MAX. Thread: any reader. */
const struct sample *mire__blackbox_wait(const struct blackbox *box, uint32_t lane, uint32_t row);

/* Count a turn; turns shorter than MIRE_MICRO_NS are ignored. Thread: writer. */
void mire__blackbox_count_micro(struct blackbox *box, uint64_t duration_ns);

/* Remove all images. Thread: writer, while no event is open. */
void mire__blackbox_clear_images(struct blackbox *box);

/*
 * Add an image. Later ones win where addresses overlap.
 *   path  borrowed, ends with a zero byte
 * Returns MIRE_OK, MIRE_E_FULL. Thread: writer.
 */
enum mire_err mire__blackbox_add_image(struct blackbox *box, const struct image *image, const char *path);

/* Number of images, 0..MIRE_IMAGES_MAX. */
uint32_t mire__blackbox_image_count(const struct blackbox *box);

/* The path of images[index], index < image count; "" in a damaged file. Borrowed from the box. */
const char *mire__blackbox_image_path(const struct blackbox *box, uint32_t index);

/*
 * The number of a script's function, which is added if it is new; -1: the table is full. Texts are cut to
 * MIRE_SCRIPT_NAME_BYTES and MIRE_SCRIPT_FILE_BYTES. Thread: writer.
 */
int mire__blackbox_add_script(struct blackbox *box, enum mire__language kind, const char *name, const char *file);

/* The language of a function; Python if there is no such number. Thread: any reader. */
enum mire__language mire__blackbox_language(const struct blackbox *box, uint32_t number);

/*
 * If the table of script functions is more than half full, remove all but those in the stacks of waits, which are
 * renumbered. Thread: writer, while no event is open.
 */
void mire__blackbox_tidy_scripts(struct blackbox *box);

/* Name and file of a script's function; false if the number is unused. Borrowed from the box. Thread: any reader. */
bool mire__blackbox_script(const char **name_out, const char **file_out, const struct blackbox *box, uint32_t number);

/* Index of the image that holds `address`, -1 if none. */
int mire__blackbox_find_image(const struct blackbox *box, uint64_t address);

#endif
