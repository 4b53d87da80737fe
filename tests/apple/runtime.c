/*
 * runtime.c - see machine.h: run loops that nothing drives, semaphores of dispatch, zlib, and as much of the ObjC runtime
 * and of Foundation as a request needs, which goes out over a socket. Objects stay until the process ends.
 */
#include "apple/display.h"
#include "apple/machine.h"
#include "apple/exceptions.h"
#include "apple/session.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define METHODS_MAX 16
#define CLASSES_MAX 4
#define NS_PER_S    1000000000ull

/* ---- dispatch ---- */

static sem_t *fake_semaphore(long value)
{
    sem_t *made = malloc(sizeof(*made));

    sem_init(made, 0, (unsigned)value);
    return made;
}

static uint64_t fake_time(uint64_t base, int64_t ns)
{
    struct timespec now;

    (void)base;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + (uint64_t)ns;
}

static long fake_wait(sem_t *semaphore, uint64_t end_ns)
{
    const struct timespec end = {(time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S)};

    return sem_timedwait(semaphore, &end);
}

static void nothing(void)
{
}

/* ---- CoreFoundation ---- */

static const char *common_modes = "kCFRunLoopCommonModes";

static void *fake_string(void *allocator, const char *text)
{
    (void)allocator;
    return strdup(text);
}

static void *some(void)
{
    return calloc(1, 64);
}

static void *none(void)
{
    return NULL;
}

/* ---- objects ---- */

struct object *runtime_make(const char *class, const char *text)
{
    struct object *made = calloc(1, sizeof(*made));

    made->class = class;
    made->text = text ? strdup(text) : NULL;
    return made;
}

struct object *runtime_make_data(const void *bytes, size_t size)
{
    struct object *made = runtime_make("NSData", NULL);
    void *copy = malloc(size + 1);

    memcpy(copy, bytes, size);
    made->bytes = copy;
    made->size = size;
    return made;
}

/* MetricKit is there if the environment names the payload that it has. */
static const char *payload_path(void)
{
    return getenv("MACHINE_METRICKIT");
}

/* ---- classes of the library's own ---- */

typedef void method_fn(struct object *self, const char *selector, struct object *argument);
static struct {
    const char *class, *selector;
    method_fn *function;
} methods[METHODS_MAX];
static size_t methods_count;
static struct object *made_classes[CLASSES_MAX];
static size_t made_count;

static struct object *find_made(const char *name)
{
    for (size_t i = 0; i < made_count; i++)
        if (strcmp(made_classes[i]->text, name) == 0)
            return made_classes[i];
    return NULL;
}

static void *fake_class(const char *name)
{
    static const char *const names[] = {
        "NSString",     "NSData",   "NSURL",           "NSMutableURLRequest", "NSURLSessionConfiguration",
        "NSURLSession", "NSObject", "MXMetricManager", "CADisplayLink",       "NSRunLoop",
        "NSMutableData"};
    static struct object classes[MACHINE_COUNT(names)];

    if (classes_of_program(name))
        return classes_of_program(name);
    if (strcmp(name, "MXMetricManager") == 0 && !payload_path())
        return NULL;
    for (size_t i = 0; i < MACHINE_COUNT(names); i++) {
        classes[i].text = (char *)(uintptr_t)names[i];
        if (strcmp(names[i], name) == 0)
            return &classes[i];
    }
    return find_made(name);
}

void *runtime_method(const struct object *object, const char *selector)
{
    for (size_t i = 0; i < methods_count; i++)
        if (strcmp(methods[i].class, object->class) == 0 && strcmp(methods[i].selector, selector) == 0)
            return (void *)methods[i].function;
    return NULL;
}

static struct object *fake_allocate_class(const struct object *parent, const char *name, size_t extra)
{
    (void)extra;
    if (!parent || made_count == CLASSES_MAX || find_made(name))
        return NULL;
    made_classes[made_count] = runtime_make(NULL, name);
    return made_classes[made_count++];
}

static int fake_add_method(const struct object *class, const char *selector, method_fn *function, const char *types)
{
    static const char *const known[] = {"v@:@", "v@:@@@", "v@:@@@@@?"};
    int fits = 0;

    for (size_t i = 0; i < MACHINE_COUNT(known); i++)
        fits |= strcmp(types, known[i]) == 0;
    if (!fits || methods_count == METHODS_MAX)
        return 0;
    methods[methods_count].class = class->text;
    methods[methods_count].selector = selector;
    methods[methods_count++].function = function;
    return 1;
}

static struct object *read_payload(const char *path)
{
    static char bytes[65536];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    if (file)
        fclose(file);
    return runtime_make_data(bytes, size);
}

/* A frame of the display, told to the library's own target. */
static void tell_frame(void *target, const char *selector)
{
    static struct object link = {.class = "CADisplayLink"};
    method_fn *told = (method_fn *)runtime_method(target, selector);

    if (told)
        told(target, selector, &link);
}

/* A message's result of this type is in the processor's first vector register. */
static uintptr_t answer_double(double value)
{
    __asm__ volatile("movsd %0, %%xmm0" : : "m"(value) : "xmm0");
    return 0;
}

