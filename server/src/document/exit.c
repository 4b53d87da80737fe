/*
 * exit.c - see exit.h.
 */
#include "document/exit.h"
#include "document/fields.h"

#define WORD_MAX 4096 /* characters; what any text of a report may have */

static enum bind_outcome read_words(struct exit_words *out, struct bind *bind, uint32_t at)
{
    const char **words = NULL;
    size_t count = 0;
    enum bind_outcome outcome = bind_texts(&words, &count, bind, at, MIRE_EXIT_WORDS_MAX, WORD_MAX);
    if (!outcome)
        *out = (struct exit_words){count, words};
    return outcome;
}

static enum bind_outcome read_for(struct bind *bind, void *out, uint32_t at)
{
    return read_words(&((struct report_exit *)out)->speaks_for, bind, at);
}

static enum bind_outcome read_against(struct bind *bind, void *out, uint32_t at)
{
    return read_words(&((struct report_exit *)out)->against, bind, at);
}

static enum bind_outcome read_excluded(struct bind *bind, void *out, uint32_t at)
{
    return read_words(&((struct report_exit *)out)->excluded, bind, at);
}

static enum bind_outcome read_foreground(struct bind *bind, void *out, uint32_t at)
{
    struct report_exit *exit = out;
    enum json_kind kind = json_kind(bind->json, at);
    if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
        return bind_wrong(bind, "must be true or false");
    exit->foreground = kind == MIRE_JSON_TRUE;
    exit->foreground_known = true;
    return MIRE_BIND_OK;
}

static void write_words(struct json_writer *w, const char *key, const struct exit_words *words)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < words->count; i++)
        json_write_text(w, NULL, words->words[i]);
    json_write_close(w, ']');
}

static void write_for(struct json_writer *w, const char *name, const void *in)
{
    write_words(w, name, &((const struct report_exit *)in)->speaks_for);
}

static void write_against(struct json_writer *w, const char *name, const void *in)
{
    write_words(w, name, &((const struct report_exit *)in)->against);
}

static void write_excluded(struct json_writer *w, const char *name, const void *in)
{
    write_words(w, name, &((const struct report_exit *)in)->excluded);
}

static void write_foreground(struct json_writer *w, const char *name, const void *in)
{
    const struct report_exit *exit = in;
    if (exit->foreground_known)
        json_write_bool(w, name, exit->foreground);
}

/* clang-format off */
#define KNOWN(member, most) FACT(struct report_exit, member, #member, most)
#define OTHER(key, reader, writer) {.name = key, .want = MIRE_BIND_OTHER, .read = reader, .write = writer}

static const struct bind_field fields[] = {
    {.name = "verdict", .want = MIRE_BIND_TEXT, .offset = offsetof(struct report_exit, verdict), .max = WORD_MAX, .required = true},
    {.name = "confidence_ppm", .want = MIRE_BIND_U32, .offset = offsetof(struct report_exit, confidence_ppm), .max = 1000000, .required = true},
    OTHER("for", read_for, write_for),
    OTHER("against", read_against, write_against),
    OTHER("excluded", read_excluded, write_excluded),
    KNOWN(signal, UINT32_MAX),
    {.name = "code", .want = MIRE_BIND_FACT, .offset = offsetof(struct report_exit, code), .min = INT32_MIN, .max = INT32_MAX},
    KNOWN(address, UINT64_MAX),
    KNOWN(depth, UINT32_MAX),
    OTHER("foreground", read_foreground, write_foreground),
    KNOWN(foreground_ms, UINT64_MAX),
    KNOWN(stuck_ms, UINT64_MAX),
    KNOWN(seen_wall_ms, UINT64_MAX),
    KNOWN(footprint_bytes, UINT64_MAX),
    KNOWN(footprint_peak_bytes, UINT64_MAX),
    KNOWN(limit_used_bytes, UINT64_MAX),
    KNOWN(limit_bytes, UINT64_MAX),
    KNOWN(available_bytes, UINT64_MAX),
    KNOWN(pressure_ppm, 1000000),
    KNOWN(oom_kills, UINT32_MAX),
    KNOWN(thread_count, UINT32_MAX),
    KNOWN(fd_count, UINT32_MAX),
    {.name = "debugger", .want = MIRE_BIND_BOOL, .offset = offsetof(struct report_exit, debugger)},
};
/* clang-format on */

static const struct bind_table table = BIND_TABLE(fields);

enum bind_outcome exit_read(struct bind *bind, struct report_exit *out, uint32_t at)
{
    out->known = true;
    return bind_object(bind, out, at, table.fields, table.count);
}

void exit_write(struct json_writer *w, const char *key, const struct report_exit *exit)
{
    if (exit->known)
        bind_write_object(w, key, exit, &table, MIRE_BIND_LEAVE_OUT);
}
