/*
 * runtime.c - see machine.h: run loops that nothing drives, semaphores of dispatch, zlib, and as much of the ObjC runtime
 * and of Foundation as a request needs, which goes out over a socket. Objects stay until the process ends.
 */
#include "apple/display.h"
#include "apple/machine.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADERS_BYTES 4096
#define METHODS_MAX   16
#define ANSWER_BYTES  (4u << 20)
#define NS_PER_S      1000000000ull

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

struct object {
    const char *class; /* NULL: it is a class, of the name `text` */
    char *text;        /* of strings, URLs; a request's headers, an answer's */
    const void *bytes; /* of data */
    size_t size;
    struct object *url, *body, *request;
    const char *method;
    void *handler;
    long status;
};

static struct object *make(const char *class, const char *text)
{
    struct object *made = calloc(1, sizeof(*made));

    made->class = class;
    made->text = text ? strdup(text) : NULL;
    return made;
}

static struct object *make_data(const void *bytes, size_t size)
{
    struct object *made = make("NSData", NULL);
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

static void *fake_class(const char *name)
{
    static const char *const names[] = {
        "NSString",     "NSData",   "NSURL",           "NSMutableURLRequest", "NSURLSessionConfiguration",
        "NSURLSession", "NSObject", "MXMetricManager", "CADisplayLink",       "NSRunLoop"};
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
    return NULL;
}

/* ---- classes of the library's own ---- */

typedef void method_fn(struct object *self, const char *selector, struct object *argument);

static struct {
    const char *class, *selector;
    method_fn *function;
} methods[METHODS_MAX];
static size_t methods_count;

static struct object *fake_allocate_class(const struct object *parent, const char *name, size_t extra)
{
    (void)extra;
    return parent ? make(NULL, name) : NULL;
}

static int fake_add_method(const struct object *class, const char *selector, method_fn *function, const char *types)
{
    if (strcmp(types, "v@:@") != 0 || methods_count == METHODS_MAX)
        return 0;
    methods[methods_count].class = class->text;
    methods[methods_count].selector = selector;
    methods[methods_count++].function = function;
    return 1;
}

static struct object *read_payload(void)
{
    static char bytes[65536];
    FILE *file = fopen(payload_path(), "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    if (file)
        fclose(file);
    return make_data(bytes, size);
}

/* A frame of the display, told to the library's own target. */
static void tell_frame(void *target, const char *selector)
{
    static struct object link = {.class = "CADisplayLink"};
    const struct object *self = target;

    for (size_t i = 0; i < methods_count; i++)
        if (strcmp(methods[i].class, self->class) == 0 && strcmp(methods[i].selector, selector) == 0)
            methods[i].function(target, selector, &link);
}

/* A message's result of this type is in the processor's first vector register. */
static uintptr_t answer_double(double value)
{
    __asm__ volatile("movsd %0, %%xmm0" : : "m"(value) : "xmm0");
    return 0;
}

/* An array of one payload, on a thread of the system's. */
static void *run_delivery(void *subscriber)
{
    const struct object *self = subscriber;
    struct object *payloads = make("NSArray", NULL);

    payloads->size = 1;
    payloads->body = read_payload();
    for (size_t i = 0; i < methods_count; i++)
        if (strcmp(methods[i].class, self->class) == 0 &&
            strcmp(methods[i].selector, "didReceiveDiagnosticPayloads:") == 0)
            methods[i].function(subscriber, methods[i].selector, payloads);
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

/* ---- the request on the wire ---- */

static int connect_to(const char *url, const char **path)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned port = 0;
    int fd;

    if (sscanf(url, "http://127.0.0.1:%u", &port) != 1)
        return -1;
    to.sin_port = htons((uint16_t)port);
    *path = strchr(url + 7, '/');
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void send_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(fd, (const char *)bytes + at, size - at, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        at += (size_t)sent;
    }
}

static size_t receive_all(int fd, char *out)
{
    size_t size = 0;
    ssize_t got;

    while (size < ANSWER_BYTES && (got = recv(fd, out + size, ANSWER_BYTES - size, 0)) > 0)
        size += (size_t)got;
    out[size] = '\0';
    return size;
}

/* The block's own function is at its third word. */
static void answer(void *handler, struct object *data, struct object *response, struct object *error)
{
    void (*invoke)(void *, struct object *, struct object *, struct object *) =
        *(void (**)(void *, struct object *, struct object *, struct object *))((char *)handler + 16);

    invoke(handler, data, response, error);
}

static void *run_task(void *context)
{
    struct object *task = context, *request = task->request, *response = make("NSHTTPURLResponse", NULL);
    const char *path = "/";
    char *text = malloc(ANSWER_BYTES + 1), *body;
    int fd = connect_to(request->url->text, &path);
    char head[HEADERS_BYTES + 512];
    size_t size = request->body ? request->body->size : 0;

    if (fd < 0) {
        answer(task->handler, NULL, NULL, make("NSError", "could not connect"));
        return NULL;
    }
    snprintf(head, sizeof(head),
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n",
             request->method ? request->method : "GET", path, size, request->text ? request->text : "");
    send_all(fd, head, strlen(head));
    if (size > 0)
        send_all(fd, request->body->bytes, size);
    size = receive_all(fd, text);
    close(fd);
    body = strstr(text, "\r\n\r\n");
    if (!body || sscanf(text, "HTTP/1.1 %ld", &response->status) != 1) {
        answer(task->handler, NULL, NULL, make("NSError", "no answer"));
        return NULL;
    }
    body += 4;
    response->text = strndup(text, (size_t)(body - text));
    answer(task->handler, make_data(body, size - (size_t)(body - text)), response, NULL);
    return NULL;
}

/* ---- messages ---- */

static void add_header(struct object *request, const struct object *value, const struct object *name)
{
    if (!request->text)
        request->text = calloc(1, HEADERS_BYTES);
    snprintf(request->text + strlen(request->text), HEADERS_BYTES - strlen(request->text), "%s: %s\r\n", name->text,
             value->text);
}

static struct object *find_header(const struct object *response, const char *name)
{
    char line[512];
    size_t length = strlen(name);

