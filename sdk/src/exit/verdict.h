/*
 * verdict.h - why a run ended: from signs to a verdict. Pure.
 *
 *     for each verdict, in the order of exclusion:      score = what it has against it from the start
 *                                                             + what the present signs speak for it
 *                                                             - what they speak against it        (bits of odds)
 *     the first one whose score is above 0 is it; if there is none: unknown
 *
 * The order is that of the exclusions: an app that was upgraded, or ended by its own will, by a crash or by its user's,
 * whose system was upgraded or rebooted, that was in the background or stuck, was not killed for want of memory. What
 * proves one of them outright (a crash file, an exit seen) stands against all that only circumstances speak for. See
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
    MIRE_EXIT_WATCHDOG_KILL, /* while stuck */
    MIRE_EXIT_FOOM,          /* in the foreground, out of memory */
    MIRE_EXIT_OS_KILL,       /* for another reason, or by somebody */
    MIRE_EXIT_VERDICTS
};

/* What must not be the case for a kill to be one for want of memory; bits of exit_verdict.excluded. */
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
    uint32_t confidence_ppm; /* 0..1000000; of `unknown`: how little the likeliest of the others is likely */
    uint64_t signs_for;      /* of the present signs those that speak for it; of `unknown`: for the likeliest other */
    uint64_t signs_against;
    uint32_t excluded; /* exclusions that hold: what they exclude is less likely than 1 in 16 */
};

/*
 * Judge.
 *   signs  that are present, a bit each
 * Thread: any.  Signal handler: no.
 */
void mire__verdict_find(struct exit_verdict *out, uint64_t signs);

/* "foom", "clean_exit", ...; the wire's words. Static; "unknown" for what is none. */
const char *mire__verdict_name(enum mire__end verdict);

/* "app_upgrade", "exit", ... Static; "" for what is none. */
const char *mire__exclusion_name(enum mire__exclusion exclusion);

#endif
