/*
 * jni.c - the natives of dev.mire.Native. Each is a call of the C API, or of script/told.h.
 *
 * Thread: as the call that it makes. No local reference outlives a call, and no Java exception is pending after one but
 * OutOfMemoryError.
 */
#include <mire/context.h>
#include <mire/delivery.h>
#include <mire/exit.h>
#include <mire/memory.h>

#include "android/input.h"
#include "android/sending.h"
#include "platform/platform.h"
#include "script/told.h"

#include <jni.h>
#include <string.h>

#define CLASS "dev/mire/Native"

#define UNITS 1024

/* A text of Java's in UTF-8; "" of null. Longer ones are cut: the C API's own bounds are smaller. */
struct text {
    char bytes[3 * UNITS + 1];
};

static size_t put(char *out, uint32_t c)
{
    size_t size = 1 + (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = size; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[size] | c);
    return size;
}

/* A half of a surrogate pair that stands alone, and a NUL, become "?". */
static const char *get(struct text *text, JNIEnv *env, jstring from)
{
    jsize count = from ? (*env)->GetStringLength(env, from) : 0;
    jchar units[UNITS];
    size_t at = 0;

    count = count < UNITS ? count : UNITS;
    if (count > 0)
        (*env)->GetStringRegion(env, from, 0, count, units);
    for (jsize i = 0; i < count; i++) {
        bool high = (units[i] & 0xfc00) == 0xd800, pair = high && i + 1 < count && (units[i + 1] & 0xfc00) == 0xdc00;
        uint32_t c = units[i];

        if (pair)
            c = 0x10000 + ((c & 0x3ff) << 10) + (units[++i] & 0x3ff);
        else if (c == 0 || (c & 0xf800) == 0xd800)
            c = '?';
        at += put(text->bytes + at, c);
    }
    text->bytes[at] = '\0';
    return text->bytes;
}

static const char *get_or_null(struct text *text, JNIEnv *env, jstring from)
{
    return from ? get(text, env, from) : NULL;
}

/* ---- options ---- */

static mire_options *options_of(jlong handle)
{
    return (mire_options *)(uintptr_t)handle;
}

static jlong new_options(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jlong)(uintptr_t)mire_options_new();
}

static void free_options(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire_options_free(options_of(options));
}

static enum mire_err set_build(mire_options *options, const char *one, const char *two)
{
    (void)two;
    return mire_options_set_build(options, one);
}

static enum mire_err set_channel(mire_options *options, const char *one, const char *two)
{
    (void)two;
    return mire_options_set_channel(options, one);
}

static enum mire_err set_store(mire_options *options, const char *one, const char *two)
{
    (void)two;
    return mire_options_set_store(options, one);
}

/* Setters with one or two texts; the second may be null where the C API says so. */
static const struct setter {
    const char *name;
    enum mire_err (*set)(mire_options *options, const char *one, const char *two);
} setters[] = {
    {"app", mire_options_set_app},
    {"server", mire_options_set_server},
    {"device", mire_options_set_device},
    {"os", mire_options_set_os},
    {"build", set_build},
    {"channel", set_channel},
    {"store", set_store},
};

static jint set_option(JNIEnv *env, jclass class, jlong options, jstring name, jstring one, jstring two)
{
    struct text wanted, first, second;

    (void)class;
    get(&wanted, env, name);
    for (size_t i = 0; i < sizeof(setters) / sizeof(*setters); i++)
        if (strcmp(setters[i].name, wanted.bytes) == 0)
            return setters[i].set(options_of(options), get_or_null(&first, env, one), get_or_null(&second, env, two));
    return MIRE_E_ARG;
}

static jint set_number(JNIEnv *env, jclass class, jlong options, jstring name, jint value)
{
    struct text text;

    (void)class;
    return value < 0 ? MIRE_E_RANGE
                     : mire_options_set_number(options_of(options), get(&text, env, name), (uint32_t)value);
}

