/*
 * mire.c - Mire's own format: schema/wire/report.schema.json and session.schema.json, and what a schema cannot say
 * (columns of one table are equally long, indices point at rows that exist, at_ms never falls, no member is given
 * twice).
 *
 * The tables below are in the schema's order, but for threads, so that what is pointed at has been read before what
 * points. mire_context.c has the section "context", mire_stacks.c has frames and nodes, mire_event.c the sections "threads" and
 * "event", mire_memory.c "memory", mire_java.c "java", mire_script.c "script", mire_trace.c "trace". A kind has its own table at the end.
 */
#include "decode/mire.h"
#include "document/exit.h"
#include "document/facts.h"

#include <math.h>
#include <string.h>

/* Digits 0-9a-f only. -1: not one. */
static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum bind_outcome mire_read_hex(uint8_t *out, size_t *len_out, struct bind *bind, uint32_t at, size_t least,
                                size_t most)
{
    const char *text;
    enum bind_outcome outcome = bind_text(&text, bind, at, most > MIRE_WIRE_TEXT_MAX ? 2 * most : MIRE_WIRE_TEXT_MAX);
    if (outcome)
        return outcome;
    size_t len = strlen(text);
    if (len % 2 || len / 2 < least || len / 2 > most)
        return bind_wrong(bind, "must be %zu to %zu bytes in lower-case hex", least, most);
    for (size_t i = 0; i < len; i += 2) {
        int high = nibble(text[i]);
        int low = nibble(text[i + 1]);
        if (high < 0 || low < 0)
            return bind_wrong(bind, "must be lower-case hex");
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    *len_out = len / 2;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_version(struct bind *bind, void *out, uint32_t at)
{
    uint64_t version;
    (void)out;
    if (!json_u64(&version, bind->json, at) || version != MIRE_WIRE_VERSION)
        return bind_wrong(bind, "must be %d", MIRE_WIRE_VERSION);
    return MIRE_BIND_OK;
}

static enum bind_outcome read_id(struct bind *bind, void *out, uint32_t at)
{
    static const char form[] = "xxxxxxxx-xxxx-nxxx-vxxx-xxxxxxxxxxxx";
    struct report *report = out;
    const char *text;
    enum bind_outcome outcome = bind_text(&text, bind, at, MIRE_WIRE_TEXT_MAX);
    if (outcome)
        return outcome;
    bool good = strlen(text) == sizeof form - 1;
    for (size_t i = 0; good && form[i]; i++)
        good = form[i] == 'x'   ? nibble(text[i]) >= 0
               : form[i] == 'n' ? text[i] == '7' || text[i] == '8'
               : form[i] == 'v' ? strchr("89ab", text[i]) != NULL
                                : text[i] == form[i];
    if (!good)
        return bind_wrong(bind, "must be a UUID of version 7 or 8 in lower case");
    memcpy(report->id, text, sizeof form);
    return MIRE_BIND_OK;
}

static const struct mire_kind *find_kind(const struct json *json, uint32_t at);

static enum bind_outcome read_kind(struct bind *bind, void *out, uint32_t at)
{
    (void)out; /* mire_read has done it */
    if (find_kind(bind->json, at))
        return MIRE_BIND_OK;
    return bind_wrong(bind, "must be \"event\", \"memory\" or \"session\"");
}

static enum bind_outcome read_app(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(TEXT(struct report_app, name, MIRE_NAME_NAME))},
        {REQUIRED(TEXT(struct report_app, version, MIRE_NAME_VERSION))},
        {TEXT(struct report_app, build, MIRE_NAME_BUILD)},
        {TEXT(struct report_app, channel, MIRE_NAME_CHANNEL)},
    };
    struct report *report = out;
    return bind_object(bind, &report->app, at, fields, COUNT(fields));
}

static enum bind_outcome read_install(struct bind *bind, void *out, uint32_t at)
{
    struct report_device *device = out;
    size_t len;
    return mire_read_hex(device->install, &len, bind, at, sizeof device->install, sizeof device->install);
}

