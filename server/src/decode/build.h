/*
 * build.h - a report put together piece by piece: for formats that are read in one pass and tell no tables of their own.
 *
 *     texts    equal ones are one pointer; always UTF-8 without a NUL, at most MIRE_WIRE_TEXT_MAX bytes
 *     frames   equal ones are one row, whatever made them: an address, a name, a method of Java
 *     nodes    equal (parent, frame) are one node
 *
 * All limits of the wire (wire/limits.h) hold: what is beyond one is left out and counted in `left_out`. A lack of memory
 * is remembered and told by build_finish; until then every call is harmless. Inside decode/ only. Thread: one.
 */
#ifndef MIRE_DECODE_BUILD_H
#define MIRE_DECODE_BUILD_H

#include "base/arena.h"
#include "base/id.h"
#include "model/report.h"

struct build_table { /* row numbers by hash; insert only */
    uint32_t *rows;  /* row + 1; 0 is free */
    uint32_t *hashes;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

struct build_list {
    void *rows;
    size_t count, room;
};

struct build {
    struct arena *arena;
    struct report *report;
    uint8_t key[MIRE_SHORT_KEY];
    bool failed;     /* no memory */
    size_t left_out; /* rows beyond a limit */
    int32_t java_image;
    struct build_table text_table, java_table, frame_table, node_table;
    struct build_list texts, images, java, frames, nodes, threads, samples, categories, stacks, notes;
};

/* Begin. `report` is filled with what an empty report has; it is whole after build_finish. Both are owned by the caller. */
void build_begin(struct build *build, struct report *report, struct arena *arena);

/* Room for one more row of a list of the caller's own; NULL without memory, or if there are `most`. */
void *build_push(struct build *build, struct build_list *list, size_t size, size_t most);

/*
 * Tables of the caller's own: look at every row of a hash, then insert.
 *
 *     for (struct build_seek seek = {.hash = hash}; build_seek(&row, &table, &seek);)
 *         if (it is the row) return row;
 */
struct build_seek {
    uint32_t hash;
    bool begun;
    size_t at;
};
bool build_seek(size_t *row_out, const struct build_table *table, struct build_seek *seek);
void build_insert(struct build *build, struct build_table *table, uint32_t hash, size_t row);
uint32_t build_hash(const struct build *build, const void *bytes, size_t len);

/* A copy with what is not UTF-8 mended, cut at the limit; never NULL. */
const char *build_text(struct build *build, const char *bytes, size_t len);

/* A new image; a text of it that is NULL becomes "". Its number, or -1 beyond the limit. */
int32_t build_image(struct build *build, const struct report_image *image);

/*
 * Frames. Image -1: the address lies in none. Texts are build_text's. A name that is empty is none. UINT32_MAX beyond a
 * limit.
 */
uint32_t build_address(struct build *build, int32_t image, uint64_t offset, enum frame_found found);
uint32_t build_named(struct build *build, int32_t image, uint64_t offset, enum frame_found found,
                     const struct report_told *told);
uint32_t build_java(struct build *build, const struct report_java *place);

/* The node of a frame below another node; that one itself where the frame, or the node, is beyond a limit. */
uint32_t build_node(struct build *build, uint32_t parent, uint32_t frame);

/* A stack from its frames, innermost first. 0 if it has none. */
uint32_t build_stack(struct build *build, const uint32_t *frames, size_t count);

void build_thread(struct build *build, const struct report_thread *thread);
void build_sample(struct build *build, const struct report_sample *sample);

/* Its number, or UINT32_MAX beyond the limit. */
uint32_t build_category(struct build *build, const struct memory_category *category);
void build_memory_stack(struct build *build, const struct memory_stack *stack);

/* A sentence on what the report does not have, or what speaks against it. */
__attribute__((format(printf, 2, 3))) void build_note(struct build *build, const char *format, ...);

/*
 * Give the report its tables. An id is made of the bytes it was read from: the same bytes have the same id.
 *
 *   wall_ms  the instant the id tells; 0 if nobody knows
 *
 * Returns whether memory sufficed.
 */
bool build_finish(struct build *build, uint64_t wall_ms, const void *bytes, size_t len);

#endif
