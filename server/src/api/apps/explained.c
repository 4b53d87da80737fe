/* explained.c - see explained.h. */
#include "api/apps/explained.h"

#include "api/call.h"
#include "base/fault.h"
#include "rows/facet_hits.h"

#include <stdlib.h>

#define EXPLAINED_MAX 20
#define OF_ALL        (-1) /* in place of an issue: the sum over all */

/* The hits of one issue by facet, in order; scaled, if not all of its events were read. */
struct facets {
    struct facet_hits *rows;
    size_t count;
};

/* A side of the comparison. */
struct looked {
    struct facets issues[EXPLAINED_MAX];
    struct facets app; /* of its newest events: the issues, all others as issue 0, and in front the sums as OF_ALL */
};

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
    if (facets->count)
        qsort(rows, facets->count, sizeof *rows, facet_hits_order);
    for (size_t i = 0; i < facets->count; i++) {
        if (sums && !facet_hits_order(&rows[sums - 1], &rows[i]))
            add(&rows[sums - 1].hits, &rows[i].hits);
        else
            rows[sums++] = rows[i];
    }
    for (size_t i = 0; i < facets->count; i++)
        rows[sums + i] = facets->rows[i];
    *facets = (struct facets){rows, sums + facets->count};
    return 0;
}

/* All hits of an issue on a side, by its rollups. */
static double hits_of(const struct compared_side *side, int64_t issue)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->hits[i].issue == issue)
            return side->hits[i].hits;
    return 0;
}

/* Of an issue with more events than were read, the newest ones stand for all. */
static bool scale(struct facets *facets, double hits)
{
    int64_t reports = 0;
    double read = 0;

    for (size_t i = 0; i < facets->count; i++)
        if (facets->rows[i].facet == EXPLAIN_OS) { /* every event has one value of it */
            reports += facets->rows[i].reports;
            read += facets->rows[i].hits.hits;
        }
    bool all = reports < MIRE_FACET_HITS_EVENTS || !(read > 0) || hits <= read;
    for (size_t i = 0; !all && i < facets->count; i++) {
        facets->rows[i].hits.hits *= hits / read;
        facets->rows[i].hits.hits_sq *= hits / read;
    }
    return !all;
}

static int look(struct looked *out, struct call *call, struct compared *const *given, size_t count,
                const struct compared_side *side)
{
    int64_t issues[EXPLAINED_MAX];
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        struct facets *of = &out->issues[i];
        issues[i] = given[i]->issue;
        rc = rows_facet_hits_read(&of->rows, &of->count, call->tx, call->arena, &side->view, issues[i], NULL, 0);
        if (!rc)
            given[i]->why.is_sampled |= scale(of, hits_of(side, issues[i]));
    }
    if (!rc)
        rc =
            rows_facet_hits_read(&out->app.rows, &out->app.count, call->tx, call->arena, &side->view, 0, issues, count);
    return rc ? rc : add_sums(&out->app, call->arena);
}

/* The hits of an issue with a value. */
static const struct explain_hits *find(const struct facets *facets, int64_t issue, const struct facet_hits *like)
{
    static const struct explain_hits none;
    struct facet_hits key = {.issue = issue, .facet = like->facet, .value = like->value};
    const struct facet_hits *found =
        facets->count ? bsearch(&key, facets->rows, facets->count, sizeof key, facet_hits_order) : NULL;

    return found ? &found->hits : &none;
}

static struct explain_hits without(struct explain_hits all, const struct explain_hits *part)
{
    all.hits = all.hits > part->hits ? all.hits - part->hits : 0;
    all.hits_sq = all.hits_sq > part->hits_sq ? all.hits_sq - part->hits_sq : 0;
    return all;
}

/* The values of the app on a side, or of an issue. */
static size_t value_rows(const struct facets *facets, int64_t issue, const struct facet_hits **out)
{
    size_t count = 0;

    for (size_t i = 0; i < facets->count; i++)
        if (facets->rows[i].issue == issue)
            out[count++] = &facets->rows[i];
    return count;
}

static int by_value(const void *a, const void *b)
{
    struct facet_hits x = **(const struct facet_hits *const *)a, y = **(const struct facet_hits *const *)b;

    x.issue = y.issue = 0;
    return facet_hits_order(&x, &y);
}

/* The values of an issue on either side; x is the side that the change is of. */
static size_t values_of(struct explain_value *out, const struct facet_hits **rows, int64_t issue, size_t at,
                        const struct looked *x, const struct looked *y, bool of_after, bool has_versions)
{
    size_t found = value_rows(&x->app, OF_ALL, rows), count = 0;

    found += value_rows(&y->app, OF_ALL, rows + found);
    found += value_rows(&x->issues[at], issue, rows + found);
    found += value_rows(&y->issues[at], issue, rows + found);
    if (found)
        qsort(rows, found, sizeof *rows, by_value);
    for (size_t i = 0; i < found; i++) {
        const struct facet_hits *row = rows[i];
        if ((row->facet == EXPLAIN_VERSION && !has_versions) || (i && !by_value(&rows[i - 1], &rows[i])))
            continue;
        const struct explain_hits *mine = find(&x->issues[at], issue, row), *theirs = find(&y->issues[at], issue, row);
        out[count++] =
            (struct explain_value){.facet = row->facet,
                                   .text = row->value,
                                   .after = of_after ? *mine : *theirs,
                                   .before = of_after ? *theirs : *mine,
                                   .others = without(*find(&x->app, OF_ALL, row), find(&x->app, issue, row))};
    }
    return count;
}

static bool is_worse(const struct compared *one)
{
    return one->change.verdict == CHANGE_NEW || one->change.verdict == CHANGE_WORSE;
}

static size_t rows_on(const struct looked *side, size_t count)
{
    size_t rows = side->app.count;

    for (size_t i = 0; i < count; i++)
        rows += side->issues[i].count;
    return rows;
}

static int explain_all(struct comparison *c, struct call *call, const struct looked *before, const struct looked *after,
                       struct compared *const *given, size_t count)
{
    size_t most = rows_on(before, count) + rows_on(after, count), tried = 0;
    struct explain_value *values = arena_array(call->arena, most + 1, sizeof *values);
    const struct facet_hits **rows = arena_array(call->arena, most + 1, sizeof *rows);
    bool has_versions = !c->before.version && !c->after.version;

    if (!values || !rows)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        tried += before->issues[i].count + after->issues[i].count;
    for (size_t i = 0; i < count; i++) {
        struct compared *one = given[i];
        bool worse = is_worse(one), is_sampled = one->why.is_sampled;
        size_t of_one =
            values_of(values, rows, one->issue, i, worse ? after : before, worse ? before : after, worse, has_versions);
        struct explained found;
        explain_change(&found, &one->change, values, of_one, tried);
        if (!found.value)
            continue;
        one->why = (struct compared_why){.facet = explain_facet_name(found.value->facet),
                                         .value = found.value->text,
                                         .share = found.share,
                                         .of_others = found.of_others,
                                         .is_sampled = is_sampled};
    }
    return 0;
}

int explained_read(struct comparison *c, struct call *call)
{
    struct looked before = {0}, after = {0};
    struct compared *given[EXPLAINED_MAX];
    size_t count = 0;

    for (size_t i = 0; i < c->count && count < EXPLAINED_MAX; i++)
        if (compared_is_shown(&c->list[i]))
            given[count++] = &c->list[i];
    if (!count)
        return 0;
    int rc = look(&before, call, given, count, &c->before);
    if (!rc)
        rc = look(&after, call, given, count, &c->after);
    return rc ? rc : explain_all(c, call, &before, &after, given, count);
}
