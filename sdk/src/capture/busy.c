/* busy.c - see busy.h. */
#include "capture/busy.h"

#include <string.h>

#define ROUND_MAX   4 /* threads sampled in one round: a thread may take long to answer */
#define OWN_THREADS "mire-"
#define DISK_TRIES  3    /* a write often takes microseconds: look more than once */
#define WAIT_BYTES  4096 /* assumed for a thread that waits for the disk and has moved no bytes itself */

/* The threads with the highest use in this round, highest first. */
struct round {
    struct busy *busy;
    uint64_t all; /* use of all threads that is not yet reported */
    uint32_t count;
    struct pick {
        struct busy_thread *thread;
        uint64_t used;
    } picks[MIRE_OTHERS_MAX];
};

static struct busy_thread *find(struct busy *busy, uint32_t tid)
{
    uint32_t at = tid * 2654435761u % MIRE_THREADS_MAX;

    while (busy->threads[at].tid != 0 && busy->threads[at].tid != tid)
        at = (at + 1) % MIRE_THREADS_MAX;
    return &busy->threads[at];
}

/* The thread's row. NULL: no room for a new one, because one row stays empty to end a search. */
static struct busy_thread *place_of(struct busy *busy, uint32_t tid)
{
    struct busy_thread *thread = find(busy, tid);
    char name[MIRE_THREAD_NAME_BYTES];

    if (thread->tid != 0)
        return thread;
    if (busy->count + 1 >= MIRE_THREADS_MAX)
        return NULL;
    busy->count++;
    mire__thread_name(name, tid);
    *thread = (struct busy_thread){.tid = tid, .ours = strncmp(name, OWN_THREADS, strlen(OWN_THREADS)) == 0};
    return thread;
}

static uint64_t bytes_of(uint32_t tid)
{
    struct io_bytes bytes;

    mire__io_bytes(&bytes, tid);
    return bytes.read + bytes.written;
}

static bool note(void *context, uint32_t tid)
{
    struct busy *busy = context;
    struct busy_thread *thread = place_of(busy, tid);

    if (!thread)
        return false;
    thread->begin_cpu_ns = thread->cpu_ns = mire__thread_cpu_ns(tid);
    if (busy->of_disk)
        thread->bytes = bytes_of(tid);
    return true;
}

void mire__busy_begin(struct busy *busy, const struct check *check, bool of_disk)
{
    memset(busy, 0, sizeof(*busy));
    busy->of_disk = of_disk;
    busy->looked_ns = busy->said_ns = check->now_ns;
    mire__threads_visit(note, busy);
}

/* Keep the picks sorted by use, highest first; the lowest is dropped. */
static void pick(struct round *round, struct busy_thread *thread, uint64_t used, uint32_t cap)
{
    uint32_t at = round->count < cap ? round->count++ : cap;

    while (at > 0 && round->picks[at - 1].used < used) {
        if (at < cap)
            round->picks[at] = round->picks[at - 1];
        at--;
    }
    if (at < cap)
        round->picks[at] = (struct pick){thread, used};
}

static void consider(struct round *round, struct busy_thread *thread)
{
    if (thread->ours || thread->unsaid == 0)
        return;
    round->all += thread->unsaid;
    pick(round, thread, thread->unsaid, ROUND_MAX);
}

static bool look_at_cpu(void *context, uint32_t tid)
{
    struct round *round = context;
    struct busy_thread *thread = place_of(round->busy, tid);
    uint64_t now_ns;

    if (!thread)
        return true;
    now_ns = mire__thread_cpu_ns(tid);
    if (now_ns > thread->cpu_ns)
        thread->unsaid += now_ns - thread->cpu_ns;
    thread->cpu_ns = now_ns;
    consider(round, thread);
    return true;
}

static bool look_at_disk(void *context, uint32_t tid)
{
    struct round *round = context;
    struct busy_thread *thread = place_of(round->busy, tid);
    struct thread_state state;
    uint64_t now_bytes;

    if (!thread)
        return true;
    now_bytes = bytes_of(tid);
    if (now_bytes > thread->bytes) {
        thread->unsaid += now_bytes - thread->bytes;
        thread->bytes = now_bytes;
    } else {
        mire__thread_state(&state, tid);
        thread->unsaid += state.letter == 'D' ? WAIT_BYTES : 0;
    }
    consider(round, thread);
    return true;
}

/* The weight of CPU time is that time; of bytes, their share of the time since the last report. */
static uint64_t weight_of(const struct round *round, const struct busy_thread *thread, uint64_t since_ns)
{
    if (!round->busy->of_disk)
        return thread->unsaid;
    return (uint64_t)((double)since_ns * (double)thread->unsaid / (double)round->all);
}

/* Sample a thread that works, not one that sleeps. A sample marks the thread's use as reported. */
static bool sample_one(const struct round *round, struct check *check, struct record *record,
                       struct busy_thread *thread)
{
    uint64_t since_ns = check->now_ns - round->busy->said_ns;
    const struct sample *sample = mire__record_take(check, record, thread->tid);

    if (sample->depth == 0 || (sample->state != 'R' && !(round->busy->of_disk && sample->state == 'D')))
        return false;
    mire__record_put(check, record, weight_of(round, thread, since_ns));
    thread->unsaid = 0;
    return true;
}

void mire__busy_sample(struct busy *busy, struct check *check, struct record *record, uint32_t percent)
{
    struct round round = {.busy = busy};
    uint64_t passed_ns = check->now_ns - busy->looked_ns;
    bool said = false;

    busy->looked_ns = check->now_ns;
    mire__threads_visit(busy->of_disk ? look_at_disk : look_at_cpu, &round);
    for (uint32_t i = 0; i < round.count; i++) {
        struct busy_thread *thread = round.picks[i].thread;
        int tries = busy->of_disk ? DISK_TRIES : thread->unsaid / percent >= passed_ns / 100;

        for (bool done = false; !done && tries > 0; tries--) {
            done = sample_one(&round, check, record, thread);
            said |= done;
        }
    }
    if (said)
        busy->said_ns = check->now_ns;
}

/* The latest sample of a thread in the record; NULL if there is none. */
static const struct sample *last_of(const struct ring *ring, uint32_t tid)
{
    const struct sample *last = NULL, *sample;

    for (uint32_t i = 0; (sample = mire__ring_at(NULL, ring, i)); i++)
        if (sample->tid == tid)
            last = sample;
    return last;
}

void mire__busy_end(struct busy *busy, struct check *check, struct record *record)
{
    struct lane *lane = &check->box->lanes[record->lane];
    struct round most = {.busy = busy};
    uint32_t count = 0;

    for (uint32_t i = 0; i < MIRE_THREADS_MAX; i++) {
        struct busy_thread *thread = &busy->threads[i];

        if (thread->tid != 0 && !thread->ours && last_of(&lane->ring, thread->tid))
            pick(&most, thread, mire__thread_cpu_ns(thread->tid) - thread->begin_cpu_ns, MIRE_OTHERS_MAX);
    }
    for (uint32_t i = 0; i < most.count; i++) {
        struct other *other = &lane->others[count];
        uint32_t tid = most.picks[i].thread->tid;

        *other = (struct other){.tid = tid, .role = MIRE_ROLE_BUSY, .cpu_ns = most.picks[i].used};
        mire__thread_name(other->name, tid);
        other->sample = *last_of(&lane->ring, tid);
        atomic_store_explicit(&lane->other_count, ++count, memory_order_release);
    }
}
