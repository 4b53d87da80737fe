/*
 * heap.h - the objects of a heap dump and their references. Inside hprof/ only.
 *
 *     nodes   0 the root; then the objects in the order of the dump, classes among them
 *     edges   of node n: to[start[n]] .. to[start[n + 1] - 1]
 */
#ifndef MIRE_HPROF_HEAP_H
#define MIRE_HPROF_HEAP_H

#include "hprof/spill.h"
#include "hprof/walk.h"

struct heap_class {
    uint64_t id, super, name_id;
    char *name;           /* "com.example.Work", "int[]"; owned */
    uint32_t dump_bytes;  /* the dump's "instance size" */
    uint32_t field_count; /* its own fields, without those of its superclasses */
    uint8_t *types;       /* of these; owned */
    uint64_t *names;      /* of these; owned */
    uint32_t static_bytes;
    uint32_t static_count; /* references in static fields, with class loader and the like */
    uint32_t *references;  /* places of references in an object's bytes, those above included; owned */
    uint32_t reference_count;
    uint32_t own_bytes; /* of an object, header and padding included */
};

struct heap_edge { /* a reference outside all objects: a thread's locals */
    uint32_t from, to;
};

struct heap_list {
    void *rows;
    size_t count, room;
};

struct object_layout { /* bytes */
    uint32_t header, array_header, pointer;
};

struct heap {
    struct spill *spill;
    struct hprof_stream *stream;
    struct hprof_fault *fault;
    bool android, failed;
    struct object_layout layout;

    struct heap_list classes;  /* struct heap_class, by id after the first walk */
    struct heap_list named;    /* pairs of class id and name id */
    uint32_t number_class[12]; /* class of an array of numbers, by type */
    uint32_t java_lang_class;

    uint32_t count;     /* objects; there is one node more */
    uint64_t *ids;      /* per object */
    uint32_t *class_of; /* per object: row of classes */
    uint32_t *bytes;    /* per object, cut at 4 GiB */
    uint64_t edge_room;
    uint64_t *start; /* per node, and one more */
    uint32_t *to;
    uint8_t *root_kind;      /* per node: 1 + enum root_kind of a root, 0 of others */
    struct heap_list locals; /* struct heap_edge */

    uint64_t *sorted;     /* ids, rising */
    uint32_t *sorted_row; /* object of each */
    uint32_t *bucket;     /* where the ids of each begin; owned (malloc) */
    unsigned shift;
    uint64_t least_id;
};

/* Read it; false: fault says why. heap_fini is due in any case. */
bool heap_read(struct heap *heap, struct spill *spill, struct hprof_stream *stream, struct hprof_fault *fault);
void heap_fini(struct heap *heap);

static inline struct heap_class *heap_class_at(const struct heap *heap, uint32_t row)
{
    return (struct heap_class *)heap->classes.rows + row;
}

/* Classes: heap_classes.c. */
bool heap_read_classes(struct heap *heap);
uint32_t heap_find_class(const struct heap *heap, uint64_t id); /* UINT32_MAX: none */
uint32_t heap_array_bytes(const struct heap *heap, unsigned width, uint64_t count);

/* The object of an id: heap_ids.c. UINT32_MAX: it is in no record. */
bool heap_sort_ids(struct heap *heap);
uint32_t heap_find(const struct heap *heap, uint64_t id);

/* Add one row at the end; NULL without memory, and the heap remembers that. */
void *heap_push(struct heap *heap, struct heap_list *list, size_t size);

#endif
