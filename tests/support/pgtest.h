/*
 * pgtest.h - a real PostgreSQL for the tests of one program, and a fresh database for each test.
 */
#ifndef MIRE_TESTS_PGTEST_H
#define MIRE_TESTS_PGTEST_H

#include "pg/pg.h"

/* cmocka group setup and teardown: start and stop the server (tests/support/pgtest.sh). */
int pgtest_start(void **state);
int pgtest_stop(void **state);

/* Shut the server down before its time and wait until it has ended. */
void pgtest_end_server(void);

/* Connection string of the server's database "postgres"; static. */
const char *pgtest_conninfo(void);

/* Process number of the postmaster. */
int pgtest_postmaster(void);

/* A pool on a new database with every migration applied and partitions around today; ends the program if that fails. */
struct pg *pgtest_database(int connections);

/* Connection string of the database made last; static. */
const char *pgtest_database_conninfo(void);

/* One statement in a transaction of its own; ends the program if it fails. */
void pgtest_run(struct pg *pg, const char *sql);

/*
 * Wait until a query that gives one number answers 0; ends the program after a minute, which only a fault takes.
 *
 *   nudge   done before each question, NULL nothing
 */
void pgtest_until_none(struct pg *pg, const char *sql, const char *nudge);

/* What one SQL query that gives one number answers; ends the program if it fails. */
int64_t pgtest_number(struct pg *pg, const char *sql);

#endif
