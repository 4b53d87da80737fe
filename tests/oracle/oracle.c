/*
 * oracle.c - kills a program that records its own allocations, and compares the record with Mire's file.
 *
 *     oracle [KILLS [SEED [PLANT]]]     KILLS: $KILLS if not given, or 100; SEED: another one each time if not given
 *
 * $ORACLE_BUILT: directory of another build of the program and of the preload library, for another C library.
 *
 * In each run the program (app.c), watched by the preload library or linked with libmire in turn, is killed between 0
 * and 40 ms after its script began. PLANT falsifies the record of each run in one position before the comparison. Every
 * run must then be found wrong, which shows that the comparison works. Prints the result; exits 0 if every run was
 * right.
 *
 * MIRE_FIRST is the program's process number, as from mire-run, so that the program is watched from its first
 * instruction on.
 */
#include "oracle/judge.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MIRE_SANITIZED 1 /* a program without the sanitizer's runtime cannot load the preload library */
#else
#define MIRE_SANITIZED 0
#endif

#define READY_MS  5000
#define WITHIN_US 40000u
#define TOLD_MAX  20u

struct run {
    uint32_t seed;
    char scratch[64], store[96], truth_path[96];
    bool linked, plant;
    struct verdict verdict;
};

static uint64_t draw_state;

static uint32_t draw(uint32_t bound)
{
    draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(draw_state >> 33) % bound;
}

static void pause_us(uint32_t us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L}, NULL);
}

static void *map(const char *path, int protection, uint64_t *size_out)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat stat;
    void *bytes = MAP_FAILED;

    if (file >= 0 && fstat(file, &stat) == 0 && stat.st_size > 0) {
        *size_out = (uint64_t)stat.st_size;
        bytes = mmap(NULL, (size_t)stat.st_size, protection, MAP_PRIVATE, file, 0);
    }
    if (file >= 0)
        close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* ---- the program ---- */

/* The words of $MIRE_EMULATOR, which runs programs of this processor. Returns their number. */
static size_t emulator(char *words[], size_t cap)
{
    static char text[512];
    const char *said = getenv("MIRE_EMULATOR");
    char *rest = text;
    size_t count = 0;

    snprintf(text, sizeof(text), "%s", said ? said : "");
    for (char *word; count < cap && (word = strtok_r(rest, " ", &rest));)
        words[count++] = word;
    return count;
}

static void execute(const struct run *run)
{
    const char *other = getenv("ORACLE_BUILT"), *built = other ? other : ORACLE_DIR;
    char app[PATH_MAX], preload[PATH_MAX], seed[16], number[16], stay[] = "0", *words[16];
    size_t count = emulator(words, 8);

    snprintf(app, sizeof(app), "%s/oracle_app%s", built, run->linked ? "_linked" : "");
    snprintf(preload, sizeof(preload), "%s/libmire-preload.so", built);
    snprintf(seed, sizeof(seed), "%u", run->seed);
    words[count++] = app, words[count++] = (char *)(uintptr_t)run->truth_path, words[count++] = seed;
    words[count++] = stay, words[count++] = (char *)(uintptr_t)built, words[count] = NULL;
    if (run->linked) {
        setenv("ORACLE_STORE", run->store, 1);
    } else {
        setenv("LD_PRELOAD", other ? preload : MIRE_PRELOAD, 1);
        setenv("MIRE_APP", "oracle", 1);
        setenv("MIRE_APP_VERSION", "1", 1);
        setenv("MIRE_STORE", run->store, 1);
        setenv("MIRE_MEMORY", "exact", 1);
        snprintf(number, sizeof(number), "%d", (int)getpid());
        setenv("MIRE_FIRST", number, 1); /* as mire-run does: watched from the first instruction on */
    }
    execvp(words[0], words);
    _exit(127);
}

/* Returns true after the script began. The file has its final size before it has contents. */
static bool is_ready(const struct run *run)
{
    _Atomic uint32_t ready = 0;
    int file = open(run->truth_path, O_RDONLY | O_CLOEXEC);

    if (file >= 0) {
        if (pread(file, &ready, sizeof(ready), 0) != sizeof(ready))
            ready = 0;
        close(file);
    }
    return ready != 0;
}

/* Start the program, and kill it after a random time. Returns its process id, -1 if it ended before. */
static pid_t kill_one(const struct run *run)
{
    uint32_t wait_us = draw(WITHIN_US);
    pid_t child = fork();
    int status, waited_ms = 0;

    if (child == 0)
        execute(run);
    while (child > 0 && !is_ready(run) && waited_ms++ < READY_MS && waitpid(child, &status, WNOHANG) == 0)
        pause_us(1000);
    pause_us(wait_us);
    if (child > 0 && kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGKILL)
        return child;
    return -1;
}

/* ---- the file of the killed program ---- */

