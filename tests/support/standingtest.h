/*
 * standingtest.h - standing sums against an exact recount of the tables `issue_hour`, `version_hour` and `turn_hour`.
 */
#ifndef MIRE_TESTS_STANDINGTEST_H
#define MIRE_TESTS_STANDINGTEST_H

struct pg;

/*
 * After merging: compare every figure of every row of every length with the sums of its hours. No row or key may be
 * missing, or be one too many. An error ends the program.
 */
void standingtest_check(struct pg *pg);

#endif
