/*
 * seed.c - `mire seed APP`: fills an app with reports to try the dashboard with (seed/seed.h).
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/database.h"
#include "cli/say.h"

#include "base/clock.h"
#include "base/fault.h"
#include "rows/apps.h"
#include "rows/key.h"
#include "seed/seed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS_MAX 10000000

struct seeding {
    struct seed_options seed;
    struct cli_database database;
};

static int fill(struct seed_counts *counts, struct seeding *seeding)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, seeding->database.pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_app_ensure(&seeding->seed.app_id, tx, seeding->seed.app);
    if (!rc)
        rc = pg_commit(&tx);
    return rc ? rc : seed_fill(counts, seeding->database.pg, &seeding->seed);
}

static int run(struct seeding *seeding)
{
    struct seed_counts counts;
    char function[MIRE_SEED_FUNCTION];
    int rc = fill(&counts, seeding);

    if (rc) {
        say(stderr, "mire seed: the reports could not be stored: %s\n", fault_name(rc));
        return CLI_FAILED;
    }
    say(stdout,
        "%" PRId64 " reports of %" PRId64 " days wait for mired: %" PRId64 " came more than an hour late, %" PRId64
        " twice, %" PRId64 " are by a wrong clock.\nThe hang of %s and the memory of %s are frequent in version %s.\n",
        counts.made, seeding->seed.days, counts.late, counts.doubled, counts.wrong_clocks, seed_planted(function),
        seed_planted_leak(), seed_planted_version());
    return CLI_DONE;
}

static const char *take_number(int64_t *out, const char *value, int64_t most)
{
    char *end;

    *out = strtoll(value, &end, 10);
    return *value && !*end && *out >= 1 && *out <= most ? NULL : "a whole number above 0 is expected, and not so large";
}

static const char *take_reports(void *context, char *value)
{
    return take_number(&((struct seeding *)context)->seed.reports, value, REPORTS_MAX);
}

static const char *take_days(void *context, char *value)
{
    return take_number(&((struct seeding *)context)->seed.days, value, 3650);
}

static const char *take_seed(void *context, char *value)
{
    int64_t number;
    const char *error = take_number(&number, value, INT64_MAX);

    ((struct seeding *)context)->seed.state = (uint64_t)number;
    return error;
}

int cli_seed(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]... APP",
        .about =
            "Fill an app with sample reports to try the dashboard; the app is created if it does not exist. One hang "
            "and one leak become frequent with version 1.4.0. Some reports come hours or days late, some devices have "
            "a wrong "
            "clock, and some reports come twice. mired processes the reports while it runs.\n\n" CLI_DATABASE_ABOUT};
    struct seeding seeding = {.seed = {.reports = 10000, .days = 30, .state = 1}, .database = {.command = "mire seed"}};
    int status = CLI_FAILED;
    const struct cli_option options[] = {
        {"reports", "N", "number of reports, roughly; default 10000, at most 10000000", .take = take_reports,
         .context = &seeding},
        {"days", "N", "days that the reports cover, up to now; default 30, at most mired's retention_days",
         .take = take_days, .context = &seeding},
        {"seed", "N", "seed of the random reports", .take = take_seed, .context = &seeding},
        CLI_DATABASE(seeding.database)};
    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    seeding.seed.app = argv[1];
    if (argc != 2 || !rows_app_is_slug(argv[1]))
        return cli_wrong("mire seed", "one APP is expected: lower-case letters, digits and '-', 63 at most");
    status = cli_open_database(&seeding.database);
    seeding.seed.now_us = clock_wall_us();
    if (status == CLI_DONE)
        status = run(&seeding);
    pg_close(seeding.database.pg);
    return status;
}
