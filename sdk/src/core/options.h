/*
 * options.h - the options of mire_start. For core/ and preload/.
 */
#ifndef MIRE_CORE_OPTIONS_H
#define MIRE_CORE_OPTIONS_H

#include "base/base.h"
#include "capture/settings.h"
#include "mire/memory.h"
#include "report/report.h"
#include "store/store.h"
#include "upload/upload.h"

#define MIRE_NAME_BYTES 129 /* 128 and the NUL */
#define MIRE_URL_BYTES  2049
#define MIRE_KEY_BYTES  257
#define MIRE_DIR_BYTES  4001
#define MIRE_PINS_BYTES 1024

#define MIRE_WITNESSES_MAX 16

/* Numbers of the memory monitor; 0: the default. */
struct memory_options {
    enum mire_memory_mode mode;
    enum mire_memory_source source;
    uint32_t interval_bytes, budget_bytes;
};

struct mire_options {
    char app_name[MIRE_NAME_BYTES];
    char app_version[MIRE_NAME_BYTES];
    char app_build[MIRE_NAME_BYTES];
    char channel[MIRE_NAME_BYTES];
    char model[MIRE_NAME_BYTES]; /* this and the next three: empty: as the system reports */
    char device_class[MIRE_NAME_BYTES];
    char os[MIRE_NAME_BYTES];
    char os_version[MIRE_NAME_BYTES];
    char server_url[MIRE_URL_BYTES]; /* empty: reports are not sent */
    char server_key[MIRE_KEY_BYTES];
    char store_dir[MIRE_DIR_BYTES];     /* empty: the default */
    char store_others[MIRE_NAME_BYTES]; /* name of the store after a change of the user; empty: none */
    char session[33];                   /* mire-run's session that the process is part of; empty: none */
    struct capture_settings settings;
    struct memory_options memory;
    bool metrickit;
    bool display;
    struct store_caps store_caps;
    enum mire_store_sync store_sync;
    char threads[MIRE_THREAD_NAMES_MAX][MIRE_GATE_NAME_BYTES];
    uint32_t threads_count;
    uint64_t launch_ns; /* begin of the launch, CLOCK_MONOTONIC; 0: when the process started */
    uint8_t launch;     /* enum mire__launch */
    uint8_t signals;    /* MIRE_SIGNALS_... */
    double sampling;
    mire_log_fn *log;
    void *log_context;
    struct upload_options delivery; /* without its texts, see mire__options_delivery */
    char ca_file[MIRE_DIR_BYTES];   /* empty: the system's */
    char pins[MIRE_PINS_BYTES];     /* empty: none */
    mire_clock_fn *clock;           /* NULL: the system's */
    void *clock_context;
    mire_allocator allocator; /* zeros: the C library's */
    struct report_witness witnesses[MIRE_WITNESSES_MAX];
    uint32_t witness_count;
    mire_trace_fn *read_trace; /* NULL: none */
    void *trace_context;
    mire_gauges_fn *read_gauges; /* NULL: none */
    void *gauges_context;
};

/* Does the time before the start count as a launch? */
enum mire__launch {
    MIRE_LAUNCH_LIKELY, /* see mire_options_set_launch */
    MIRE_LAUNCH_SURE,
    MIRE_LAUNCH_NONE /* the loop has run */
};

/* Every default set. */
void mire__options_init(mire_options *options);

/* "seal", "always" or "never"; other texts and NULL have no effect. */
void mire__options_set_sync(mire_options *options, const char *text);

/* The options of delivery. Texts are borrowed from `options`; url is NULL if there is no server. */
struct upload_options mire__options_delivery(const mire_options *options);

/* Is the server allowed? Not in plain http over a network, unless an option permits it. True without a server. */
bool mire__options_server_is_safe(const mire_options *options);

/*
 * Set the options of delivery from mire-run's environment: MIRE_CA_FILE, MIRE_PINS, MIRE_DAILY_BYTES, and
 * MIRE_PLAIN_HTTP (0 or 1). Returns the name of the first variable whose setter refuses it; NULL: none.
 */
const char *mire__options_delivery_from_environment(mire_options *options);

/* Is this a valid name of a thread? */
bool mire__options_is_thread_name(const char *name);

/* Set options from the variables listed in core.h. A value that its setter refuses is ignored. */
void mire__options_from_environment(mire_options *options);

#endif
