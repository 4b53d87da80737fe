/* change.c - the exact binomial test on effective counts, and the step-up procedure over many. */
#include "model/change.h"

#include "base/fault.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define TAIL  0.025 /* on each side of a 95 % interval */
#define STEPS 200   /* of a continued fraction; it needs about sqrt(max(a, b)) */

/* The continued fraction of DLMF 8.17.22 by Lentz's method, for x below (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double product = d;

    for (int m = 1; m <= STEPS + (int)(4 * sqrt(a + b)); m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[] = {even, odd};
        double step = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + terms[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            product *= step;
        }
        if (fabs(step - 1) < 1e-13)
            break;
    }
    return product;
}

double change_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(x, a, b) / a;
    return 1 - front * fraction(1 - x, b, a) / b;
}

/* The x at which change_beta is `share`, by halving. */
static double beta_at(double share, double a, double b)
{
    double low = 0, high = 1;

    for (int i = 0; i < 34; i++) {
        double middle = (low + high) / 2;
        if (change_beta(middle, a, b) < share)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double relative_variance(double sum, double sum_sq)
{
    return sum > 0 ? sum_sq / (sum * sum) : 0;
}

#define PRIOR 5 /* devices for which the clusters of both sides together speak in those of one */

/* How many hits of a side stand for one independent one: its own clusters, leaning on `both` where it has few. */
static double hits_each(const struct change_side *side, double both)
{
    return (side->hits_sq + PRIOR * both * both) / (side->hits + PRIOR * both);
}

/* The uncertainty from sampled sessions, and from sampled hits. */
static double sessions_open(const struct rate_change *c, double before_each, double after_each)
{
    double sessions = relative_variance(c->before.sessions, c->before.sessions_sq) +
                      relative_variance(c->after.sessions, c->after.sessions_sq);
    double hits = before_each / fmax(c->before.hits, before_each) + after_each / fmax(c->after.hits, after_each);

    return sessions / hits;
}

void change_compare(struct rate_change *c)
{
    double before_rate = c->before.sessions > 0 ? c->before.hits / c->before.sessions : 0;

    c->ratio = before_rate > 0 ? c->after.hits / c->after.sessions / before_rate : INFINITY;
    c->low = 0;
    c->high = INFINITY;
    c->p = 1;
    if (!(c->before.sessions > 0) || !(c->after.sessions > 0) || !(c->before.hits + c->after.hits > 0))
        return;
    double both = (c->before.hits_sq + c->after.hits_sq) / (c->before.hits + c->after.hits);
    double before_each = hits_each(&c->before, both), after_each = hits_each(&c->after, both);
    double open = 1 + sessions_open(c, before_each, after_each);
    double before = c->before.hits / (before_each * open), after = c->after.hits / (after_each * open);
    double scale = c->before.sessions / before_each / (c->after.sessions / after_each);
    double share = 1 / (1 + scale);
    double above = after > 0 ? change_beta(share, after, before + 1) : 1;
    double below = before > 0 ? 1 - change_beta(share, after + 1, before) : 1;

    c->p = fmin(1, 2 * fmin(above, below));
    if (after > 0) {
        double x = beta_at(TAIL, after, before + 1);
        c->low = x / (1 - x) * scale * after_each / before_each;
    }
    if (before > 0) {
        double x = beta_at(1 - TAIL, after + 1, before);
        c->high = x / (1 - x) * scale * after_each / before_each;
    }
}

static int by_p(const void *a, const void *b)
{
    const struct rate_change *const *x = a, *const *y = b;
    return ((*x)->p > (*y)->p) - ((*x)->p < (*y)->p);
}

static bool is_few(const struct rate_change *c)
{
    return c->before.reports + c->after.reports < MIRE_CHANGE_LEAST || !(c->before.sessions > 0) ||
           !(c->after.sessions > 0);
}

static enum change_verdict verdict_of(const struct rate_change *c)
{
    if (is_few(c))
        return CHANGE_FEW;
    if (c->q > MIRE_CHANGE_Q || (c->ratio < MIRE_CHANGE_RATIO && c->ratio > 1 / MIRE_CHANGE_RATIO))
        return CHANGE_SAME;
    if (c->ratio > 1)
        return c->before.hits > 0 ? CHANGE_WORSE : CHANGE_NEW;
    return c->after.hits > 0 ? CHANGE_BETTER : CHANGE_GONE;
}

int change_judge(struct arena *arena, struct rate_change *changes, size_t count)
{
    struct rate_change **sorted = arena_array(arena, count + 1, sizeof *sorted);
    size_t tested = 0;
    double q = 1;

    if (!sorted)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        change_compare(&changes[i]);
        changes[i].q = 1;
        if (!is_few(&changes[i]))
            sorted[tested++] = &changes[i];
    }
    qsort(sorted, tested, sizeof *sorted, by_p);
    for (size_t i = tested; i-- > 0;) {
        q = fmin(q, sorted[i]->p * (double)tested / (double)(i + 1));
        sorted[i]->q = q;
    }
    for (size_t i = 0; i < count; i++)
        changes[i].verdict = verdict_of(&changes[i]);
    return 0;
}

const char *change_verdict_name(enum change_verdict verdict)
{
    static const char *const names[] = {"few", "same", "new", "worse", "better", "gone"};
    return names[verdict];
}
