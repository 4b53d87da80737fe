/* others.c - see others.h. */
#include "capture/others.h"

#include "capture/lock.h"

#include <string.h>

#define CHAIN_MAX   4  /* locks that are followed from holder to holder */
#define BUSY_MAX    3  /* threads taken at one look */
#define BUSY_SHARE  10 /* a busy thread computed at least this part of the time since the hang began */
#define ROLE_MAX    (MIRE_OTHERS_MAX / 2) /* room of one role; the other role has as much */
#define OWN_THREADS "mire-"               /* prefix of the names of the SDK's own threads */

static struct thread_use_before *slot_of(struct other_threads *others, uint32_t tid)
{
    uint32_t at = tid * 2654435761u % MIRE_THREADS_MAX;

    while (others->before[at].tid != 0 && others->before[at].tid != tid)
        at = (at + 1) % MIRE_THREADS_MAX;
    return &others->before[at];
}

static bool note(void *context, uint32_t tid)
{
    struct other_threads *others = context;
    struct thread_use_before *slot = slot_of(others, tid);

    slot->tid = tid;
    slot->cpu_ns = mire__thread_cpu_ns(tid);
    return ++others->count + 1 < MIRE_THREADS_MAX; /* one row stays empty to end a search */
}

void mire__others_begin(struct other_threads *others, struct sampler *sampler, struct blackbox *box, uint32_t lane,
                        uint32_t tid, uint64_t due_ns)
{
    memset(others, 0, sizeof(*others));
    others->sampler = sampler;
    others->box = box;
    others->lane = lane;
    others->tid = tid;
    others->begin_ns = mire__now_ns();
    others->due_ns = due_ns;
    atomic_store_explicit(&box->lanes[lane].other_count, 0, memory_order_release);
    mire__threads_visit(note, others);
}

/* CPU time since the hang began. */
static uint64_t used_ns(struct other_threads *others, uint32_t tid)
{
    const struct thread_use_before *slot = slot_of(others, tid);
    uint64_t now_ns = mire__thread_cpu_ns(tid);

    if (slot->tid == 0)
        return others->count + 1 < MIRE_THREADS_MAX ? now_ns : 0; /* started since; or no room for it */
    return now_ns > slot->cpu_ns ? now_ns - slot->cpu_ns : 0;
}

/* Number of rows of a thread in the list; tid 0: of all threads of the role. */
static uint32_t listed(const struct other_threads *others, uint32_t tid, enum mire__role role)
{
    uint32_t count = mire__blackbox_other_count(others->box, others->lane), found = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct other *other = &others->box->lanes[others->lane].others[i];

        found += other->role == (uint32_t)role && (tid == 0 || other->tid == tid);
    }
    return found;
}

/* Fill in the next row of the list. NULL: no room, or no stack. */
static struct other *take(struct other_threads *others, uint32_t tid, enum mire__role role)
{
    uint32_t count = mire__blackbox_other_count(others->box, others->lane);
    struct other *other;

    if (count == MIRE_OTHERS_MAX || listed(others, 0, role) == ROLE_MAX)
        return NULL;
    other = &others->box->lanes[others->lane].others[count];
    memset(other, 0, sizeof(*other));
    mire__sampler_take(&other->sample, others->sampler, tid, others->box);
    if (other->sample.depth == 0)
        return NULL;
    other->sample.tid = tid;
    other->tid = tid;
    other->role = role;
    other->cpu_ns = used_ns(others, tid);
    mire__thread_name(other->name, tid);
    return other;
}

static void commit(struct other_threads *others)
{
    atomic_fetch_add_explicit(&others->box->lanes[others->lane].other_count, 1, memory_order_release);
}

/* Does the thread still wait for the lock, with the same holder? */
static bool still_waits(uint32_t tid, const struct lock *lock)
{
    struct thread_state state;
    struct lock now;

    mire__thread_state(&state, tid);
    mire__lock_find(&now, &state);
    return now.address == lock->address && now.holder == lock->holder;
}

/* Follow the locks: from the lane's thread to the holder of its lock, and on to a holder that waits for no lock. */
static void follow_locks(struct other_threads *others, struct event *event, bool due)
{
    struct thread_state state = others->sampler->state;
    uint32_t waiter = others->tid;

    for (int i = 0; i < CHAIN_MAX; i++) {
        struct lock lock;

        mire__lock_find(&lock, &state);
        if (lock.kind <= MIRE_LOCK_EVENT)
            return;
        if (i == 0) {
            event->lock_address = lock.address;
            event->lock_owner = lock.holder;
        }
        if (lock.holder == 0 || lock.holder == others->tid) /* unknown; or a deadlock */
            return;
        if (due || listed(others, lock.holder, MIRE_ROLE_OWNER) == 0) {
            if (!take(others, lock.holder, MIRE_ROLE_OWNER) || !still_waits(waiter, &lock))
                return;
            commit(others);
        }
        waiter = lock.holder;
        mire__thread_state(&state, waiter);
    }
}

/* The threads with the most CPU time, most first. */
struct busiest {
    struct other_threads *others;
    uint32_t self; /* the check thread */
    uint32_t count;
    uint32_t tid[BUSY_MAX];
    uint64_t cpu_ns[BUSY_MAX];
    uint64_t least_ns;
};

static bool is_own(uint32_t tid)
{
    char name[MIRE_THREAD_NAME_BYTES];

    mire__thread_name(name, tid);
    return strncmp(name, OWN_THREADS, sizeof(OWN_THREADS) - 1) == 0;
}

static bool rank(void *context, uint32_t tid)
{
    struct busiest *busiest = context;
    uint64_t cpu_ns = tid == busiest->others->tid || tid == busiest->self ? 0 : used_ns(busiest->others, tid);
    uint32_t at = busiest->count;

    if (cpu_ns < busiest->least_ns || is_own(tid))
        return true;
    while (at > 0 && busiest->cpu_ns[at - 1] < cpu_ns)
        at--;
    if (at == BUSY_MAX)
        return true;
    busiest->count += busiest->count < BUSY_MAX;
    for (uint32_t i = busiest->count - 1; i > at; i--) {
        busiest->tid[i] = busiest->tid[i - 1];
        busiest->cpu_ns[i] = busiest->cpu_ns[i - 1];
    }
    busiest->tid[at] = tid;
    busiest->cpu_ns[at] = cpu_ns;
    return true;
}

static void take_busy(struct other_threads *others, uint64_t now_ns)
{
    struct busiest busiest = {.others = others, .self = mire__tid()};

    busiest.least_ns = (now_ns - others->begin_ns) / BUSY_SHARE + 1;
    mire__threads_visit(rank, &busiest);
    for (uint32_t i = 0; i < busiest.count; i++) {
        if (take(others, busiest.tid[i], MIRE_ROLE_BUSY))
            commit(others);
    }
}

void mire__others_look(struct other_threads *others, struct event *event)
{
    uint64_t now_ns = mire__now_ns();
    bool due = now_ns >= others->due_ns;

    follow_locks(others, event, due);
    if (!due)
        return;
    take_busy(others, now_ns);
    others->due_ns = now_ns + (now_ns - others->begin_ns);
}

void mire__others_end(struct other_threads *others)
{
    uint32_t count = mire__blackbox_other_count(others->box, others->lane);

    for (uint32_t i = 0; i < count; i++) {
        struct other *other = &others->box->lanes[others->lane].others[i];
        uint64_t cpu_ns = used_ns(others, other->tid);

        if (cpu_ns > 0) /* for an ended thread the last value stays */
            other->cpu_ns = cpu_ns;
    }
}
