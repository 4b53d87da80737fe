/*
 * rolluptest.h - rollups against an exact recount of the tables `event` and `session`.
 */
#ifndef MIRE_TESTS_ROLLUPTEST_H
#define MIRE_TESTS_ROLLUPTEST_H

struct pg;

/* Merge until nothing waits. */
void rolluptest_merge(struct pg *pg);

/*
 * Merge, then compare every figure of every cell with a count of the events and session records: by issue and tree, by
 * app and kind, of each hour and day, and by each value of each facet. No cell may be missing, or be one too many. The
 * same of standing sums (standingtest.h). An error ends the program.
 */
void rolluptest_check(struct pg *pg);

#endif
