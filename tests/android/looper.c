/*
 * looper.c - the natives of Android's framework that its Looper needs on a JVM. MessageQueue's are those of AOSP's
 * Looper.cpp in short: one epoll descriptor, one eventfd that wakes it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct queue {
    int epoll, wake;
    volatile int polls;
};

/* Input: the receiver gets each event that comes through the socket, as android_view_InputEventReceiver.cpp has it. */
static struct {
    struct queue *queue; /* of the first looper */
    int socket;
    jobject receiver, event;
    int (*receive)(int socket), (*finish)(int socket);
} input;

static struct queue *queue_of(jlong handle)
{
    return (struct queue *)(uintptr_t)handle;
}

static jlong queue_init(JNIEnv *env, jclass class)
{
    struct queue *queue = calloc(1, sizeof(*queue));
    struct epoll_event event = {.events = EPOLLIN};

    (void)env;
    (void)class;
    queue->epoll = epoll_create1(EPOLL_CLOEXEC);
    queue->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    input.queue = input.queue ? input.queue : queue;
    event.data.fd = queue->wake;
    epoll_ctl(queue->epoll, EPOLL_CTL_ADD, queue->wake, &event);
    return (jlong)(uintptr_t)queue;
}

static void queue_destroy(JNIEnv *env, jclass class, jlong handle)
{
    (void)env;
    (void)class;
    (void)handle; /* a late wake may still come: a test ends soon */
}

static void dispatch_input(JNIEnv *env)
{
    jclass of = (*env)->GetObjectClass(env, input.receiver);
    jmethodID dispatch = (*env)->GetMethodID(env, of, "dispatchInputEvent", "(ILandroid/view/InputEvent;)V");

    while (input.receive(input.socket)) {
        (*env)->CallVoidMethod(env, input.receiver, dispatch, 1, input.event);
        input.finish(input.socket);
    }
}

static void queue_poll(JNIEnv *env, jobject self, jlong handle, jint timeout_ms)
{
    struct queue *queue = queue_of(handle);
    struct epoll_event events[16];
    uint64_t count;
    int found;

    (void)self;
    queue->polls = 1;
    found = epoll_wait(queue->epoll, events, 16, timeout_ms);
    for (int i = 0; i < found; i++) {
        if (events[i].data.fd != queue->wake)
            dispatch_input(env);
        else
            while (read(queue->wake, &count, sizeof(count)) < 0 && errno == EINTR)
                ;
    }
    queue->polls = 0;
}

