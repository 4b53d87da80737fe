/*
 * mire.h - the parts of the decoder of Mire's own format. Inside decode/ only.
 */
#ifndef MIRE_DECODE_MIRE_H
#define MIRE_DECODE_MIRE_H

#include "decode/formats.h"
#include "wire/limits.h"
#include "wire/names.h"

#define MAP_MAX 256 /* members of sampling and drops: plugins and reasons are a handful */

#define UNEQUAL "has not as many elements as its neighbours"

/* Rows of a table of fields. */
#define TEXT(type, member, key) \
    .name = key, .want = MIRE_BIND_TEXT, .offset = offsetof(type, member), .max = MIRE_WIRE_TEXT_MAX
#define WHOLE(type, member, key, how, least, most) \
    .name = key, .want = how, .offset = offsetof(type, member), .min = least, .max = most
#define COUNTED(type, member, key) WHOLE(type, member, key, MIRE_BIND_FACT, 0, UINT32_MAX)
#define FACT(type, member, key)    WHOLE(type, member, key, MIRE_BIND_FACT, 0, UINT64_MAX)
#define COLUMN(type, member, key, items, least, most) \
    WHOLE(type, member, key, MIRE_BIND_COLUMN, least, most), .items_max = items
#define FLAG(type, member, key) .name = key, .want = MIRE_BIND_BOOL, .offset = offsetof(type, member)
#define OTHER(key, function)    .name = key, .want = MIRE_BIND_OTHER, .read = function
#define REQUIRED(...)           __VA_ARGS__, .required = true
#define COUNT(table)            (sizeof(table) / sizeof *(table))

/* Milliseconds beyond 32 bits (49 days) are cut to that. */
static inline uint32_t clip(uint64_t ms)
{
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

/* Texts that columns of a section name by their numbers. */
struct mire_texts {
    const char **all;
    size_t count;
};

/* The member "texts" of a section that begins with struct mire_texts. */
enum bind_outcome mire_read_texts(struct bind *bind, void *section, uint32_t at);

/* The text that a row of a column names; "" where it names none. `name` is the column's. */
enum bind_outcome mire_text_of(const char **out, struct bind *bind, const struct mire_texts *texts,
                               const struct bind_column *column, const char *name, size_t row);

/* The section "context". */
enum bind_outcome mire_read_context(struct bind *bind, void *report, uint32_t at);

/* The section "script". */
enum bind_outcome mire_read_script(struct bind *bind, void *report, uint32_t at);

/* The section "java". */
enum bind_outcome mire_read_java(struct bind *bind, void *report, uint32_t at);

/* The sections "frames" (images, java and script have been read) and "nodes" (frames have). */
enum bind_outcome mire_read_frames(struct bind *bind, void *report, uint32_t at);
enum bind_outcome mire_read_nodes(struct bind *bind, void *report, uint32_t at);

/* The section "threads"; images, frames and nodes have been read. */
enum bind_outcome mire_read_threads(struct bind *bind, void *report, uint32_t at);

/* The section "event"; these and the threads have been read. */
enum bind_outcome mire_read_event(struct bind *bind, void *report, uint32_t at);

/* Bytes in hex digits; `out` has room for `most` of them. */
enum bind_outcome mire_read_hex(uint8_t *out, size_t *len_out, struct bind *bind, uint32_t at, size_t least,
                                size_t most);

/* The member "trace"; everything else has been read. */
enum bind_outcome mire_read_trace(struct bind *bind, void *report, uint32_t at);

/* The section "memory"; images, frames and nodes have been read. */
enum bind_outcome mire_read_memory(struct bind *bind, void *report, uint32_t at);

/* The section "session" of a session record. */
enum bind_outcome mire_read_session(struct bind *bind, void *report, uint32_t at);

/* Turns by their length into the report's buckets. */
enum bind_outcome mire_read_buckets(struct bind *bind, void *report, uint32_t at);

/* Whether it is an object of at most MAP_MAX members, whose names the format leaves open; wrong otherwise. */
enum bind_outcome mire_is_map(struct bind *bind, uint32_t at);

/* Call `row` for every member of such an object. A name given twice is wrong. */
enum bind_outcome mire_read_map(size_t *count_out, struct bind *bind, uint32_t at, void *rows,
                                enum bind_outcome (*row)(struct bind *bind, void *rows, size_t i, const char *name,
                                                         uint32_t value));

/* Such an object of whole numbers, as rows. */
enum bind_outcome mire_read_numbers(const struct report_named_number **out, size_t *count_out, struct bind *bind,
                                    uint32_t at);

#endif
