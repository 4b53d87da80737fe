/* lock.c - see lock.h. */
#include "capture/lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#define FUTEX_LOCK_PI2_OP 13 /* FUTEX_LOCK_PI2, unknown to older headers */

/* pthread_mutex_t */
struct mutex {
    uint32_t lock, count;
    uint32_t owner, user_count;
    uint32_t kind;
};
#define MUTEX_KINDS 0x383u /* type in the low two bits, process-shared, elision; other kinds use another protocol */

/* pthread_rwlock_t; a thread sleeps on one of the two futexes */
struct rwlock {
    uint32_t readers, writers;
    uint32_t phase_futex, writers_futex;
    uint32_t pad[2];
    uint32_t writer, shared;
};
#define RWLOCK_WRITER_HOLDS 2u

/* _IO_lock_t, the lock of a FILE */
struct file_lock {
    uint32_t lock, count;
    uint64_t owner; /* the thread's descriptor */
};

/* Does this process have the thread? */
static bool lives(uint32_t tid)
{
    return tid > 0 && tid < 1u << 22 && mire__thread_signal(tid, 0);
}

static bool read_memory(void *out, uint64_t address, size_t size_bytes)
{
    return address % 4 == 0 && mire__peek(out, address, size_bytes) == size_bytes;
}

static bool is_mutex(struct lock *out)
{
    struct mutex mutex;

    if (!read_memory(&mutex, out->address, sizeof(mutex)) || mutex.lock == 0 || mutex.user_count == 0 ||
        mutex.user_count > 1u << 22 || (mutex.kind & ~MUTEX_KINDS) != 0 || !lives(mutex.owner))
        return false;
    out->kind = MIRE_LOCK_MUTEX;
    out->holder = mutex.owner;
    return true;
}

static bool is_rwlock_at(struct lock *out, uint64_t address)
{
    struct rwlock rwlock;

    if (!read_memory(&rwlock, address, sizeof(rwlock)) || (rwlock.readers & RWLOCK_WRITER_HOLDS) == 0 ||
        rwlock.pad[0] != 0 || rwlock.pad[1] != 0 || rwlock.shared > 1 || !lives(rwlock.writer))
        return false;
    out->kind = MIRE_LOCK_RWLOCK;
    out->holder = rwlock.writer;
    return true;
}

static bool is_rwlock(struct lock *out)
{
    return is_rwlock_at(out, out->address - offsetof(struct rwlock, phase_futex)) ||
           is_rwlock_at(out, out->address - offsetof(struct rwlock, writers_futex));
}

/* Offset of the thread id in a thread's descriptor, found in this thread's own; 0: not found. */
static uint64_t tid_offset(void)
{
    const uint32_t *self = (const uint32_t *)(uintptr_t)pthread_self();
    uint32_t own = mire__tid(), words[512]; /* glibc's lies some 700 bytes in */
    size_t count = mire__peek(words, (uintptr_t)self, sizeof(words)) / sizeof(words[0]);

    for (size_t i = 0; i < count; i++) {
        if (words[i] == own)
            return i * sizeof(words[0]);
    }
    return 0;
}

static bool is_file(struct lock *out)
{
    struct file_lock file;
    uint64_t offset = tid_offset();
    uint32_t tid;

    if (offset == 0 || !read_memory(&file, out->address, sizeof(file)) || file.count == 0 || file.count > 1u << 16 ||
        !read_memory(&tid, file.owner + offset, sizeof(tid)) || !lives(tid))
        return false;
    out->kind = MIRE_LOCK_FILE;
    out->holder = tid;
    return true;
}

/*
 * The futex is the thread id in a thread's descriptor: the kernel clears and wakes it when the thread ends. In front of
 * it glibc has the links of the list of all threads, so a neighbour points back to the descriptor.
 */
static bool is_join(struct lock *out, uint32_t word)
{
    uint64_t place = out->address - 16, next, back;

    if (!lives(word) || !read_memory(&next, place, sizeof(next)) || !read_memory(&back, next + 8, sizeof(back)) ||
        back != place)
        return false;
    out->kind = MIRE_LOCK_JOIN;
    out->holder = word;
    return true;
}

/* The kernel's protocol (PI, robust): the word is the holder's thread id, with a bit for waiters. */
static bool is_owner_in_word(struct lock *out, uint32_t word)
{
    if ((word & FUTEX_WAITERS) == 0 || !lives(word & FUTEX_TID_MASK))
        return false;
    out->kind = MIRE_LOCK_MUTEX;
    out->holder = word & FUTEX_TID_MASK;
    return true;
}

void mire__lock_find(struct lock *out, const struct thread_state *waiter)
{
    uint32_t operation = (uint32_t)waiter->args[1] & FUTEX_CMD_MASK, expected = (uint32_t)waiter->args[2], word;
    bool inherits = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2_OP;

    *out = (struct lock){.kind = MIRE_LOCK_NONE};
    if (!waiter->blocked || waiter->syscall != SYS_futex ||
        (!inherits && operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET))
        return;
    *out = (struct lock){.kind = MIRE_LOCK_NO_OWNER, .address = waiter->args[0]};
    if (!read_memory(&word, out->address, sizeof(word)))
        return;
    if (is_owner_in_word(out, word) || inherits)
        return;
    if (word != expected) /* the wait ends just now, or the lock changes hands quickly */
        return;
    if (expected == 2 && (is_mutex(out) || is_file(out) || is_rwlock(out)))
        return;
    if (expected == 3 && is_rwlock(out))
        return;
    if (is_join(out, word) || expected == 2 || expected == 3)
        return;
    *out = (struct lock){.kind = MIRE_LOCK_EVENT};
}
