/*
 * resolved.h - the symbolicated stacks of one report, in the form of event_stack.document and the API.
 *
 *     locations   p: function, image, file:line, role       what a reader sees of a frame
 *     nodes    n: parent n', location p    (n' < n)         the trie again, inlined functions as nodes of their own
 *     samples  s: at, weight, node n
 *     hot      innermost node of the hot stack, and how often each of its frames stands in the samples
 *     threads  others than the watched one; samples may be theirs
 *     memory   of a memory report: what the process held; its stacks' nodes are those above
 *
 * Node 0 is the root; a stack is the way from a node up to it, innermost frame first. Two nodes with one parent have
 * different locations, so counting by node and counting by stack agree.
 */
#ifndef MIRE_MODEL_RESOLVED_H
#define MIRE_MODEL_RESOLVED_H

#include "model/report.h"
#include "model/role.h"

#define MIRE_RESOLVED_VERSION 2 /* of the document; other versions are refused, and derived again from the report */

struct resolved_location {
    const char *function; /* demangled; image+0xoffset without a symbol; never empty */
    const char *image;    /* base name of the module; "" where the address lies in none */
    const char *file;     /* "" if unknown */
    uint32_t line;        /* 0 if unknown */
    uint64_t offset;      /* address less load bias */
    bool named;           /* function is a symbol's name */
    bool inlined;         /* inlined into the next frame out */
    enum role role;
    uint32_t rule;     /* number of the rule for the role, from 1; 0: none */
    uint32_t mark;     /* number of the rule that marks its stacks */
    const char *build; /* its build id, if the name depends on it (an offset, a short name of Java): another build
                          may give the name to another function; not in the document */
    bool script;       /* a frame of a script; image is named after its file. Not in the document */
    bool system;       /* the debug file says that it is a library of Apple's systems. Not in the document */
};

struct resolved_rule { /* the rule for a location's role */
    const char *pack;  /* "app": the app's own; otherwise the name of a pack */
    int version;       /* of the pack */
    uint32_t line;     /* of the pack */
    const char *text;  /* as written: "lock libc.so* pthread_mutex_lock" */
};

struct resolved_node {
    uint32_t parent;
    uint32_t location;
};

struct resolved_hot {
    uint32_t node;          /* 0: no stack was taken */
    uint32_t thread;        /* as in report_sample; only this thread's samples are counted */
    uint32_t run;           /* samples in a row with the same innermost function */
    size_t depth;           /* frames of the stack */
    const uint32_t *repeat; /* depth numbers, innermost first: samples with the function of each frame */
    int32_t caller1;        /* index in the hot stack, from the innermost, 0; -1 if it is not there */
    int32_t caller2;
};

struct resolved_verdict { /* the function to blame, and its share of the sampled time */
    bool known;
    uint32_t location;
    uint32_t share_ppm;
};

struct resolved_part {     /* of the key: reports with the same parts are one issue */
    const char *part;      /* caller1, module1, caller2, module2, category, reason, subject */
    const char *text;      /* as it is hashed */
    const uint32_t *rules; /* numbers of the rules that changed it, from 0 */
    size_t rule_count;
};

struct resolved_holder { /* the holder of the lock that the thread waited for */
    bool itself;         /* the waiting thread itself */
    int32_t thread;      /* index into threads; -1: unknown, or not among them */
    int32_t frame;       /* of its stack, from the innermost; -1: none */
};

struct resolved_thread {
    uint64_t tid;
    const char *name;
    const char *role;
    struct fact cpu_ms;
    uint32_t node;
    char state;
    int32_t syscall;
    struct report_lock lock; /* of its wait. Not in the document */
};

struct resolved_fact {
    const char *name;
    const char *value;
};

struct resolved {
    const char *trigger;
    const char *name;
    enum gate_kind gate;
    bool launch;
    bool foreground;
    bool foreground_known;
    uint32_t threshold_ms;
    uint64_t late_ms;
    uint64_t suspended_ms;
    uint64_t begin_slack_ms;
    const char *guess;
    struct report_lock lock;
    struct resolved_holder holder;
    struct report_cpu cpu;
    struct report_disk disk;
    struct report_frames frames;
    struct report_suppressed suppressed;
    struct report_watched thread;
    struct report_exit exit;

    size_t location_count;
    const struct resolved_location *locations;
    size_t rule_count; /* named by locations */
    const struct resolved_rule *rules;
    size_t node_count; /* with the root: at least 1 */
    const struct resolved_node *nodes;

    uint32_t period_ms;
    size_t sample_count;
    const struct report_sample *samples; /* node: of the nodes above */
    uint32_t wait_node;                  /* the same: the stack of the loop's wait, 0 if none; not in the document */
    struct resolved_hot hot;
    struct resolved_verdict blame;   /* the device's */
    struct resolved_verdict verdict; /* ours */
    const char *why;                 /* the reason, for people */
    size_t part_count;               /* 0 in documents of old */
    const struct resolved_part *parts;

    struct memory memory; /* known only of a memory report */

    size_t thread_count;
    const struct resolved_thread *threads;
    size_t fact_count;
    const struct resolved_fact *facts; /* all other facts, readable */
    struct report_cost cost;
    size_t bucket_count;
    const struct report_bucket *buckets; /* turns of watched loops since the last report */
};

/* First in an initialiser: the values of unknown facts. */
#define MIRE_RESOLVED_NOTHING                                                                    \
    .trigger = "busy", .name = "", .guess = "", .thread = {.name = ""}, .exit = {.verdict = ""}, \
    .holder = {.thread = -1, .frame = -1}, .why = "", .memory = {.trigger = "", .name = ""}

#endif
