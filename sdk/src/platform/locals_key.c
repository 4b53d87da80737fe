/*
 * locals_key.c - see locals.h: a pthread key that leads to a record.
 *
 * POSIX does not list pthread_getspecific and pthread_setspecific as async-signal-safe. In bionic, glibc, musl and
 * Apple's C library they are plain loads and stores in the thread's own block.
 *
 *     thread --key--> record      found once, by the thread's number: at `tid` mod the count, or soon after
 *
 * No event marks the end of a thread: destructors of its variables still allocate after any that could. A record whose
 * thread no longer exists is free.
 *
 * pthread_setspecific may allocate, if the C library has no room for the key. The hook of that call comes here again,
 * and finds the record by its `state`.
 */
#include "platform/locals.h"

#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>

#define RECORDS     4096u
#define PROBES      64u        /* examined records for a thread */
#define OF_ANCESTOR UINT32_MAX /* `tid`: a forked child found it in use, perhaps by its only thread */

enum record_state { RECORD_FREE, RECORD_SETTING, RECORD_SET };

static struct locals_record {
    struct locals locals;
    _Atomic uint32_t tid; /* the owner; 0: never used */
    _Atomic uint32_t state;
} records[RECORDS];

static struct locals shared;       /* of the threads without a record */
static _Atomic uint32_t key_after; /* the key plus 1; 0: none yet */
static _Atomic uint32_t owner_pid; /* the process whose threads the records name */

/*
 * Called at the end of a thread. Some C libraries clear the values of all keys then, before the destructors of others,
 * which may still allocate. So the value is put back in each of POSIX's rounds.
 */
static void keep(void *locals)
{
    pthread_setspecific((pthread_key_t)(atomic_load(&key_after) - 1), locals);
}

/* Returns false if no key is free. */
static bool make_key(void)
{
    uint32_t none = 0;
    pthread_key_t key;

    if (atomic_load(&key_after) != 0)
        return true;
    if (pthread_key_create(&key, keep) != 0)
        return false;
    if (!atomic_compare_exchange_strong(&key_after, &none, (uint32_t)key + 1))
        pthread_key_delete(key);
    return true;
}

static struct locals *find_set(void)
{
    uint32_t after = atomic_load_explicit(&key_after, memory_order_acquire);

    return after ? pthread_getspecific((pthread_key_t)(after - 1)) : NULL;
}

/* In a forked child: its only thread keeps its record. */
static void forked(void)
{
    const struct locals *own = find_set();

    atomic_store(&owner_pid, mire__pid());
    for (uint32_t i = 0; i < RECORDS; i++)
        if (atomic_load(&records[i].tid) != 0)
            atomic_store(&records[i].tid, own == &records[i].locals ? mire__tid_of_kernel() : 0);
}

/* Before a hook is in place, so that no two threads race for the key. */
static __attribute__((constructor(101))) void open_key(void)
{
    make_key();
    pthread_atfork(NULL, NULL, forked);
}

/* The first new thread of a child that was created without the C library's fork: the records name threads of the
 * parent. */
static void leave_to_ancestor(void)
{
    uint32_t pid = mire__pid(), before = atomic_load(&owner_pid);

    if (before == pid || !atomic_compare_exchange_strong(&owner_pid, &before, pid) || before == 0)
        return;
    for (uint32_t i = 0; i < RECORDS; i++)
        if (atomic_load(&records[i].tid) != 0)
            atomic_store(&records[i].tid, OF_ANCESTOR);
}

static struct locals_record *probe(uint32_t tid, uint32_t i)
{
    return &records[(tid + i) % RECORDS];
}

/* The record that this thread is setting, further out on its stack. */
static struct locals_record *find_setting(uint32_t tid)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct locals_record *record = probe(tid, i);

        if (atomic_load(&record->tid) == tid && atomic_load(&record->state) == RECORD_SETTING)
            return record;
    }
    return NULL;
}

static bool is_free(uint32_t owner, uint32_t own)
{
    return owner == 0 || owner == own || (owner != OF_ANCESTOR && !mire__thread_signal(owner, 0));
}

static struct locals_record *take(uint32_t tid)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct locals_record *record = probe(tid, i);
        uint32_t owner = atomic_load(&record->tid);

        if (!is_free(owner, tid) || !atomic_compare_exchange_strong(&record->tid, &owner, tid))
            continue;
        record->locals = (struct locals){0};
        atomic_store(&record->state, RECORD_SETTING);
        return record;
    }
    return NULL;
}

static __attribute__((noinline)) struct locals *first(void)
{
    uint32_t tid = mire__tid_of_kernel();
    struct locals_record *record;
    int saved = errno;
    bool is_set;

    if (tid == 0) /* a confined process makes no system calls of the library */
        return &shared;
    leave_to_ancestor();
    record = find_setting(tid);
    if (record)
        return &record->locals;
    record = make_key() ? take(tid) : NULL;
    if (!record)
        return &shared;
    is_set = pthread_setspecific((pthread_key_t)(atomic_load(&key_after) - 1), &record->locals) == 0;
    atomic_store(&record->state, is_set ? RECORD_SET : RECORD_FREE);
    if (!is_set)
        atomic_store(&record->tid, 0);
    errno = saved;
    return is_set ? &record->locals : &shared;
}

struct locals *mire__locals_as_own(void)
{
    struct locals *own = find_set();

    return __builtin_expect(own != NULL, 1) ? own : first();
}

bool mire__locals_as_exist(void)
{
    return mire__locals_as_own() != &shared;
}
