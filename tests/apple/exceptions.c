/* exceptions.c - see exceptions.h. The handler of SIGABRT gets Apple's structures, without registers. */
#include "apple/exceptions.h"
#include "apple/machine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLE_ACTION 16 /* bytes of struct sigaction: the handler comes first */
#define SENDER_AT    12 /* of siginfo_t */
#define MCONTEXT_AT  48 /* of ucontext_t */

typedef void handler_fn(struct object *exception);
typedef void signal_fn(int signal, void *info, void *context);

static handler_fn *handler;
static unsigned char abort_action[APPLE_ACTION];

static void fake_set_handler(handler_fn *next)
{
    handler = next;
}

static handler_fn *fake_handler(void)
{
    return handler;
}

/* Throw: the handler is called, and the process aborts. */
static void machine_throw(const char *name, const char *reason, const uintptr_t *callers, size_t count)
{
    struct object *exception = runtime_make("NSException", name), *stack = runtime_make("NSArray", NULL);

    stack->bytes = callers;
    stack->size = count;
    exception->body = runtime_make("NSString", reason);
    exception->response = stack;
    if (handler)
        handler(exception);
    abort();
}

uintptr_t exceptions_send(struct object *self, const char *selector, uintptr_t a)
{
    struct object *one;

    if (strcmp(selector, "name") == 0)
        return (uintptr_t)runtime_make("NSString", self->text);
    if (strcmp(selector, "reason") == 0)
        return (uintptr_t)self->body;
    if (strcmp(selector, "callStackReturnAddresses") == 0)
        return (uintptr_t)self->response;
    if (strcmp(selector, "unsignedIntegerValue") == 0)
        return (uintptr_t)self->status;
    if (strcmp(selector, "objectAtIndex:") != 0 || !self->bytes)
        return 0;
    one = runtime_make("NSNumber", NULL);
    one->status = (long)((const uintptr_t *)self->bytes)[a];
    return (uintptr_t)one;
}

static void on_abort(int signal)
{
    static unsigned char info[104], context[64], registers[1024];
    void *mcontext = registers;
    const int sender = getpid();
    signal_fn *call;

    memcpy(&call, abort_action, sizeof(call));
    memcpy(info, &signal, sizeof(signal));
    memcpy(info + SENDER_AT, &sender, sizeof(sender));
    memcpy(context + MCONTEXT_AT, &mcontext, sizeof(mcontext));
    call(signal, info, context);
}

int exceptions_sigaction(int signal, const void *action, void *old)
{
    struct sigaction native = {.sa_handler = on_abort, .sa_flags = SA_NODEFER};
    void *wanted;

    if (old)
        memset(old, 0, APPLE_ACTION);
    if (signal != SIGABRT)
        return 0;
    if (old)
        memcpy(old, abort_action, APPLE_ACTION);
    if (!action)
        return 0;
    memcpy(abort_action, action, APPLE_ACTION);
    memcpy(&wanted, action, sizeof(wanted));
    if (!wanted)
        native.sa_handler = SIG_DFL;
    return sigaction(SIGABRT, &native, NULL);
}

void *exceptions_find(const char *name)
{
    static const struct machine_name names[] = {
        {"_NSSetUncaughtExceptionHandler", (void *)fake_set_handler},
        {"_NSGetUncaughtExceptionHandler", (void *)fake_handler},
        {"_machine_throw", (void *)machine_throw},
    };

    return machine_find(names, MACHINE_COUNT(names), name);
}
