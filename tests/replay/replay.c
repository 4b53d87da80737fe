/*
 * replay.c - crash points: ends an app's life (scenario.c) after every change of the disk, and starts the app again.
 *
 *     replay          every point, every policy: some minutes
 *     replay --quick  a sample of them, seconds
 *
 * Kill: the process kills itself after each system call that changes the disk, in the middle of each write, and after
 * each store into a mapped file. Power failure: the calls are logged once for each policy; then the directory is built
 * as a disk may contain it after each call, in the worst cases and at random.
 *
 * Prints a table. Exit status 1: a promise of mire/store.h is broken.
 */
#include "replay/check.h"
#include "replay/disk.h"
#include "replay/shim.h"
#include "support/scratch.h"
#include "support/seed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const policies[] = {
    [MIRE_STORE_SYNC_SEAL] = "seal", [MIRE_STORE_SYNC_ALWAYS] = "always", [MIRE_STORE_SYNC_NEVER] = "never"};

/* Shared with the children. */
static struct {
    struct truth truth;
    struct found found;
} * shared;

static char place[64];

static void new_place(void)
{
    /* In memory if possible, since nothing here needs to wait for a disk. */
    snprintf(place, sizeof(place), "%s/mire-replay-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(place)) {
        perror(place);
        exit(2);
    }
}