static enum bind_outcome read_device(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(OTHER(MIRE_NAME_INSTALL, read_install))},
        {REQUIRED(TEXT(struct report_device, os, MIRE_NAME_OS))},
        {TEXT(struct report_device, os_version, MIRE_NAME_OS_VERSION)},
        {TEXT(struct report_device, model, MIRE_NAME_MODEL)},
        {TEXT(struct report_device, class_name, MIRE_NAME_CLASS)},
        {REQUIRED(TEXT(struct report_device, arch, MIRE_NAME_ARCH))},
        {COUNTED(struct report_device, cpu_count, MIRE_NAME_CPU_COUNT)},
        {FACT(struct report_device, memory_bytes, MIRE_NAME_MEMORY_BYTES)},
    };
    struct report *report = out;
    return bind_object(bind, &report->device, at, fields, COUNT(fields));
}

static enum bind_outcome read_sdk(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(TEXT(struct report, sdk_name, MIRE_NAME_NAME))},
        {REQUIRED(TEXT(struct report, sdk_version, MIRE_NAME_VERSION))},
    };
    return bind_object(bind, out, at, fields, COUNT(fields));
}

static enum bind_outcome read_probability(struct bind *bind, void *rows, size_t i, const char *name, uint32_t value)
{
    double p = json_double(bind->json, value);
    if (!(p > 0 && p <= 1)) /* so written that NaN, which is what no number reads as, is wrong */
        return bind_wrong(bind, "must be a number above 0 and at most 1");
    ((struct report_probability *)rows)[i] = (struct report_probability){name, p};
    return MIRE_BIND_OK;
}

static enum bind_outcome read_sampling(struct bind *bind, void *out, uint32_t at)
{
    struct report *report = out;
    enum bind_outcome outcome = mire_is_map(bind, at);
    if (outcome)
        return outcome;
    struct report_probability *rows = arena_array(bind->arena, json_size(bind->json, at), sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    report->sampling = rows;
    return mire_read_map(&report->sampling_count, bind, at, rows, read_probability);
}

static enum bind_outcome read_drops(struct bind *bind, void *out, uint32_t at)
{
    struct report *report = out;
    return mire_read_numbers(&report->drops, &report->drop_count, bind, at);
}

static enum bind_outcome read_notes(struct bind *bind, void *out, uint32_t at)
{
    struct report *report = out;

    const char **notes = NULL;
    enum bind_outcome outcome =
        bind_texts(&notes, &report->note_count, bind, at, MIRE_WIRE_NOTES_MAX, MIRE_WIRE_TEXT_MAX);

    report->notes = notes;
    return outcome;
}

static enum bind_outcome read_process(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct report_process, pid, MIRE_NAME_PID, MIRE_BIND_U64, 0, UINT32_MAX))},
        {REQUIRED(TEXT(struct report_process, name, MIRE_NAME_NAME))},
        {TEXT(struct report_process, path, MIRE_NAME_PATH)},
        {FACT(struct report_process, start_wall_ms, MIRE_NAME_START_WALL_MS)},
        {FACT(struct report_process, start_ns, MIRE_NAME_START_NS)},
        {COUNTED(struct report_process, thread_count, MIRE_NAME_THREAD_COUNT)},
        {FACT(struct report_process, cpu_user_ms, MIRE_NAME_CPU_USER_MS)},
        {FACT(struct report_process, cpu_system_ms, MIRE_NAME_CPU_SYSTEM_MS)},
        {FACT(struct report_process, rss_bytes, MIRE_NAME_RSS_BYTES)},
    };
    struct report *report = out;
    return bind_object(bind, &report->process, at, fields, COUNT(fields));
}

static enum bind_outcome read_build_id(struct bind *bind, void *out, uint32_t at)
{
    struct report_image *image = out;
    size_t len = 0;
    enum bind_outcome outcome =
        mire_read_hex(image->id, &len, bind, at, MIRE_WIRE_BUILD_ID_MIN, MIRE_WIRE_BUILD_ID_MAX);
    image->id_len = (uint8_t)len;
    return outcome;
}

