/*
 * walk.h - the records of a heap dump, one after the other. Inside hprof/ only.
 *
 * The format: OpenJDK, src/hotspot/share/services/heapDumper.cpp; Android's additions: art/runtime/hprof/hprof.cc.
 */
#ifndef MIRE_HPROF_WALK_H
#define MIRE_HPROF_WALK_H

#include "hprof/hprof.h"
#include "hprof/stream.h"

enum root_kind {
    ROOT_UNKNOWN,
    ROOT_JNI_GLOBAL,
    ROOT_LOCAL, /* of a thread: Java frame, JNI local, native stack, thread block */
    ROOT_CLASS, /* of the system's class loader */
    ROOT_MONITOR,
    ROOT_THREAD,
    ROOT_INTERNAL, /* interned, finalizing, debugger, the machine's own */
    ROOT_KINDS
};

enum element {
    ELEMENT_OBJECT = 2,
    ELEMENT_BOOLEAN = 4,
    ELEMENT_CHAR,
    ELEMENT_FLOAT,
    ELEMENT_DOUBLE,
    ELEMENT_BYTE,
    ELEMENT_SHORT,
    ELEMENT_INT,
    ELEMENT_LONG
};

/* Size of a value of a type in the file; 0: there is no such type. */
unsigned element_bytes(unsigned type, unsigned id_len);

/*
 * Values of a class, constants or static fields: a number, so many bytes before each, a type, the value.
 *
 *   value  may be NULL
 *
 * NULL, or the defect.
 */
const char *walk_values(struct hprof_stream *s, unsigned before,
                        void (*value)(void *context, unsigned type, uint64_t value), void *context);

/* Skip the rest of a class after its id. */
const char *walk_skip_class(struct hprof_stream *s);

/*
 * Bodies that a function does not read are skipped. A function may be NULL. The text that a function returns ends the
 * walk, and is its result.
 */
struct hprof_walk {
    void *context;
    void (*string)(void *context, uint64_t id, const uint8_t *bytes, size_t len); /* cut at 4096 bytes */
    void (*class_name)(void *context, uint64_t class_id, uint64_t name_id);
    void (*root)(void *context, enum root_kind kind, uint64_t id, uint64_t thread_serial);
    const char *(*class_dump)(void *context, struct hprof_stream *s, uint64_t id); /* reads the whole body */
    const char *(*instance)(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t len);
    const char *(*objects)(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t count);
    void (*numbers)(void *context, uint64_t id, unsigned type, uint32_t count);
    bool android; /* filled: version 1.0.3 */
    const char *wrong;
};

/* From the first byte to the end. False: fault says where the file is none. */
bool walk_all(struct hprof_walk *walk, struct hprof_fault *fault, struct hprof_stream *s);

#endif
