/* test_vm_stack.c - stacks that a virtual machine tells: the handshake, and the rows of Java in a report. */
#include "platform/platform.h"
#include "script/vm_stack.h"
#include "support/boxes.h"
#include "support/documents.h"

#include <pthread.h>
#include <stdio.h>

#define WATCHED 4711

struct machine {
    pthread_t thread;
    _Atomic uint32_t nap_ms; /* so long it takes for a stack */
    _Atomic uint32_t given;
};

static void *serve(void *context)
{
    struct machine *machine = context;
    struct vm_stack *stack;

    while ((stack = mire__vm_stack_await())) {
        _Atomic uint32_t never = 0;
        uint64_t until_ns = mire__now_ns() + atomic_load(&machine->nap_ms) * MIRE_NS_PER_MS;
        char name[64];

        while (mire__now_ns() < until_ns)
            mire__futex_wait(&never, 0, until_ns);
        snprintf(name, sizeof(name), "a.B.c%u", atomic_fetch_add(&machine->given, 1) + 1);
        mire__vm_stack_add(stack, name, "B.java", 7);
        mire__vm_stack_give(stack);
    }
    return NULL;
}

static void begin(struct machine *machine)
{
    mire__vm_stack_open(WATCHED);
    assert_int_equal(pthread_create(&machine->thread, NULL, serve, machine), 0);
}

static void end(struct machine *machine)
{
    mire__vm_stack_close();
    pthread_join(machine->thread, NULL);
}

static const char *innermost(const struct vm_stack *stack)
{
    return stack ? stack->text + stack->frames[0].name_at : "";
}

/* Wait for an answer as long as it takes: a busy machine may be late. */
static const struct vm_stack *answer(void)
{
    const struct vm_stack *stack;

    while (!(stack = mire__vm_stack_answer())) {
    }
    return stack;
}

static void nobody_is_asked_who_does_not_serve(void **state)
{
    struct machine machine = {0};

    (void)state;
    assert_false(mire__vm_stack_ask(WATCHED));
    begin(&machine);
    assert_false(mire__vm_stack_ask(WATCHED + 1));
    assert_false(mire__vm_stack_ask(0));
    end(&machine);
    assert_false(mire__vm_stack_ask(WATCHED));
}

static void each_ask_has_an_answer_of_its_own(void **state)
{
    struct machine machine = {0};
    char want[16];

    (void)state;
    begin(&machine);
    for (int i = 1; i <= 1000; i++) {
        assert_true(mire__vm_stack_ask(WATCHED));
        snprintf(want, sizeof(want), "a.B.c%d", i);
        assert_string_equal(innermost(answer()), want);
    }
    end(&machine);
}

static void a_late_answer_is_waited_for_once_and_never_used(void **state)
{
    struct machine machine = {.nap_ms = 300};
    uint64_t begin_ns;

    (void)state;
    begin(&machine);
    begin_ns = mire__now_ns();
    assert_true(mire__vm_stack_ask(WATCHED));
    assert_null(mire__vm_stack_answer());
    if (mire__now_ns() - begin_ns < 250 * MIRE_NS_PER_MS) { /* else the machine is busy, and it may be there */
        assert_false(mire__vm_stack_ask(WATCHED));
        assert_int_equal(atomic_load(&machine.given), 0);
    }
    atomic_store(&machine.nap_ms, 0);
    while (!mire__vm_stack_ask(WATCHED))
        mire__yield();
    assert_string_equal(innermost(answer()), "a.B.c2");
    end(&machine);
}

static void another_machine_may_serve_afterwards(void **state)
{
    struct machine machine = {0};

    (void)state;
    for (int i = 0; i < 50; i++) {
        atomic_store(&machine.given, 0);
        begin(&machine);
        assert_true(mire__vm_stack_ask(WATCHED));
        if (i % 2)
            assert_string_equal(innermost(answer()), "a.B.c1");
        end(&machine); /* with an ask that nobody may have taken */
    }
}

static void stacks_without_end_are_cut(void **state)
{
    static struct vm_stack stack;
    static char name[8192];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    for (int i = 0; i < 1000; i++)
        mire__vm_stack_add(&stack, i % 10 ? "a.B.c" : name, "", 1);
    assert_in_range(stack.count, 5, MIRE_VM_FRAMES_MAX);
    assert_true(stack.used_bytes <= MIRE_VM_TEXT_BYTES);
}

/* ---- the report ---- */

static uint64_t java(struct blackbox *box, const char *name, const char *file, uint32_t line)
{
    int number = mire__blackbox_add_script(box, MIRE_LANGUAGE_JAVA, name, file);

    assert_true(number >= 0);
    return MIRE_SCRIPT_PC(number, line);
}

static void frames_of_java_are_rows_of_their_own(void **state)
{
    struct blackbox *box = box_new();
    const uint64_t stack[] = {BOX_LIBC_LOAD + 0x1000, java(box, "a.b.Cart$1.run", "Cart.java", 12),
                              java(box, "android.os.Looper.loop", "", 0), BOX_EXE_LOAD + 0x1000, 0};
    const uint64_t odd[] = {java(box, "nothing", "", 1), java(box, ".x", "", 1), java(box, "y.", "", 1), 0};
    const uint64_t python[] = {
        MIRE_SCRIPT_PC(mire__blackbox_add_script(box, MIRE_LANGUAGE_PYTHON, "a.b.Cart$1.run", "Cart.java"), 12), 0};

    (void)state;
    box_sample(box, S(1), 100 * MIRE_NS_PER_MS, stack);
    assert_says(box, "\"java\":{\"texts\":[\"android.os.Looper\",\"loop\",\"\",\"a.b.Cart$1\",\"run\",\"Cart.java\"],"
                     "\"class\":[0,3],\"method\":[1,4],\"file\":[-1,5],\"line\":[0,12]}");
    assert_says(box, "{\"name\":\"java\",\"load\":0,\"java\":true}");
    box_sample(box, S(2), 100 * MIRE_NS_PER_MS, odd);
    assert_says(box, "\"y.\",\"?\",\"\",\".x\",\"?\",\"\",\"nothing\",\"?\",\"\"]");
    box_sample(box, S(3), 100 * MIRE_NS_PER_MS, python);
    assert_says(
        box, "\"script\":{\"texts\":[\"a.b.Cart$1.run\",\"Cart.java\"],\"function\":[0],\"file\":[1],\"line\":[12]}");
    free(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_asked_who_does_not_serve),
        cmocka_unit_test(each_ask_has_an_answer_of_its_own),
        cmocka_unit_test(a_late_answer_is_waited_for_once_and_never_used),
        cmocka_unit_test(another_machine_may_serve_afterwards),
        cmocka_unit_test(stacks_without_end_are_cut),
        cmocka_unit_test(frames_of_java_are_rows_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
