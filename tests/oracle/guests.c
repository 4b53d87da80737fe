/*
 * guests.c - short-lived threads, children, modules: see script.h.
 */
#include "oracle/script.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define INHERITED   4u
#define CHILD_TURNS 200u

static void *visit(void *argument)
{
    struct worker *visitor = argument;

    for (uint32_t turns = 1 + script_below(visitor, 30); turns > 0; turns--)
        script_turn(visitor);
    return NULL;
}

void script_visit(struct worker *worker)
{
    struct worker visitor = {
        .number = TRUTH_WORKERS_MAX - 1, .truth = worker->truth, .draw = worker->draw ^ 0x5bd1e995};

    (void)script_below(worker, 2);
    if (pthread_create(&visitor.thread, NULL, visit, &visitor) != 0)
        script_complain(worker->truth, "no thread");
    pthread_join(visitor.thread, NULL);
}

/* In the child: use other slots, since the parent's slots go on changing. */
static _Noreturn void live_on(struct worker *worker, void *const inherited[INHERITED])
{
    struct truth *own = mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (own == MAP_FAILED)
        _exit(1);
    own->slots_count = 64;
    worker->truth = own;
    for (uint32_t i = 0; i < INHERITED; i++)
        free(inherited[i]);
    for (uint32_t i = 0; i < CHILD_TURNS; i++)
        script_turn(worker);
    _exit(own->complaint[0] ? 1 : 0);
}

void script_fork(struct worker *worker)
{
    struct truth_slot *slots[INHERITED];
    void *inherited[INHERITED] = {NULL};
    uint32_t indices[INHERITED], claimed = 0;
    int status;
    pid_t child;

    while (claimed < INHERITED) { /* a claimed slot is this worker's alone */
        uint32_t index;
        struct truth_slot *slot = &worker->truth->slots[script_below(worker, worker->truth->slots_count)];
        uint32_t idle = TRUTH_IDLE | (index = atomic_load(&slot->state) & 1);

        if (!atomic_compare_exchange_strong(&slot->state, &idle, TRUTH_CLAIMED | index))
            continue;
        slots[claimed] = slot, indices[claimed] = index;
        if (slot->blocks[index].release == RELEASE_FREE)
            inherited[claimed] = (void *)slot->blocks[index].address;
        claimed++;
    }
    child = fork();
    if (child == 0)
        live_on(worker, inherited);
    for (uint32_t i = 0; i < INHERITED; i++)
        atomic_store(&slots[i]->state, TRUTH_IDLE | indices[i]);
    if (child < 0 && errno == ENOMEM) /* the kernel refuses to overcommit a second copy of the mappings */
        return;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        script_complain(worker->truth, "a child did not end well");
}

void script_plugin(struct worker *worker)
{
    static void *loaded[ORACLE_PLUGINS];
    uint32_t number = script_below(worker, ORACLE_PLUGINS);
    char path[32];

    if (!loaded[number]) {
        snprintf(path, sizeof(path), "./liboracle_plugin_%u.so", number);
        loaded[number] = dlopen(path, RTLD_NOW);
        if (!loaded[number])
            script_complain(worker->truth, dlerror());
        *(void **)&oracle_plugins[number] = dlsym(loaded[number], "oracle_plugin_alloc");
    } else if (script_below(worker, 4) == 0) {
        dlclose(loaded[number]);
        loaded[number] = NULL;
        return;
    }
    for (uint32_t turns = script_below(worker, 40); turns > 0; turns--)
        script_turn_at(worker, oracle_sites_count + number);
}
