/* test_waits.c - waits that the sampler's signal interrupts: the thread began them just after it was seen running. */
#include "capture/handler.h"
#include "capture/sampler.h"
#include "capture/signal.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

static struct sampler sampler;

/*
 * Waiting calls of programs. Each ends by itself after WAIT_NS, or when the other side (a thread) ends it, with the
 * result of an uninterrupted call.
 */
#define WAIT_NS 300000000

static struct {
    int how;
    int epoll, sockets[2], full[2], listener, queue, empty_queue, semaphores, pipe[2], lock[2];
    aio_context_t events;
    int result, error;
    uint64_t begin_ns, waited_ns;
    _Atomic uint32_t tid;
    _Atomic uint32_t other_came;
} waiter;

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const struct timespec length = {0, WAIT_NS};

static int wait_nanosleep(void)
{
    return nanosleep(&length, NULL);
}

static int wait_usleep(void)
{
    return usleep(WAIT_NS / 1000);
}

static int wait_clock(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

#ifdef __x86_64__
static struct timespec until(clockid_t clock)
{
    struct timespec end;

    clock_gettime(clock, &end);
    end.tv_nsec += WAIT_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}

static int wait_until(void)
{
    struct timespec end = until(CLOCK_MONOTONIC);

    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static int wait_poll(void)
{
    return poll(NULL, 0, WAIT_NS / 1000000);
}

static int wait_ppoll(void)
{
    sigset_t none;

    sigemptyset(&none);
    return ppoll(NULL, 0, &length, &none);
}

static int wait_select(void)
{
    struct timeval time = {0, WAIT_NS / 1000};

    return select(0, NULL, NULL, NULL, &time);
}

static int wait_pselect(void)
{
    sigset_t none;

    sigemptyset(&none);
    return pselect(0, NULL, NULL, NULL, &length, &none);
}

static int wait_epoll(void)
{
    struct epoll_event event;

    return epoll_wait(waiter.epoll, &event, 1, WAIT_NS / 1000000);
}

static int wait_epoll_mask(void)
{
    struct epoll_event event;
    sigset_t none;

    sigemptyset(&none);
    return epoll_pwait(waiter.epoll, &event, 1, WAIT_NS / 1000000, &none);
}

static int wait_semaphore(void)
{
    struct timespec end = until(CLOCK_REALTIME);

    return sem_timedwait(&semaphore, &end);
}

static int wait_condition(void)
{
    struct timespec end = until(CLOCK_REALTIME);
    int answer;

    pthread_mutex_lock(&mutex);
    answer = pthread_cond_timedwait(&condition, &mutex, &end);
    pthread_mutex_unlock(&mutex);
    return answer;
}

static int wait_futex(void)
{
    uint32_t word = 0;

    return (int)syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &length, NULL, 0);
}

static int wait_recv(void)
{
    char byte;

    return (int)recv(waiter.sockets[0], &byte, 1, 0);
}

static int wait_recvmsg(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    return (int)recvmsg(waiter.sockets[0], &message, 0);
}

static int wait_recvmmsg(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

    return recvmmsg(waiter.sockets[0], &message, 1, 0, NULL);
}

static int wait_read(void)
{
    char byte;

    return (int)read(waiter.sockets[0], &byte, 1);
}

static int wait_send(void)
{
    return (int)send(waiter.full[0], "x", 1, 0);
}

static int wait_write(void)
{
    return (int)write(waiter.full[0], "x", 1);
}

static int wait_accept(void)
{
    return accept(waiter.listener, NULL, NULL);
}

static int wait_signal(void)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    return sigtimedwait(&one, NULL, &length);
}

static int wait_semtimedop(void)
{
    struct sembuf take = {0, -1, 0};

    return semtimedop(waiter.semaphores, &take, 1, &length);
}

static int wait_semop(void)
{
    struct sembuf take = {1, -1, 0};

    return semop(waiter.semaphores, &take, 1);
}

static int wait_msgrcv(void)
{
    struct {
        long kind;
        char byte;
    } message;

    return (int)msgrcv(waiter.empty_queue, &message, 1, 0, 0) == 1 ? 0 : -1;
}