    for (const char *at = strchr(response->text, '\n'); at && *++at; at = strchr(at, '\n')) {
        if (strncasecmp(at, name, length) != 0 || at[length] != ':')
            continue;
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + length + 2, "\r"), at + length + 2);
        return make("NSString", line);
    }
    return NULL;
}

/* A block is copied when it is kept: its size is in its description. */
static struct object *make_task(struct object *request, const char *block)
{
    struct object *task = make("NSURLSessionDataTask", NULL);
    size_t size = (*(const size_t *const *)(const void *)(block + 24))[1];

    task->request = request;
    task->handler = memcpy(malloc(size), block, size);
    return task;
}

static void begin(struct object *task)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_task, task) == 0)
        pthread_detach(thread);
}

static uintptr_t fake_send(struct object *self, const char *selector, uintptr_t a, uintptr_t b)
{
    if (!self)
        return 0;
    if ((void *)self == classes_of_program("NSObject"))
        return (uintptr_t)classes_make_instance(self);
#define IS(name) (strcmp(selector, name) == 0)
    if (IS("stringWithUTF8String:"))
        return (uintptr_t)make("NSString", (const char *)a);
    if (IS("UTF8String") || IS("localizedDescription"))
        return IS("UTF8String") ? (uintptr_t)self->text : (uintptr_t)make("NSString", self->text);
    if (IS("dataWithBytes:length:"))
        return (uintptr_t)make_data((const void *)a, b);
    if (IS("length") || IS("count"))
        return self->size;
    if (IS("bytes"))
        return (uintptr_t)self->bytes;
    if (IS("alloc") || IS("sharedManager") || IS("new") || IS("currentRunLoop"))
        return (uintptr_t)make(self->text, NULL);
    if (IS("init") || IS("objectAtIndex:"))
        return (uintptr_t)self;
    if (IS("JSONRepresentation"))
        return (uintptr_t)self->body;
    if (IS("displayLinkWithTarget:selector:")) {
        display_make_link((void *)a, (const char *)b, tell_frame);
        return (uintptr_t)make(self->text, NULL);
    }
    if (IS("addToRunLoop:forMode:"))
        display_add_link((const char *)b);
    if (IS("setPaused:"))
        display_pause((int)(a & 1));
    if (IS("timestamp"))
        return answer_double(display_time());
    if (IS("addSubscriber:"))
        deliver((struct object *)a);
    if (IS("getBytes:length:"))
        memcpy((void *)a, self->bytes, b < self->size ? b : self->size);
    if (IS("URLWithString:"))
        return (uintptr_t)make("NSURL", ((struct object *)a)->text);
    if (IS("requestWithURL:")) {
        struct object *request = make("NSMutableURLRequest", NULL);

        request->url = (struct object *)a;
        return (uintptr_t)request;
    }
    if (IS("setValue:forHTTPHeaderField:"))
        add_header(self, (const struct object *)a, (const struct object *)b);
    if (IS("setHTTPMethod:"))
        self->method = ((const struct object *)a)->text;
    if (IS("setHTTPBody:"))
        self->body = (struct object *)a;
    if (IS("ephemeralSessionConfiguration") || IS("sessionWithConfiguration:") || IS("retain"))
        return (uintptr_t)(self->class ? self : make(self->text, NULL));
    if (IS("dataTaskWithRequest:completionHandler:"))
        return (uintptr_t)make_task((struct object *)a, (const char *)b);
    if (IS("resume"))
        begin(self);
    if (IS("statusCode"))
        return (uintptr_t)self->status;
    if (IS("valueForHTTPHeaderField:"))
        return (uintptr_t)find_header(self, ((const struct object *)a)->text);
#undef IS
    return 0;
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

    if (!found && (strncmp(name, "_deflate", 8) == 0 || strncmp(name, "_inflate", 8) == 0))
        found = dlsym(dlopen("libz.so.1", RTLD_NOW), name + 1);
    return found;
}
