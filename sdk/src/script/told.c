/* told.c - see told.h. */
#include "script/told.h"

#include "platform/platform.h"

#include <string.h>

enum told_state { TOLD_IDLE, TOLD_ASKED, TOLD_TAKING, TOLD_GIVEN, TOLD_CLOSED };

static struct {
    _Atomic uint32_t state; /* enum told_state; a futex word for both sides */
    _Atomic uint32_t tid;   /* the thread that is served; 0: nobody serves */
    struct told_stack
        stack; /* the check thread's in IDLE and GIVEN, the virtual machine's in TAKING, nobody's in CLOSED */
} told;

static bool turn(uint32_t from, uint32_t to)
{
    bool turned = atomic_compare_exchange_strong(&told.state, &from, to);

    if (turned)
        mire__futex_wake(&told.state);
    return turned;
}

void mire__told_open(uint32_t tid)
{
    if (!turn(TOLD_CLOSED, TOLD_IDLE))
        turn(TOLD_TAKING, TOLD_IDLE); /* of a thread that ended while it served */
    atomic_store(&told.tid, tid);
}

void mire__told_close(void)
{
    atomic_store(&told.tid, 0);
    /* The word changes, so that a thread about to wait for it does not. One that takes a stack looks at tid afterwards. */
    while (!turn(TOLD_ASKED, TOLD_CLOSED) && !turn(TOLD_IDLE, TOLD_CLOSED) && !turn(TOLD_GIVEN, TOLD_CLOSED)) {
        uint32_t state = atomic_load(&told.state);

        if (state == TOLD_TAKING || state == TOLD_CLOSED)
            break;
    }
}

struct told_stack *mire__told_await(void)
{
    while (atomic_load(&told.tid) != 0) {
        uint32_t state = atomic_load(&told.state);

        if (state == TOLD_ASKED && turn(TOLD_ASKED, TOLD_TAKING)) {
            told.stack.count = told.stack.used_bytes = 0;
            told.stack.turn[0] = '\0';
            told.stack.native = false;
            told.stack.taken_ns = mire__now_ns();
            return &told.stack;
        }
        if (state != TOLD_ASKED && atomic_load(&told.tid) != 0)
            mire__futex_wait(&told.state, state, UINT64_MAX);
    }
    return NULL;
}

static bool add_text(uint32_t *at, struct told_stack *stack, const char *text)
{
    size_t size = strnlen(text, MIRE_TOLD_TEXT_BYTES) + 1;

    if (size > MIRE_TOLD_TEXT_BYTES - stack->used_bytes)
        return false;
    *at = stack->used_bytes;
    mire__text_copy(stack->text + *at, size, text);
    stack->used_bytes += (uint32_t)size;
    return true;
}

void mire__told_add(struct told_stack *stack, const char *name, const char *file, uint32_t line)
{
    struct told_frame frame = {.line = line};

    if (stack->count < MIRE_TOLD_FRAMES_MAX && add_text(&frame.name_at, stack, name) &&
        add_text(&frame.file_at, stack, file))
        stack->frames[stack->count++] = frame;
}

void mire__told_give(struct told_stack *stack)
{
    (void)stack;
    turn(TOLD_TAKING, TOLD_GIVEN);
}

bool mire__told_serves(uint32_t tid)
{
    return tid != 0 && atomic_load(&told.tid) == tid;
}

bool mire__told_ask(uint32_t tid)
{
    if (!mire__told_serves(tid))
        return false;
    return turn(TOLD_GIVEN, TOLD_ASKED) || turn(TOLD_IDLE, TOLD_ASKED);
}

const struct told_stack *mire__told_answer(void)
{
    const uint64_t until_ns = mire__now_ns() + MIRE_ANSWER_NS;
    uint32_t state;

    while ((state = atomic_load(&told.state)) != TOLD_GIVEN && atomic_load(&told.tid) != 0 && mire__now_ns() < until_ns)
        mire__futex_wait(&told.state, state, until_ns);
    return state == TOLD_GIVEN && told.stack.count > 0 ? &told.stack : NULL;
}