static void remove_place(void)
{
    nftw(place, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The second start, in a process of its own. */
static void check(const struct truth *truth)
{
    struct found before = shared->found;
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(120);
        check_start(&shared->found, place, truth);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        shared->found = before;
        shared->found.states++;
        shared->found.crashes++;
    }
}

/* Run the app's life. Returns false if it ran to its end. */
static bool live(enum mire_store_sync sync, bool recording, uint64_t kill_at)
{
    pid_t child;
    int status;

    memset(&shared->truth, 0, sizeof(shared->truth));
    child = fork();
    if (child == 0) {
        char dir[128];

        snprintf(dir, sizeof(dir), "%s/app", place);
        shim_begin(dir, recording, kill_at);
        scenario_run(&shared->truth, dir, sync);
        shim->on = false;
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    fprintf(stderr, "the scenario failed at point %llu: status %x\n", (unsigned long long)kill_at, (unsigned)status);
    exit(2);
}

/* Print the state that broke a promise. */
static void complain(const char *what, uint64_t before, uint64_t after, const char *where)
{
    static unsigned said;

    if (after > before && said++ < 20)
        fprintf(stderr, "%s: %s\n", where, what);
}

static void compare(const struct found *before, bool power, enum mire_store_sync sync, const char *where)
{
    const struct found *now = &shared->found;
    bool sure = !power || sync == MIRE_STORE_SYNC_ALWAYS;

    complain("crashed", before->crashes, now->crashes, where);
    complain("damaged, and taken for whole", before->taken, now->taken, where);
    complain("refused, not counted once", before->uncounted, now->uncounted, where);
    complain("left for ever", before->leaks, now->leaks, where);
    if (sure || sync == MIRE_STORE_SYNC_SEAL) {
        complain("a report is lost", before->lost, now->lost, where);
        complain("the installation is another one", before->installs_lost, now->installs_lost, where);
    }
    if (!sure)
        return;
    complain("sent again", before->sent_again, now->sent_again, where);
    complain("a loss is forgotten", before->losses_forgotten, now->losses_forgotten, where);
    complain("a loss is told twice", before->losses_doubled, now->losses_doubled, where);
    complain("the document is lost", before->documents_lost, now->documents_lost, where);
}

static bool is_kept(const struct found *found, bool power, enum mire_store_sync sync)
{
    uint64_t broken = found->crashes + found->taken + found->uncounted + found->leaks;

    if (!power || sync != MIRE_STORE_SYNC_NEVER)
        broken += found->lost + found->installs_lost;
    if (!power || sync == MIRE_STORE_SYNC_ALWAYS)
        broken += found->sent_again + found->losses_forgotten + found->losses_doubled + found->documents_lost;
    return broken == 0;
}

static void print_head(void)
{
    printf("%-13s %7s %7s | %8s %8s %7s %5s | %5s %7s %9s %5s | %6s %7s %4s %7s | %5s %7s\n", "", "points", "states",
           "sealed", "whole", "evicted", "lost", "again", "refused", "uncounted", "taken", "forgot", "doubled", "docs",
           "install", "leaks", "crashes");
}

static bool print_row(const char *how, uint64_t points, bool power, enum mire_store_sync sync)
{
    const struct found *f = &shared->found;
    bool kept = is_kept(f, power, sync);
    char name[32];

#define N(x) ((unsigned long long)(x))
    snprintf(name, sizeof(name), "%s, %s", how, policies[sync]);
    printf("%-13s %7llu %7llu | %8llu %8llu %7llu %5llu | %5llu %7llu %9llu %5llu | %6llu %7llu %4llu %7llu | %5llu "
           "%7llu  %s\n",
           name, N(points), N(f->states), N(f->acknowledged), N(f->whole), N(f->evicted), N(f->lost), N(f->sent_again),
           N(f->refused), N(f->uncounted), N(f->taken), N(f->losses_forgotten), N(f->losses_doubled),
           N(f->documents_lost), N(f->installs_lost), N(f->leaks), N(f->crashes), kept ? "kept" : "BROKEN");
#undef N
    fflush(stdout);
    return kept;
}

/* Kill the app after every `stride`th point. */
static bool replay_kills(enum mire_store_sync sync, uint64_t stride, uint64_t *stores_out)
{
    uint64_t points = 0;
    char where[64];

    memset(&shared->found, 0, sizeof(shared->found));
    for (uint64_t k = 1; k == 1 || k <= points; k += stride) {
        struct found before = shared->found;
        char dir[128];
        bool killed;

        new_place();
        killed = live(sync, false, k == 1 ? 0 : k); /* the first run goes to the end, to count the points */
        if (k == 1) {
            points = shim->points;
            *stores_out = shim->stores;
        }
        snprintf(dir, sizeof(dir), "%s/app", place);
        snprintf(where, sizeof(where), "killed at %llu, %s", (unsigned long long)k, policies[sync]);
        if (killed || k == 1) {
            char up[64];

            snprintf(up, sizeof(up), "%s", place);
            snprintf(place, sizeof(place), "%.40s/app", up);
            mkdir(place, 0700);
            check(&shared->truth);
            snprintf(place, sizeof(place), "%s", up);
        }
        compare(&before, false, sync, where);
        remove_place();
    }
    return print_row("killed", points, false, sync);
}

/* Check one disk. */
static void replay_disk(enum mire_store_sync sync, size_t end, const struct truth *truth, enum disk_names names,
                        enum disk_data data, uint64_t *random)
{
    struct found before = shared->found;
    char where[96];

    new_place();
    disk_make(place, end, names, data, random);
    check(truth);
    snprintf(where, sizeof(where), "power at byte %zu of the log, names %d, data %d, %s", end, names, data,
             policies[sync]);
    compare(&before, true, sync, where);
    remove_place();
}

static bool replay_power(enum mire_store_sync sync, uint64_t stride, unsigned chances)
{
    uint64_t random = 1, points = 0;
    struct truth truth = {.report_count = 0};

    memset(&shared->found, 0, sizeof(shared->found));
    new_place();
    if (live(sync, true, 0))
        exit(2);
    remove_place();
    for (size_t at = 0; at < shim->log_size;) {
        const struct op *op = disk_op(at);

        at += op->size;
        if (op->kind == OP_TRUTH) {
            memcpy(&truth, disk_bytes(op), sizeof(truth));
            continue;
        }
        if (points++ % stride != 0)
            continue;
        for (enum disk_names names = NAMES_LOST; names <= NAMES_THERE; names++)
            for (enum disk_data data = DATA_LOST; data < DATA_ANY; data++)
                replay_disk(sync, at, &truth, names, data, &random);
        for (unsigned i = 0; i < chances; i++)
            replay_disk(sync, at, &truth, i % 2 ? NAMES_SOME : NAMES_UP_TO, DATA_ANY, &random);
    }
    return print_row("power", points, true, sync);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0, kept = true;
    uint64_t stores = 0;

    shim_open();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    test_seed();
    print_head();
    kept &= replay_kills(MIRE_STORE_SYNC_SEAL, quick ? 23 : 1, &stores);
    for (int i = MIRE_STORE_SYNC_SEAL; i <= MIRE_STORE_SYNC_NEVER; i++)
        kept &= replay_power((enum mire_store_sync)i, quick ? 29 : 1, quick ? 2 : 6);
    printf("of the points of kills %llu are stores into mapped files%s\n", (unsigned long long)stores,
           stores ? "" : " (none on this processor)");
    return kept ? 0 : 1;
}
