/*
 * start_work.c - starts the parts of the role work.
 */
#include "daemon/parts.h"
#include "daemon/seals.h"

#include "base/fault.h"
#include "postgres/distribute.h"
#include "rekey/rekey.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* The parts of a setting; `text` has room for all of it, and is where they lie. */
static size_t split(const char *parts[MIRE_LIST_MAX], char text[MIRE_SETTING_MAX], const char *setting,
                    const char *between)
{
    size_t count = 0;
    snprintf(text, MIRE_SETTING_MAX, "%s", setting);
    for (char *part; count < MIRE_LIST_MAX && (part = strsep(&text, between));)
        if (*part)
            parts[count++] = part;
    return count;
}

static int start_seek(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->debuginfod_count =
        split(daemon->debuginfod, daemon->debuginfod_text, config_text(config, MIRE_SET_DEBUGINFOD), " ");
    struct seek_options options = {.pg = daemon->pg,
                                   .log = &daemon->log,
                                   .cache_dir = daemon->cache_dir,
                                   .symbol_dirs = daemon->symbol_dirs,
                                   .symbol_dir_count = daemon->symbol_dir_count,
                                   .debuginfod = daemon->debuginfod,
                                   .debuginfod_count = daemon->debuginfod_count,
                                   .debuginfod_max_bytes = (uint64_t)config_number(config, MIRE_SET_DEBUGINFOD_MAX_MB)
                                                           << 20,
                                   .debuginfod_within_s = (int)config_number(config, MIRE_SET_DEBUGINFOD_S),
                                   .debuginfod_installs = config_number(config, MIRE_SET_DEBUGINFOD_INSTALLS),
                                   .debuginfod_hour = config_number(config, MIRE_SET_DEBUGINFOD_HOUR)};
    return seek_start(&daemon->seek, &options);
}

static int start_workers(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    int spread = pg_is_distributed(daemon->pg);
    if (spread < 0)
        return spread;
    daemon->work_options =
        (struct work_options){.pg = daemon->pg,
                              .wakeup = daemon->wakeup,
                              .log = &daemon->log,
                              .threads = (int)config_number(daemon->config, MIRE_SET_WORKERS),
                              .keep_days = (int)config_number(config, MIRE_SET_RETENTION_DAYS),
                              .new_values = config_number(config, MIRE_SET_NEW_VALUES_DAY),
                              .new_issues = config_number(config, MIRE_SET_NEW_ISSUES_DAY),
                              .enough = config_number(config, MIRE_SET_ENOUGH_PER_ISSUE_DAY),
                              .cache_dir = daemon->cache_dir,
                              .converter = "/proc/self/exe",
                              .cache_max_bytes = (uint64_t)config_number(daemon->config, MIRE_SET_CACHE_MAX_MB) << 20,
                              .rules_path = config_text(daemon->config, MIRE_SET_RULES),
                              .suspects_path = config_text(daemon->config, MIRE_SET_MEMORY_RULES),
                              .symbol_dirs = daemon->symbol_dirs,
                              .symbol_dir_count = daemon->symbol_dir_count,
                              .by_slot = spread > 0,
                              .local_images = config_reads_images(config)};
    int rc = work_start(&daemon->work, &daemon->work_options);
    atomic_store(&daemon->health.work, daemon->work);
    if (!rc)
        rc = rekey_start(daemon->work);
    return rc;
}

static int read_smtp_password(struct daemon *daemon)
{
    if (!config_secret(daemon->smtp_password, daemon->config, MIRE_SET_SMTP_PASSWORD_FILE))
        return 0;
    log_event(&daemon->log, MIRE_LOG_ERROR, "mired.smtp_password",
              LOG_TEXT("path", config_text(daemon->config, MIRE_SET_SMTP_PASSWORD_FILE)),
              LOG_TEXT("why", errno ? strerror(errno) : "Its first line is empty."));
    return MIRE_FAULT_SYSTEM;
}

/* The host of an address, for ids of e-mails. */
static const char *host_of(const struct daemon *daemon)
{
    const char *at = strrchr(config_text(daemon->config, MIRE_SET_MAIL_FROM), '@');
    return at && at[1] ? at + 1 : "mire";
}

static int start_sender(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    struct sender_options options = {.pg = daemon->pg,
                                     .log = &daemon->log,
                                     .base = daemon->base,
                                     .budget = {config_number(config, MIRE_SET_QUOTA_REPORTS_DAY),
                                                (int64_t)config_number(config, MIRE_SET_QUOTA_MB_DAY) << 20},
                                     .every_s = (int32_t)config_number(config, MIRE_SET_ALERT_EVERY_S),
                                     .hook = {.vault = daemon->vault,
                                              .private_too = config_flag(config, MIRE_SET_ALERT_PRIVATE_HOOKS),
                                              .ca_file = config_text(config, MIRE_SET_ALERT_CA_FILE),
                                              .smtp = config_text(config, MIRE_SET_SMTP),
                                              .smtp_user = config_text(config, MIRE_SET_SMTP_USER),
                                              .smtp_password = daemon->smtp_password,
                                              .smtp_plain = !config_flag(config, MIRE_SET_SMTP_TLS),
                                              .mail_from = config_text(config, MIRE_SET_MAIL_FROM),
                                              .host = host_of(daemon)}};
    int rc = read_smtp_password(daemon);
    if (!rc)
        rc = sender_start(&daemon->sender, &options);
    atomic_store(&daemon->health.sender, daemon->sender);
    return rc ? rc
              : ticket_worker_start(&daemon->tickets, &(struct ticket_options){daemon->pg, &daemon->log, options.hook});
}

int daemon_start_work(struct daemon *daemon)
{
    daemon->symbol_dir_count =
        split(daemon->symbol_dirs, daemon->symbol_dirs_text, config_text(daemon->config, MIRE_SET_SYMBOL_DIRS), ":");
    int rc = seals_renew(daemon->pg, daemon->vault, &daemon->log);
    if (!rc)
        rc = start_workers(daemon);
    if (!rc)
        rc = start_seek(daemon);
    return rc ? rc : start_sender(daemon);
}
