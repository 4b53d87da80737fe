/*
 * options.c - the setters refuse invalid values, so that mire_start has little left to check.
 */
#include "core/options.h"

#include "mire/context.h"
#include "mire/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_BYTES     1024
#define DAILY_CAP_BY_HAND 1000 /* a developer who runs a program under mire run wants all its hangs */

void mire__options_init(mire_options *options)
{
    memset(options, 0, sizeof(*options));
    mire__text_copy(options->channel, sizeof(options->channel), "public");
    options->settings = (struct capture_settings)MIRE_SETTINGS_INIT;
    options->store_caps = (struct store_caps)MIRE_STORE_CAPS_INIT;
    options->sampling = 1;
    options->signals = MIRE_SIGNALS_CRASH | MIRE_SIGNALS_QUIT;
    options->delivery = (struct upload_options)MIRE_UPLOAD_OPTIONS_INIT;
}

mire_options *mire_options_new(void)
{
    mire_options *options = malloc(sizeof(*options));

    if (options)
        mire__options_init(options);
    return options;
}

void mire_options_free(mire_options *options)
{
    free(options);
}

/* Is the text not empty, short enough, and without a byte that `bad` refuses? */
static bool is_fit(const char *text, size_t cap_bytes, bool (*bad)(unsigned char byte))
{
    size_t length = text ? strnlen(text, cap_bytes) : 0;

    if (length == 0 || length == cap_bytes)
        return false;
    for (size_t i = 0; i < length; i++)
        if (bad((unsigned char)text[i]))
            return false;
    return true;
}

static bool is_control(unsigned char byte)
{
    return byte < 0x20 || byte == 0x7f;
}

static bool is_not_graphic(unsigned char byte)
{
    return byte <= 0x20 || byte >= 0x7f;
}

static bool is_never(unsigned char byte)
{
    (void)byte;
    return false;
}

static enum mire_err set_name(mire_options *options, char *field, const char *value)
{
    if (!options || !is_fit(value, MIRE_NAME_BYTES, is_control))
        return MIRE_E_ARG;
    mire__text_copy(field, MIRE_NAME_BYTES, value);
    return MIRE_OK;
}

enum mire_err mire_options_set_app(mire_options *options, const char *name, const char *version)
{
    if (!options || !is_fit(name, MIRE_NAME_BYTES, is_control) || !is_fit(version, MIRE_NAME_BYTES, is_control))
        return MIRE_E_ARG;
    set_name(options, options->app_name, name);
    return set_name(options, options->app_version, version);
}

enum mire_err mire_options_set_build(mire_options *options, const char *build)
{
    return options ? set_name(options, options->app_build, build) : MIRE_E_ARG;
}

enum mire_err mire_options_set_channel(mire_options *options, const char *channel)
{
    return options ? set_name(options, options->channel, channel) : MIRE_E_ARG;
}

enum mire_err mire_options_set_device(mire_options *options, const char *model, const char *type)
{
    if (!options || !is_fit(model, MIRE_NAME_BYTES, is_control) || (type && !is_fit(type, MIRE_NAME_BYTES, is_control)))
        return MIRE_E_ARG;
    mire__text_copy(options->device_class, MIRE_NAME_BYTES, type ? type : "");
    return set_name(options, options->model, model);
}

enum mire_err mire_options_set_os(mire_options *options, const char *name, const char *version)
{
    if (!options || !is_fit(name, MIRE_NAME_BYTES, is_control) || !is_fit(version, MIRE_NAME_BYTES, is_control))
        return MIRE_E_ARG;
    set_name(options, options->os, name);
    return set_name(options, options->os_version, version);
}

static bool is_web_address(const char *url)
{
    const char *host = NULL;

    if (strncmp(url, "http://", 7) == 0)
        host = url + 7;
    else if (strncmp(url, "https://", 8) == 0)
        host = url + 8;
    return host && *host && *host != '/' && *host != ':';
}

enum mire_err mire_options_set_server(mire_options *options, const char *url, const char *key)
{
    if (!options || !url || !is_fit(key, MIRE_KEY_BYTES, is_not_graphic))
        return MIRE_E_ARG;
    if (!is_fit(url, MIRE_URL_BYTES, is_not_graphic) || !is_web_address(url))
        return MIRE_E_ARG;
    mire__text_copy(options->server_url, sizeof(options->server_url), url);
    mire__text_copy(options->server_key, sizeof(options->server_key), key);
    return MIRE_OK;
}

enum mire_err mire_options_set_store(mire_options *options, const char *path)
{
    if (!options || !is_fit(path, MIRE_DIR_BYTES, is_never))
        return MIRE_E_ARG;
    mire__text_copy(options->store_dir, sizeof(options->store_dir), path);
    return MIRE_OK;
}

enum mire_err mire_options_set_store_sync(mire_options *options, enum mire_store_sync sync)
{
    if (!options)
        return MIRE_E_ARG;
    if ((unsigned)sync > MIRE_STORE_SYNC_NEVER)
        return MIRE_E_RANGE;
    options->store_sync = sync;
    return MIRE_OK;
}