static enum bind_outcome read_tie(struct bind *bind, void *out, uint32_t at)
{
    struct report_image *image = out;
    enum json_kind kind = json_kind(bind->json, at);
    if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
        return bind_wrong(bind, "must be true or false");
    image->tie = kind == MIRE_JSON_TRUE ? MIRE_TIE_SAME : MIRE_TIE_OTHER;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_script_of(struct bind *bind, void *out, uint32_t at)
{
    struct report_image *image = out;
    enum bind_outcome outcome = bind_text(&image->script, bind, at, MIRE_WIRE_TEXT_MAX);
    return !outcome && !image->script[0] ? bind_wrong(bind, "must not be empty") : outcome;
}

static enum bind_outcome read_images(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(TEXT(struct report_image, name, MIRE_NAME_NAME))},
        {OTHER(MIRE_NAME_ID, read_build_id)},
        {TEXT(struct report_image, arch, MIRE_NAME_ARCH)},
        {REQUIRED(WHOLE(struct report_image, load, MIRE_NAME_LOAD, MIRE_BIND_U64, 0, UINT64_MAX))},
        {WHOLE(struct report_image, base, MIRE_NAME_BASE, MIRE_BIND_U64, 0, UINT64_MAX)},
        {FACT(struct report_image, size, MIRE_NAME_SIZE)},
        {OTHER(MIRE_NAME_OWN, read_tie)},
        {FLAG(struct report_image, from_start, MIRE_NAME_FROM_START)},
        {FLAG(struct report_image, java, MIRE_NAME_JAVA)},
        {OTHER(MIRE_NAME_SCRIPT, read_script_of)},
    };
    struct report *report = out;
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_WIRE_IMAGES_MAX);
    if (outcome)
        return outcome;
    size_t count = json_size(bind->json, at);
    struct report_image *images = arena_array(bind->arena, count, sizeof *images);
    if (!images)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count; i++, element = json_next(bind->json, element)) {
        images[i].arch = images[i].script = "";
        bind_enter(bind, NULL, i);
        outcome = bind_object(bind, &images[i], element, fields, COUNT(fields));
        if (outcome)
            return outcome;
        bind_leave(bind);
    }
    report->images = images;
    report->image_count = count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_cost(struct bind *bind, void *out, uint32_t at)
{
    return facts_read(bind, &((struct report *)out)->cost, at, &facts_cost);
}

static enum bind_outcome read_exit(struct bind *bind, void *out, uint32_t at)
{
    return exit_read(bind, &((struct report *)out)->exit, at);
}

enum bind_outcome mire_read_buckets(struct bind *bind, void *out, uint32_t at)
{
    struct turn_columns {
        struct bind_column from_ms, count;
    } c = {0};
    static const struct bind_field fields[] = {
        {REQUIRED(COLUMN(struct turn_columns, from_ms, MIRE_NAME_FROM_MS, MIRE_WIRE_BUCKETS_MAX, 1, UINT32_MAX))},
        {REQUIRED(COLUMN(struct turn_columns, count, MIRE_NAME_COUNT, MIRE_WIRE_BUCKETS_MAX, 0, UINT32_MAX))},
    };
    struct report *report = out;
    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (c.count.count != c.from_ms.count)
        return bind_wrong_at(bind, MIRE_NAME_COUNT, UNEQUAL);
    struct report_bucket *buckets = arena_array(bind->arena, c.count.count, sizeof *buckets);
    if (!buckets)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.count.count; i++) {
        if (i && c.from_ms.values[i] <= c.from_ms.values[i - 1])
            return bind_wrong_element(bind, MIRE_NAME_FROM_MS, i, "must rise");
        buckets[i] = (struct report_bucket){(uint32_t)c.from_ms.values[i], (uint32_t)c.count.values[i]};
    }
    report->buckets = buckets;
    report->bucket_count = c.count.count;
    return MIRE_BIND_OK;
}

/* The members of reports, in the order they are read: an index comes after its table. */
#define IDENTITY                                                                                  \
    {REQUIRED(OTHER(MIRE_NAME_MIRE, read_version))}, {REQUIRED(OTHER(MIRE_NAME_ID, read_id))},    \
        {REQUIRED(OTHER(MIRE_NAME_KIND, read_kind))}, {REQUIRED(OTHER(MIRE_NAME_APP, read_app))}, \
        {REQUIRED(OTHER(MIRE_NAME_DEVICE, read_device))}, {OTHER(MIRE_NAME_SDK, read_sdk)},       \
    {                                                                                             \
        OTHER(MIRE_NAME_SAMPLING, read_sampling)                                                  \
    }
