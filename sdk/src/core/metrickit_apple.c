/*
 * metrickit_apple.c - see metrickit.h. The framework is public, and looked up so that libmire does not need it: iOS 14
 * and macOS 12 have it. The system calls the subscriber on a queue of its own, soon after it has subscribed or a day
 * later.
 */
#include "core/metrickit.h"

#include "core/state.h"
#include "mire/exit.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stddef.h>

#define JUDGED_NS (60 * MIRE_NS_PER_S)
#define LOOK_NS   (10 * MIRE_NS_PER_MS)
#define FRAMEWORK "/System/Library/Frameworks/MetricKit.framework/MetricKit"

static id subscriber; /* made once, and kept */

static id call(id object, const char *selector)
{
    return ((id(*)(id, SEL))objc_msgSend)(object, sel_registerName(selector));
}

static unsigned long number(id object, const char *selector)
{
    return ((unsigned long (*)(id, SEL))objc_msgSend)(object, sel_registerName(selector));
}

/*
 * Wait, a bounded time, until the worker has judged the runs before: a payload is about one of them. A stop of the
 * library ends the wait. Thread: the system's queue.
 */
static void await_ends(void)
{
    const uint64_t end_ns = mire__now_ns() + JUDGED_NS;
    _Atomic uint32_t *recovered = &mire__core.worker.recovered;

    while (mire__core.works && !atomic_load(recovered) && mire__now_ns() < end_ns)
        mire__futex_wait(recovered, 0, mire__now_ns() + LOOK_NS);
}

/* An array of MXDiagnosticPayload, or of MXMetricPayload: both have the message. */
static void receive(id self, SEL selector, id payloads)
{
    unsigned long count = payloads ? number(payloads, "count") : 0;

    (void)self;
    (void)selector;
    await_ends();
    for (unsigned long i = 0; i < count; i++) {
        id payload = ((id(*)(id, SEL, unsigned long))objc_msgSend)(payloads, sel_registerName("objectAtIndex:"), i);
        id data = call(payload, "JSONRepresentation");

        if (data)
            mire_metrickit((const void *)call(data, "bytes"), number(data, "length"));
    }
}

static id make_subscriber(void)
{
    Class made = objc_allocateClassPair((Class)objc_getClass("NSObject"), "MireMetricSubscriber", 0);
    Protocol *protocol = objc_getProtocol("MXMetricManagerSubscriber");

    if (!made)
        return NULL;
    class_addMethod(made, sel_registerName("didReceiveDiagnosticPayloads:"), (IMP)receive, "v@:@");
    class_addMethod(made, sel_registerName("didReceiveMetricPayloads:"), (IMP)receive, "v@:@");
    if (protocol)
        class_addProtocol(made, protocol);
    objc_registerClassPair(made);
    return call(call((id)made, "alloc"), "init");
}

/* NULL: the system has no MetricKit. */
static id find_manager(void)
{
    id class = (id)objc_getClass("MXMetricManager");

    if (!class && dlopen(FRAMEWORK, RTLD_LAZY))
        class = (id)objc_getClass("MXMetricManager");
    return class ? call(class, "sharedManager") : NULL;
}

static void call_manager(const char *selector)
{
    id manager = find_manager();

    if (manager && subscriber)
        ((void (*)(id, SEL, id))objc_msgSend)(manager, sel_registerName(selector), subscriber);
}

void mire__metrickit_subscribe(void)
{
    if (!subscriber && find_manager())
        subscriber = make_subscriber();
    call_manager("addSubscriber:");
}

void mire__metrickit_unsubscribe(void)
{
    if (subscriber)
        call_manager("removeSubscriber:");
}
