/*
 * report.h - one report in memory: the checked content, the same for every format.
 *
 *     images   i: name, build id, load
 *     frames   f: image i + offset                    a location in a module, or a row of java or scripts
 *     nodes    n: parent n', frame f    (n' < n)      one trie; node 0 is the root, above every outermost frame
 *     samples  s: at, weight, node n                  a stack = the way from n up to 0, innermost frame first
 *     memory   what the process held, by category, and the stacks that allocated it (memory.h)
 *
 * Every index in a report is in range, and every text is valid UTF-8 without a NUL inside: decode guarantees that, and
 * all readers rely on it. A report owns all that it points to. It never changes after its creation and may be read by
 * any number of threads.
 */
#ifndef MIRE_MODEL_REPORT_H
#define MIRE_MODEL_REPORT_H

#include "model/exit.h"
#include "model/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Identity. Texts are "" where absent. */
struct report_app {
    const char *name;
    const char *version;
    const char *build;
    const char *channel; /* "public" if absent */
};

struct report_device {
    uint8_t install[16];
    const char *os;
    const char *os_version;
    const char *model;
    const char *class_name;
    const char *arch;
    struct fact cpu_count;
    struct fact memory_bytes;
};

struct report_process {
    uint64_t pid;
    const char *name;
    const char *path;
    struct fact start_wall_ms; /* milliseconds since 1970 UTC */
    struct fact start_ns;      /* monotonic clock of the device */
    struct fact thread_count;
    struct fact cpu_user_ms;
    struct fact cpu_system_ms;
    struct fact rss_bytes;
};

struct report_tag {
    const char *name;
    const char *value;
};

struct report_crumb {
    uint64_t at_ms; /* after process.start_ns; never falling */
    const char *text;
};

struct report_context { /* context of the app at the moment of the event; absent texts are "" */
    const char *state;  /* foreground, visible, perceptible, background */
    const char *scene;
    const char *user;
    bool user_hashed;
    size_t tag_count;
    const struct report_tag *tags;
    size_t crumb_count;
    const struct report_crumb *crumbs; /* oldest first */
};

#define MIRE_BUILD_ID_MAX   64 /* bytes of the longest build id */
#define MIRE_MAPPING_ID_LEN 32 /* bytes of a result of mapping_id */

enum image_tie { /* does its package have the program's source? */
                 MIRE_TIE_UNKNOWN,
                 MIRE_TIE_OTHER,
                 MIRE_TIE_SAME
};

struct report_image {
    const char *name;
    uint8_t id[MIRE_BUILD_ID_MAX];
    uint8_t id_len; /* 0: the module has none */
    const char *arch;
    uint64_t load;
    uint64_t base;   /* its begin in the file's program headers */
    bool from_start; /* base is not known: offsets of frames count from where the image begins */
    struct fact size;
    enum image_tie tie;
    bool java;          /* Java or Kotlin: id is its mapping's, and offsets of frames are rows of the report's java */
    const char *script; /* language of a script: "python"; "" for other images. Offsets of its frames are rows of
                           the report's scripts */
    bool by_version;    /* the id is that of the mapping of the app's version (mapping_id) */
};

struct report_java { /* a location in code of Java or Kotlin, as the device has it: R8 may have shortened the names */
    const char *class_name; /* "" where only `number` is known */
    const char *method;
    const char *file; /* "" if unknown */
    uint32_t line;    /* 0 if unknown */
    int64_t number;   /* of the method in Matrix's methodmap; -1: it has names */
};

struct report_script {    /* a frame of a script, or the name that the sender has for an address */
    const char *function; /* never empty */
    const char *file;     /* "" if unknown */
    uint32_t line;        /* 0 if unknown */
};

struct report_names {     /* a native frame's names in the report */
    const char *function; /* never empty */
    const char *file;     /* "" if unknown */
    uint32_t line;        /* 0 if unknown */
    bool whole;           /* one of several calls inlined at one address: debug files are not asked for it */
};

enum frame_found { /* method of the unwinder; the wire's numbers */
                   MIRE_FOUND_PC,
                   MIRE_FOUND_FRAME_POINTER,
                   MIRE_FOUND_CFI,
                   MIRE_FOUND_SIGNAL,
                   MIRE_FOUND_LINK_REGISTER,
                   MIRE_FOUND_SCRIPT,
};

