/* test_patch.c - patches a real loaded module with the gate's hooks. */
#include "patch/patch.h"

#include "gate/gate.h"
#include "gate/hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static _Atomic uint32_t wake;
static _Atomic uint64_t left_ns;

static uint64_t turn(void)
{
    struct gate_view view;

    return mire__gate_look(&view, 0) ? view.turn : 0;
}

/*
 * The real loader, or one like Android's before 11: it fills half of the structure, and its first entry has no name.
 * The other half is different data at each call.
 */
static bool loader_is_old;

struct old_call {
    int (*callback)(struct dl_phdr_info *info, size_t size, void *context);
    void *context;
    unsigned calls;
};

static int call_as_old(struct dl_phdr_info *info, size_t size, void *context)
{
    static unsigned long long garbage;
    struct old_call *call = context;
    struct dl_phdr_info cut = *info;

    (void)size;
    cut.dlpi_adds = cut.dlpi_subs = garbage++;
    if (call->calls++ == 0)
        cut.dlpi_name = NULL;
    return call->callback(&cut, offsetof(struct dl_phdr_info, dlpi_adds), call->context);
}

/* The runtimes of sanitizers call it before they are initialized, so it is not instrumented. */
__attribute__((no_sanitize("address", "thread"))) int
dl_iterate_phdr(int (*callback)(struct dl_phdr_info *info, size_t size, void *context), void *context)
{
    int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    struct old_call call = {callback, context, 0};

    *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return loader_is_old ? real(call_as_old, &call) : real(callback, context);
}

static int open_gate(void **state)
{
    const struct gate_options options = {.wake = &wake, .left_ns = &left_ns};

    (void)state;
    mire__hooks_bind(RTLD_DEFAULT);
    mire__gate_open(&options);
    assert_int_equal(mire__gate_enter(0, NULL), 0);
    return 0;
}

static int close_gate(void **state)
{
    (void)state;
    mire__gate_stop();
    return 0;
}

/* The module is linked with full RELRO and immediate binding: its table is read-only. */
static void a_loaded_module_is_patched_and_put_back(void **state)
{
    (void)state;
    void *module;
    int (*module_poll)(void);
    uint64_t before;

    assert_int_equal(mire__gate_patch(), MIRE_OK);
    module = dlopen(MIRE_BINARY_DIR "/tests/unit/sdk/libpolling.so", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(module);
    *(void **)&module_poll = dlsym(RTLD_DEFAULT, "poll_once");
    before = turn();
    assert_int_equal(module_poll(), 0);
    assert_int_equal(turn(), before); /* loaded later, before any refresh: not hooked yet */
    mire__patch_refresh();
    assert_int_equal(module_poll(), 0);
    assert_int_equal(turn(), before + 2);
    mire__gate_unpatch();
    assert_int_equal(module_poll(), 0);
    assert_int_equal(turn(), before + 2);
    dlclose(module);
}

static void a_module_loaded_later_is_hooked_before_it_is_reached(void **state)
{
    (void)state;
    void *module;
    int (*module_poll)(void);
    uint64_t before;

    assert_int_equal(mire__gate_patch(), MIRE_OK);
    module = dlopen(MIRE_BINARY_DIR "/tests/unit/sdk/libpolling.so", RTLD_NOW);
    assert_non_null(module);
    *(void **)&module_poll = dlsym(module, "poll_once");
    before = turn();
    assert_int_equal(module_poll(), 0);
    assert_int_equal(turn(), before + 2);
    dlclose(module);
    mire__gate_unpatch();
}

/* The module is visible to itself only, so dlsym must see the original caller. */
static void dlsym_knows_who_called(void **state)
{
    (void)state;
    void *module;
    void *(*module_look)(const char *name);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* instrumented calls are no jumps */
#endif
    assert_int_equal(mire__gate_patch(), MIRE_OK);
    module = dlopen(MIRE_BINARY_DIR "/tests/unit/sdk/libpolling.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(module);
    assert_null(dlsym(RTLD_DEFAULT, "poll_once"));
    *(void **)&module_look = dlsym(module, "look_up");
    assert_ptr_equal(module_look("poll_once"), dlsym(module, "poll_once"));
    dlclose(module);
    mire__gate_unpatch();
}

static int own_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    (void)fds;
    (void)count;
    (void)timeout;
    return 77;
}

static struct hook one_module[] = {{"poll", (void *)own_poll, (void *)poll}};

static void hooks_of_one_module_leave_the_others_alone(void **state)
{
    (void)state;
    const char *const names[] = {"libother.so", "libpolling.so"};

    for (int i = 0; i < 2; i++) {
        void *module;
        int (*module_poll)(void);

        assert_int_equal(mire__patch_add_in(names[i], one_module, 1), MIRE_OK);
        module = dlopen(MIRE_BINARY_DIR "/tests/unit/sdk/libpolling.so", RTLD_NOW);
        assert_non_null(module);
        *(void **)&module_poll = dlsym(module, "poll_once");
        assert_int_equal(module_poll(), i == 0 ? 0 : 77);
        assert_int_equal(poll(NULL, 0, 0), 0);
        mire__patch_remove(one_module);
        assert_int_equal(module_poll(), 0);
        dlclose(module);
    }
}

static int begin_with_old_loader(void **state)
{
    loader_is_old = true;
    return open_gate(state);
}

static int end_with_old_loader(void **state)
{
    loader_is_old = false;
    return close_gate(state);
}

/* Modules that come and go are noticed without the loader's counts. */
static void a_loader_that_does_not_count_will_do(void **state)
{
    a_module_loaded_later_is_hooked_before_it_is_reached(state);
}

int main(void)
{
#define PATCH_TEST(name) cmocka_unit_test_setup_teardown(name, open_gate, close_gate)
    const struct CMUnitTest tests[] = {
        PATCH_TEST(a_module_loaded_later_is_hooked_before_it_is_reached),
        PATCH_TEST(dlsym_knows_who_called),
        cmocka_unit_test(hooks_of_one_module_leave_the_others_alone),
        PATCH_TEST(a_loaded_module_is_patched_and_put_back),
        cmocka_unit_test_setup_teardown(a_loader_that_does_not_count_will_do, begin_with_old_loader,
                                        end_with_old_loader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