#define STACKS                                                                                              \
    {REQUIRED(OTHER(MIRE_NAME_PROCESS, read_process))}, {OTHER(MIRE_NAME_CONTEXT, mire_read_context)},      \
        {REQUIRED(OTHER(MIRE_NAME_IMAGES, read_images))}, {OTHER(MIRE_NAME_JAVA, mire_read_java)},          \
        {OTHER(MIRE_NAME_SCRIPT, mire_read_script)}, {REQUIRED(OTHER(MIRE_NAME_FRAMES, mire_read_frames))}, \
        {REQUIRED(OTHER(MIRE_NAME_NODES, mire_read_nodes))},                                                \
    {                                                                                                       \
        OTHER(MIRE_NAME_THREADS, mire_read_threads)                                                         \
    }
#define REST                                                                               \
    {OTHER(MIRE_NAME_EXIT, read_exit)}, {OTHER(MIRE_NAME_COST, read_cost)},                \
        {OTHER(MIRE_NAME_TURNS, mire_read_buckets)}, {OTHER(MIRE_NAME_DROPS, read_drops)}, \
    {                                                                                      \
        OTHER(MIRE_NAME_NOTES, read_notes)                                                 \
    }

static const struct bind_field event_fields[] = {
    IDENTITY,
    STACKS,
    {REQUIRED(OTHER(MIRE_NAME_EVENT, mire_read_event))},
    REST,
    {OTHER(MIRE_NAME_TRACE, mire_read_trace)},
};
static const struct bind_field memory_fields[] = {
    IDENTITY,
    STACKS,
    {REQUIRED(OTHER(MIRE_NAME_MEMORY, mire_read_memory))},
    REST,
};
static const struct bind_field session_fields[] = {
    IDENTITY,
    {OTHER(MIRE_NAME_PROCESS, read_process)},
    {REQUIRED(OTHER(MIRE_NAME_SESSION, mire_read_session))},
    {OTHER(MIRE_NAME_DROPS, read_drops)},
};

/* A new kind is a row here, and one in pipeline/kinds.c. */
static const struct mire_kind {
    const char *name;
    enum report_kind kind;
    const struct bind_field *fields;
    size_t count;
} kinds[] = {
    {MIRE_NAME_EVENT, MIRE_REPORT_EVENT, event_fields, COUNT(event_fields)},
    {MIRE_NAME_MEMORY, MIRE_REPORT_MEMORY, memory_fields, COUNT(memory_fields)}, /* a baseline's section says so */
    {MIRE_NAME_SESSION, MIRE_REPORT_SESSION, session_fields, COUNT(session_fields)},
};

/* The row of the kind named at `at`; NULL if it is none. */
static const struct mire_kind *find_kind(const struct json *json, uint32_t at)
{
    for (size_t i = 0; json_kind(json, at) == MIRE_JSON_STRING && i < COUNT(kinds); i++)
        if (json_is(json, at, kinds[i].name))
            return &kinds[i];
    return NULL;
}

enum bind_outcome mire_read(struct report *out, struct bind *bind)
{
    bool is_object = json_kind(bind->json, 0) == MIRE_JSON_OBJECT;
    uint32_t at = is_object ? json_member(bind->json, 0, MIRE_NAME_KIND) : 0;
    const struct mire_kind *kind = at ? find_kind(bind->json, at) : NULL;

    if (!kind)
        kind = &kinds[0]; /* its table says what is wrong */
    *out = (struct report){
        .kind = kind->kind,
        .app = {.name = "", .version = "", .build = "", .channel = "public"},
        .device = {.os = "", .os_version = "", .model = "", .class_name = "", .arch = ""},
        .sdk_name = "",
        .sdk_version = "",
        .process = {.name = "", .path = ""},
        .context = {.state = "", .scene = "", .user = ""},
        .exit = {.verdict = ""},
        .event = {.trigger = "busy", .name = "", .message = "", .guess = "", .thread = {.name = ""}},
        .memory = {.trigger = "", .name = ""},
    };
    return bind_object(bind, out, 0, kind->fields, kind->count);
}
