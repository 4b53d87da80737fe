/*
 * flame.h - the call tree of many reports: all samples merged by function and weighted by time, or all stacks that
 * allocated memory, weighted by its live part.
 *
 * flame_new -> flame_add, once a report -> flame_view -> columns, breadth first
 *
 *     all 900 ── main 900 ──┬─ draw 500          a view keeps at most `max` rows: the frames with most time stay, a
 *                           ├─ read 300          parent's other children are one row "other" with their time
 *                           └─ other 100
 *
 * In reports with samples of several threads, each thread is a frame below the root, by its name without the number at
 * the end.
 *
 * Pure: no clock, socket or database. Thread: one at a time per tree.
 */
#ifndef MIRE_API_FLAME_FLAME_H
#define MIRE_API_FLAME_FLAME_H

#include <stddef.h>
#include <stdint.h>

#include "model/resolved.h"

/* Frames a tree holds at most. 4 M frames are 200 MB; a real issue has under 100,000. */
#define MIRE_FLAME_FRAMES_MAX 4000000u

struct flame;

/* An empty tree that takes at most `frames_max` frames, root counted; NULL out of memory. Owned by caller: flame_free.
 */
struct flame *flame_new(size_t frames_max);
void flame_free(struct flame *flame);

/* Frames in the tree, the root counted. */
size_t flame_count(const struct flame *flame);

enum { FLAME_FULL = 1 };

/*
 * Merge the samples of one report.
 *
 *   doc     borrowed; its names are copied
 *   weight  events the report stands for
 *
 * Returns 0; FLAME_FULL when the tree might outgrow frames_max: nothing was added; -1 out of memory: a part was added.
 */
int flame_add(struct flame *flame, const struct resolved *doc, double weight);

enum flame_of { FLAME_OF_BYTES, FLAME_OF_OBJECTS };

/*
 * Merge the stacks of the live memory in one report.
 *
 *   category  only those of the category with this name; NULL: of all
 *
 * As flame_add; frames are weighted by bytes that lie in memory, or by objects, instead of time.
 */
int flame_add_memory(struct flame *flame, const struct resolved *doc, enum flame_of of, const char *category,
                     double weight);

/* Multiply the weight of every frame. */
void flame_scale(struct flame *flame, double by);

/* Rows of a view, as columns; names and images are indexes into their tables. */
struct flame_view {
    size_t count;
    uint32_t *name;
    uint32_t *image;
    uint8_t *role; /* enum role */
    int32_t *parent;
    double *self;  /* ms, bytes or objects */
    double *value; /* the same */
    uint64_t *hash;
    const char **names; /* borrowed from the tree */
    const char **images;
    size_t name_count, image_count;
};

enum { FLAME_NO_SUCH_ROOT = 1 };

/*
 * Lay the tree out.
 *
 *   out   owned by caller: flame_view_fini; zeroed unless 0 is returned
 *   max   rows at most, >= 2
 *   root  path hash of the frame to begin with, or NULL for the whole tree
 *
 * Returns 0, FLAME_NO_SUCH_ROOT, or -1 without memory.
 */
int flame_view_init(struct flame_view *out, struct flame *flame, size_t max, const uint64_t *root);
void flame_view_fini(struct flame_view *view);

/* Path hash of a frame whose parent has the path hash `parent` (0 for the root, "all"). */
uint64_t flame_path_hash(uint64_t parent, const char *name, const char *image);

#endif
