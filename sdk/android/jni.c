/*
 * jni.c - the natives of dev.mire.Native: options, start and stop here, the rest in jni_context.c and jni_serve.c. Each
 * is a call of the C API, or of script/vm_stack.h.
 *
 * Thread: as the call that it makes. No local reference outlives a call, and no Java exception is pending after one but
 * OutOfMemoryError.
 */
#include <mire/context.h>
#include <mire/delivery.h>
#include <mire/exit.h>
#include <mire/memory.h>

#include "android/jni_inside.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CLASS "dev/mire/Native"

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
const char *mire__jni_text(struct jni_text *text, JNIEnv *env, jstring from)
{
    jsize count = from ? (*env)->GetStringLength(env, from) : 0;
    jchar units[MIRE_JNI_UNITS];
    size_t at = 0;

    count = count < MIRE_JNI_UNITS ? count : MIRE_JNI_UNITS;
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

const char *mire__jni_text_or_null(struct jni_text *text, JNIEnv *env, jstring from)
{
    return from ? mire__jni_text(text, env, from) : NULL;
}

/* ---- options ---- */

mire_options *mire__jni_options(jlong handle)
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
    mire_options_free(mire__jni_options(options));
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
    struct jni_text wanted, first, second;

    (void)class;
    mire__jni_text(&wanted, env, name);
    for (size_t i = 0; i < sizeof(setters) / sizeof(*setters); i++)
        if (strcmp(setters[i].name, wanted.bytes) == 0)
            return setters[i].set(mire__jni_options(options), mire__jni_text_or_null(&first, env, one),
                                  mire__jni_text_or_null(&second, env, two));
    return MIRE_E_ARG;
}

static jint set_number(JNIEnv *env, jclass class, jlong options, jstring name, jint value)
{
    struct jni_text text;

    (void)class;
    return value < 0
               ? MIRE_E_RANGE
               : mire_options_set_number(mire__jni_options(options), mire__jni_text(&text, env, name), (uint32_t)value);
}

static jint set_memory(JNIEnv *env, jclass class, jlong options, jint mode)
{
    (void)env;
    (void)class;
    return mire_options_set_memory(mire__jni_options(options), (enum mire_memory_mode)mode, 0);
}

static jint add_end(JNIEnv *env, jclass class, jlong options, jstring run, jint end, jint status)
{
    struct jni_text text;

    (void)class;
    return mire_options_add_end(mire__jni_options(options), mire__jni_text(&text, env, run), (enum mire_end)end,
                                status);
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
    mire_options_set_launch(mire__jni_options(options), 0);
    return mire_start(mire__jni_options(options));
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

static jint require_consent(JNIEnv *env, jclass class, jlong options)
{
    (void)env;
    (void)class;
    return mire_options_set_consent_required(mire__jni_options(options), 1);
}

/* ---- registration ---- */

static const JNINativeMethod natives[] = {
    {"newOptions", "()J", (void *)new_options},
    {"freeOptions", "(J)V", (void *)free_options},
    {"setOption", "(J" JNI_TEXT JNI_TEXT JNI_TEXT ")I", (void *)set_option},
    {"setNumber", "(J" JNI_TEXT "I)I", (void *)set_number},
    {"setMemory", "(JI)I", (void *)set_memory},
    {"start", "(J)I", (void *)start},
    {"stop", "()I", (void *)stop},
    {"flush", "(I)I", (void *)flush},
    {"errorText", "(I)" JNI_TEXT, (void *)error_text},
    {"previousEnd", "(I)" JNI_TEXT, (void *)previous_end},
    {"run", "()" JNI_TEXT, (void *)run_name},
    {"addEnd", "(J" JNI_TEXT "II)I", (void *)add_end},
    {"requireConsent", "(J)I", (void *)require_consent},
};

static bool add_natives(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count)
{
    return (*env)->RegisterNatives(env, class, methods, count) == JNI_OK;
}

/* Called by System.loadLibrary. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    jclass class;

    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    class = (*env)->FindClass(env, CLASS);
    if (!class || !add_natives(env, class, natives, sizeof(natives) / sizeof(*natives)) ||
        !add_natives(env, class, mire__jni_context, mire__jni_context_count) ||
        !add_natives(env, class, mire__jni_serve, mire__jni_serve_count))
        return JNI_ERR;
    return JNI_VERSION_1_6;
}
