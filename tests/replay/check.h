/*
 * check.h - the app starts again on what is left, and what it finds is held against what it was told.
 */
#ifndef MIRE_REPLAY_CHECK_H
#define MIRE_REPLAY_CHECK_H

#include "replay/truth.h"

/* Sums over all states that were looked at. */
struct found {
    uint64_t states;
    uint64_t acknowledged; /* reports: */
    uint64_t whole;        /* there as they were sealed, or with the server */
    uint64_t evicted;      /* counted as dropped by the caps */
    uint64_t lost;         /* neither: of no trace */
    uint64_t sent_again;   /* forgotten by the store, and there again */
    uint64_t refused;      /* damaged files: refused and counted */
    uint64_t uncounted;    /* refused, but not counted, or counted twice */
    uint64_t taken;        /* damaged, and taken for whole */
    uint64_t losses_forgotten, losses_doubled;
    uint64_t documents_lost; /* rollout documents: an older one is there, or none */
    uint64_t installs_lost;
    uint64_t leaks;   /* files that nobody will ever delete */
    uint64_t crashes; /* of the second start */
};

/* Start again in `dir` and look. In a process of its own: it may crash. */
void check_start(struct found *found, const char *dir, const struct truth *truth);

#endif
