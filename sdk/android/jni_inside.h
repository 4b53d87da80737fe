/*
 * jni_inside.h - the texts of Java, and the tables of natives, one a file. Inside android/ only.
 */
#ifndef MIRE_ANDROID_JNI_INSIDE_H
#define MIRE_ANDROID_JNI_INSIDE_H

#include <mire/mire.h>

#include <jni.h>

#define JNI_TEXT "Ljava/lang/String;"

#define MIRE_JNI_UNITS 1024

/* A text of Java's in UTF-8. Longer ones are cut: the C API's own bounds are smaller. */
struct jni_text {
    char bytes[3 * MIRE_JNI_UNITS + 1];
};

/* The text of a string of Java; of null "" or, with _or_null, NULL. Points into `text`. */
const char *mire__jni_text(struct jni_text *text, JNIEnv *env, jstring from);
const char *mire__jni_text_or_null(struct jni_text *text, JNIEnv *env, jstring from);

/* The options behind a handle of Java's. */
mire_options *mire__jni_options(jlong handle);

extern const JNINativeMethod mire__jni_context[], mire__jni_serve[];
extern const jint mire__jni_context_count, mire__jni_serve_count;

#endif