struct report_frame {
    int32_t image;   /* -1: the address lies in no image */
    uint8_t found;   /* enum frame_found */
    uint64_t offset; /* address to look up, minus the image's load bias; the bare address if image is -1; for an
                        image of Java the row of java, for a script the row of scripts, which exists */
    const struct report_names *names; /* NULL: the report has no name. Debug files come first */
    uint32_t into;                    /* bytes from the begin of its function; 0: unknown */
};

struct report_node {
    uint32_t parent; /* below the node's own number; 0 is the root */
    uint32_t frame;
};

#define MIRE_LOSS_PARTIAL 'p'

struct report_sample {
    uint32_t at_ms; /* after the event's beginning; never falling */
    uint32_t weight_ms;
    uint32_t node;
    char state;       /* scheduler's letter, '?' if unknown */
    int32_t syscall;  /* number on device.arch of the system call it slept in; -1: in none, or unknown */
    uint32_t thread;  /* thread of the stack: 0 the watched thread, otherwise 1 + an index into the report's threads */
    char loss;        /* its loss, a letter of the schema: '.' none, MIRE_LOSS_PARTIAL the outer end is missing */
    uint32_t folded;  /* frames of recursion left out */
    uint32_t skipped; /* frames left out in the middle */
};

struct report_blame { /* the device's own verdict */
    bool known;
    uint32_t node;
    uint32_t share_ppm; /* of all weight */
};

struct report_hot {
    bool known;
    uint32_t node;
    uint32_t run; /* samples in a row */
    size_t repeat_count;
    const uint32_t *repeat; /* number of samples with each frame, innermost first */
};

struct report_watched { /* the hung thread */
    struct fact tid;
    const char *name;
    struct fact cpu_ms;
    struct fact voluntary_switches;
    struct fact involuntary_switches;
    struct fact major_faults;
    struct fact read_bytes;
    struct fact write_bytes;
};

enum gate_kind { MIRE_GATE_NONE, MIRE_GATE_POLL, MIRE_GATE_MARK, MIRE_GATE_PING };

/* The wire's word for a gate, static. */
const char *gate_name(enum gate_kind gate);

struct report_lock { /* the lock or file that a thread waited for */
    bool known;
    uint64_t address;
    struct fact owner_tid;
};

struct report_cpu { /* of the whole process */
    bool known;
    uint64_t window_ms;
    uint64_t percent; /* of one core */
    struct fact limit_percent;
};

struct report_disk { /* of the whole process */
    bool known;
    uint64_t window_ms;
    uint64_t read_bytes;
    uint64_t write_bytes;
    struct fact limit_bytes;
};

struct report_frames { /* of the display */
    bool known;
    uint64_t ticks;
    uint64_t dropped;
    struct fact window_ms;
    struct fact period_us;
    struct fact longest_ms;
};

struct report_suppressed { /* similar events that were counted, not sent */
    uint64_t count;
    struct fact duration_ms;
};

struct report_event {
    const char *trigger; /* why the device looked: "busy" if absent */
    const char *name;    /* the app's, of a capture or a scene */
    const char *message; /* the message in the loop's hands; "" if unknown */
    uint64_t begin_ns;   /* monotonic clock of the device */
    struct fact begin_wall_ms;
    uint32_t duration_ms;
    uint32_t threshold_ms; /* 0: unknown */
    bool open;             /* killed, or crashed, before the event was over */
    bool launch;
    bool foreground;
    bool foreground_known;
    uint64_t late_ms;
    uint64_t suspended_ms;   /* not in duration_ms */
    uint64_t begin_slack_ms; /* uncertainty of the begin: possibly so much earlier */
    uint64_t end_slack_ms;   /* uncertainty of the end: possibly so much later */
    uint64_t unsure_ms;      /* part of the duration in which the thread may have waited for events */
    uint32_t wait_node;      /* the stack of the loop's wait before the event; 0: unknown */
    enum gate_kind gate;
    const char *guess;
    struct report_lock lock;
    struct report_cpu cpu;
    struct report_disk disk;
    struct report_frames frames;
    struct report_suppressed suppressed;
    struct report_watched thread;
    uint32_t period_ms; /* 0: unknown */
    size_t sample_count;
    const struct report_sample *samples;
    struct report_blame blame;
    struct report_hot hot;
};

