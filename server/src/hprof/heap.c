/*
 * heap.c - see heap.h: the walks over objects. The third notes each object with its class and size, the fourth who refers
 * to whom.
 */
#include "hprof/heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 4096 /* elements of an array read together */
#define CHANGED "the file changed while it was read"

/* ---- objects ---- */

struct noting {
    struct heap *heap;
    uint32_t count;
    uint32_t last_row; /* most objects are of the class of one before */
    uint64_t last_id, edges;
};

static void note(struct noting *n, uint64_t id, uint32_t class, uint32_t bytes)
{
    struct heap *heap = n->heap;
    if (n->count == heap->count)
        return;
    heap->ids[n->count] = id;
    heap->class_of[n->count] = class;
    heap->bytes[n->count++] = bytes;
    spill_relax(heap->spill);
}

static uint32_t class_row(struct noting *n, uint64_t id)
{
    if (id != n->last_id || n->last_row == UINT32_MAX) {
        n->last_id = id;
        n->last_row = heap_find_class(n->heap, id);
    }
    return n->last_row;
}

static const char *note_class(void *context, struct hprof_stream *s, uint64_t id)
{
    struct noting *n = context;
    struct heap *heap = n->heap;
    uint32_t row = heap_find_class(heap, id), of = heap->java_lang_class;
    const struct heap_class *class = heap_class_at(heap, row);
    n->edges += class->static_count + 5ull;
    note(n, id, of == UINT32_MAX ? row : of,
         (of == UINT32_MAX ? 0 : heap_class_at(heap, of)->own_bytes) + ((class->static_bytes + 7) & ~7u));
    return walk_skip_class(s);
}

static const char *note_instance(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t len)
{
    struct noting *n = context;
    uint32_t row = class_row(n, class_id);
    (void)s, (void)len;
    if (row == UINT32_MAX)
        return "an object is of a class that is not in the dump";
    n->edges += heap_class_at(n->heap, row)->reference_count + 1ull;
    note(n, id, row, heap_class_at(n->heap, row)->own_bytes);
    return NULL;
}

static const char *note_objects(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t count)
{
    struct noting *n = context;
    uint32_t row = class_row(n, class_id);
    (void)s;
    if (row == UINT32_MAX)
        return "an array is of a class that is not in the dump";
    n->edges += count + 1ull;
    note(n, id, row, heap_array_bytes(n->heap, 0, count));
    return NULL;
}

static void note_numbers(void *context, uint64_t id, unsigned type, uint32_t count)
{
    struct noting *n = context;
    note(n, id, n->heap->number_class[type], heap_array_bytes(n->heap, element_bytes(type, 8), count));
}

/* ---- roots ---- */

struct rooting {
    struct heap *heap;
    struct heap_list threads, locals; /* pairs: serial, id */
};

static void note_root(void *context, enum root_kind kind, uint64_t id, uint64_t serial)
{
    struct rooting *r = context;
    struct heap_list *list = NULL;
    if (kind == ROOT_THREAD)
        list = &r->threads;
    else if (kind == ROOT_LOCAL)
        list = &r->locals;
    uint32_t row = heap_find(r->heap, id);
    if (row != UINT32_MAX && kind != ROOT_LOCAL && !r->heap->root_kind[row + 1])
        r->heap->root_kind[row + 1] = (uint8_t)(1 + kind);
    uint64_t *pair = list ? heap_push(r->heap, list, 2 * sizeof *pair) : NULL;
    if (pair) {
        pair[0] = serial;
        pair[1] = id;
    }
}