enum mire_err mire_options_set_store_caps(mire_options *options, uint32_t kib, uint32_t count, uint32_t age_s)
{
    if (!options)
        return MIRE_E_ARG;
    if (kib < 64 || kib > 1u << 20 || count < 2 || count > MIRE_STORE_LIST_MAX || age_s < 60 || age_s > 365u * 86400)
        return MIRE_E_RANGE;
    options->store_caps =
        (struct store_caps){.bytes = (uint64_t)kib << 10, .count = count, .age_ms = (uint64_t)age_s * 1000};
    return MIRE_OK;
}

enum mire_err mire_options_set_threshold_ms(mire_options *options, uint32_t threshold_ms)
{
    static const char *const kinds[] = {"foreground_ms", "background_ms", "launch_ms", "unanswered_ms"};
    enum mire_err err = MIRE_OK;

    for (size_t i = 0; i < MIRE_COUNT(kinds) && err == MIRE_OK; i++) /* their bounds are the same */
        err = mire_options_set_number(options, kinds[i], threshold_ms);
    return err;
}

enum mire_err mire_options_set_period_ms(mire_options *options, uint32_t period_ms)
{
    return mire_options_set_number(options, "period_ms", period_ms);
}

static bool is_within(uint32_t value, uint64_t least, uint64_t most)
{
    return value == 0 || (value >= least && value <= most);
}

enum mire_err mire_options_set_memory(mire_options *options, enum mire_memory_mode mode, uint32_t interval_bytes)
{
    if (!options)
        return MIRE_E_ARG;
    if (mode < MIRE_MEMORY_OFF || mode > MIRE_MEMORY_EXACT ||
        !is_within(interval_bytes, MIRE_MEMORY_INTERVAL_MIN, MIRE_MEMORY_INTERVAL_MAX))
        return MIRE_E_RANGE;
    options->memory.mode = mode;
    options->memory.interval_bytes = interval_bytes;
    return MIRE_OK;
}

enum mire_err mire_options_set_memory_budget(mire_options *options, uint32_t budget_bytes)
{
    if (!options)
        return MIRE_E_ARG;
    if (budget_bytes == 0 || !is_within(budget_bytes, MIRE_MEMORY_BUDGET_MIN, MIRE_MEMORY_BUDGET_MAX))
        return MIRE_E_RANGE;
    options->memory.budget_bytes = budget_bytes;
    return MIRE_OK;
}

enum mire_err mire_options_set_metrickit(mire_options *options, int subscribes)
{
    if (!options)
        return MIRE_E_ARG;
    options->metrickit = subscribes != 0;
    return MIRE_OK;
}

enum mire_err mire_options_set_display(mire_options *options, int watches)
{
    if (!options)
        return MIRE_E_ARG;
    options->display = watches != 0;
    return MIRE_OK;
}

enum mire_err mire_options_set_memory_source(mire_options *options, enum mire_memory_source source)
{
    if (!options)
        return MIRE_E_ARG;
    if (source < MIRE_MEMORY_ZONES || source > MIRE_MEMORY_LOGGER)
        return MIRE_E_RANGE;
    options->memory.source = source;
    return MIRE_OK;
}

bool mire__options_is_thread_name(const char *name)
{
    return is_fit(name, MIRE_GATE_NAME_BYTES, is_control);
}

enum mire_err mire_options_add_thread(mire_options *options, const char *name)
{
    if (!options || !mire__options_is_thread_name(name))
        return MIRE_E_ARG;
    if (options->threads_count == MIRE_THREAD_NAMES_MAX)
        return MIRE_E_FULL;
    mire__text_copy(options->threads[options->threads_count++], MIRE_GATE_NAME_BYTES, name);
    return MIRE_OK;
}

enum mire_err mire_options_set_launch(mire_options *options, int watched)
{
    if (!options)
        return MIRE_E_ARG;
    options->launch = watched ? MIRE_LAUNCH_SURE : MIRE_LAUNCH_NONE;
    return MIRE_OK;
}

enum mire_err mire_options_set_signals(mire_options *options, unsigned which)
{
    if (!options)
        return MIRE_E_ARG;
    if (which > (MIRE_SIGNALS_CRASH | MIRE_SIGNALS_QUIT))
        return MIRE_E_RANGE;
    options->signals = (uint8_t)which;
    return MIRE_OK;
}

enum mire_err mire_options_set_sampling(mire_options *options, double probability)
{
    if (!options)
        return MIRE_E_ARG;
    if (!(probability >= 0 && probability <= 1))
        return MIRE_E_RANGE;
    options->sampling = probability;
    return MIRE_OK;
}

