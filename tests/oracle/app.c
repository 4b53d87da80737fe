/*
 * app.c - the oracle's program: see script.h.
 *
 * Built twice: plain, for the preload library, and linked with libmire (WITH_MIRE), which then patches its tables.
 */
#include "oracle/script.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WITH_MIRE
#include <mire/memory.h>
#endif

extern char __start_oracle_code[], __stop_oracle_code[];

static int find_load(struct dl_phdr_info *info, size_t size, void *load_out)
{
    (void)size;
    *(uint64_t *)load_out = info->dlpi_addr;
    return 1; /* the first module is the program */
}

static int by_start(const void *left, const void *right)
{
    const struct truth_code *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

static void add_code(struct truth *truth, uint64_t load, const void *start, uint32_t what)
{
    truth->codes[truth->codes_count++] = (struct truth_code){.start = (uintptr_t)start - load, .what = what};
}

static void tell_codes(struct truth *truth)
{
    uint64_t load = 0;

    dl_iterate_phdr(find_load, &load);
    for (uint32_t i = 0; i < oracle_sites_count; i++)
        add_code(truth, load, (const void *)(uintptr_t)oracle_sites[i].function, TRUTH_SITE + i);
    for (uint32_t i = 0; i < 3; i++)
        add_code(truth, load, (const void *)(uintptr_t)oracle_steps[i], i);
    add_code(truth, load, (const void *)(uintptr_t)oracle_mmap, TRUTH_SITE + SITE_MMAP);
    add_code(truth, load, (const void *)(uintptr_t)oracle_mremap, TRUTH_SITE + SITE_MREMAP);
    add_code(truth, load, (const void *)(uintptr_t)oracle_mmap_fixed, TRUTH_SITE + SITE_MMAP_FIXED);
    add_code(truth, load, (const void *)(uintptr_t)oracle_mprotect, TRUTH_SITE + SITE_MPROTECT);
    add_code(truth, load, __stop_oracle_code, TRUTH_NEITHER);
    qsort(truth->codes, truth->codes_count, sizeof(truth->codes[0]), by_start);
}

/*
 * Under qemu-user MADV_WIPEONFORK succeeds without an effect, so libmire does not recognize the child. A sanitizer's
 * runtime deadlocks in the child on locks that threads of the parent held.
 */
static bool may_fork(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    const char *emulator = getenv("MIRE_EMULATOR");

    return !emulator || !emulator[0];
#endif
}

static void first_of_all(struct worker *worker)
{
    switch (script_below(worker, 400)) {
    case 0:
        if (may_fork())
            script_fork(worker);
        return;
    case 1:
    case 2:
        script_visit(worker);
        return;
    case 3:
    case 4:
    case 5:
        script_plugin(worker);
        return;
    default:
        return;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (uint32_t i = 0; worker->calls == 0 || i < worker->calls; i++) {
        if (worker->number == 0)
            first_of_all(worker);
        if (script_below(worker, 12) == 0)
            script_map(worker);
        else
            script_turn(worker);
    }
    return NULL;
}

static struct truth *map_truth(const char *path, uint32_t seed)
{
    static const uint32_t slots[] = {48, 512, 4096, TRUTH_SLOTS_MAX};
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct truth *truth;

    if (file < 0 || ftruncate(file, sizeof(*truth)) != 0)
        return NULL;
    truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (truth == MAP_FAILED)
        return NULL;
    truth->slots_count = slots[seed / 4 % 4];
    return truth;
}

#ifdef WITH_MIRE
static bool start_mire(void)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, "oracle", "1");
    mire_options_set_store(options, getenv("ORACLE_STORE"));
    mire_options_set_memory(options, MIRE_MEMORY_EXACT, 0);
    err = mire_start(options);
    mire_options_free(options);
    return err == MIRE_OK;
}
#else
static bool start_mire(void)
{
    return true;
}
#endif

int main(int argc, char **argv)
{
    static struct worker workers[TRUTH_WORKERS_MAX];
    uint32_t seed = argc == 5 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, count = 1 + seed % 4;
    struct truth *truth = argc == 5 && chdir(argv[4]) == 0 ? map_truth(argv[1], seed) : NULL;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (!truth || file < 0 || !start_mire())
        return 2;
    tell_codes(truth);
    for (uint32_t i = 0; i < count; i++) {
        workers[i] =
            (struct worker){.number = i, .calls = (uint32_t)strtoul(argv[3], NULL, 10), .truth = truth, .file = file};
        workers[i].draw = (uint64_t)seed << 8 | i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 3;
    }
    atomic_store(&truth->ready, 1);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    raise(SIGKILL);
    return 4;
}