static jint set_memory(JNIEnv *env, jclass class, jlong options, jint mode)
{
    (void)env;
    (void)class;
    return mire_options_set_memory(options_of(options), (enum mire_memory_mode)mode, 0);
}

static jint add_end(JNIEnv *env, jclass class, jlong options, jstring run, jint end, jint status)
{
    struct text text;

    (void)class;
    return mire_options_add_end(options_of(options), get(&text, env, run), (enum mire_end)end, status);
}

static jstring run_name(JNIEnv *env, jclass class)
{
    (void)class;
    return (*env)->NewStringUTF(env, mire_run());
}

static jint start(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire_options_set_launch(options_of(options), 0);
    return mire_start(options_of(options));
}

static jint stop(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return mire_stop(NULL);
}

static jint flush(JNIEnv *env, jclass class, jint timeout_ms)
{
    (void)env;
    (void)class;
    return timeout_ms < 0 ? MIRE_E_RANGE : mire_flush((uint32_t)timeout_ms);
}

static jstring error_text(JNIEnv *env, jclass class, jint err)
{
    (void)class;
    return (*env)->NewStringUTF(env, mire_err_text((enum mire_err)err));
}

static jstring previous_end(JNIEnv *env, jclass class, jint timeout_ms)
{
    struct mire_run_end end;

    (void)class;
    return mire_previous_end(&end, timeout_ms > 0 ? (uint32_t)timeout_ms : 0) == MIRE_OK
               ? (*env)->NewStringUTF(env, end.verdict)
               : NULL;
}

/* ---- context ---- */

static void set_app_state(JNIEnv *env, jclass class, jint state)
{
    (void)env;
    (void)class;
    mire_set_app_state((enum mire_app_state)state);
}

static jint set_scene(JNIEnv *env, jclass class, jstring name)
{
    struct text text;

    (void)class;
    return mire_set_scene(get(&text, env, name));
}

static jint set_tag(JNIEnv *env, jclass class, jstring name, jstring value)
{
    struct text first, second;

    (void)class;
    return mire_set_tag(get(&first, env, name), get(&second, env, value));
}

static jint set_flag(JNIEnv *env, jclass class, jstring name, jstring value)
{
    struct text first, second;

    (void)class;
    return mire_set_flag(get(&first, env, name), get(&second, env, value));
}

static jint set_battery(JNIEnv *env, jclass class, jint percent, jboolean charging)
{
    (void)env;
    (void)class;
    return mire_set_battery(percent, charging);
}

static jint set_thermal(JNIEnv *env, jclass class, jint thermal)
{
    (void)env;
    (void)class;
    return mire_set_thermal((enum mire_thermal)thermal);
}

static jint set_orientation(JNIEnv *env, jclass class, jint orientation)
{
    (void)env;
    (void)class;
    return mire_set_orientation((enum mire_orientation)orientation);
}

static jint set_user(JNIEnv *env, jclass class, jstring id, jboolean plain)
{
    struct text text;

    (void)class;
    return mire_set_user(get(&text, env, id), plain ? MIRE_USER_PLAIN : MIRE_USER_HASHED);
}

static void breadcrumb(JNIEnv *env, jclass class, jstring line)
{
    struct text text;

    (void)class;
    mire_breadcrumb(get(&text, env, line));
}

static void frame_tick(JNIEnv *env, jclass class, jlong when_ns)
{
    (void)env;
    (void)class;
    mire_frame_tick((uint64_t)when_ns);
}

static jint capture(JNIEnv *env, jclass class, jstring name)
{
    struct text text;

    (void)class;
    return mire_capture(get(&text, env, name));
}

/* ---- input ---- */

static jint open_input(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return mire__input_open();
}

static void close_input(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    mire__input_close();
}

static jint input_waits_ms(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)mire__input_waits_ms();
}

/* ---- stacks of Java ---- */

static jint own_thread(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)mire__tid();
}

static void open_stacks(JNIEnv *env, jclass class, jint tid)
{
    (void)env;
    (void)class;
    mire__told_open((uint32_t)tid);
}

static void close_stacks(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    mire__told_close();
}