JNIEXPORT jint JNICALL Java_dev_mire_LooperApp_listen(JNIEnv *env, jclass class, jobject receiver, jobject event,
                                                      jstring library)
{
    const char *path = (*env)->GetStringUTFChars(env, library, NULL);
    void *opened = dlopen(path, RTLD_NOW);
    struct epoll_event readable = {.events = EPOLLIN};
    int sockets[2];

    (void)class;
    (*env)->ReleaseStringUTFChars(env, library, path);
    if (!opened || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return -1;
    input.receive = (int (*)(int))dlsym(opened, "input_receive");
    input.finish = (int (*)(int))dlsym(opened, "input_finish");
    input.receiver = (*env)->NewGlobalRef(env, receiver);
    input.event = (*env)->NewGlobalRef(env, event);
    readable.data.fd = input.socket = sockets[0];
    epoll_ctl(input.queue->epoll, EPOLL_CTL_ADD, sockets[0], &readable);
    return sockets[1];
}

JNIEXPORT void JNICALL Java_dev_mire_LooperApp_send(JNIEnv *env, jclass class, jint socket)
{
    (void)env;
    (void)class;
    send(socket, "e", 1, MSG_NOSIGNAL);
}

static void queue_wake(JNIEnv *env, jclass class, jlong handle)
{
    const uint64_t one = 1;

    (void)env;
    (void)class;
    while (write(queue_of(handle)->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

static jboolean queue_polls(JNIEnv *env, jclass class, jlong handle)
{
    (void)env;
    (void)class;
    return queue_of(handle)->polls != 0;
}

static jlong clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (jlong)now.tv_sec * 1000000000 + now.tv_nsec;
}

static jlong now_ns(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return clock_ns(CLOCK_MONOTONIC);
}

static jlong now_ms(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static jlong thread_ms(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000000;
}

static jint print_log(JNIEnv *env, jclass class, jint buffer, jint priority, jstring tag, jstring message)
{
    const char *text = message ? (*env)->GetStringUTFChars(env, message, NULL) : NULL;

    (void)class;
    (void)buffer;
    (void)tag;
    if (text && priority >= 5) /* warnings and errors */
        fprintf(stderr, "log: %s\n", text);
    if (text)
        (*env)->ReleaseStringUTFChars(env, message, text);
    return 0;
}

/* The system's figures of a process, in KiB. */
static void memory_info(JNIEnv *env, jclass class, jobject info)
{
    jclass of = (*env)->GetObjectClass(env, info);

    (void)class;
    (*env)->SetIntField(env, info, (*env)->GetFieldID(env, of, "dalvikPrivateDirty", "I"), 4096);
    (*env)->SetIntField(env, info, (*env)->GetFieldID(env, of, "nativePrivateDirty", "I"), 2048);
}

static jobject new_array(JNIEnv *env, jobject self, jclass of, jint count)
{
    jclass arrays = (*env)->FindClass(env, "java/lang/reflect/Array");
    jmethodID make = (*env)->GetStaticMethodID(env, arrays, "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;");

    (void)self;
    return (*env)->CallStaticObjectMethod(env, arrays, make, of, count);
}

static jlong answer_0(void)
{
    return 0;
}

static jboolean is_named(JNIEnv *env, jstring key, const char *name)
{
    const char *text = (*env)->GetStringUTFChars(env, key, NULL);
    jboolean same = strcmp(text, name) == 0;

    (*env)->ReleaseStringUTFChars(env, key, text);
    return same;
}

/* The API level is the test's; else the default that a caller of SystemProperties gives. */
static jint property_int(JNIEnv *env, jclass class, jstring key, jint otherwise)
{
    const char *level = getenv("ANDROID_API");

    (void)class;
    return level && is_named(env, key, "ro.build.version.sdk") ? atoi(level) : otherwise;
}

static jlong property_long(JNIEnv *env, jclass class, jstring key, jlong otherwise)
{
    (void)env;
    (void)class;
    (void)key;
    return otherwise;
}

static jboolean property_boolean(JNIEnv *env, jclass class, jstring key, jboolean otherwise)
{
    (void)env;
    (void)class;
    (void)key;
    return otherwise;
}

/* Of a device that does not exist. */
static jstring property_text(JNIEnv *env, jclass class, jstring key, jstring otherwise)
{
    const char *name = (*env)->GetStringUTFChars(env, key, NULL);
    const char *value = strcmp(name, "ro.product.model") == 0           ? "Testphone 3"
                        : strcmp(name, "ro.build.version.release") == 0 ? "99"
                        : strstr(name, "cpu.abilist")                   ? "x86_64"
                        : strstr(name, "codename")                      ? "REL"
                        : strstr(name, "sdk_full")                      ? "37.0"
                                                                        : NULL;

    (void)class;
    (*env)->ReleaseStringUTFChars(env, key, name);
    return value ? (*env)->NewStringUTF(env, value) : otherwise;
}

static jstring property(JNIEnv *env, jclass class, jstring key)
{
    return property_text(env, class, key, (*env)->NewStringUTF(env, ""));
}

#define TEXT "Ljava/lang/String;"

static const struct native {
    const char *class, *name, *signature;
    void *function;
} natives[] = {
    {"android/os/MessageQueue", "nativeInit", "()J", (void *)queue_init},
    {"android/os/MessageQueue", "nativeDestroy", "(J)V", (void *)queue_destroy},
    {"android/os/MessageQueue", "nativePollOnce", "(JI)V", (void *)queue_poll},
    {"android/os/MessageQueue", "nativeWake", "(J)V", (void *)queue_wake},
    {"android/os/MessageQueue", "nativeIsPolling", "(J)Z", (void *)queue_polls},
    {"android/os/SystemClock", "uptimeMillis", "()J", (void *)now_ms},
    {"android/os/SystemClock", "uptimeNanos", "()J", (void *)now_ns},
    {"android/os/SystemClock", "elapsedRealtime", "()J", (void *)now_ms},
    {"android/os/SystemClock", "elapsedRealtimeNanos", "()J", (void *)now_ns},
    {"android/os/SystemClock", "currentThreadTimeMillis", "()J", (void *)thread_ms},
    {"dalvik/system/VMRuntime", "newUnpaddedArray", "(Ljava/lang/Class;I)Ljava/lang/Object;", (void *)new_array},
    {"android/os/Debug", "getMemoryInfo", "(Landroid/os/Debug$MemoryInfo;)V", (void *)memory_info},
    {"android/util/Log", "println_native", "(II" TEXT TEXT ")I", (void *)print_log},
    {"android/os/SystemProperties", "native_get_int", "(" TEXT "I)I", (void *)property_int},
    {"android/os/SystemProperties", "native_get_long", "(" TEXT "J)J", (void *)property_long},
    {"android/os/SystemProperties", "native_get_boolean", "(" TEXT "Z)Z", (void *)property_boolean},
    {"android/os/SystemProperties", "native_get", "(" TEXT ")" TEXT, (void *)property},
    {"android/os/SystemProperties", "native_get", "(" TEXT TEXT ")" TEXT, (void *)property_text},
};

static void *known(const char *class, const char *name, const char *signature)
{
    for (size_t i = 0; i < sizeof(natives) / sizeof(*natives); i++)
        if (strcmp(natives[i].class, class) == 0 && strcmp(natives[i].name, name) == 0 &&
            strcmp(natives[i].signature, signature) == 0)
            return natives[i].function;
    return (void *)answer_0;
}

/* Bind one native method of a class. */
JNIEXPORT void JNICALL Java_Natives_bind(JNIEnv *env, jclass self, jclass class, jstring path, jstring name,
                                         jstring signature)
{
    const char *of = (*env)->GetStringUTFChars(env, path, NULL), *called = (*env)->GetStringUTFChars(env, name, NULL);
    const char *typed = (*env)->GetStringUTFChars(env, signature, NULL);
    JNINativeMethod native = {(char *)(uintptr_t)called, (char *)(uintptr_t)typed, known(of, called, typed)};

    (void)self;
    if ((*env)->RegisterNatives(env, class, &native, 1) != 0)
        (*env)->ExceptionClear(env);
    (*env)->ReleaseStringUTFChars(env, path, of);
    (*env)->ReleaseStringUTFChars(env, name, called);
    (*env)->ReleaseStringUTFChars(env, signature, typed);
}
