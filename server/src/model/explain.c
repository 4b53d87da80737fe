/* explain.c - see explain.h. */
#include "model/explain.h"

#include <math.h>
#include <stdbool.h>

#define LEAST_OTHER_SIDE 30 /* independent hits */
#define SMALLEST         1e-18

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double explain_fisher(double x, double of, double others, double others_of)
{
    double marked = x + others, all = of + others_of, most = fmin(of, marked);
    double first = log_choose(marked, x) + log_choose(all - marked, of - x) - log_choose(all, of);
    double term = 1, sum = 1;

    for (double k = x; k < most && term > SMALLEST * sum; k++) {
        term *= (marked - k) * (of - k) / ((k + 1) * (all - marked - of + k + 1));
        sum += term;
    }
    return fmin(1, exp(first) * sum);
}

/* Sums of a facet. */
struct facet_sums {
    struct explain_hits x, y, others; /* x: the side that the change is of */
};

static void add(struct explain_hits *to, const struct explain_hits *from)
{
    to->hits += from->hits;
    to->hits_sq += from->hits_sq;
}

static const struct explain_hits *side(const struct explain_value *value, bool of_after)
{
    return of_after ? &value->after : &value->before;
}

/* How many hits stand for one independent one. */
static double each(const struct explain_hits *all)
{
    return all->hits > 0 ? fmax(1, all->hits_sq / all->hits) : 1;
}

static double test(const struct explain_hits *x, const struct explain_hits *all, const struct explain_hits *other,
                   const struct explain_hits *all_others)
{
    double x_each = each(all), other_each = each(all_others);
    double marked = floor(x->hits / x_each), of = fmax(marked, floor(all->hits / x_each));
    double others = ceil(other->hits / other_each), others_of = fmax(others, ceil(all_others->hits / other_each));

    return explain_fisher(marked, of, others, others_of);
}

static double p_of(const struct explain_value *value, const struct facet_sums *sums, bool of_after)
{
    const struct explain_hits *x = side(value, of_after), *y = side(value, !of_after);
    double p = test(x, &sums->x, &value->others, &sums->others);

    if (sums->y.hits / each(&sums->y) >= LEAST_OTHER_SIDE)
        p = fmax(p, test(x, &sums->x, y, &sums->y));
    return p;
}

/* How many hits a known hit stands for: of frequent issues, not all reports are kept. */
static double part(const struct change_side *side, const struct explain_hits *known)
{
    return known->hits > 0 ? side->hits / known->hits : 0;
}

void explain_change(struct explained *out, const struct rate_change *change, const struct explain_value *values,
                    size_t count, size_t tried)
{
    bool of_after = change->verdict == CHANGE_NEW || change->verdict == CHANGE_WORSE;
    const struct change_side *x_side = of_after ? &change->after : &change->before;
    const struct change_side *y_side = of_after ? &change->before : &change->after;
    double scale = x_side->sessions / y_side->sessions; /* of hits on the other side to those expected here */
    struct facet_sums sums[EXPLAIN_FACETS] = {0};

    *out = (struct explained){0};
    for (size_t i = 0; i < count; i++) {
        struct facet_sums *of = &sums[values[i].facet];
        add(&of->x, side(&values[i], of_after));
        add(&of->y, side(&values[i], !of_after));
        add(&of->others, &values[i].others);
    }
    for (size_t i = 0; i < count; i++) {
        const struct explain_value *value = &values[i];
        const struct facet_sums *of = &sums[value->facet];
        double mine = side(value, of_after)->hits * part(x_side, &of->x);
        double theirs = side(value, !of_after)->hits * part(y_side, &of->y);
        double grown = x_side->hits - scale * y_side->hits, share = (mine - scale * theirs) / grown;
        double of_others = value->others.hits / of->others.hits;
        if (!*value->text || !(grown > 0) || !(of->others.hits > 0) || !(share >= MIRE_EXPLAIN_SHARE) ||
            share < MIRE_EXPLAIN_LIFT * of_others)
            continue;
        if (p_of(value, of, of_after) * (double)tried <= MIRE_EXPLAIN_P && (!out->value || of_others < out->of_others))
            *out = (struct explained){value, fmin(1, share), of_others};
    }
}

const char *explain_facet_name(enum explain_facet facet)
{
    static const char *const names[EXPLAIN_TAGS] = {"version", "os", "system", "model", "class", "channel", "country"};
    return facet < EXPLAIN_TAGS ? names[facet] : "tag";
}