struct report_thread {
    uint64_t tid;
    const char *name;
    const char *role;
    struct fact cpu_ms;
    uint32_t node;
    char state;              /* as in report_sample */
    int32_t syscall;         /* as in report_sample */
    struct report_lock lock; /* of its wait */
};

struct report_cost {
    uint64_t samples;
    uint64_t stopped_max_ns;
    uint64_t stopped_sum_ns;
    uint64_t unwind_sum_ns;
    uint64_t watch_cpu_us;
    struct fact wakeups;
    struct fact stored_bytes;
    struct fact period_raised;
};

struct report_bucket { /* turns of watched loops at least so long, and shorter than the next bucket's */
    uint32_t from_ms;
    uint32_t count;
};

struct report_probability { /* a row of sampling */
    const char *plugin;
    double p; /* in (0, 1] */
};

/* How a run ended. */
struct report_end {
    const char *verdict; /* as exit.verdict of the wire */
    struct fact confidence_ppm, start_wall_ms, seen_wall_ms;
};

struct report_session { /* of a session record: one run, or a day of a longer one */
    struct fact begin_wall_ms;
    struct fact duration_ms;
    struct fact foreground_ms;
    struct fact part;
    bool over;
    bool loop;        /* a thread was seen to wait for events */
    uint32_t plugins; /* plugins that ran, bits by enum mire__plugin */
    uint64_t hang_count, hang_ms;
    uint64_t background_count, background_ms; /* of those */
    const struct report_bucket *turns;        /* from_ms rising */
    size_t turn_count;
    const struct report_end *ends;
    size_t end_count;
    struct fact sdk_cpu_us;
    struct fact cpu_ms;               /* of all its processes */
    struct fact footprint_peak_bytes; /* of the largest process */
    struct fact launch_ms;            /* to the first wait for events */
    struct fact frames_drawn, frames_dropped;
};

enum report_kind {
    MIRE_REPORT_EVENT,    /* the details are in `event` */
    MIRE_REPORT_MEMORY,   /* memory does */
    MIRE_REPORT_BASELINE, /* the memory of a healthy process is in `memory`; nothing happened */
    MIRE_REPORT_SESSION,  /* it is a session record: nothing happened, and only `session` says something */
};

struct report {
    char id[37]; /* UUID of version 7, or 8 if it is derived of content; lower case, with dashes */
    enum report_kind kind;
    struct report_app app;
    struct report_device device;
    const char *sdk_name;
    const char *sdk_version;
    size_t sampling_count;
    const struct report_probability *sampling;
    struct report_process process;
    struct report_context context;
    size_t image_count;
    const struct report_image *images;
    size_t java_count;
    const struct report_java *java;
    size_t script_count;
    const struct report_script *scripts;
    size_t frame_count;
    const struct report_frame *frames;
    size_t node_count; /* with the root: at least 1 */
    const struct report_node *nodes;
    struct report_event event;     /* in a memory report without samples and duration */
    struct memory memory;          /* known only in a memory report */
    struct report_exit exit;       /* of its process */
    struct report_session session; /* zeros but in a session record */
    size_t thread_count;
    const struct report_thread *threads;
    struct report_cost cost;
    size_t bucket_count;
    const struct report_bucket *buckets; /* from_ms rising */
    size_t drop_count;
    const struct report_named_number *drops;
    size_t note_count;
    const char *const *notes; /* sentences: parts of its file that the report lacks, and doubts about it */
};

/* The device's name of a location of Java: "a.b.c", or "method 12". In the arena; NULL: no memory. */
const char *report_java_name(struct arena *arena, const struct report_java *java);

/*
 * The id of the mapping of a version of an app, whatever the mapping's own id is.
 *
 *   out  MIRE_MAPPING_ID_LEN bytes
 */
void mapping_id(uint8_t out[MIRE_MAPPING_ID_LEN], int32_t app_id, const char *version, const char *build);

/* Events that this report stands for: 1 / p of its plugin, 1 if it was not sampled. At least 1. */
double report_weight(const struct report *report);

/* Share of installations that have a plugin on, in (0, 1]; 1 if the report does not say it. */
double report_share(const struct report *report, const char *plugin);

#endif
