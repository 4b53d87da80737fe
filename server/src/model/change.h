/*
 * change.h - whether something happens more or less often per session than before, and which of many such changes are
 * not chance.
 *
 * A hit is counted: a day on which a device had the issue, however often. One device may hang four hundred times
 * a day, so events say little; hits of one device on several days still belong together, so the hits of a side count as
 * (sum y)^2 / (sum y^2) independent ones, y being the hits of one device. Given the hits of both sides, those after are
 * binomial with the share that the sessions after have of all; the test and the interval are the exact ones of Clopper
 * and Pearson (1934). Several changes are shown at once, so their false discovery is held down as in Benjamini and
 * Hochberg (1995). Pure. Thread: any.
 */
#ifndef MIRE_MODEL_CHANGE_H
#define MIRE_MODEL_CHANGE_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define MIRE_CHANGE_LEAST 30   /* reports of both sides together, below which nothing is said */
#define MIRE_CHANGE_Q     0.05 /* of the changes shown, the share that may be chance */
#define MIRE_CHANGE_RATIO 1.25 /* a smaller change is not shown, however certain */

struct change_side {
    int64_t reports, devices;
    double hits;     /* weighted */
    double hits_sq;  /* over the devices, the square of each one's weighted hits */
    double sessions; /* weighted */
    double sessions_sq;
};

enum change_verdict {
    CHANGE_FEW,  /* too little is known */
    CHANGE_SAME, /* within chance, or too small to matter */
    CHANGE_NEW,  /* worse, and it did not happen before */
    CHANGE_WORSE,
    CHANGE_BETTER,
    CHANGE_GONE, /* better, and it does not happen any more */
};

struct rate_change {
    struct change_side before, after;
    enum change_verdict verdict; /* after change_judge */
    double ratio, low, high;     /* rate after through rate before, with its 95 % interval; INFINITY: none before */
    double p;                    /* how often chance alone does as much */
    double q;                    /* after change_judge: the least false discovery rate at which this one is shown */
};

/* Fill ratio, low, high and p from the two sides. A side without sessions: p is 1, the interval 0 to INFINITY. */
void change_compare(struct rate_change *change);

/* Compare all, then judge them together. 0 or MIRE_FAULT_MEMORY. */
int change_judge(struct arena *arena, struct rate_change *changes, size_t count);

/* Its name: few, same, new, worse, better, gone. */
const char *change_verdict_name(enum change_verdict verdict);

/* Share of x in (0, 1) under the beta distribution of a, b > 0 (DLMF 8.17). */
double change_beta(double x, double a, double b);

#endif
