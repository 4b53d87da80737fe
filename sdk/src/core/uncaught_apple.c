/*
 * uncaught_apple.c - see uncaught.h. The stack of the throw is the exception's own: until the handler is called, run
 * loop and dispatch have caught and thrown it again.
 */
#include "core/uncaught.h"

#include "base/base.h"
#include "capture/crash.h"

#include <dlfcn.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdint.h>

typedef void handler_fn(id exception);

static void (*set_handler)(handler_fn *handler);
static handler_fn *(*get_handler)(void);
static handler_fn *displaced;

static id call(id object, const char *selector)
{
    return object ? ((id(*)(id, SEL))objc_msgSend)(object, sel_registerName(selector)) : NULL;
}

static unsigned long number(id object, const char *selector)
{
    return object ? ((unsigned long (*)(id, SEL))objc_msgSend)(object, sel_registerName(selector)) : 0;
}

static const char *text_of(id string)
{
    return string ? ((const char *(*)(id, SEL))objc_msgSend)(string, sel_registerName("UTF8String")) : NULL;
}

static void on_exception(id exception)
{
    id addresses = call(exception, "callStackReturnAddresses");
    uintptr_t callers[MIRE_CRASH_FRAMES];
    unsigned long count = number(addresses, "count");
    const char *name = text_of(call(exception, "name"));

    if (count > MIRE_CRASH_FRAMES)
        count = MIRE_CRASH_FRAMES;
    for (unsigned long i = 0; i < count; i++)
        callers[i] =
            number(((id(*)(id, SEL, unsigned long))objc_msgSend)(addresses, sel_registerName("objectAtIndex:"), i),
                   "unsignedIntegerValue");
    mire__uncaught_record(name ? name : "NSException", text_of(call(exception, "reason")), callers, count);
    if (displaced)
        displaced(exception);
}

void mire__uncaught_objc_hear(void)
{
    set_handler = (void (*)(handler_fn *))dlsym(RTLD_DEFAULT, "NSSetUncaughtExceptionHandler");
    get_handler = (handler_fn * (*)(void)) dlsym(RTLD_DEFAULT, "NSGetUncaughtExceptionHandler");
    if (!set_handler || !get_handler || get_handler() == on_exception)
        return;
    displaced = get_handler();
    set_handler(on_exception);
}

void mire__uncaught_objc_forget(void)
{
    if (set_handler && get_handler && get_handler() == on_exception)
        set_handler(displaced);
}
