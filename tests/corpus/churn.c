/*
 * churn.c - threads that continuously make the calls which must not disturb a sampler.
 */
#include "hanger.h"

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static atomic_bool ended;
static pthread_t threads[8];
static size_t thread_count;

static void churn_malloc(void)
{
    void *kept[64];

    for (size_t i = 0; i < 64; i++)
        kept[i] = calloc(1, 16u << (i % 12));
    for (size_t i = 0; i < 64; i++)
        free(kept[i]);
}

static void churn_dlopen(void)
{
    void *module = dlopen(CORPUS_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    void (*touch)(void) = module ? (void (*)(void))dlsym(module, "plugin_touch") : NULL;

    if (touch)
        touch();
    if (module)
        dlclose(module);
}

/* A fork whose child ends at once, and a posix_spawn, which uses vfork. */
static void churn_fork(void)
{
    static char *const nothing[] = {(char *)"true", NULL};
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (posix_spawnp(&child, "true", NULL, NULL, nothing, environ) == 0)
        waitpid(child, NULL, 0);
}

static void *leave(void *argument)
{
    free(malloc(100));
    return argument;
}

static void churn_exit(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, leave, NULL) == 0)
        pthread_join(thread, NULL);
}

static const struct kind {
    const char *name;
    void (*go)(void);
    useconds_t pause_us; /* pause of a thread between two rounds, for the rest of the machine */
} kinds[] = {{"malloc", churn_malloc, 2000},
             {"dlopen", churn_dlopen, 2000},
             {"fork", churn_fork, 20000},
             {"exit", churn_exit, 2000}};

static void *churn(void *argument)
{
    const struct kind *kind = argument;

    while (!atomic_load(&ended)) {
        kind->go();
        usleep(kind->pause_us);
    }
    return NULL;
}

void churn_once(void)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        kinds[i].go();
}

static bool start(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return thread_count < sizeof(threads) / sizeof(threads[0]) &&
                   pthread_create(&threads[thread_count++], NULL, churn, (void *)(uintptr_t)&kinds[i]) == 0;
    }
    return false;
}

bool churn_start(const char *names)
{
    char *copy = strdup(names), *rest = copy, *name;
    bool started = copy != NULL;

    while (started && (name = strsep(&rest, "+")))
        started = strcmp(name, "none") == 0 || start(name);
    free(copy);
    return started;
}

void churn_stop(void)
{
    atomic_store(&ended, true);
    for (size_t i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
}
