/*
 * classes.c - see machine.h: classes of the ObjC runtime and types of CoreFoundation. The classes are those of the
 * program, as its compiler laid them out (memory_objects.m); an instance's first word has its class in some bits.
 */
#include "apple/machine.h"
#include "apple/macho.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_IMAGE  300
#define FACTS_BYTES 8 /* of an instance, in the facts of a class */
#define FACTS_NAME  24
#define WORD_FACTS  4 /* of a class */
#define NON_POINTER 1ull
#define ONE_HOLDER  (1ull << 56)

static const struct macho *program;

void classes_set_program(const struct macho *image)
{
    program = image;
}

void *classes_of_program(const char *name)
{
    char symbol[128];

    snprintf(symbol, sizeof(symbol), "_OBJC_CLASS_$_%s", name);
    return program ? macho_find(program, symbol) : NULL;
}

static const void *fact_of(const uintptr_t *class, size_t at)
{
    return (const char *)(class[WORD_FACTS] & ~(uintptr_t)7) + at;
}

static const char *fake_name(const uintptr_t *class)
{
    return *(const char *const *)fact_of(class, FACTS_NAME);
}

static size_t fake_instance_size(const uintptr_t *class)
{
    return *(const uint32_t *)fact_of(class, FACTS_BYTES);
}

void *classes_make_instance(const void *class)
{
    uintptr_t *made = calloc(1, fake_instance_size(class));

    made[0] = (uintptr_t) class | NON_POINTER | ONE_HOLDER;
    return made;
}

/* ---- CoreFoundation: the second word of an object has the number of its type ---- */

static unsigned long fake_type(const uint64_t *object)
{
    return object[1] >> 8 & 0x3ff;
}

static char *fake_description(unsigned long type)
{
    return strdup(type == TYPE_IMAGE ? "CGImage" : "another");
}

static unsigned char fake_text(const char *string, char *out, long bytes, uint32_t encoding)
{
    (void)encoding;
    return snprintf(out, (size_t)bytes, "%s", string) < bytes;
}

void *classes_find(const char *name)
{
    static const struct machine_name names[] = {
        {"_class_getName", (void *)fake_name},      {"_class_getInstanceSize", (void *)fake_instance_size},
        {"_CFGetTypeID", (void *)fake_type},        {"_CFCopyTypeIDDescription", (void *)fake_description},
        {"_CFStringGetCString", (void *)fake_text},
    };

    return machine_find(names, MACHINE_COUNT(names), name);
}
