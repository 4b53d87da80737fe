/*
 * flame_view.c - laying a merged tree out: time of each frame, which frames stay, breadth first, widest first.
 *
 * Selection of frames: frames are taken by falling time, a parent before its children. Each taken frame is a row, and
 * each taken frame with children left out needs a row "other". The longest such run that fits into `max` is the result.
 */
#include "api/flame/flame.h"

#include <stdlib.h>
#include <string.h>

#include "api/flame/flame_tree.h"

struct layout {
    const struct flame *flame;
    double *value;       /* per frame: self and everything below */
    uint64_t *hash;      /* per frame */
    uint32_t *left;      /* per frame: children not taken */
    double *other;       /* per frame: time of the children not taken */
    uint32_t *order;     /* frames below the root, by falling time */
    unsigned char *kept; /* per frame */
    size_t kept_count;
};

static _Thread_local const struct layout *sorting; /* qsort passes nothing more to its comparison */

static int by_time(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = sorting->value[x], q = sorting->value[y];

    if (p != q)
        return p < q ? 1 : -1;
    return x < y ? -1 : x > y; /* the parent first: it was created first */
}

static int by_parent_and_time(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = sorting->value[x], q = sorting->value[y];

    if (p != q)
        return p < q ? 1 : -1;
    return sorting->hash[x] < sorting->hash[y] ? -1 : sorting->hash[x] > sorting->hash[y];
}

static void measure(struct layout *l)
{
    const struct flame *flame = l->flame;

    for (size_t i = 0; i < flame->count; i++) {
        const struct flame_frame *f = &flame->frames[i];
        uint64_t above = f->parent == MIRE_FLAME_NO_PARENT ? 0 : l->hash[f->parent];
        l->hash[i] = flame_path_hash(above, flame->names.text[f->name], flame->images.text[f->image]);
        l->value[i] = f->self;
    }
    for (size_t i = flame->count; i-- > 1;)
        l->value[flame->frames[i].parent] += l->value[i];
}

/* Fills order with `root` and all frames below it; returns how many. */
static size_t gather(struct layout *l, uint32_t root)
{
    const struct flame *flame = l->flame;
    size_t count = 0;

    for (uint32_t i = root; i < flame->count; i++) {
        if (i != root &&
            (i < root || flame->frames[i].parent == MIRE_FLAME_NO_PARENT || !l->kept[flame->frames[i].parent]))
            continue;
        l->kept[i] = 1;
        l->order[count++] = i;
        if (i != root)
            l->left[flame->frames[i].parent]++;
    }

    return count;
}

static void choose(struct layout *l, uint32_t root, size_t max)
{
    size_t count = gather(l, root), others = 0, best = 1;

    sorting = l;
    qsort(l->order, count, sizeof *l->order, by_time);
    sorting = NULL;
    uint32_t *left = l->left;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = l->order[k], parent = l->flame->frames[i].parent;
        others += left[i] > 0;
        if (i != root && --left[parent] == 0)
            others--;
        if (k + 1 + others <= max)
            best = k + 1;
    }

    for (size_t k = best; k < count; k++) {
        uint32_t i = l->order[k];
        l->kept[i] = 0;
        l->other[l->flame->frames[i].parent] += l->value[i];
    }

    l->kept_count = best;
}

static int view_reserve(struct flame_view *v, size_t rows, const struct flame *flame)
{
    v->name = calloc(rows, sizeof *v->name);
    v->image = calloc(rows, sizeof *v->image);
    v->role = calloc(rows, sizeof *v->role);
    v->parent = calloc(rows, sizeof *v->parent);
    v->self = calloc(rows, sizeof *v->self);
    v->value = calloc(rows, sizeof *v->value);
    v->hash = calloc(rows, sizeof *v->hash);
    v->names = calloc(flame->names.count + 1, sizeof *v->names);
    v->images = calloc(flame->images.count + 1, sizeof *v->images);
    return v->name && v->image && v->role && v->parent && v->self && v->value && v->hash && v->names && v->images ? 0
                                                                                                                  : -1;
}

/* Children of frame i are first[i] .. first[i + 1] in `child`. Counting sort by parent, then each run by time. */
static void bring_children_together(const struct layout *l, uint32_t *first, uint32_t *child, uint32_t root)
{
    const struct flame *flame = l->flame;
    size_t n = flame->count;

    for (size_t i = (size_t)root + 1; i < n; i++)
        if (l->kept[i])
            first[flame->frames[i].parent + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = (size_t)root + 1; i < n; i++)
        if (l->kept[i])
            child[first[flame->frames[i].parent + 1]++] = (uint32_t)i;
    sorting = l;
    for (size_t i = 0; i < n; i++)
        if (first[i + 1] - first[i] > 1)
            qsort(child + first[i], first[i + 1] - first[i], sizeof *child, by_parent_and_time);
    sorting = NULL;
}

