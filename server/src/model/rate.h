/*
 * rate.h - shares and ratios from a weighted sample, with an interval that holds the true one 95 times of 100.
 *
 * A record of weight w stands for w sessions. Weighted records carry as much information as (sum w)^2 / (sum w^2) plain
 * ones. Sessions are assumed to be independent of each other; the sessions of one device are slightly less so. Pure.
 */
#ifndef MIRE_MODEL_RATE_H
#define MIRE_MODEL_RATE_H

#include <stdbool.h>

struct rate {
    bool known; /* false: nothing was sampled, the rest is 0 */
    double value, low, high;
};

/* `part` of `whole`, both sums of weights, `whole_sq` the sum of the squared weights: Wilson's interval. */
struct rate rate_share(double part, double whole, double whole_sq);

/*
 * sum(w y) / sum(w x), x at least 0: the ratio, with the interval of its linearised variance, at least 0.
 *   yy, yx, xx  sums of w^2 y y, w^2 y x, w^2 x x
 */
struct rate rate_ratio(double y, double x, double yy, double yx, double xx);

#endif
