/* vm_stack.c - see vm_stack.h. */
#include "script/vm_stack.h"

#include "platform/platform.h"

#include <string.h>

enum vm_state { VM_IDLE, VM_ASKED, VM_TAKING, VM_GIVEN, VM_CLOSED };

static struct {
    _Atomic uint32_t state; /* enum vm_state; a futex word for both sides */
    _Atomic uint32_t tid;   /* the thread that is served; 0: nobody serves */
    struct vm_stack
        stack; /* the check thread's in IDLE and GIVEN, the virtual machine's in TAKING, nobody's in CLOSED */
} given;

static bool turn(uint32_t from, uint32_t to)
{
    bool turned = atomic_compare_exchange_strong(&given.state, &from, to);

    if (turned)
        mire__futex_wake(&given.state);
    return turned;
}

void mire__vm_stack_open(uint32_t tid)
{
    if (!turn(VM_CLOSED, VM_IDLE))
        turn(VM_TAKING, VM_IDLE); /* of a thread that ended while it served */
    atomic_store(&given.tid, tid);
}

void mire__vm_stack_close(void)
{
    atomic_store(&given.tid, 0);
    /* The word changes, so that a thread about to wait for it does not. One that takes a stack looks at tid
     * afterwards. */
    while (!turn(VM_ASKED, VM_CLOSED) && !turn(VM_IDLE, VM_CLOSED) && !turn(VM_GIVEN, VM_CLOSED)) {
        uint32_t state = atomic_load(&given.state);

        if (state == VM_TAKING || state == VM_CLOSED)
            break;
    }
}

struct vm_stack *mire__vm_stack_await(void)
{
    while (atomic_load(&given.tid) != 0) {
        uint32_t state = atomic_load(&given.state);

        if (state == VM_ASKED && turn(VM_ASKED, VM_TAKING)) {
            given.stack.count = given.stack.used_bytes = 0;
            given.stack.turn[0] = '\0';
            given.stack.native = false;
            given.stack.taken_ns = mire__now_ns();
            return &given.stack;
        }
        if (state != VM_ASKED && atomic_load(&given.tid) != 0)
            mire__futex_wait(&given.state, state, UINT64_MAX);
    }
    return NULL;
}

static bool add_text(uint32_t *at, struct vm_stack *stack, const char *text)
{
    size_t size = strnlen(text, MIRE_VM_TEXT_BYTES) + 1;

    if (size > MIRE_VM_TEXT_BYTES - stack->used_bytes)
        return false;
    *at = stack->used_bytes;
    mire__text_copy(stack->text + *at, size, text);
    stack->used_bytes += (uint32_t)size;
    return true;
}

void mire__vm_stack_add(struct vm_stack *stack, const char *name, const char *file, uint32_t line)
{
    struct vm_frame frame = {.line = line};

    if (stack->count < MIRE_VM_FRAMES_MAX && add_text(&frame.name_at, stack, name) &&
        add_text(&frame.file_at, stack, file))
        stack->frames[stack->count++] = frame;
}

void mire__vm_stack_give(struct vm_stack *stack)
{
    (void)stack;
    turn(VM_TAKING, VM_GIVEN);
}

bool mire__vm_stack_serves(uint32_t tid)
{
    return tid != 0 && atomic_load(&given.tid) == tid;
}

bool mire__vm_stack_ask(uint32_t tid)
{
    if (!mire__vm_stack_serves(tid))
        return false;
    return turn(VM_GIVEN, VM_ASKED) || turn(VM_IDLE, VM_ASKED);
}

const struct vm_stack *mire__vm_stack_answer(void)
{
    const uint64_t until_ns = mire__now_ns() + MIRE_ANSWER_NS;
    uint32_t state;

    while ((state = atomic_load(&given.state)) != VM_GIVEN && atomic_load(&given.tid) != 0 && mire__now_ns() < until_ns)
        mire__futex_wait(&given.state, state, until_ns);
    return state == VM_GIVEN && given.stack.count > 0 ? &given.stack : NULL;
}
