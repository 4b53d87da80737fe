/*
 * pgtest.h - a real PostgreSQL server for the tests of one program, and a fresh database for each test. Where
 * MIRE_CITUS_URL is set, databases are made on that Citus cluster instead (tests/support/citus.sh).
 */
#ifndef MIRE_TESTS_PGTEST_H
#define MIRE_TESTS_PGTEST_H

#include "pg/pg.h"

/* cmocka group setup and teardown: start and stop the server (tests/support/pgtest.sh). */
int pgtest_start(void **state);
int pgtest_stop(void **state);

/* Shut the server down early and wait until it has ended. */
void pgtest_end_server(void);

/* Connection string of the server's database "postgres"; static. */
const char *pgtest_conninfo(void);

/* Process number of the postmaster. */
int pgtest_postmaster(void);

/* Are the databases on a Citus cluster, whose workers process one slot at a time (MIRE_CITUS_URL)? */
bool pgtest_on_citus(void);

/* Open a pool on a new database with all migrations and partitions around today; an error ends the program. */
struct pg *pgtest_database(int connections);

/* The same with app 1, "mapview", and a rollout that gives the shares in the reports of schema/wire/vectors. */
struct pg *pgtest_mapview(void);

/* Connection string of the last database made; static. */
const char *pgtest_database_conninfo(void);

/* Run one statement in a transaction of its own; an error ends the program. */
void pgtest_run(struct pg *pg, const char *sql);

/*
 * Wait until a query with one number returns 0. After a minute the program ends, which only a fault causes.
 *
 *   nudge   statement to run before each query; NULL: none
 */
void pgtest_until_none(struct pg *pg, const char *sql, const char *nudge);

/* The result of a query with one number; an error ends the program. */
int64_t pgtest_number(struct pg *pg, const char *sql);

#endif