/* A message with an array of one payload. */
static void deliver_one(struct object *subscriber, const char *selector, const char *path)
{
    struct object *payloads = runtime_make("NSArray", NULL);
    method_fn *told = (method_fn *)runtime_method(subscriber, selector);

    payloads->size = 1;
    payloads->body = read_payload(path);
    if (told)
        told(subscriber, selector, payloads);
}

/* On a thread of the system's. */
static void *run_delivery(void *subscriber)
{
    deliver_one(subscriber, "didReceiveDiagnosticPayloads:", payload_path());
    if (getenv("MACHINE_METRICS"))
        deliver_one(subscriber, "didReceiveMetricPayloads:", getenv("MACHINE_METRICS"));
    if (getenv("MACHINE_METRICS_27"))
        deliver_one(subscriber, "didReceiveMetricPayloads:", getenv("MACHINE_METRICS_27"));
    return NULL;
}

static void deliver(struct object *subscriber)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_delivery, subscriber) == 0)
        pthread_join(thread, NULL);
}

static const char *fake_selector(const char *name)
{
    return name; /* names are the program's constants */
}

/* ---- messages ---- */

static uintptr_t fake_send(struct object *self, const char *selector, uintptr_t a, uintptr_t b)
{
    uintptr_t found;

    if (!self)
        return 0;
    if ((void *)self == classes_of_program("NSObject"))
        return (uintptr_t)classes_make_instance(self);
#define IS(name) (strcmp(selector, name) == 0)
    if (IS("stringWithUTF8String:"))
        return (uintptr_t)runtime_make("NSString", (const char *)a);
    if (IS("UTF8String") || IS("localizedDescription"))
        return IS("UTF8String") ? (uintptr_t)self->text : (uintptr_t)runtime_make("NSString", self->text);
    if (IS("dataWithBytes:length:"))
        return (uintptr_t)runtime_make_data((const void *)a, b);
    if (IS("length") || IS("count"))
        return self->size;
    if (IS("bytes"))
        return (uintptr_t)self->bytes;
    if (IS("alloc") || IS("sharedManager") || IS("new") || IS("currentRunLoop"))
        return (uintptr_t)runtime_make(self->text, NULL);
    if (IS("init") || (IS("objectAtIndex:") && !self->bytes))
        return (uintptr_t)self;
    if (IS("JSONRepresentation"))
        return (uintptr_t)self->body;
    if (IS("displayLinkWithTarget:selector:")) {
        display_make_link((void *)a, (const char *)b, tell_frame);
        return (uintptr_t)runtime_make(self->text, NULL);
    }
    if (IS("addToRunLoop:forMode:"))
        display_add_link((const char *)b);
    if (IS("setPaused:"))
        display_pause((int)(a & 1));
    if (IS("timestamp"))
        return answer_double(display_time());
    if (IS("addSubscriber:"))
        deliver((struct object *)a);
#undef IS
    found = exceptions_send(self, selector, a);
    return found ? found : session_send(self, selector, a, b);
}

static size_t fake_confstr(int which, char *out, size_t cap)
{
    const char *folder = getenv("TMPDIR");

    (void)which;
    return (size_t)snprintf(out, cap, "%s/", folder ? folder : "/tmp") + 1;
}

void *runtime_find(const char *name)
{
    static void *block_class[32];
    static const struct machine_name names[] = {
        {"_dispatch_semaphore_create", (void *)fake_semaphore},
        {"_dispatch_semaphore_signal", (void *)sem_post},
        {"_dispatch_semaphore_wait", (void *)fake_wait},
        {"_dispatch_time", (void *)fake_time},
        {"_dispatch_release", (void *)nothing},
        {"_CFNotificationCenterGetLocalCenter", (void *)some},
        {"_CFNotificationCenterAddObserver", (void *)nothing},
        {"_CFRelease", (void *)nothing},
        {"_CFRunLoopGetCurrent", (void *)some},
        {"_CFRunLoopAddObserver", (void *)display_add_observer},
        {"_CFRunLoopCopyCurrentMode", (void *)none},
        {"_CFRunLoopObserverCreate", (void *)display_make_observer},
        {"_CFRunLoopObserverInvalidate", (void *)nothing},
        {"_CFRunLoopRunInMode", (void *)none},
        {"_CFStringCreateWithCString", (void *)fake_string},
        {"_machine_scroll", (void *)display_scroll},
        {"_kCFRunLoopCommonModes", &common_modes},
        {"__NSConcreteStackBlock", block_class},
        {"_confstr", (void *)fake_confstr},
        {"_objc_getClass", (void *)fake_class},
        {"_objc_getProtocol", (void *)some},
        {"_objc_allocateClassPair", (void *)fake_allocate_class},
        {"_objc_registerClassPair", (void *)nothing},
        {"_class_addMethod", (void *)fake_add_method},
        {"_class_addProtocol", (void *)nothing},
        {"_dlopen", (void *)none},
        {"_sel_registerName", (void *)fake_selector},
        {"_objc_msgSend", (void *)fake_send},
        {"_objc_autoreleasePoolPush", (void *)none},
        {"_objc_autoreleasePoolPop", (void *)nothing},
    };
    void *found = machine_find(names, MACHINE_COUNT(names), name);

    if (!found)
        found = exceptions_find(name);
    if (!found && (strncmp(name, "_deflate", 8) == 0 || strncmp(name, "_inflate", 8) == 0))
        found = dlsym(dlopen("libz.so.1", RTLD_NOW), name + 1);
    return found;
}