enum mire_err mire_options_set_log(mire_options *options, mire_log_fn *log, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->log = log;
    options->log_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_add_end(mire_options *options, const char *run, enum mire_end end, int status)
{
    struct report_witness *witness;

    if (!options || !run || strlen(run) != sizeof(witness->run) - 1 || strspn(run, "0123456789abcdef") != strlen(run))
        return MIRE_E_ARG;
    if (end < MIRE_END_EXIT || end > MIRE_END_SYSTEM || status < 0 || status > 64 ||
        (end == MIRE_END_SIGNAL) != (status > 0))
        return MIRE_E_RANGE;
    if (options->witness_count == MIRE_WITNESSES_MAX)
        return MIRE_E_FULL;
    witness = &options->witnesses[options->witness_count++];
    mire__text_copy(witness->run, sizeof(witness->run), run);
    witness->end = end;
    witness->status = (uint32_t)status;
    return MIRE_OK;
}

enum mire_err mire_options_set_trace(mire_options *options, mire_trace_fn *read, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->read_trace = read;
    options->trace_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_set_gauges(mire_options *options, mire_gauges_fn *read, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->read_gauges = read;
    options->gauges_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_set_number(mire_options *options, const char *name, uint32_t value)
{
    return options && name ? mire__settings_set(&options->settings, name, value) : MIRE_E_ARG;
}

/* "name=value name=value ..."; invalid ones are skipped. */
static void set_numbers(mire_options *options, const char *list)
{
    char text[NUMBERS_BYTES], *rest = text;

    mire__text_copy(text, sizeof(text), list);
    for (char *word; (word = strtok_r(rest, " ,", &rest));) {
        char *equals = strchr(word, '='), *end = equals;
        unsigned long value = equals && equals[1] >= '0' && equals[1] <= '9' ? strtoul(equals + 1, &end, 10) : 0;

        if (!equals || end == equals || *end || value > UINT32_MAX)
            continue;
        *equals = '\0';
        mire_options_set_number(options, word, (uint32_t)value);
    }
}

/* "name,name": a thread's name may have blanks. */
static void add_threads(mire_options *options, const char *list)
{
    char text[MIRE_THREAD_NAMES_MAX * MIRE_GATE_NAME_BYTES], *rest = text;

    mire__text_copy(text, sizeof(text), list);
    for (char *name; (name = strtok_r(rest, ",", &rest));)
        mire_options_add_thread(options, name);
}

void mire__options_set_sync(mire_options *options, const char *text)
{
    static const char *const names[] = {
        [MIRE_STORE_SYNC_SEAL] = "seal", [MIRE_STORE_SYNC_ALWAYS] = "always", [MIRE_STORE_SYNC_NEVER] = "never"};

    for (size_t i = 0; text && i < MIRE_COUNT(names); i++)
        if (strcmp(text, names[i]) == 0)
            mire_options_set_store_sync(options, (enum mire_store_sync)i);
}

/* "exact", "off", "sampled" or "sampled:INTERVAL"; under mire run the default is sampled. */
static void set_memory(mire_options *options, const char *text)
{
    char *end;
    unsigned long interval;

    mire_options_set_memory(options, MIRE_MEMORY_SAMPLED, 0);
    if (text && strcmp(text, "exact") == 0)
        mire_options_set_memory(options, MIRE_MEMORY_EXACT, 0);
    else if (text && strcmp(text, "off") == 0)
        mire_options_set_memory(options, MIRE_MEMORY_OFF, 0);
    else if (text && strncmp(text, "sampled:", 8) == 0 && text[8] >= '0' && text[8] <= '9') {
        interval = strtoul(text + 8, &end, 10);
        if (!*end && interval <= UINT32_MAX)
            mire_options_set_memory(options, MIRE_MEMORY_SAMPLED, (uint32_t)interval);
    }
}

static uint32_t number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;

    return text && *text >= '0' && *text <= '9' && !*end && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void set_session(mire_options *options, const char *name)
{
    if (name && strlen(name) == sizeof(options->session) - 1 && strspn(name, "0123456789abcdef") == strlen(name))
        mire__text_copy(options->session, sizeof(options->session), name);
}

void mire__options_from_environment(mire_options *options)
{
    mire__options_init(options);
    mire_options_set_app(options, getenv("MIRE_APP"), getenv("MIRE_APP_VERSION"));
    mire_options_set_build(options, getenv("MIRE_APP_BUILD"));
    mire_options_set_channel(options, getenv("MIRE_CHANNEL"));
    mire_options_set_server(options, getenv("MIRE_SERVER"), getenv("MIRE_KEY"));
    mire_options_set_store(options, getenv("MIRE_STORE"));
    set_name(options, options->store_others, getenv("MIRE_STORE_OTHERS"));
    set_session(options, getenv("MIRE_SESSION"));
    mire_options_set_threshold_ms(options, number("MIRE_THRESHOLD_MS"));
    mire_options_set_period_ms(options, number("MIRE_PERIOD_MS"));
    options->settings.daily_cap = DAILY_CAP_BY_HAND;
    if (getenv("MIRE_SIGNALS"))
        mire_options_set_signals(options, number("MIRE_SIGNALS"));
    set_numbers(options, getenv("MIRE_SETTINGS"));
    add_threads(options, getenv("MIRE_THREADS"));
    mire__options_set_sync(options, getenv("MIRE_STORE_SYNC"));
    set_memory(options, getenv("MIRE_MEMORY"));
    mire_options_set_memory_budget(options, number("MIRE_MEMORY_BUDGET"));
}
