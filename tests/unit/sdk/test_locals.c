/* test_locals.c - thread-local state by a pthread key (platform/locals_key.c), as it is on Android and Apple. */
#include "platform/locals.h"
#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS     64
#define KEYS_INLINE 32 /* glibc's: a later key takes memory */

static pthread_key_t keys[KEYS_INLINE];

/* Before locals_key.c makes its key: then pthread_setspecific of that key allocates. */
static __attribute__((constructor(101))) void take_the_first_keys(void)
{
    for (size_t i = 0; i < KEYS_INLINE; i++)
        pthread_key_create(&keys[i], NULL);
}

/* ---- an allocator whose hook asks for the thread's state, as the library's do; a sanitizer has one of its own ---- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_calloc(size_t count, size_t size);
static _Atomic uint32_t nested, deepest;
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));
static __thread const struct locals *seen_inside __attribute__((tls_model("initial-exec")));

void *calloc(size_t count, size_t size)
{
    if (++depth < 100) {
        seen_inside = mire__locals_as_own();
        atomic_fetch_add(&nested, 1);
        if (depth > atomic_load(&deepest))
            atomic_store(&deepest, depth);
    }
    depth--;
    return __libc_calloc(count, size);
}

static void *ask_first(void *inside_out)
{
    const struct locals *own;

    seen_inside = NULL;
    own = mire__locals_as_own();
    *(const struct locals **)inside_out = seen_inside;
    return (void *)(uintptr_t)own;
}

static void a_hook_inside_the_first_call_finds_the_same_state(void **state)
{
    const struct locals *inside = NULL;
    pthread_t thread;
    void *own;

    (void)state;
    atomic_store(&nested, 0);
    assert_int_equal(pthread_create(&thread, NULL, ask_first, &inside), 0);
    pthread_join(thread, &own);
    assert_non_null(inside);
    assert_ptr_equal(inside, own);
    assert_in_range(atomic_load(&deepest), 1, 2);
}
#else
static void a_hook_inside_the_first_call_finds_the_same_state(void **state)
{
    (void)state;
    skip();
}
#endif

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    pthread_barrier_t *all;
    struct locals *own, *again;
    bool was_blank, kept;
};

static bool is_blank(const struct locals *own)
{
    return !own->collect && own->collect_left == 0 && !own->gate && own->look_again_ns == 0 && own->own_stack == 0 &&
           !own->keeping && own->tid_of_ego == 0 && !own->is_ours && !own->is_apart && !own->is_lost &&
           !own->is_binding;
}

static void *work(void *context)
{
    struct worker *worker = context;

    worker->own = mire__locals_as_own();
    worker->was_blank = is_blank(worker->own);
    worker->own->look_again_ns = (uintptr_t)worker;
    worker->own->is_lost = true;
    pthread_barrier_wait(worker->all);
    worker->again = mire__locals_as_own();
    worker->kept = worker->again->look_again_ns == (uintptr_t)worker && mire__locals_as_exist();
    pthread_barrier_wait(worker->all);
    return NULL;
}

static void run_threads(struct worker *workers)
{
    pthread_barrier_t all;

    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].all = &all;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&all);
}

static void each_thread_has_a_blank_state_of_its_own(void **state)
{
    static struct worker workers[THREADS];

    (void)state;
    for (int round = 0; round < 20; round++) { /* later threads get the records of earlier ones, and their numbers */
        run_threads(workers);
        for (size_t i = 0; i < THREADS; i++) {
            assert_true(workers[i].was_blank);
            assert_true(workers[i].kept);
            assert_ptr_equal(workers[i].own, workers[i].again);
            for (size_t k = 0; k < i; k++)
                assert_ptr_not_equal(workers[i].own, workers[k].own);
        }
    }
}

static void *ask(void *context)
{
    (void)context;
    return mire__locals_as_exist() ? mire__locals_as_own() : NULL;
}

static void more_threads_than_records_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 6000; i++) {
        pthread_t thread;
        void *own = NULL;

        assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
        pthread_join(thread, &own);
        assert_non_null(own);
    }
}

/* Every destructor of a thread's variables may allocate; the last ones run after those of any key. */
static void use_at_the_end(void *value)
{
    struct locals *own = mire__locals_as_own();

    if (own->is_lost)
        atomic_store((_Atomic bool *)value, true);
    own->is_lost = true;
}

static pthread_key_t late;

static void *end_late(void *flag)
{
    mire__locals_as_own()->is_lost = true;
    pthread_setspecific(late, flag);
    return NULL;
}

static void the_state_is_there_until_the_thread_is_gone(void **state)
{
    _Atomic bool kept = false;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_key_create(&late, use_at_the_end), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_late, &kept), 0);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&kept));
    pthread_key_delete(late);
}

/* ---- forks and signals ---- */

/* In the child: returns 0 if its own state is the parent's copy and no new thread shares it. */
static int check_child(const struct locals *parents)
{
    struct locals *own = mire__locals_as_own();

    if (own != parents || own->look_again_ns != 4711)
        return 1;
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        void *others = NULL;

        if (pthread_create(&thread, NULL, ask, NULL) != 0)
            return 2;
        pthread_join(thread, &others);
        if (!others || others == own)
            return 3;
    }
    return own->look_again_ns == 4711 ? 0 : 4;
}

static void a_forked_child_keeps_its_state_for_itself(void **state)
{
    struct locals *own = mire__locals_as_own();
    int status = -1;
    pid_t child;

    (void)state;
    own->look_again_ns = 4711;
    child = fork();
    if (child == 0) {
        int failed = check_child(own);
        pid_t grandchild = failed ? -1 : fork();

        if (grandchild == 0)
            _exit(check_child(own));
        if (grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status != 0)
            failed = 10 + WEXITSTATUS(status);
        _exit(failed);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(own->look_again_ns, 4711);
}

static struct locals *volatile in_handler;

static void look(int signal)
{
    (void)signal;
    in_handler = mire__locals_as_own();
}

static void a_handler_finds_the_threads_state_and_leaves_errno(void **state)
{
    const struct sigaction action = {.sa_handler = look};

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    errno = EXDEV;
    raise(SIGUSR1);
    assert_int_equal(errno, EXDEV);
    assert_ptr_equal(in_handler, mire__locals_as_own());
    signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_inside_the_first_call_finds_the_same_state),
        cmocka_unit_test(each_thread_has_a_blank_state_of_its_own),
        cmocka_unit_test(more_threads_than_records_come_and_go),
        cmocka_unit_test(the_state_is_there_until_the_thread_is_gone),
        cmocka_unit_test(a_forked_child_keeps_its_state_for_itself),
        cmocka_unit_test(a_handler_finds_the_threads_state_and_leaves_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
