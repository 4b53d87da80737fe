/*
 * verdict.h - why a run ended: from signs to a verdict. Pure.
 *
 *     for each verdict, in the order of exclusion:      score = its prior
 *                                                             + weights of the present signs for it
 *                                                             - weights of the present signs against it    (bits of
 *                                                                                                          odds)
 *     the verdict is the first one with a score above 0; if there is none: unknown
 *
 * The order is that of the exclusions: an app that was upgraded, that ended itself, crashed or was quit by its user,
 * whose system was upgraded or rebooted, that was in the background or hung, was not killed for its memory. A sign that
 * proves one of them (a crash file, an observed exit) outweighs all verdicts from circumstances. See
 * docs/adr/0014-ordered-and-weighted-exclusion.md.
 */
#ifndef MIRE_EXIT_VERDICT_H
#define MIRE_EXIT_VERDICT_H

#include "exit/signs.h"

enum mire__end {
    MIRE_EXIT_UNKNOWN = 0,
    MIRE_EXIT_APP_UPGRADED,
    MIRE_EXIT_CLEAN,
    MIRE_EXIT_ABORT,
    MIRE_EXIT_CRASH,
    MIRE_EXIT_USER_QUIT,
    MIRE_EXIT_OS_UPGRADED,
    MIRE_EXIT_REBOOTED,
    MIRE_EXIT_BACKGROUND_KILL,
    MIRE_EXIT_WATCHDOG_KILL, /* during a hang */
    MIRE_EXIT_FOOM,          /* in the foreground, out of memory */
    MIRE_EXIT_OS_KILL,       /* for another reason, or by a person */
    MIRE_EXIT_VERDICTS
};

/* The causes that are excluded before a kill counts as out of memory; bits of exit_verdict.excluded. */
enum mire__exclusion {
    MIRE_EXCLUDED_APP_UPGRADE,
    MIRE_EXCLUDED_EXIT, /* clean, or abort */
    MIRE_EXCLUDED_CRASH,
    MIRE_EXCLUDED_USER_QUIT,
    MIRE_EXCLUDED_OS_CHANGE, /* upgraded, or rebooted */
    MIRE_EXCLUDED_BACKGROUND,
    MIRE_EXCLUDED_STUCK,
    MIRE_EXCLUSIONS
};

struct exit_verdict {
    enum mire__end verdict;
    uint32_t confidence_ppm; /* 0..1000000; of `unknown`: the improbability of the most probable other verdict */
    uint64_t signs_for;      /* present signs for it; of `unknown`: for the most probable other verdict */
    uint64_t signs_against;
    uint32_t excluded; /* exclusions that hold: the probability of the cause is below 1 in 16 */
};

/*
 * Find the verdict.
 *   signs  the present signs, a bit each
 * Thread: any.  Signal handler: no.
 */
void mire__verdict_find(struct exit_verdict *out, uint64_t signs);

/* "foom", "clean_exit", ...: the wire's words. Static; "unknown" for other numbers. */
const char *mire__verdict_name(enum mire__end verdict);

/* "app_upgrade", "exit", ... Static; "" for other numbers. */
const char *mire__exclusion_name(enum mire__exclusion exclusion);

#endif