static jlong await_stack(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jlong)(uintptr_t)mire__told_await();
}

static void add_frame(JNIEnv *env, jclass class, jlong stack, jstring name, jstring file, jint line)
{
    struct text first, second;

    (void)class;
    mire__told_add((struct told_stack *)(uintptr_t)stack, get(&first, env, name), get(&second, env, file),
                   line > 0 ? (uint32_t)line : 0);
}

static void give_stack(JNIEnv *env, jclass class, jlong handle, jboolean in_native, jstring turn)
{
    struct told_stack *stack = (struct told_stack *)(uintptr_t)handle;
    struct text text;

    (void)class;
    stack->native = in_native;
    mire__text_copy(stack->turn, sizeof(stack->turn), get(&text, env, turn));
    mire__told_give(stack);
}

/* ---- requests, see sending.h ---- */

#define HEADERS_MAX 16

static jstring latin(JNIEnv *env, const char *text)
{
    return (*env)->NewStringUTF(env, text); /* URLs and headers are ASCII */
}

static jobject read_request(JNIEnv *env, const mire_request *request)
{
    jclass object = (*env)->FindClass(env, "java/lang/Object");
    jobjectArray out = object ? (*env)->NewObjectArray(env, HEADERS_MAX + 3, object, NULL) : NULL;
    jbyteArray body = NULL;

    if (out && request->body)
        body = (*env)->NewByteArray(env, (jsize)request->body_size);
    if (!out || (request->body && !body))
        return NULL;
    if (body)
        (*env)->SetByteArrayRegion(env, body, 0, (jsize)request->body_size, request->body);
    (*env)->SetObjectArrayElement(env, out, 0, latin(env, request->method));
    (*env)->SetObjectArrayElement(env, out, 1, latin(env, request->url));
    (*env)->SetObjectArrayElement(env, out, 2, body);
    for (jsize i = 0; i < HEADERS_MAX && request->headers[i]; i++)
        (*env)->SetObjectArrayElement(env, out, 3 + i, latin(env, request->headers[i]));
    return out;
}

static jobject await_request(JNIEnv *env, jclass class)
{
    const mire_request *request;

    (void)class;
    while ((request = mire__sending_await()) != NULL) {
        jobject out = read_request(env, request);

        mire__sending_read_done();
        if (out)
            return out;
        (*env)->ExceptionClear(env);
        mire__sending_answer(NULL);
    }
    return NULL;
}

static void answer_request(JNIEnv *env, jclass class, jint status, jobjectArray headers, jbyteArray body, jint whole)
{
    struct text texts[3];
    jbyte *bytes = body ? (*env)->GetByteArrayElements(env, body, NULL) : NULL;
    struct sending_answer answer = {.status = status,
                                    .body = bytes,
                                    .body_size = bytes ? (size_t)(*env)->GetArrayLength(env, body) : 0,
                                    .whole_size = whole > 0 ? (size_t)whole : 0};
    const char **to[] = {&answer.retry_after, &answer.date, &answer.etag};

    (void)class;
    for (jsize i = 0; i < 3 && headers; i++)
        *to[i] = get_or_null(&texts[i], env, (*env)->GetObjectArrayElement(env, headers, i));
    mire__sending_answer(status > 0 ? &answer : NULL);
    if (bytes)
        (*env)->ReleaseByteArrayElements(env, body, bytes, JNI_ABORT);
}

static void close_requests(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    mire__sending_close();
}

static jint set_transport(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire__sending_open();
    return mire_options_set_transport(options_of(options), mire__sending_transport, NULL);
}

static jint set_traces(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire__sending_open();
    return mire_options_set_trace(options_of(options), mire__sending_trace, NULL);
}

static jint set_gauges(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire__sending_open();
    return mire_options_set_gauges(options_of(options), mire__sending_gauges, NULL);
}

static jint memory_report(JNIEnv *env, jclass class, jstring name)
{
    struct text text;

    (void)class;
    return mire_memory_report(get_or_null(&text, env, name));
}

