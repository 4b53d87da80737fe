/*
 * read.c - reads the document's fields into struct rollout.
 */
#include "rollout/rollout.h"

#include "rollout/reader.h"
#include "wire/names.h"

#include <string.h>

#define NAME_BYTES MIRE_ROLLOUT_NAME_BYTES

void mire__rollout_init(struct rollout *rollout)
{
    memset(rollout, 0, sizeof(*rollout));
    rollout->fetch_s = MIRE_ROLLOUT_FETCH_S;
}

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

static void add_number(struct rollout *out, const char *name, uint64_t value)
{
    struct rollout_number *number = &out->numbers[out->number_count];

    if (out->number_count == MIRE_ROLLOUT_NUMBERS_MAX)
        return;
    mire__text_copy(number->name, sizeof(number->name), name);
    number->value = (uint32_t)within(value, 0, UINT32_MAX);
    out->number_count++;
}

static enum mire__rollout_mode mode_of(const char *text)
{
    static const char *const names[] = {
        [MIRE_ROLLOUT_OFF] = "off", [MIRE_ROLLOUT_SAMPLED] = "sampled", [MIRE_ROLLOUT_EXACT] = "exact"};

    for (size_t i = MIRE_ROLLOUT_OFF; i < MIRE_COUNT(names); i++)
        if (strcmp(names[i], text) == 0)
            return (enum mire__rollout_mode)i;
    return MIRE_ROLLOUT_AS_SET;
}

static void read_memory(struct rollout *out, const char *name, struct reader *reader)
{
    char text[NAME_BYTES];
    char kind = mire__reader_peek(reader);

    if (strcmp(name, MIRE_NAME_MODE) == 0 && kind == '"') {
        mire__reader_text(reader, text, sizeof(text));
        out->memory.mode = mode_of(text);
    } else if (strcmp(name, MIRE_NAME_INTERVAL_BYTES) == 0) {
        out->memory.interval_bytes =
            within(mire__reader_number(reader), MIRE_MEMORY_INTERVAL_MIN, MIRE_MEMORY_INTERVAL_MAX);
    } else if (strcmp(name, MIRE_NAME_BUDGET_BYTES) == 0) {
        out->memory.budget_bytes = within(mire__reader_number(reader), MIRE_MEMORY_BUDGET_MIN, MIRE_MEMORY_BUDGET_MAX);
    } else {
        mire__reader_skip(reader);
    }
}

static void read_parameters(struct rollout *out, enum mire__plugin plugin, struct reader *reader)
{
    char name[NAME_BYTES];

    if (!mire__reader_open(reader))
        return;
    while (mire__reader_member(reader, name, sizeof(name))) {
        if (plugin == MIRE_PLUGIN_MEMORY)
            read_memory(out, name, reader);
        else if (plugin == MIRE_PLUGIN_HANG && mire__reader_peek(reader) == '0')
            add_number(out, name, mire__reader_number(reader));
        else
            mire__reader_skip(reader);
    }
}

static void read_plugin(struct rollout *out, enum mire__plugin plugin, struct reader *reader)
{
    struct rollout_plugin *into = &out->plugins[plugin];
    char name[NAME_BYTES];
    bool has_share = false;

    if (!mire__reader_open(reader))
        return;
    while (mire__reader_member(reader, name, sizeof(name))) {
        if (strcmp(name, MIRE_NAME_PPM) == 0) {
            into->ppm = (uint32_t)within(mire__reader_number(reader), 0, MIRE_WIRE_PPM_MAX);
            has_share = true;
        } else if (strcmp(name, MIRE_NAME_SALT) == 0) {
            mire__reader_text(reader, into->salt, sizeof(into->salt));
        } else if (strcmp(name, MIRE_NAME_PARAMETERS) == 0) {
            read_parameters(out, plugin, reader);
        } else {
            mire__reader_skip(reader);
        }
    }
    into->known = has_share;
    reader->failed |= !has_share;
}

static void read_plugins(struct rollout *out, struct reader *reader)
{
    char name[NAME_BYTES];

    if (!mire__reader_open(reader))
        return;
    while (mire__reader_member(reader, name, sizeof(name))) {
        int plugin = 0;
        while (plugin < MIRE_PLUGINS && strcmp(mire__plugin_name(plugin), name) != 0)
            plugin++;
        if (plugin < MIRE_PLUGINS)
            read_plugin(out, plugin, reader);
        else
            mire__reader_skip(reader);
    }
}

/* A list that is cut would let a part through. */
static void read_leave_out(struct rollout *out, struct reader *reader)
{
    char text[MIRE_LEAVE_OUT_BYTES + 1];

    mire__reader_text(reader, text, sizeof(text));
    reader->failed |= strlen(text) > MIRE_WIRE_LEAVE_OUT_MAX;
    if (!reader->failed)
        mire__text_copy(out->leave_out, sizeof(out->leave_out), text);
}

/* Returns the format's version. */
static uint64_t read_document(struct rollout *out, struct reader *reader)
{
    char name[NAME_BYTES];
    uint64_t format = 0;

    if (!mire__reader_open(reader))
        return 0;
    while (mire__reader_member(reader, name, sizeof(name))) {
        if (strcmp(name, MIRE_NAME_MIRE_ROLLOUT) == 0)
            format = mire__reader_number(reader);
        else if (strcmp(name, MIRE_NAME_VERSION) == 0)
            out->version = mire__reader_number(reader);
        else if (strcmp(name, MIRE_NAME_FETCH_S) == 0)
            out->fetch_s =
                (uint32_t)within(mire__reader_number(reader), MIRE_ROLLOUT_FETCH_MIN_S, MIRE_ROLLOUT_FETCH_MAX_S);
        else if (strcmp(name, MIRE_NAME_KILL) == 0)
            out->kill = mire__reader_bool(reader);
        else if (strcmp(name, MIRE_NAME_PLUGINS) == 0)
            read_plugins(out, reader);
        else if (strcmp(name, MIRE_NAME_LEAVE_OUT) == 0)
            read_leave_out(out, reader);
        else
            mire__reader_skip(reader);
    }
    return format;
}

enum mire_err mire__rollout_read(struct rollout *out, const char *text, size_t size)
{
    struct reader reader;

    mire__rollout_init(out);
    mire__reader_init(&reader, text, size);
    if (size <= MIRE_WIRE_ROLLOUT_MAX && read_document(out, &reader) == MIRE_WIRE_ROLLOUT_VERSION &&
        mire__reader_end(&reader))
        return MIRE_OK;
    mire__rollout_init(out);
    return MIRE_E_FORMAT;
}