static int wait_msgsnd(void)
{
    static const struct {
        long kind;
        char bytes[4000];
    } message = {1, ""};

    return msgsnd(waiter.queue, &message, sizeof(message.bytes), 0);
}

static int wait_io(void)
{
    struct timespec time = length;
    struct io_event event;

    return (int)syscall(SYS_io_getevents, waiter.events, 1, 1, &event, &time);
}

static int wait_pipe(void)
{
    char byte;

    return read(waiter.pipe[0], &byte, 1) == 1 ? 0 : -1;
}

static int wait_flock(void)
{
    return flock(waiter.lock[1], LOCK_EX);
}
#endif

static const struct wait {
    const char *name;
    int (*call)(void);
    int error; /* that it ends with; 0: it succeeds */
} waits[] = {
    {"nanosleep", wait_nanosleep, 0},
    {"usleep", wait_usleep, 0},
    {"clock_nanosleep", wait_clock, 0},
#ifdef __x86_64__
    {"clock_nanosleep until", wait_until, 0},
    {"poll", wait_poll, 0},
    {"ppoll", wait_ppoll, 0},
    {"select", wait_select, 0},
    {"pselect", wait_pselect, 0},
    {"epoll_wait", wait_epoll, 0},
    {"epoll_pwait", wait_epoll_mask, 0},
    {"sem_timedwait", wait_semaphore, ETIMEDOUT},
    {"pthread_cond_timedwait", wait_condition, ETIMEDOUT},
    {"futex by syscall()", wait_futex, ETIMEDOUT},
    {"recv", wait_recv, EAGAIN},
    {"recvmsg", wait_recvmsg, EAGAIN},
    {"recvmmsg", wait_recvmmsg, EAGAIN},
    {"read of a socket", wait_read, EAGAIN},
    {"send", wait_send, EAGAIN},
    {"write to a socket", wait_write, EAGAIN},
    {"accept", wait_accept, EAGAIN},
    {"sigtimedwait", wait_signal, EAGAIN},
    {"semtimedop", wait_semtimedop, EAGAIN},
    {"semop", wait_semop, 0},
    {"msgrcv", wait_msgrcv, 0},
    {"msgsnd", wait_msgsnd, 0},
    {"io_getevents", wait_io, 0},
    {"read of a pipe", wait_pipe, 0},
    {"flock", wait_flock, 0},
#endif
};
#define WAIT_NANOSLEEP 0

