/*
 * journal.c - the slots in their mapping, and the recovery after a process that died.
 */
#include "pipeline/journal.h"

#include "base/fault.h"
#include "base/log.h"
#include "rows/rekey_due.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (MIRE_JOURNAL_SLOTS * sizeof(struct journal_slot))
#define CRASHED    "the process ended while the report was in this stage"

int journal_open(struct journal *journal, const char *cache_dir)
{
    *journal = (struct journal){.fd = -1};
    journal->dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (journal->dir < 0)
        return MIRE_FAULT_SYSTEM;
    journal->fd = openat(journal->dir, "in-flight", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->fd >= 0 && flock(journal->fd, LOCK_EX | LOCK_NB) != 0) {
        journal_close(journal);
        return 1;
    }
    /* Allocated, not just long: a store must not meet a full disk. */
    if (journal->fd < 0 || posix_fallocate(journal->fd, 0, FILE_BYTES) != 0) {
        journal_close(journal);
        return MIRE_FAULT_SYSTEM;
    }
    void *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, journal->fd, 0);
    if (map == MAP_FAILED) {
        journal_close(journal);
        return MIRE_FAULT_SYSTEM;
    }
    journal->slots = map;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (journal->slots)
        munmap(journal->slots, FILE_BYTES);
    if (journal->fd > 0)
        close(journal->fd);
    if (journal->dir > 0)
        close(journal->dir);
    *journal = (struct journal){.dir = -1, .fd = -1};
}

/* ID.suspect */
struct suspect_name {
    char text[2 * sizeof((struct journal_slot *)0)->build_id + sizeof ".suspect"];
};

static struct suspect_name suspect_name(const uint8_t *build_id, size_t len)
{
    struct suspect_name name;
    hex_format(name.text, build_id, len);
    memcpy(name.text + 2 * len, ".suspect", sizeof ".suspect");
    return name;
}

static void suspect(const struct journal *journal, const struct journal_slot *slot, const struct log *log)
{
    if (!slot->build_id_len || slot->build_id_len > sizeof slot->build_id)
        return;
    struct suspect_name name = suspect_name(slot->build_id, slot->build_id_len);
    MIRE_SCOPED(close_fd) int fd = openat(journal->dir, name.text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool given = fd >= 0 && write(fd, "!", 1) == 1;
    log_event(log, MIRE_LOG_WARN, given ? "work.suspect" : "work.suspect_lost", LOG_TEXT("file", name.text));
}

/* The report was being derived again, or is finished. */
static int count_rekey(struct pg_tx **tx, const struct journal_slot *slot)
{
    struct report_key key = {.slot = slot->slot, .day = slot->day};
    memcpy(key.report_id, slot->report_id, sizeof key.report_id);
    int rc = rows_rekey_count_attempt(*tx, &key);
    return rc ? rc : pg_commit(tx);
}

/* Count the attempt, if the report still waits. */
static int count_attempt(struct pg *pg, const struct journal_slot *slot, const char *stage, const struct log *log)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct inbox_claim claim = {.slot = slot->slot, .day = slot->day};
    char id[MIRE_UUID_TEXT];
    memcpy(claim.report_id.bytes, slot->report_id, sizeof slot->report_id);
    uuid_format(id, &claim.report_id);
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = inbox_find(&claim, tx);
    if (!rc)
        return count_rekey(&tx, slot);
    if (rc < 0)
        return rc;
    rc = inbox_fail(tx, &claim, stage, CRASHED, false);
    if (!rc)
        rc = pg_commit(&tx);
    if (!rc)
        log_event(log, MIRE_LOG_WARN, "work.crashed", LOG_TEXT("report", id), LOG_TEXT("stage", stage),
                  LOG_NUMBER("attempt", claim.attempts + 1));
    return rc;
}

int journal_recover(struct journal *journal, struct pg *pg, const struct log *log)
{
    for (int i = 0; journal->slots && i < MIRE_JOURNAL_SLOTS; i++) {
        struct journal_slot *slot = &journal->slots[i];
        char stage[sizeof slot->stage + 1] = "";
        if (!slot->busy)
            continue;
        memcpy(stage, slot->stage, sizeof slot->stage);
        int rc = count_attempt(pg, slot, stage, log);
        if (rc < 0)
            return rc;
        suspect(journal, slot, log);
        *slot = (struct journal_slot){0};
    }
    return 0;
}

struct journal_slot *journal_slot(struct journal *journal, size_t worker)
{
    return journal->slots && worker < MIRE_JOURNAL_SLOTS ? &journal->slots[worker] : NULL;
}

/* The debug file was used without harm, so it is no longer suspected. */
static void leave_module(struct journal *journal, struct journal_slot *slot)
{
    if (slot->build_id_len && slot->suspected)
        (void)unlinkat(journal->dir, suspect_name(slot->build_id, slot->build_id_len).text, 0);
    *(volatile uint8_t *)&slot->build_id_len = 0;
}

void journal_take(struct journal *journal, struct journal_slot *slot, const struct inbox_claim *claim)
{
    if (!slot)
        return;
    slot->build_id_len = 0;
    slot->slot = claim->slot;
    slot->day = claim->day;
    memcpy(slot->report_id, claim->report_id.bytes, sizeof slot->report_id);
    journal_stage(journal, slot, "claim");
    /* The reader comes after the death of the process, so only the compiler could still change the order. */
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile uint32_t *)&slot->busy = 1;
}

void journal_stage(struct journal *journal, struct journal_slot *slot, const char *stage)
{
    if (!slot)
        return;
    leave_module(journal, slot);
    snprintf(slot->stage, sizeof slot->stage, "%s", stage);
}

void journal_drop(struct journal *journal, struct journal_slot *slot)
{
    if (!slot)
        return;
    leave_module(journal, slot);
    *(volatile uint32_t *)&slot->busy = 0;
}

bool journal_module(struct journal *journal, struct journal_slot *slot, const uint8_t *build_id, size_t len)
{
    struct stat st;

    if (!slot || !len || len > sizeof slot->build_id)
        return true;
    leave_module(journal, slot);
    bool suspected = fstatat(journal->dir, suspect_name(build_id, len).text, &st, 0) == 0;
    if (suspected && st.st_size >= MIRE_JOURNAL_SUSPECTS)
        return false;
    slot->suspected = suspected;
    memcpy(slot->build_id, build_id, len);
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile uint8_t *)&slot->build_id_len = (uint8_t)len;
    return true;
}
