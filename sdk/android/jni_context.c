/*
 * jni_context.c - the app's calls while libmire runs: context, frames, reports on demand, memory, consent
 * and network.
 */
#include <mire/context.h>
#include <mire/delivery.h>
#include <mire/memory.h>

#include "android/jni_inside.h"

static void set_app_state(JNIEnv *env, jclass class, jint state)
{
    (void)env;
    (void)class;
    mire_set_app_state((enum mire_app_state)state);
}

static jint set_scene(JNIEnv *env, jclass class, jstring name)
{
    struct jni_text text;

    (void)class;
    return mire_set_scene(mire__jni_text(&text, env, name));
}

static jint set_tag(JNIEnv *env, jclass class, jstring name, jstring value)
{
    struct jni_text first, second;

    (void)class;
    return mire_set_tag(mire__jni_text(&first, env, name), mire__jni_text(&second, env, value));
}

static jint set_flag(JNIEnv *env, jclass class, jstring name, jstring value)
{
    struct jni_text first, second;

    (void)class;
    return mire_set_flag(mire__jni_text(&first, env, name), mire__jni_text(&second, env, value));
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
    struct jni_text text;

    (void)class;
    return mire_set_user(mire__jni_text(&text, env, id), plain ? MIRE_USER_PLAIN : MIRE_USER_HASHED);
}

static void breadcrumb(JNIEnv *env, jclass class, jstring line)
{
    struct jni_text text;

    (void)class;
    mire_breadcrumb(mire__jni_text(&text, env, line));
}

static void frame_tick(JNIEnv *env, jclass class, jlong when_ns)
{
    (void)env;
    (void)class;
    mire_frame_tick((uint64_t)when_ns);
}

static jint capture(JNIEnv *env, jclass class, jstring name)
{
    struct jni_text text;

    (void)class;
    return mire_capture(mire__jni_text(&text, env, name));
}

static jint memory_report(JNIEnv *env, jclass class, jstring name)
{
    struct jni_text text;

    (void)class;
    return mire_memory_report(mire__jni_text_or_null(&text, env, name));
}

static jint memory_gauge(JNIEnv *env, jclass class, jstring name, jlong bytes, jlong count)
{
    struct jni_text text;

    (void)class;
    return mire_memory_gauge(mire__jni_text(&text, env, name), bytes > 0 ? (uint64_t)bytes : 0,
                             count > 0 ? (uint64_t)count : 0);
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

const JNINativeMethod mire__jni_context[] = {
    {"setAppState", "(I)V", (void *)set_app_state},
    {"setScene", "(" JNI_TEXT ")I", (void *)set_scene},
    {"setTag", "(" JNI_TEXT JNI_TEXT ")I", (void *)set_tag},
    {"setFlag", "(" JNI_TEXT JNI_TEXT ")I", (void *)set_flag},
    {"setBattery", "(IZ)I", (void *)set_battery},
    {"setThermal", "(I)I", (void *)set_thermal},
    {"setOrientation", "(I)I", (void *)set_orientation},
    {"setUser", "(" JNI_TEXT "Z)I", (void *)set_user},
    {"breadcrumb", "(" JNI_TEXT ")V", (void *)breadcrumb},
    {"frameTick", "(J)V", (void *)frame_tick},
    {"capture", "(" JNI_TEXT ")I", (void *)capture},
    {"memoryReport", "(" JNI_TEXT ")I", (void *)memory_report},
    {"memoryGauge", "(" JNI_TEXT "JJ)I", (void *)memory_gauge},
    {"setConsent", "(I)I", (void *)set_consent},
    {"setNetwork", "(I)V", (void *)set_network},
};
const jint mire__jni_context_count = sizeof(mire__jni_context) / sizeof(*mire__jni_context);