static uint32_t use(uint32_t *seen, const char **table, size_t *count, uint32_t number, const char *text)
{
    if (!seen[number]) {
        table[(*count)++] = text;
        seen[number] = (uint32_t)*count;
    }
    return seen[number] - 1;
}

struct scratch {
    uint32_t *first, *child, *queue, *name_seen, *image_seen;
};

static void put_row(struct flame_view *v, const struct layout *l, struct scratch *s, uint32_t frame, int32_t parent)
{
    const struct flame_frame *f = &l->flame->frames[frame];
    size_t row = v->count++;

    v->name[row] = use(s->name_seen, v->names, &v->name_count, f->name, l->flame->names.text[f->name]);
    v->image[row] = use(s->image_seen, v->images, &v->image_count, f->image, l->flame->images.text[f->image]);
    v->role[row] = f->role;
    v->parent[row] = parent;
    v->self[row] = f->self;
    v->value[row] = l->value[frame];
    v->hash[row] = l->hash[frame];
    s->queue[row] = frame;
}

/* The row for the children that are left out. Its number in the name tables is one past the tree's own. */
static void put_other(struct flame_view *v, const struct layout *l, struct scratch *s, size_t parent)
{
    size_t row = v->count++;

    v->name[row] = use(s->name_seen, v->names, &v->name_count, (uint32_t)l->flame->names.count, "other");
    v->image[row] = use(s->image_seen, v->images, &v->image_count, 0, "");
    v->role[row] = MIRE_ROLE_UNKNOWN;
    v->parent[row] = (int32_t)parent;
    v->self[row] = v->value[row] = l->other[s->queue[parent]];
    v->hash[row] = ~flame_path_hash(v->hash[parent], "other", "");
    s->queue[row] = UINT32_MAX;
}

static void lay_out(struct flame_view *v, const struct layout *l, struct scratch *s, uint32_t root)
{
    bring_children_together(l, s->first, s->child, root);
    put_row(v, l, s, root, -1);
    for (size_t row = 0; row < v->count; row++) {
        uint32_t frame = s->queue[row];
        if (frame == UINT32_MAX)
            continue;
        for (uint32_t c = s->first[frame]; c < s->first[frame + 1]; c++)
            put_row(v, l, s, s->child[c], (int32_t)row);
        if (l->other[frame] > 0)
            put_other(v, l, s, row);
    }
}

static int view_fill(struct flame_view *v, struct layout *l, uint32_t root, size_t max)
{
    size_t n = l->flame->count;

    choose(l, root, max);
    size_t rows = 2 * l->kept_count;
    struct scratch s = {calloc(n + 2, 4), calloc(n + 1, 4), calloc(rows, 4), calloc(l->flame->names.count + 1, 4),
                        calloc(l->flame->images.count + 1, 4)};
    int rc = -1;
    if (s.first && s.child && s.queue && s.name_seen && s.image_seen && view_reserve(v, rows, l->flame) == 0) {
        lay_out(v, l, &s, root);
        rc = 0;
    }
    free(s.first);
    free(s.child);
    free(s.queue);
    free(s.name_seen);
    free(s.image_seen);
    return rc;
}

static int view_of(struct flame_view *v, struct layout *l, size_t max, const uint64_t *root)
{
    uint32_t at = 0;

    measure(l);
    if (root) {
        while (at < l->flame->count && l->hash[at] != *root)
            at++;
        if (at == l->flame->count)
            return FLAME_NO_SUCH_ROOT;
    }

    return view_fill(v, l, at, max);
}

int flame_view_init(struct flame_view *out, struct flame *flame, size_t max, const uint64_t *root)
{
    size_t n = flame->count;
    struct layout l = {.flame = flame,
                       .value = calloc(n, sizeof(double)),
                       .hash = calloc(n, sizeof(uint64_t)),
                       .left = calloc(n, sizeof(uint32_t)),
                       .other = calloc(n, sizeof(double)),
                       .order = calloc(n, sizeof(uint32_t)),
                       .kept = calloc(n, 1)};
    int rc = -1;

    memset(out, 0, sizeof *out);
    if (l.value && l.hash && l.left && l.other && l.order && l.kept)
        rc = view_of(out, &l, max, root);
    if (rc != 0)
        flame_view_fini(out);
    free(l.value);
    free(l.hash);
    free(l.left);
    free(l.other);
    free(l.order);
    free(l.kept);
    return rc;
}

void flame_view_fini(struct flame_view *v)
{
    free(v->name);
    free(v->image);
    free(v->role);
    free(v->parent);
    free(v->self);
    free(v->value);
    free(v->hash);
    free(v->names);
    free(v->images);
    memset(v, 0, sizeof *v);
}