static bool judge_file(struct run *run, const struct truth *truth, pid_t child, const char *path, bool *is_it)
{
    static struct heap_reader reader;
    struct heap_facts facts;
    uint64_t size;
    void *bytes = map(path, PROT_READ, &size);
    bool done = false;

    *is_it = false;
    if (bytes && mire__read_open(&reader, bytes, size) == MIRE_READ_OK) {
        mire__read_facts(&facts, &reader);
        *is_it = facts.pid == (uint32_t)child;
        done = *is_it && judge(&run->verdict, &reader, truth);
    }
    if (bytes)
        munmap(bytes, size);
    return done;
}

static bool judge_store(struct run *run, const struct truth *truth, pid_t child)
{
    char box[128];
    DIR *dir;
    bool done = false, is_it = false;

    snprintf(box, sizeof(box), "%s/box", run->store);
    dir = opendir(box);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[400], real[PATH_MAX];
        size_t length = strlen(entry->d_name);

        if (length < 5 || strcmp(entry->d_name + length - 5, ".heap") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", box, entry->d_name);
        if (!realpath(path, real)) /* the link may lead to another directory */
            continue;
        if (!is_it)
            done = judge_file(run, truth, child, real, &is_it);
        unlink(real);
    }
    if (dir)
        closedir(dir);
    return done;
}

/* Remove a block, move one, change a size, or change a stack. */
static bool falsify(struct truth *truth)
{
    uint32_t from = draw(truth->slots_count), how = draw(4);

    for (uint32_t i = 0; i < truth->slots_count; i++) {
        struct truth_slot *slot = &truth->slots[(from + i) % truth->slots_count];
        struct truth_block *block = &slot->blocks[slot->state & 1];

        if ((slot->state & TRUTH_CALLING) || block->address == 0)
            continue;
        switch (how) {
        case 0:
            block->address = 0;
            break;
        case 1:
            block->address += 8;
            break;
        case 2:
            block->size++;
            break;
        default:
            block->stack ^= 1u << 8;
            break;
        }
        return true;
    }
    return false;
}

static void fail(struct run *run, const char *why)
{
    run->verdict.wrong++;
    snprintf(run->verdict.first, sizeof(run->verdict.first), "%s", why);
}

static void judge_run(struct run *run, pid_t child)
{
    uint64_t size = 0;
    struct truth *truth = map(run->truth_path, PROT_READ | PROT_WRITE, &size);

    if (child < 0)
        fail(run, truth && truth->complaint[0] ? truth->complaint : "the program ended before it was killed");
    else if (!truth || size != sizeof(*truth))
        fail(run, "no truth");
    else if (run->plant && !falsify(truth))
        fail(run, "nothing to falsify");
    else if (!judge_store(run, truth, child))
        fail(run, "no file of Mire's that can be read");
    if (truth)
        munmap(truth, size);
}

static void clear(const char *dir)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    if (system(command) != 0)
        fprintf(stderr, "oracle: cannot remove %s\n", dir);
}

static void run_one(struct run *run)
{
    snprintf(run->store, sizeof(run->store), "%s/store", run->scratch);
    snprintf(run->truth_path, sizeof(run->truth_path), "%s/truth", run->scratch);
    clear(run->store);
    unlink(run->truth_path);
    judge_run(run, kill_one(run));
}

/* 0: the argument is no number. */
static uint32_t kills_asked(const char *argument)
{
    const char *text = argument ? argument : getenv("KILLS");

    return text ? (uint32_t)strtoul(text, NULL, 10) : 100;
}

int main(int argc, char **argv)
{
    uint32_t kills = kills_asked(argc > 1 ? argv[1] : NULL),
             seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : (uint32_t)time(NULL);
    bool plant = argc > 3;
    char scratch[] = "/tmp/mire-oracle-XXXXXX";
    uint64_t wrong_runs = 0, blocks = 0, pages = 0, in_flight = 0;

    if (kills == 0 || !mkdtemp(scratch))
        return 2;
    draw_state = seed;
    for (uint32_t i = 0; i < kills; i++) {
        struct run run = {.seed = seed + i, .linked = draw(4) == 0 || MIRE_SANITIZED, .plant = plant};

        snprintf(run.scratch, sizeof(run.scratch), "%s", scratch);
        run_one(&run);
        blocks += run.verdict.blocks, pages += run.verdict.pages, in_flight += run.verdict.in_flight;
        if ((run.verdict.wrong > 0) != plant && wrong_runs++ < TOLD_MAX)
            printf("seed %u%s: %u wrong: %s\n", run.seed, run.linked ? ", linked" : "", run.verdict.wrong,
                   plant ? "nothing found" : run.verdict.first);
        fflush(stdout);
    }
    clear(scratch);
    printf("%u kills from seed %u: %" PRIu64 " blocks and %" PRIu64 " pages as they were, %" PRIu64
           " calls in flight, %" PRIu64 " runs %s\n",
           kills, seed, blocks, pages, in_flight, wrong_runs, plant ? "whose planted error was not found" : "wrong");
    return wrong_runs > 0;
}
