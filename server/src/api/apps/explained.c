/* explained.c - see explained.h. */
#include "api/apps/explained.h"

#include "api/call.h"
#include "base/fault.h"
#include "rows/facet_hits.h"

#include <stdlib.h>

#define EXPLAINED_MAX 20
#define READ_DEVICES  20000 /* of the other issues; more do not make their shares clearer */
#define OF_ALL        (-1)  /* in place of an issue: the sum over all */

struct facets {
    struct facet_hits *rows; /* by issue, OF_ALL first, then by facet and value */
    size_t count;
};

static int part_of(const struct compared_side *side)
{
    int64_t devices = 0;

    for (size_t i = 0; i < side->count; i++)
        devices += side->hits[i].devices;
    int64_t part = devices > READ_DEVICES ? MIRE_FACET_HITS_WHOLE * READ_DEVICES / devices : MIRE_FACET_HITS_WHOLE;
    return part ? (int)part : 1;
}

static void add(struct explain_hits *to, const struct explain_hits *more)
{
    to->hits += more->hits;
    to->hits_sq += more->hits_sq;
}

/* Put the sums over all issues in front. */
static int add_sums(struct facets *facets, struct arena *arena)
{
    struct facet_hits *rows = arena_array(arena, 2 * facets->count + 1, sizeof *rows);
    size_t sums = 0;

    if (!rows)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < facets->count; i++) {
        rows[i] = facets->rows[i];
        rows[i].issue = OF_ALL;
    }
    qsort(rows, facets->count, sizeof *rows, facet_hits_order);
    for (size_t i = 0; i < facets->count; i++) {
        if (sums && !facet_hits_order(&rows[sums - 1], &rows[i]))
            add(&rows[sums - 1].read, &rows[i].read);
        else
            rows[sums++] = rows[i];
    }
    for (size_t i = 0; i < facets->count; i++)
        rows[sums + i] = facets->rows[i];
    *facets = (struct facets){rows, sums + facets->count};
    return 0;
}

static int look(struct facets *out, struct call *call, const struct compared_side *side, const int64_t *issues,
                size_t count)
{
    int rc =
        rows_facet_hits_read(&out->rows, &out->count, call->tx, call->arena, &side->view, issues, count, part_of(side));

    return rc ? rc : add_sums(out, call->arena);
}

/* The hits of an issue with a value; NULL: it has none. */
static const struct facet_hits *find(const struct facets *facets, int64_t issue, const struct facet_hits *like)
{
    struct facet_hits key = {.issue = issue, .facet = like->facet, .value = like->value};

    return bsearch(&key, facets->rows, facets->count, sizeof key, facet_hits_order);
}

static struct explain_hits without(struct explain_hits all, const struct explain_hits *part)
{
    all.hits = all.hits > part->hits ? all.hits - part->hits : 0;
    all.hits_sq = all.hits_sq > part->hits_sq ? all.hits_sq - part->hits_sq : 0;
    return all;
}

static const struct explain_hits none;

/* The values of an issue on either side; x is the side that the change is of. */
static size_t values_of(struct explain_value *out, int64_t issue, const struct facets *x, const struct facets *y,
                        bool of_after, bool has_versions)
{
    size_t count = 0;

    for (size_t i = 0; i < x->count + y->count; i++) {
        bool is_x = i < x->count;
        const struct facet_hits *row = is_x ? &x->rows[i] : &y->rows[i - x->count];
        if (row->issue != OF_ALL || (row->facet == EXPLAIN_VERSION && !has_versions) || (!is_x && find(x, OF_ALL, row)))
            continue;
        const struct facet_hits *here = find(x, issue, row), *there = find(y, issue, row);
        const struct explain_hits *mine = here ? &here->all : &none, *theirs = there ? &there->all : &none;
        out[count++] = (struct explain_value){.facet = row->facet,
                                              .text = row->value,
                                              .after = of_after ? *mine : *theirs,
                                              .before = of_after ? *theirs : *mine,
                                              .others = is_x ? without(row->read, here ? &here->read : &none) : none};
    }
    return count;
}

static bool is_worse(const struct compared *one)
{
    return one->change.verdict == CHANGE_NEW || one->change.verdict == CHANGE_WORSE;
}

static int explain_all(struct comparison *c, struct call *call, const struct facets *before, const struct facets *after,
                       const size_t *told, size_t count)
{
    struct explain_value *values = arena_array(call->arena, before->count + after->count + 1, sizeof *values);
    bool has_versions = !c->before.version && !c->after.version;
    size_t tried = 0;

    if (!values)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < before->count + after->count; i++)
        tried += (i < before->count ? &before->rows[i] : &after->rows[i - before->count])->issue > 0;
    for (size_t i = 0; i < count; i++) {
        struct compared *one = &c->list[told[i]];
        bool worse = is_worse(one);
        size_t of_one =
            values_of(values, one->issue, worse ? after : before, worse ? before : after, worse, has_versions);
        struct explained found;
        explain_change(&found, &one->change, values, of_one, tried);
        if (!found.value)
            continue;
        one->why = (struct compared_why){.facet = explain_facet_name(found.value->facet),
                                         .value = found.value->text,
                                         .share = found.share,
                                         .of_others = found.of_others};
    }
    return 0;
}

int explained_read(struct comparison *c, struct call *call)
{
    struct facets before, after;
    size_t told[EXPLAINED_MAX], count = 0;
    int64_t issues[EXPLAINED_MAX];

    for (size_t i = 0; i < c->count && count < EXPLAINED_MAX; i++) {
        if (!compared_is_told(&c->list[i]))
            continue;
        told[count] = i;
        issues[count++] = c->list[i].issue;
    }
    if (!count)
        return 0;
    int rc = look(&before, call, &c->before, issues, count);
    if (!rc)
        rc = look(&after, call, &c->after, issues, count);
    return rc ? rc : explain_all(c, call, &before, &after, told, count);
}
