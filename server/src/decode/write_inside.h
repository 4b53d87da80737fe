/*
 * write_inside.h - helpers of the files that write a report. Inside decode/ only.
 */
#ifndef MIRE_DECODE_WRITE_INSIDE_H
#define MIRE_DECODE_WRITE_INSIDE_H

#include "decode/write.h"

#include "json/write.h"
#include "wire/names.h"

#include <stdbool.h>

static inline void put_text(struct json_writer *w, const char *key, const char *text)
{
    if (text && text[0])
        json_write_text(w, key, text);
}

static inline void put_fact(struct json_writer *w, const char *key, struct fact fact)
{
    if (fact.known)
        json_write_u64(w, key, fact.value);
}

/* A number, unless it is 0. */
static inline void put_some(struct json_writer *w, const char *key, uint64_t value)
{
    if (value)
        json_write_u64(w, key, value);
}

/* A column of one member of rows. */
#define COLUMN(w, key, type, rows, count, member) \
    do {                                          \
        json_write_open((w), (key), '[');         \
        for (size_t at = 0; at < (count); at++)   \
            type((w), NULL, (rows)[at].member);   \
        json_write_close((w), ']');               \
    } while (0)

/* An object of numbers, unless there are none. */
static inline void write_numbers(struct json_writer *w, const char *key, const struct report_named_number *rows,
                                 size_t count)
{
    if (!count)
        return;
    json_write_open(w, key, '{');
    for (size_t i = 0; i < count; i++)
        json_write_u64(w, rows[i].name, rows[i].value);
    json_write_close(w, '}');
}

/* The section "memory". */
void report_write_memory(struct json_writer *w, const struct memory *memory);

/* The section "session". */
void report_write_session(struct json_writer *w, const struct report_session *session);

/*
 * The rows of "script" that are written: the report's, then one for each frame whose name has no row there. A name that
 * was read from a row, or put into one, shares the row's texts, so the addresses of the texts find the row.
 */
struct write_names {
    int64_t *row_of; /* per frame; -1: the frame has no name */
    uint32_t *table; /* row + 1, by the addresses of its texts */
    size_t room, count;
    const struct report_frame **extra; /* frames whose names are rows of their own */
    size_t extra_count;
};

/* False: no memory. The caller frees `names` in either case. */
bool write_names_find(struct write_names *names, const struct report *report);
void write_names_free(struct write_names *names);

/* The section "script". */
void write_scripts(struct json_writer *w, const struct report *report, const struct write_names *names);

/* The section "java". */
void write_java(struct json_writer *w, const struct report *report);

/* Columns of the frames: the row of "script" with each name, and whether the name is complete. */
void write_names_of_frames(struct json_writer *w, const struct report *report, const struct write_names *names);

#endif
