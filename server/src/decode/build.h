/*
 * build.h - a report put together piece by piece, for formats of other programs. Inside decode/ only.
 *
 *     texts    equal ones are one pointer; always UTF-8 without a NUL, at most MIRE_WIRE_TEXT_MAX bytes
 *     images, names, frames, locations of Java   equal ones are one row
 *     nodes    equal (parent, frame) are one node; 0 is the root
 *     samples, threads, categories, memory stacks, notes   rows of the report
 *
 * Everything lies in the arena. All limits of the wire (wire/limits.h) hold: rows beyond them are left out, counted,
 * and noted by build_end. A lack of memory is remembered and returned by build_end; until then every call is harmless.
 * Tables are open addressing under a key of their own: names in foreign reports are anybody's. Thread: one.
 */
#ifndef MIRE_DECODE_BUILD_H
#define MIRE_DECODE_BUILD_H

#include "base/arena.h"
#include "base/id.h"
#include "json/json.h"
#include "model/report.h"

#define MIRE_BUILD_NONE UINT32_MAX

struct build_table { /* row numbers by hash; insert only */
    uint32_t *rows;  /* row + 1; 0 is free */
    uint32_t *hashes;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

struct build_list {
    void *rows;
    size_t count, room;
    size_t lost; /* rows beyond the limit */
};

struct build {
    struct arena *arena;
    struct report *report; /* fill in everything but the lists below */
    struct report own;     /* that, if the caller has none */
    uint8_t key[MIRE_SHORT_KEY];
    bool failed;     /* no memory */
    size_t all_lost; /* of all lists, those of callers included */
    int32_t java_image;
    struct build_table text_table, image_table, name_table, script_table, java_table, frame_table, node_table,
        category_table;
    struct build_list texts, images, names, scripts, java, frames, nodes, samples, threads, categories, stacks, notes,
        tags, crumbs;
};

/* Begin. `report` is filled with what an empty report has, and whole after build_end; NULL: build->own. */
void build_begin(struct build *build, struct report *report, struct arena *arena);

/* Room for one more row of any list, not cleared; NULL without memory, or if there are `most`. */
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

/* Hash of two numbers. Texts are interned, so a pointer is a text's number. */
uint32_t build_mix(const struct build *build, uint64_t a, uint64_t b);

/* A copy as valid UTF-8, cut at the limit; never NULL. */
const char *build_text(struct build *build, const char *bytes, size_t len);

/* The string at a place of a document; "" if the place is 0 or holds no string. */
const char *build_string(struct build *build, const struct json *json, uint32_t at);

/* printf into a text; "" if memory ran out. */
__attribute__((format(printf, 2, 3))) const char *build_printf(struct build *build, const char *format, ...);

/* The image; a text of it that is NULL becomes "", others are borrowed. Its number, or -1 beyond the limit. */
int32_t build_image(struct build *build, const struct report_image *image);

/* How the sender calls a place, as report_frame.told; NULL if the function is "", or without memory. */
const struct report_names *build_name(struct build *build, const char *function, const char *file, uint32_t line);

/*
 * The row of a place in a script, from 1, as the offset of a frame (less 1) in an image of a script; 0 beyond the
 * limit.
 */
uint32_t build_script(struct build *build, const char *function, const char *file, uint32_t line);

/* The row of a place of Java, as the offset of a frame in an image of Java; MIRE_BUILD_NONE beyond the limit. */
uint32_t build_java_row(struct build *build, const struct report_java *place);

/*
 * Frames. Image -1: the address lies in none. `names` is build_name's; build_named takes any, of build_text's texts.
 * MIRE_BUILD_NONE beyond a limit. build_java has an image of its own.
 */
uint32_t build_frame(struct build *build, const struct report_frame *frame);
uint32_t build_address(struct build *build, int32_t image, uint64_t offset, enum frame_found found);
uint32_t build_named(struct build *build, int32_t image, uint64_t offset, enum frame_found found,
                     const struct report_names *named);
uint32_t build_java(struct build *build, const struct report_java *place);

/* The node of a frame below `parent`; `parent` itself if the frame or the node is beyond a limit. */
uint32_t build_node(struct build *build, uint32_t parent, uint32_t frame);

/* A stack from its frames, innermost first. 0 if it has none. */
uint32_t build_stack(struct build *build, const uint32_t *frames, size_t count);

/* Samples are put in order of at_ms by build_end. */
void build_sample(struct build *build, const struct report_sample *sample);
void build_thread(struct build *build, const struct report_thread *thread);

/*
 * A category of memory; its number, MIRE_BUILD_NONE beyond the limit. The same name and kind are one: amounts are
 * added.
 */
uint32_t build_category(struct build *build, const struct memory_category *category);

/* A stack that holds memory; of no category it is left out. */
void build_memory_stack(struct build *build, const struct memory_stack *stack);

/* A sentence on what the report does not have, or what speaks against it. The same one once. */
__attribute__((format(printf, 2, 3))) void build_note(struct build *build, const char *format, ...);

/* Give the report its lists and its context. Returns whether memory sufficed. */
bool build_end(struct build *build);

#endif
