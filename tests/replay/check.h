/*
 * check.h - starts the app again on the directory that is left, and compares its findings with the promises made to it.
 */
#ifndef MIRE_REPLAY_CHECK_H
#define MIRE_REPLAY_CHECK_H

#include "replay/truth.h"

/* Sums over all checked states. */
struct found {
    uint64_t states;
    uint64_t acknowledged; /* reports: */
    uint64_t whole;        /* unchanged in the store, or at the server */
    uint64_t evicted;      /* counted as dropped by the caps */
    uint64_t lost;         /* neither, without a trace */
    uint64_t sent_again;   /* forgotten by the store, and present again */
    uint64_t refused;      /* damaged files: refused and counted */
    uint64_t uncounted;    /* refused, and not counted, or counted twice */
    uint64_t taken;        /* damaged, and accepted as whole */
    uint64_t losses_forgotten, losses_doubled;
    uint64_t documents_lost; /* rollout documents: an older one is present, or none */
    uint64_t installs_lost;
    uint64_t leaks;   /* files that are never deleted */
    uint64_t crashes; /* of the second start */
};

/* Start again in `dir` and check. In a process of its own, since it may crash. */
void check_start(struct found *found, const char *dir, const struct truth *truth);

#endif
