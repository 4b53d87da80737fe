/*
 * options.h - what mire_start is told. Private to core/.
 */
#ifndef MIRE_CORE_OPTIONS_H
#define MIRE_CORE_OPTIONS_H

#include "base/base.h"
#include "capture/settings.h"
#include "mire/memory.h"
#include "store/store.h"
#include "upload/upload.h"

#define MIRE_NAME_BYTES 129 /* 128 and the NUL */
#define MIRE_URL_BYTES  2049
#define MIRE_KEY_BYTES  257
#define MIRE_DIR_BYTES  4001
#define MIRE_PINS_BYTES 1024

/* Of the memory monitor; 0: the default. */
struct memory_options {
    enum mire_memory_mode mode;
    uint32_t interval_bytes, budget_bytes;
};

struct mire_options {
    char app_name[MIRE_NAME_BYTES];
    char app_version[MIRE_NAME_BYTES];
    char app_build[MIRE_NAME_BYTES];
    char channel[MIRE_NAME_BYTES];
    char server_url[MIRE_URL_BYTES]; /* empty: reports are not sent */
    char server_key[MIRE_KEY_BYTES];
    char store_dir[MIRE_DIR_BYTES];     /* empty: the default */
    char store_others[MIRE_NAME_BYTES]; /* what a process that has changed its user calls its store; empty: it has none
                                         */
    char session[33];                   /* that mire-run began, and the process is a part of; empty: none */
    struct capture_settings settings;
    struct memory_options memory;
    struct store_caps store_caps;
    enum mire_store_sync store_sync;
    char threads[MIRE_THREAD_NAMES_MAX][MIRE_GATE_NAME_BYTES];
    uint32_t threads_count;
    uint8_t launch;  /* enum mire__launch */
    uint8_t signals; /* MIRE_SIGNALS_... */
    double sampling;
    mire_log_fn *log;
    void *log_context;
    struct upload_options delivery; /* without its texts, see mire__options_delivery */
    char ca_file[MIRE_DIR_BYTES];   /* empty: the system's */
    char pins[MIRE_PINS_BYTES];     /* empty: none */
    mire_clock_fn *clock;           /* NULL: the system's */
    void *clock_context;
    mire_allocator allocator; /* zeros: the C library's */
};

/* Is what came before the start a launch? */
enum mire__launch {
    MIRE_LAUNCH_LIKELY, /* see mire_options_set_launch */
    MIRE_LAUNCH_SURE,
    MIRE_LAUNCH_NONE /* the loop has run */
};

/* Every default set. */
void mire__options_init(mire_options *options);

/* "seal", "always" or "never"; anything else, and NULL, changes nothing. */
void mire__options_set_sync(mire_options *options, const char *text);

/* What delivery goes by. Its texts are borrowed from `options`; url is NULL if there is no server. */
struct upload_options mire__options_delivery(const mire_options *options);

/* May its server be talked to? Not in plain http over a network, unless that is allowed. True without a server. */
bool mire__options_server_is_safe(const mire_options *options);

/*
 * What delivery goes by, from the environment of mire-run: MIRE_CA_FILE, MIRE_PINS, MIRE_DAILY_BYTES, and
 * MIRE_PLAIN_HTTP, which is 0 or 1. Returns the name of the first that its setter refuses; NULL: all is well.
 */
const char *mire__options_delivery_from_environment(mire_options *options);

/* Can a thread be called so? */
bool mire__options_is_thread_name(const char *name);

/* From the variables that core.h lists. A value that its setter refuses is skipped. */
void mire__options_from_environment(mire_options *options);

#endif
