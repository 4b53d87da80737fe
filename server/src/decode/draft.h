/*
 * draft.h - a report of a foreign format, piece by piece, into the model. Inside decode/ only.
 *
 *     image    draft_image()   the same name, id and load address are one image
 *     name     draft_name()    how the sender calls an address; the same one once
 *     frame    draft_frame()   image + offset + name
 *     stack    draft_stack()   frames, leaf first, into the one trie; returns the innermost node
 *     sample, thread, category, held   rows of the report
 *
 * Everything lies in the arena. Running out of memory sticks (`failed`): later calls do nothing, and draft_end() says
 * so. Beyond the limits of the wire (wire/limits.h) things are left out and counted; draft_end() notes the counts.
 * Texts are copied, made valid UTF-8, and cut to the wire's length.
 */
#ifndef MIRE_DECODE_DRAFT_H
#define MIRE_DECODE_DRAFT_H

#include "base/arena.h"
#include "json/json.h"
#include "model/report.h"

#define MIRE_DRAFT_NONE UINT32_MAX

enum draft_loss {
    MIRE_DRAFT_IMAGES,
    MIRE_DRAFT_FRAMES,
    MIRE_DRAFT_NODES,
    MIRE_DRAFT_NAMES,
    MIRE_DRAFT_SAMPLES,
    MIRE_DRAFT_THREADS,
    MIRE_DRAFT_CATEGORIES,
    MIRE_DRAFT_STACKS,
    MIRE_DRAFT_TAGS_LOST,
    MIRE_DRAFT_CRUMBS_LOST,
    MIRE_DRAFT_LOSSES
};

struct draft_rows { /* of one kind, growing in the arena */
    void *rows;
    uint32_t count, room;
};

struct draft_frame { /* as report_frame, but for the name */
    int32_t image;
    uint8_t found;
    uint64_t offset;
    uint32_t name; /* as draft_name gives it; 0: none */
};

struct draft {
    struct arena *arena;
    struct report report; /* fill in everything but the lists below */
    struct draft_rows images, frames, nodes, scripts, java, samples, threads, categories, stacks, notes, tags, crumbs;
    uint32_t *table; /* open addressing: what stands where in the lists, by content */
    uint32_t table_room, table_count;
    uint64_t lost[MIRE_DRAFT_LOSSES];
    bool failed;
};

/* An empty report: every text "", event with trigger "busy", node 0 only. */
void draft_begin(struct draft *b, struct arena *arena);

/* Room for one more row, zeroed. NULL: no memory, or there are `most`, which counts as a loss. */
void *draft_row(struct draft *b, struct draft_rows *rows, size_t size, uint32_t most, enum draft_loss loss);

/* A text of `len` bytes of any encoding, in the arena; "" if memory ran out. */
const char *draft_text(struct draft *b, const char *bytes, size_t len);

/* The string at a place of a document; "" if the place is 0 or holds no string. */
const char *draft_string(struct draft *b, const struct json *json, uint32_t at);

/* printf into the arena; "" if memory ran out. */
__attribute__((format(printf, 2, 3))) const char *draft_printf(struct draft *b, const char *format, ...);

/* The image; name, id and arch are borrowed. -1 where there is no room for it. */
int32_t draft_image(struct draft *b, const struct report_image *image);

/* Row that tells how the sender calls a place, as draft_frame.name; 0 where there is no room, or function is "". */
uint32_t draft_name(struct draft *b, const char *function, const char *file, uint32_t line);

/* The row of a location of Java, as the offset of a frame in an image of Java; MIRE_DRAFT_NONE where there is no room. */
uint32_t draft_java(struct draft *b, const struct report_java *java);

/* The frame. MIRE_DRAFT_NONE where there is no room. */
uint32_t draft_frame(struct draft *b, const struct draft_frame *frame);

/* The node below `parent`; `parent` itself where there is no room, or `frame` is MIRE_DRAFT_NONE. */
uint32_t draft_node(struct draft *b, uint32_t parent, uint32_t frame);

/* The innermost node of a stack of frames, innermost first; 0 of none. */
uint32_t draft_stack(struct draft *b, const uint32_t *frames, size_t count);

/* Rows of the report. Samples are put in order of at_ms by draft_end(). */
void draft_sample(struct draft *b, const struct report_sample *sample);
void draft_thread(struct draft *b, const struct report_thread *thread);

/* A category of memory; its number, MIRE_DRAFT_NONE where there is no room. The same name and kind are one: amounts are
 * added. */
uint32_t draft_category(struct draft *b, const struct memory_category *category);

/* A stack that holds memory; `category` as draft_category() gave it. */
void draft_held(struct draft *b, const struct memory_stack *stack);

/* A line for people: what was not told, what could not be kept. The same line once. */
__attribute__((format(printf, 2, 3))) void draft_note(struct draft *b, const char *format, ...);

/* Puts the lists into b->report. False: out of memory. */
bool draft_end(struct draft *b);

#endif