static jint memory_gauge(JNIEnv *env, jclass class, jstring name, jlong bytes, jlong count)
{
    struct text text;

    (void)class;
    return mire_memory_gauge(get(&text, env, name), bytes > 0 ? (uint64_t)bytes : 0, count > 0 ? (uint64_t)count : 0);
}

static jint set_consent(JNIEnv *env, jclass class, jint consent)
{
    (void)env;
    (void)class;
    return mire_set_consent((enum mire_consent)consent);
}

static void set_network(JNIEnv *env, jclass class, jint network)
{
    (void)env;
    (void)class;
    mire_set_network((enum mire_network)network);
}

static jint require_consent(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    return mire_options_set_consent_required(options_of(options), 1);
}

/* ---- registration ---- */

#define TEXT "Ljava/lang/String;"

static const JNINativeMethod natives[] = {
    {"newOptions", "()J", (void *)new_options},
    {"freeOptions", "(J)V", (void *)free_options},
    {"setOption", "(J" TEXT TEXT TEXT ")I", (void *)set_option},
    {"setNumber", "(J" TEXT "I)I", (void *)set_number},
    {"setMemory", "(JI)I", (void *)set_memory},
    {"start", "(J)I", (void *)start},
    {"stop", "()I", (void *)stop},
    {"flush", "(I)I", (void *)flush},
    {"errorText", "(I)" TEXT, (void *)error_text},
    {"previousEnd", "(I)" TEXT, (void *)previous_end},
    {"setAppState", "(I)V", (void *)set_app_state},
    {"setScene", "(" TEXT ")I", (void *)set_scene},
    {"setTag", "(" TEXT TEXT ")I", (void *)set_tag},
    {"setFlag", "(" TEXT TEXT ")I", (void *)set_flag},
    {"setBattery", "(IZ)I", (void *)set_battery},
    {"setThermal", "(I)I", (void *)set_thermal},
    {"setOrientation", "(I)I", (void *)set_orientation},
    {"setUser", "(" TEXT "Z)I", (void *)set_user},
    {"breadcrumb", "(" TEXT ")V", (void *)breadcrumb},
    {"frameTick", "(J)V", (void *)frame_tick},
    {"capture", "(" TEXT ")I", (void *)capture},
    {"openInput", "()I", (void *)open_input},
    {"closeInput", "()V", (void *)close_input},
    {"inputWaitsMs", "()I", (void *)input_waits_ms},
    {"ownThread", "()I", (void *)own_thread},
    {"openStacks", "(I)V", (void *)open_stacks},
    {"closeStacks", "()V", (void *)close_stacks},
    {"awaitStack", "()J", (void *)await_stack},
    {"addFrame", "(J" TEXT TEXT "I)V", (void *)add_frame},
    {"giveStack", "(JZ" TEXT ")V", (void *)give_stack},
    {"run", "()" TEXT, (void *)run_name},
    {"addEnd", "(J" TEXT "II)I", (void *)add_end},
    {"setTransport", "(J)I", (void *)set_transport},
    {"setTraces", "(J)I", (void *)set_traces},
    {"setGauges", "(J)I", (void *)set_gauges},
    {"memoryReport", "(" TEXT ")I", (void *)memory_report},
    {"memoryGauge", "(" TEXT "JJ)I", (void *)memory_gauge},
    {"awaitRequest", "()[Ljava/lang/Object;", (void *)await_request},
    {"answerRequest", "(I[" TEXT "[BI)V", (void *)answer_request},
    {"closeRequests", "()V", (void *)close_requests},
    {"setConsent", "(I)I", (void *)set_consent},
    {"setNetwork", "(I)V", (void *)set_network},
    {"requireConsent", "(J)I", (void *)require_consent},
};

/* Called by System.loadLibrary. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    jclass class;

    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    class = (*env)->FindClass(env, CLASS);
    if (!class || (*env)->RegisterNatives(env, class, natives, sizeof(natives) / sizeof(*natives)) != JNI_OK)
        return JNI_ERR;
    return JNI_VERSION_1_6;
}
