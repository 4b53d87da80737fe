/*
 * jni_serve.c - natives by which threads of Java serve libmire: input events, stacks of Java, and requests to the server.
 */
#include <mire/delivery.h>
#include <mire/exit.h>
#include <mire/memory.h>

#include "android/input.h"
#include "android/jni_inside.h"
#include "android/sending.h"
#include "platform/platform.h"
#include "script/vm_stack.h"

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
    mire__vm_stack_open((uint32_t)tid);
}

static void close_stacks(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    mire__vm_stack_close();
}

static jlong await_stack(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jlong)(uintptr_t)mire__vm_stack_await();
}

static void add_frame(JNIEnv *env, jclass class, jlong stack, jstring name, jstring file, jint line)
{
    struct jni_text first, second;

    (void)class;
    mire__vm_stack_add((struct vm_stack *)(uintptr_t)stack, mire__jni_text(&first, env, name),
                       mire__jni_text(&second, env, file), line > 0 ? (uint32_t)line : 0);
}

static void give_stack(JNIEnv *env, jclass class, jlong handle, jboolean in_native, jstring turn)
{
    struct vm_stack *stack = (struct vm_stack *)(uintptr_t)handle;
    struct jni_text text;

    (void)class;
    stack->native = in_native;
    mire__text_copy(stack->turn, sizeof(stack->turn), mire__jni_text(&text, env, turn));
    mire__vm_stack_give(stack);
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
    struct jni_text texts[3];
    jbyte *bytes = body ? (*env)->GetByteArrayElements(env, body, NULL) : NULL;
    struct sending_answer answer = {.status = status,
                                    .body = bytes,
                                    .body_size = bytes ? (size_t)(*env)->GetArrayLength(env, body) : 0,
                                    .whole_size = whole > 0 ? (size_t)whole : 0};
    const char **to[] = {&answer.retry_after, &answer.date, &answer.etag};

    (void)class;
    for (jsize i = 0; i < 3 && headers; i++)
        *to[i] = mire__jni_text_or_null(&texts[i], env, (*env)->GetObjectArrayElement(env, headers, i));
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
    return mire_options_set_transport(mire__jni_options(options), mire__sending_transport, NULL);
}

static jint set_traces(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire__sending_open();
    return mire_options_set_trace(mire__jni_options(options), mire__sending_trace, NULL);
}

static jint set_gauges(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    mire__sending_open();
    return mire_options_set_gauges(mire__jni_options(options), mire__sending_gauges, NULL);
}

const JNINativeMethod mire__jni_serve[] = {
    {"openInput", "()I", (void *)open_input},
    {"closeInput", "()V", (void *)close_input},
    {"inputWaitsMs", "()I", (void *)input_waits_ms},
    {"ownThread", "()I", (void *)own_thread},
    {"openStacks", "(I)V", (void *)open_stacks},
    {"closeStacks", "()V", (void *)close_stacks},
    {"awaitStack", "()J", (void *)await_stack},
    {"addFrame", "(J" JNI_TEXT JNI_TEXT "I)V", (void *)add_frame},
    {"giveStack", "(JZ" JNI_TEXT ")V", (void *)give_stack},
    {"setTransport", "(J)I", (void *)set_transport},
    {"setTraces", "(J)I", (void *)set_traces},
    {"setGauges", "(J)I", (void *)set_gauges},
    {"awaitRequest", "()[Ljava/lang/Object;", (void *)await_request},
    {"answerRequest", "(I[" JNI_TEXT "[BI)V", (void *)answer_request},
    {"closeRequests", "()V", (void *)close_requests},
};
const jint mire__jni_serve_count = sizeof(mire__jni_serve) / sizeof(*mire__jni_serve);
