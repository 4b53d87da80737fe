/* cost.h - what was spent so far: CPU of this process and of the test's PostgreSQL, seconds, and its log, bytes. */
#ifndef MIRE_TESTS_BENCH_COST_H
#define MIRE_TESTS_BENCH_COST_H

#include "pg/pg.h"

double cost_own_s(void);
double cost_postgres_s(void);
double cost_wal(struct pg *pg);

#endif
