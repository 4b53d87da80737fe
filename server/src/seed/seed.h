/*
 * seed.h - fills an app with invented reports, to try the dashboard with: `mire seed`, and the demo app.
 *
 * The reports go into the inbox with the times at which a server would have received them, and the workers process them
 * like any others. The app has 40 hangs by Zipf's law, five leaks, five versions and 40,000 installations of eight
 * models. One hang and one leak are rare before the last version and frequent in it. Healthy processes send baselines.
 * Some reports come hours or days late, some by a wrong clock, some twice.
 */
#ifndef MIRE_SEED_SEED_H
#define MIRE_SEED_SEED_H

#include <stdint.h>

struct pg;

struct seed_options {
    const char *app; /* its slug */
    int32_t app_id;  /* it is committed */
    int64_t reports; /* about how many */
    int64_t days;    /* up to now */
    uint64_t state;  /* another number gives other reports */
    int64_t now_us;
};

struct seed_counts {
    int64_t made, doubled, late, wrong_clocks;
};

/* 0 or a fault; a part of the reports may be stored then. */
int seed_fill(struct seed_counts *counts, struct pg *pg, const struct seed_options *options);

/* The hang that is frequent in the last version: its function, into room for its name; and that version. */
#define MIRE_SEED_FUNCTION 64
const char *seed_planted(char room[MIRE_SEED_FUNCTION]);
const char *seed_planted_version(void);

/* The leak that is frequent in that version: the function whose blocks stay. Static. */
const char *seed_planted_leak(void);

#endif
