/*
 * hand.c - the slots in their mapping, and what is made of those that a dead process left.
 */
#include "work/hand.h"

#include "base/fault.h"
#include "base/log.h"
#include "pg/rekey_due.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (MIRE_HAND_SLOTS * sizeof(struct hand_slot))
#define CRASHED    "the process ended while the report was in this stage"

int hand_open(struct hand *hand, const char *cache_dir)
{
    *hand = (struct hand){.fd = -1};
    hand->dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (hand->dir < 0)
        return MIRE_FAULT_SYSTEM;
    hand->fd = openat(hand->dir, "in-hand", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (hand->fd >= 0 && flock(hand->fd, LOCK_EX | LOCK_NB) != 0) {
        hand_close(hand);
        return 1;
    }
    /* Allocated, not just long: a store must not meet a full disk. */
    if (hand->fd < 0 || posix_fallocate(hand->fd, 0, FILE_BYTES) != 0) {
        hand_close(hand);
        return MIRE_FAULT_SYSTEM;
    }
    void *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, hand->fd, 0);
    if (map == MAP_FAILED) {
        hand_close(hand);
        return MIRE_FAULT_SYSTEM;
    }
    hand->slots = map;
    return 0;
}

void hand_close(struct hand *hand)
{
    if (hand->slots)
        munmap(hand->slots, FILE_BYTES);
    if (hand->fd > 0)
        close(hand->fd);
    if (hand->dir > 0)
        close(hand->dir);
    *hand = (struct hand){.dir = -1, .fd = -1};
}

/* ID.suspect */
struct suspect_name {
    char text[2 * sizeof((struct hand_slot *)0)->build_id + sizeof ".suspect"];
};

static struct suspect_name suspect_name(const uint8_t *build_id, size_t len)
{
    struct suspect_name name;
    hex_format(name.text, build_id, len);
    memcpy(name.text + 2 * len, ".suspect", sizeof ".suspect");
    return name;
}

static void suspect(const struct hand *hand, const struct hand_slot *slot, const struct log *log)
{
    if (!slot->build_id_len || slot->build_id_len > sizeof slot->build_id)
        return;
    struct suspect_name name = suspect_name(slot->build_id, slot->build_id_len);
    MIRE_SCOPED(close_fd) int fd = openat(hand->dir, name.text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool told = fd >= 0 && write(fd, "!", 1) == 1;
    log_event(log, MIRE_LOG_WARN, told ? "work.suspect" : "work.suspect_lost", LOG_TEXT("file", name.text));
}

/* It was being derived anew, or is done. */
static int count_rekey(struct pg_tx **tx, const struct hand_slot *slot)
{
    struct report_key key = {.slot = slot->slot, .day = slot->day};
    memcpy(key.report_id, slot->report_id, sizeof key.report_id);
    int rc = pg_rekey_count_attempt(*tx, &key);
    return rc ? rc : pg_commit(tx);
}

/* Count the attempt, if the report still waits. */
static int count_attempt(struct pg *pg, const struct hand_slot *slot, const char *stage, const struct log *log)
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

int hand_recover(struct hand *hand, struct pg *pg, const struct log *log)
{
    for (int i = 0; hand->slots && i < MIRE_HAND_SLOTS; i++) {
        struct hand_slot *slot = &hand->slots[i];
        char stage[sizeof slot->stage + 1] = "";
        if (!slot->busy)
            continue;
        memcpy(stage, slot->stage, sizeof slot->stage);
        int rc = count_attempt(pg, slot, stage, log);
        if (rc < 0)
            return rc;
        suspect(hand, slot, log);
        *slot = (struct hand_slot){0};
    }
    return 0;
}

struct hand_slot *hand_slot(struct hand *hand, size_t worker)
{
    return hand->slots && worker < MIRE_HAND_SLOTS ? &hand->slots[worker] : NULL;
}

/* The debug file did no harm this time. */
static void leave_module(struct hand *hand, struct hand_slot *slot)
{
    if (slot->build_id_len && slot->suspected)
        (void)unlinkat(hand->dir, suspect_name(slot->build_id, slot->build_id_len).text, 0);
    *(volatile uint8_t *)&slot->build_id_len = 0;
}

void hand_take(struct hand *hand, struct hand_slot *slot, const struct inbox_claim *claim)
{
    if (!slot)
        return;
    slot->build_id_len = 0;
    slot->slot = claim->slot;
    slot->day = claim->day;
    memcpy(slot->report_id, claim->report_id.bytes, sizeof slot->report_id);
    hand_stage(hand, slot, "claim");
    /* Who reads this comes after the process: only the compiler could still change the order. */
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile uint32_t *)&slot->busy = 1;
}

void hand_stage(struct hand *hand, struct hand_slot *slot, const char *stage)
{
    if (!slot)
        return;
    leave_module(hand, slot);
    snprintf(slot->stage, sizeof slot->stage, "%s", stage);
}

void hand_drop(struct hand *hand, struct hand_slot *slot)
{
    if (!slot)
        return;
    leave_module(hand, slot);
    *(volatile uint32_t *)&slot->busy = 0;
}

bool hand_module(struct hand *hand, struct hand_slot *slot, const uint8_t *build_id, size_t len)
{
    struct stat st;
    if (!slot || !len || len > sizeof slot->build_id)
        return true;
    leave_module(hand, slot);
    bool suspected = fstatat(hand->dir, suspect_name(build_id, len).text, &st, 0) == 0;
    if (suspected && st.st_size >= MIRE_HAND_SUSPECTS)
        return false;
    slot->suspected = suspected;
    memcpy(slot->build_id, build_id, len);
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile uint8_t *)&slot->build_id_len = (uint8_t)len;
    return true;
}
