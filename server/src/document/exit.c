/*
 * exit.c - see exit.h.
 */
#include "document/exit.h"

#define WORD_MAX     4096 /* characters; what any text of a report may have */
#define COUNT(table) (sizeof(table) / sizeof *(table))
#define FACT(member, most)                                                                                   \
    {                                                                                                        \
        .name = #member, .want = MIRE_BIND_FACT, .offset = offsetof(struct report_exit, member), .max = most \
    }

static enum bind_outcome read_words(struct exit_words *out, struct bind *bind, uint32_t at)
{
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_EXIT_WORDS_MAX);
    if (outcome)
        return outcome;
    size_t count = json_size(bind->json, at);
    const char **words = arena_array(bind->arena, count, sizeof *words);
    if (!words)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count; i++, element = json_next(bind->json, element)) {
        bind_enter(bind, NULL, i);
        outcome = bind_text(&words[i], bind, element, WORD_MAX);
        if (outcome)
            return outcome;
        bind_leave(bind);
    }
    *out = (struct exit_words){count, words};
    return MIRE_BIND_OK;
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

enum bind_outcome exit_read(struct bind *bind, struct report_exit *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {"verdict", MIRE_BIND_TEXT, offsetof(struct report_exit, verdict), true, 0, WORD_MAX, 0, NULL},
        {"confidence_ppm", MIRE_BIND_U32, offsetof(struct report_exit, confidence_ppm), true, 0, 1000000, 0, NULL},
        {.name = "for", .want = MIRE_BIND_OTHER, .read = read_for},
        {.name = "against", .want = MIRE_BIND_OTHER, .read = read_against},
        {.name = "excluded", .want = MIRE_BIND_OTHER, .read = read_excluded},
        FACT(signal, UINT32_MAX),
        {"code", MIRE_BIND_FACT, offsetof(struct report_exit, code), false, INT32_MIN, INT32_MAX, 0, NULL},
        FACT(address, UINT64_MAX),
        FACT(depth, UINT32_MAX),
        {.name = "foreground", .want = MIRE_BIND_OTHER, .read = read_foreground},
        FACT(foreground_ms, UINT64_MAX),
        FACT(stuck_ms, UINT64_MAX),
        FACT(seen_wall_ms, UINT64_MAX),
        FACT(footprint_bytes, UINT64_MAX),
        FACT(footprint_peak_bytes, UINT64_MAX),
        FACT(limit_used_bytes, UINT64_MAX),
        FACT(limit_bytes, UINT64_MAX),
        FACT(available_bytes, UINT64_MAX),
        FACT(pressure_ppm, 1000000),
        FACT(oom_kills, UINT32_MAX),
        FACT(thread_count, UINT32_MAX),
        FACT(fd_count, UINT32_MAX),
        {.name = "debugger", .want = MIRE_BIND_BOOL, .offset = offsetof(struct report_exit, debugger)},
    };
    out->known = true;
    return bind_object(bind, out, at, fields, COUNT(fields));
}

static void write_words(struct json_writer *w, const char *key, const struct exit_words *words)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < words->count; i++)
        json_write_text(w, NULL, words->words[i]);
    json_write_close(w, ']');
}

static void write_fact(struct json_writer *w, const char *key, struct fact fact)
{
    if (fact.known)
        json_write_u64(w, key, fact.value);
}

void exit_write(struct json_writer *w, const char *key, const struct report_exit *exit)
{
    if (!exit->known)
        return;
    json_write_open(w, key, '{');
    json_write_text(w, "verdict", exit->verdict);
    json_write_u64(w, "confidence_ppm", exit->confidence_ppm);
    write_words(w, "for", &exit->speaks_for);
    write_words(w, "against", &exit->against);
    write_words(w, "excluded", &exit->excluded);
    write_fact(w, "signal", exit->signal);
    if (exit->code.known)
        json_write_i64(w, "code", (int64_t)exit->code.value);
    write_fact(w, "address", exit->address);
    write_fact(w, "depth", exit->depth);
    if (exit->foreground_known)
        json_write_bool(w, "foreground", exit->foreground);
    write_fact(w, "foreground_ms", exit->foreground_ms);
    write_fact(w, "stuck_ms", exit->stuck_ms);
    write_fact(w, "seen_wall_ms", exit->seen_wall_ms);
    write_fact(w, "footprint_bytes", exit->footprint_bytes);
    write_fact(w, "footprint_peak_bytes", exit->footprint_peak_bytes);
    write_fact(w, "limit_used_bytes", exit->limit_used_bytes);
    write_fact(w, "limit_bytes", exit->limit_bytes);
    write_fact(w, "available_bytes", exit->available_bytes);
    write_fact(w, "pressure_ppm", exit->pressure_ppm);
    write_fact(w, "oom_kills", exit->oom_kills);
    write_fact(w, "thread_count", exit->thread_count);
    write_fact(w, "fd_count", exit->fd_count);
    json_write_bool(w, "debugger", exit->debugger);
    json_write_close(w, '}');
}