static int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static int by_from(const void *a, const void *b)
{
    const struct heap_edge *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Locals of a thread whose object is known are its; others are roots. */
static void give_locals(struct rooting *r)
{
    struct heap *heap = r->heap;
    const uint64_t(*locals)[2] = r->locals.rows;
    if (r->threads.count)
        qsort(r->threads.rows, r->threads.count, 2 * sizeof(uint64_t), by_first);
    for (size_t i = 0; i < r->locals.count; i++) {
        const uint64_t *thread =
            r->threads.count ? bsearch(locals[i], r->threads.rows, r->threads.count, 2 * sizeof(uint64_t), by_first)
                             : NULL;
        uint32_t from = thread ? heap_find(heap, thread[1]) : UINT32_MAX, to = heap_find(heap, locals[i][1]);
        if (to == UINT32_MAX)
            continue;
        struct heap_edge *edge = from == UINT32_MAX ? NULL : heap_push(heap, &heap->locals, sizeof *edge);
        if (edge)
            *edge = (struct heap_edge){from, to};
        else if (!heap->root_kind[to + 1])
            heap->root_kind[to + 1] = 1 + ROOT_LOCAL;
    }
    if (heap->locals.count)
        qsort(heap->locals.rows, heap->locals.count, sizeof(struct heap_edge), by_from);
}

static bool read_roots(struct heap *heap)
{
    struct rooting r = {.heap = heap};
    struct hprof_walk walk = {.context = &r, .root = note_root};
    bool good = walk_all(&walk, heap->fault, heap->stream);
    if (good)
        give_locals(&r);
    free(r.threads.rows);
    free(r.locals.rows);
    return good;
}

/* ---- references ---- */

struct linking {
    struct heap *heap;
    uint32_t node; /* of the object whose references come, from 1 */
    uint64_t count;
    size_t local; /* next of heap->locals */
};

static void link_to(struct linking *l, uint64_t id)
{
    uint32_t row = id ? heap_find(l->heap, id) : UINT32_MAX;
    if (row != UINT32_MAX && l->count < l->heap->edge_room)
        l->heap->to[l->count++] = row + 1;
    spill_relax(l->heap->spill);
}

static void end_node(struct linking *l)
{
    const struct heap_edge *locals = l->heap->locals.rows;
    for (; l->local < l->heap->locals.count && locals[l->local].from + 1 == l->node; l->local++)
        if (l->count < l->heap->edge_room)
            l->heap->to[l->count++] = locals[l->local].to + 1;
    if (l->node <= l->heap->count)
        l->heap->start[++l->node] = l->count;
    spill_relax(l->heap->spill);
}

static void link_value(void *context, unsigned type, uint64_t value)
{
    if (type == ELEMENT_OBJECT)
        link_to(context, value);
}

static const char *link_class(void *context, struct hprof_stream *s, uint64_t id)
{
    struct linking *l = context;
    (void)id;
    hprof_skip(s, 4);
    for (int i = 0; i < 4; i++) /* super, loader, signers, protection domain */
        link_to(l, hprof_id(s));
    hprof_skip(s, 2ull * s->id_len + 4);
    const char *wrong = walk_values(s, 2, NULL, NULL);
    if (!wrong)
        wrong = walk_values(s, s->id_len, link_value, l);
    hprof_skip(s, hprof_number(s, 2) * (s->id_len + 1));
    end_node(l);
    return wrong;
}

static const char *link_instance(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t len)
{
    struct linking *l = context;
    if (l->node > l->heap->count)
        return CHANGED;
    const struct heap_class *class = heap_class_at(l->heap, l->heap->class_of[l->node - 1]);
    (void)id;
    link_to(l, class_id);
    const uint8_t *bytes = len <= STREAM_ROOM ? hprof_bytes(s, len) : NULL;
    for (uint32_t i = 0; bytes && i < class->reference_count; i++)
        if (class->references[i] + s->id_len <= len)
            link_to(l, load_big(bytes + class->references[i], s->id_len));
    end_node(l);
    return NULL;
}

static const char *link_objects(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t count)
{
    struct linking *l = context;
    (void)id;
    link_to(l, class_id);
    while (count) {
        uint32_t these = count < AT_ONCE ? count : AT_ONCE;
        const uint8_t *bytes = hprof_bytes(s, (size_t)these * s->id_len);
        if (!bytes)
            return NULL;
        for (uint32_t i = 0; i < these; i++)
            link_to(l, load_big(bytes + (size_t)i * s->id_len, s->id_len));
        count -= these;
    }
    end_node(l);
    return NULL;
}

static void link_numbers(void *context, uint64_t id, unsigned type, uint32_t count)
{
    (void)id, (void)type, (void)count;
    end_node(context);
}

/* The root's references come first: they are known by then. */
static bool read_links(struct heap *heap)
{
    struct linking l = {.heap = heap};
    struct hprof_walk walk = {.context = &l,
                              .class_dump = link_class,
                              .instance = link_instance,
                              .objects = link_objects,
                              .numbers = link_numbers};
    for (uint32_t node = 1; node <= heap->count; node++, spill_relax(heap->spill))
        if (heap->root_kind[node] && l.count < heap->edge_room)
            heap->to[l.count++] = node;
    heap->start[l.node = 1] = l.count;
    if (!walk_all(&walk, heap->fault, heap->stream))
        return false;
    while (l.node <= heap->count)
        end_node(&l);
    return true;
}

/* ---- the whole ---- */

static bool refuse(struct heap *heap, const char *what)
{
    if (!heap->fault->text[0])
        snprintf(heap->fault->text, sizeof heap->fault->text, "%s", what);
    return false;
}

static bool note_all(struct heap *heap, uint64_t *edges_out)
{
    struct noting n = {.heap = heap, .last_row = UINT32_MAX};
    struct hprof_walk walk = {.context = &n,
                              .class_dump = note_class,
                              .instance = note_instance,
                              .objects = note_objects,
                              .numbers = note_numbers};
    heap->ids = spill_array(heap->spill, heap->count, sizeof *heap->ids);
    heap->class_of = spill_array(heap->spill, heap->count, sizeof *heap->class_of);
    heap->bytes = spill_array(heap->spill, heap->count, sizeof *heap->bytes);
    if (!heap->ids || !heap->class_of || !heap->bytes)
        return refuse(heap, strerror(errno));
    if (!walk_all(&walk, heap->fault, heap->stream))
        return false;
    heap->count = n.count;
    *edges_out = n.edges;
    return true;
}

bool heap_read(struct heap *heap, struct spill *spill, struct hprof_stream *stream, struct hprof_fault *fault)
{
    uint64_t edges = 0;
    *heap = (struct heap){.spill = spill, .stream = stream, .fault = fault};
    if (!heap_read_classes(heap))
        return refuse(heap, "out of memory");
    heap->count += (uint32_t)heap->classes.count; /* each class of the dump is an object too */
    if (!note_all(heap, &edges))
        return false;
    if (!heap_sort_ids(heap))
        return refuse(heap, strerror(errno));
    heap->root_kind = spill_array(spill, heap->count + 1ull, sizeof *heap->root_kind);
    if (!heap->root_kind)
        return refuse(heap, strerror(errno));
    if (!read_roots(heap))
        return false;
    heap->edge_room = edges + heap->locals.count + heap->count;
    heap->start = spill_array(spill, heap->count + 2ull, sizeof *heap->start);
    heap->to = spill_array(spill, heap->edge_room, sizeof *heap->to);
    if (heap->failed || !heap->start || !heap->to)
        return refuse(heap, heap->failed ? "out of memory" : strerror(errno));
    if (!read_links(heap))
        return false;
    spill_drop(spill, heap->sorted);
    spill_drop(spill, heap->sorted_row);
    return true;
}

void heap_fini(struct heap *heap)
{
    for (uint32_t i = 0; i < heap->classes.count; i++) {
        struct heap_class *class = heap_class_at(heap, i);
        free(class->name);
        free(class->types);
        free(class->names);
        free(class->references);
    }
    free(heap->classes.rows);
    free(heap->named.rows);
    free(heap->locals.rows);
    free(heap->bucket);
}
