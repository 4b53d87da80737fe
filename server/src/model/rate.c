/* rate.c - Wilson (1927) with an effective sample size; the ratio estimator's variance by linearisation. */
#include "model/rate.h"

#include <math.h>

#define Z 1.959963984540054 /* of 95 % */

struct rate rate_share(double part, double whole, double whole_sq)
{
    if (!(whole > 0) || !(whole_sq > 0))
        return (struct rate){0};
    double n = whole * whole / whole_sq;
    double p = fmin(1, fmax(0, part / whole));
    double middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n);
    double half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
    return (struct rate){true, p, fmax(0, middle - half), fmin(1, middle + half)};
}

struct rate rate_ratio(double y, double x, double yy, double yx, double xx)
{
    if (!(x > 0))
        return (struct rate){0};
    double r = y / x;
    double variance = (yy - 2 * r * yx + r * r * xx) / (x * x);
    double half = Z * sqrt(fmax(0, variance)); /* rounding may leave a little less than nothing */
    return (struct rate){true, r, fmax(0, r - half), r + half};
}