#ifdef __x86_64__
static void fill(int socket)
{
    static const char bytes[4096];

    while (send(socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
}

static void fill_queue(void)
{
    static const struct {
        long kind;
        char bytes[4000];
    } message = {1, ""};

    while (msgsnd(waiter.queue, &message, sizeof(message.bytes), IPC_NOWAIT) == 0)
        ;
}

static void set_timeout(int socket)
{
    const struct timeval time = {0, WAIT_NS / 1000};

    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

static void prepare(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char path[] = "/tmp/mire-waits-XXXXXX";
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    waiter.epoll = epoll_create1(EPOLL_CLOEXEC);
    socketpair(AF_UNIX, SOCK_STREAM, 0, waiter.sockets);
    socketpair(AF_UNIX, SOCK_STREAM, 0, waiter.full);
    set_timeout(waiter.sockets[0]);
    set_timeout(waiter.full[0]);
    fill(waiter.full[0]);
    waiter.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(waiter.listener, (struct sockaddr *)&name, sizeof(sa_family_t));
    listen(waiter.listener, 1);
    set_timeout(waiter.listener);
    sem_init(&semaphore, 0, 0);
    waiter.semaphores = semget(IPC_PRIVATE, 2, 0600);
    waiter.queue = msgget(IPC_PRIVATE, 0600);
    waiter.empty_queue = msgget(IPC_PRIVATE, 0600);
    fill_queue();
    syscall(SYS_io_setup, 1, &waiter.events);
    assert_int_equal(pipe(waiter.pipe), 0);
    waiter.lock[0] = mkostemp(path, O_CLOEXEC);
    waiter.lock[1] = open(path, O_RDWR | O_CLOEXEC);
    unlink(path);
    flock(waiter.lock[0], LOCK_EX);
}

/* The other side of waits without a timeout. */
static void let_go(int how)
{
    struct {
        long kind;
        char bytes[4000];
    } message = {1, ""};
    struct sembuf give = {1, 1, 0};

    if (waits[how].call == wait_semop)
        semop(waiter.semaphores, &give, 1);
    else if (waits[how].call == wait_msgrcv)
        msgsnd(waiter.empty_queue, &message, 1, 0);
    else if (waits[how].call == wait_msgsnd)
        msgrcv(waiter.queue, &message, sizeof(message.bytes), 0, IPC_NOWAIT);
    else if (waits[how].call == wait_pipe)
        assert_int_equal(write(waiter.pipe[1], "x", 1), 1);
    else if (waits[how].call == wait_flock)
        flock(waiter.lock[0], LOCK_UN);
}

static void clear_up(void)
{
    const int descriptors[] = {waiter.epoll,    waiter.sockets[0], waiter.sockets[1], waiter.full[0], waiter.full[1],
                               waiter.listener, waiter.pipe[0],    waiter.pipe[1],    waiter.lock[0], waiter.lock[1]};

    for (size_t i = 0; i < MIRE_COUNT(descriptors); i++)
        close(descriptors[i]);
    semctl(waiter.semaphores, 0, IPC_RMID);
    msgctl(waiter.queue, IPC_RMID, NULL);
    msgctl(waiter.empty_queue, IPC_RMID, NULL);
    syscall(SYS_io_destroy, waiter.events);
}
#else
static void prepare(void)
{
}

static void let_go(int how)
{
    (void)how;
}

static void clear_up(void)
{
}
#endif

static void *be_waiter(void *unused)
{
    waiter.begin_ns = mire__now_ns();
    atomic_store(&waiter.tid, mire__tid());
    errno = 0;
    waiter.result = waits[waiter.how].call();
    waiter.error = waiter.result > 0 ? waiter.result : errno; /* of threads it is the answer itself */
    waiter.waited_ns = mire__now_ns() - waiter.begin_ns;
    return unused;
}

static void note_other(int signal)
{
    (void)signal;
    atomic_store(&waiter.other_came, 1);
}

/* If permitted, keep other threads off this processor: a busy machine would separate two signals. */
static void take_processor(bool take)
{
    struct sched_param param = {.sched_priority = take ? 1 : 0};

    pthread_setschedparam(pthread_self(), take ? SCHED_FIFO : SCHED_OTHER, &param);
}

/*
 * Let a thread wait, and send it the sampler's signal. Returns false if this thread did not run until the wait was
 * over.
 *   other  a signal of the app that arrives together with it; 0: none
 */
static bool try_to_cut_short(int how, int other)
{
    struct sched_param none = {0};
    enum mire__loss loss;
    pthread_t thread;
    cpu_set_t one;
    bool in_time;

    memset(&sampler, 0, sizeof(sampler));
    atomic_store(&waiter.tid, 0);
    atomic_store(&waiter.other_came, 0);
    waiter.how = how;
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    assert_int_equal(pthread_create(&thread, NULL, be_waiter, NULL), 0);
    assert_int_equal(pthread_setschedparam(thread, SCHED_IDLE, &none), 0); /* it sees both signals at once */
    while (!atomic_load(&waiter.tid))
        usleep(100);
    usleep(WAIT_NS / 3 / 1000);
    atomic_store(&sampler.request, MIRE_REQUEST(MIRE_REQUEST_WANTED, waiter.tid));
    take_processor(other != 0);
    loss = mire__signal_send(&sampler, waiter.tid);
    if (other)
        mire__thread_signal(waiter.tid, other);
    in_time = mire__now_ns() - waiter.begin_ns < WAIT_NS;
    pthread_setschedparam(thread, SCHED_OTHER, &none); /* it takes them before the wait is over */
    take_processor(false);
    if (!other)
        usleep(WAIT_NS * 4 / 3 / 1000);
    let_go(how);
    pthread_join(thread, NULL);
    if (in_time && loss != MIRE_LOSS_NONE)
        fail_msg("%s: has ended already, %s", waits[how].name, strerror(waiter.error));
    if (in_time)
        assert_int_equal(atomic_load(&sampler.request), MIRE_REQUEST(MIRE_REQUEST_DONE, waiter.tid));
    mire__sampler_close(&sampler);
    return in_time;
}

static void cut_short(int how, int other)
{
    while (!try_to_cut_short(how, other))
        print_message("starved: %s is tried again\n", waits[how].name);
}

static void skip_where_waits_are_cut(void)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* this sanitizer's handlers get a copy of the registers */
#endif
#ifdef __x86_64__
    if (strverscmp(gnu_get_libc_version(), "2.41") >= 0) {
        print_message("skipped: this libc makes system calls by numbers that cannot be found again\n");
        skip();
    }
#endif
}

static void a_wait_goes_on_behind_the_signal(void **state)
{
    (void)state;
    skip_where_waits_are_cut();
    prepare();
    for (int how = 0; how < (int)MIRE_COUNT(waits); how++) {
        cut_short(how, 0);
        if (waiter.error != waits[how].error || waiter.waited_ns < WAIT_NS)
            print_message("%s: %s after %u ms\n", waits[how].name, strerror(waiter.error),
                          (unsigned)(waiter.waited_ns / MIRE_NS_PER_MS));
        assert_int_equal(waiter.error, waits[how].error);
        assert_true(waiter.waited_ns >= WAIT_NS);
    }
    clear_up();
}

static void a_wait_that_a_handler_of_the_app_ends_is_ended(void **state)
{
    static const int others[] = {SIGUSR1, SIGWINCH}; /* comes in before SIGURG, after it */
    struct sigaction action = {.sa_handler = note_other};

    (void)state;
    skip_where_waits_are_cut();
    for (size_t i = 0; i < MIRE_COUNT(others); i++) {
        sigaction(others[i], &action, NULL);
        cut_short(WAIT_NANOSLEEP, others[i]);
        signal(others[i], SIG_DFL);
        assert_true(atomic_load(&waiter.other_came));
        assert_int_equal(waiter.result, -1);
        assert_int_equal(waiter.error, EINTR);
    }
}

static void be_busy(int signal)
{
    uint64_t end_ns = mire__now_ns() + 30000000;

    note_other(signal);
    while (mire__now_ns() < end_ns)
        ;
}

/* The app's handler blocks ours: our signal arrives where that handler returns to, after the interrupted call. */
static void a_wait_is_ended_though_the_handler_was_sampled(void **state)
{
    struct sigaction action = {.sa_handler = be_busy};
    struct sample sample;
    pthread_t thread;

    (void)state;
    skip_where_waits_are_cut();
    skip_if_proc_is_an_emulators();
    memset(&sampler, 0, sizeof(sampler));
    memset(&waiter, 0, sizeof(waiter));
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(mire__sampler_open(&sampler), MIRE_OK);
    assert_int_equal(pthread_create(&thread, NULL, be_waiter, NULL), 0);
    while (!atomic_load(&waiter.tid))
        usleep(100);
    usleep(WAIT_NS / 3 / 1000);
    pthread_kill(thread, SIGUSR1);
    while (!atomic_load(&waiter.other_came))
        ;
    while (!mire__thread_is_gone(waiter.tid)) {
        mire__sampler_take(&sample, &sampler, waiter.tid, NULL);
        usleep(100);
    }
    pthread_join(thread, NULL);
    mire__sampler_close(&sampler);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(waiter.result, -1);
    assert_int_equal(waiter.error, EINTR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_goes_on_behind_the_signal),
        cmocka_unit_test(a_wait_that_a_handler_of_the_app_ends_is_ended),
        cmocka_unit_test(a_wait_is_ended_though_the_handler_was_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
