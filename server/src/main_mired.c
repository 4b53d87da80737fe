/*
 * main_mired.c - mired [ROLE] [FLAGS]: parses, runs the role, ends.
 */
#include "base/spare.h"
#include "base/vault.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/doctor.h"
#include "daemon/openid.h"
#include "daemon/sweep.h"
#include "sandbox/child.h"

#include <sodium.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(FILE *out)
{
    fprintf(out,
            "mired " MIRE_VERSION " - takes reports in, works on them, serves the dashboard\n\n"
            "usage: mired [serve|http|work|migrate|check|doctor|sweep|rotate] [--config FILE] [flags]\n\n"
            "  serve    everything in one process (default)\n"
            "  http     take reports in and answer questions\n"
            "  work     work on reports\n"
            "  migrate  bring the database's tables up to date and end\n"
            "           --citus, as the first flag: also spread them over the machines of a Citus cluster\n"
            "  check    read the configuration, print it and what is wrong with it, and end\n"
            "  doctor   look at configuration, disk, database and queues, say what to do, and end\n"
            "  rotate   put a new key before those of secret_key_file and end; the next start seals secrets by it\n"
            "  sweep    --dry-run [DAYS]: say which reports upkeep deletes now, or DAYS days from now, and end\n\n"
            "A flag goes before MIRED_<NAME> in the environment, that before `name = value` in the file.\n\n");
    config_help(out);
}

static int check(const struct config *config)
{
    config_print(config, stdout);
    int bad = config_check(config, stdout) + openid_check(config, stdout);
    if (!config_is_loopback(config) && config_mode(config) == MIRE_MODE_OPEN)
        printf("listen is not a loopback address and sign_in is no: everyone who reaches it can read all reports\n");
    printf(bad ? "%d problem(s)\n" : "no problems\n", bad);
    return bad ? 1 : 0;
}

static int rotate(const struct config *config)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    char path[MIRE_SETTING_MAX];
    config_secret_key_file(path, config);
    if (vault_rotate(&problem, path)) {
        fprintf(stderr, "mired: %s\n", problem.text);
        return 1;
    }
    printf("%s has a new first key. Restart every mired of the database, give each the same file, and remove the other "
           "lines when mired doctor finds every secret sealed by the first key.\n",
           path);
    return 0;
}

/* Anywhere: `mired serve --help` asks the same as `mired --help`. */
static bool asks_for_help(char *const *args)
{
    for (; *args; args++)
        if (!strcmp(*args, "--help") || !strcmp(*args, "-h"))
            return true;
    return false;
}

/* --dry-run [DAYS], at *args, which goes on behind them. */
static bool take_dry_run(int *days_out, char ***args)
{
    if (!**args || strcmp(**args, "--dry-run") != 0)
        return false;
    ++*args;
    if (**args && strspn(**args, "0123456789") == strlen(**args) && strlen(**args) <= 5 && ***args)
        *days_out = atoi(*(*args)++);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int role; /* -1: check, -2: doctor, -3: sweep, -4: rotate */
    } roles[] = {{"serve", MIRE_ROLE_SERVE},
                 {"http", MIRE_ROLE_HTTP},
                 {"work", MIRE_ROLE_WORK},
                 {"migrate", MIRE_ROLE_MIGRATE},
                 {"check", -1},
                 {"doctor", -2},
                 {"sweep", -3},
                 {"rotate", -4}};
    static struct config config;
    struct problem problem = MIRE_PROBLEM_INIT;
    int role = MIRE_ROLE_SERVE, ahead_days = 0;
    char **args = argv + (argc > 0);
    if (*args && !strcmp(*args, "symbol-child")) /* what work.c starts to convert a debug file */
        return symbols_child(argc - 1, args);
    if (asks_for_help(args)) {
        help(stdout);
        return 0;
    }
    if (*args && !strcmp(*args, "--version")) {
        puts("mired " MIRE_VERSION);
        return 0;
    }
    if (*args && **args != '-') {
        size_t at = 0;
        while (at < sizeof roles / sizeof *roles && strcmp(roles[at].name, *args) != 0)
            at++;
        if (at == sizeof roles / sizeof *roles) {
            fprintf(stderr, "mired: there is no role %s; mired --help lists them\n", *args);
            return 2;
        }
        role = roles[at].role;
        args++;
        if (role == MIRE_ROLE_MIGRATE && *args && !strcmp(*args, "--citus")) {
            role = MIRE_ROLE_SPREAD;
            args++;
        }
        if (role == -3 && !take_dry_run(&ahead_days, &args)) {
            fprintf(stderr, "mired: sweep --dry-run [DAYS] says what is due; mired itself deletes it, hour by hour\n");
            return 2;
        }
    }
    spare_keep();
    if (sodium_init() < 0 || config_load(&config, &problem, args, environ)) {
        fprintf(stderr, "mired: %s\n", problem.text);
        return 2;
    }
    if (role == -2)
        return doctor_run(&config, stdout) ? 1 : 0;
    if (role == -4)
        return rotate(&config);
    if (role == -3)
        return sweep_preview(&config, ahead_days, stdout);
    if (role < 0)
        return check(&config);
    if (config_check(&config, stderr) + openid_check(&config, stderr))
        return 2;
    return daemon_run(&config, (enum daemon_role)role);
}
