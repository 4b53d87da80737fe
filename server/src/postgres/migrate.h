/*
 * migrate.h - brings the database's tables up to date, and its daily partitions ahead of the calendar.
 */
#ifndef MIRE_POSTGRES_MIGRATE_H
#define MIRE_POSTGRES_MIGRATE_H

#include "pg/pg.h"

/* The files of schema/sql, compiled in, by rising number. */
struct pg_migration {
    int number;
    const char *title;
    const char *sql;
};
extern const struct pg_migration pg_migrations[];
extern const size_t pg_migration_count;

/*
 * Apply what is missing, each file in a transaction of its own together with the row that registers it. Servers that
 * start together take turns (advisory lock). A database that holds a file this program does not know, or a different
 * text under the same number, is refused: MIRE_FAULT_BROKEN, logged.
 *   applied_out  files applied; 0: nothing was missing
 */
int pg_migrate(int *applied_out, struct pg *pg, const struct pg_migration *migrations, size_t count,
               const struct log *log);

/* Beside these files, the tables are: */
enum pg_age {
    MIRE_TABLES_OLDER, /* not all files were applied, or the database cannot be asked */
    MIRE_TABLES_OURS,
    MIRE_TABLES_LATER, /* of a later version */
};
enum pg_age pg_age_of_tables(struct pg *pg, const struct pg_migration *migrations, size_t count);

/*
 * Make the daily partitions of report, event and others from `today` - `back` to `today` + `ahead`, and those of up to
 * four earlier days that have a thousand reports and no partition. Call again while some were made. Drop those older than `keep` days (0: keep all), the oldest day alone if several are due. Servers take turns. 0 or a fault.
 * An app with its own retention_days keeps its rows that long: days are dropped when no app keeps them any more, and
 * until then the rows of the others are deleted, two days of an app at a time.
 *   made_out, dropped_out  partitions
 */
struct pg_days {
    int32_t today; /* 0: by the database's clock */
    int back;
    int ahead;
    int keep;     /* of apps without retention_days of their own */
    int64_t hour; /* since 1970; 0: by the database's clock. Each day that is due has its turn, hour by hour */
    int32_t cut;  /* set by the call: days before this one are dropped */
};
int pg_partition(int *made_out, int *dropped_out, struct pg *pg, const struct pg_days *days, const struct log *log);

#endif
