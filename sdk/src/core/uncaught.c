/*
 * uncaught.c - see uncaught.h. Types are read as the C++ ABI of Itanium lays them out, which all systems here follow:
 *
 *     type_info                 vtable, name
 *     __si_class_type_info      vtable, name, base at offset 0
 *     std::exception            vtable: two destructors, what()
 *
 * Only an exception whose bases are single and at offset 0 is asked for its text.
 */
#include "core/uncaught.h"

#include "base/base.h"
#include "capture/crash.h"
#include "mire/context.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_UNIQUE (UINT64_C(1) << 63) /* a mark in the pointer to the name, on ARM */
#define BASES_MAX   16

typedef void terminate_fn(void);
typedef terminate_fn *set_terminate_fn(terminate_fn *handler);
typedef terminate_fn *get_terminate_fn(void);
typedef char *demangle_fn(const char *name, char *out, size_t *size, int *status);

struct type {
    const void *vtable;
    const char *name;
    const struct type *base; /* of __si_class_type_info alone */
};

/* std::exception_ptr: a pointer, returned in memory, as a structure of this size is. */
struct exception_ptr {
    void *object;
    void *room[3];
};

static struct {
    set_terminate_fn *set;
    get_terminate_fn *get;
    terminate_fn *displaced;
    const struct type *(*current_type)(void);
    struct exception_ptr (*current)(void);
    demangle_fn *demangle;
    const char *si_vtable;
} runtime;

static const char *name_of(const struct type *type)
{
    const char *name = (const char *)((uintptr_t)type->name & ~(uintptr_t)NAME_UNIQUE);

    return *name == '*' ? name + 1 : name;
}

/* Does an exception of this type begin with a std::exception? */
static bool is_exception(const struct type *type)
{
    for (int i = 0; i < BASES_MAX; i++) {
        if (strcmp(name_of(type), "St9exception") == 0)
            return true;
        if (!runtime.si_vtable || (const char *)type->vtable != runtime.si_vtable + 2 * sizeof(void *))
            return false;
        type = type->base;
    }
    return false;
}

static const char *text_of(const struct type *type)
{
    struct exception_ptr held;
    const char *(*const *vtable)(const void *);

    if (!runtime.current || !is_exception(type))
        return NULL;
    held = runtime.current(); /* never released: the process ends */
    if (!held.object)
        return NULL;
    vtable = *(const char *(*const **)(const void *))held.object;
    return vtable[2](held.object);
}

void mire__uncaught_record(const char *name, const char *reason, const uintptr_t *callers, size_t count)
{
    char crumb[256];

    mire__crash_say(name, callers, count);
    snprintf(crumb, sizeof(crumb), "uncaught %s%s%s", name, reason && reason[0] ? ": " : "", reason ? reason : "");
    mire_breadcrumb(crumb);
}

static void on_terminate(void)
{
    const struct type *type = runtime.current_type();
    int status = -1;
    char *plain = type && runtime.demangle ? runtime.demangle(name_of(type), NULL, NULL, &status) : NULL;

    if (type)
        mire__uncaught_record(plain && status == 0 ? plain : name_of(type), text_of(type), NULL, 0);
    free(plain);
    if (runtime.displaced)
        runtime.displaced();
    abort();
}

/* The loader keeps a text of each name that it does not find, until it is asked for the error. */
static void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (!found)
        dlerror();
    return found;
}

void mire__uncaught_hear(void)
{
    runtime.set = (set_terminate_fn *)find("_ZSt13set_terminatePFvvE");
    if (!runtime.set)
        return;
    runtime.get = (get_terminate_fn *)find("_ZSt13get_terminatev");
    runtime.current_type = (const struct type *(*)(void))find("__cxa_current_exception_type");
    if (!runtime.get || !runtime.current_type || runtime.get() == on_terminate)
        return;
    runtime.current = (struct exception_ptr(*)(void))find("_ZSt17current_exceptionv");
    runtime.demangle = (demangle_fn *)find("__cxa_demangle");
    runtime.si_vtable = find("_ZTVN10__cxxabiv120__si_class_type_infoE");
    runtime.displaced = runtime.set(on_terminate);
}

void mire__uncaught_forget(void)
{
    if (runtime.set && runtime.get && runtime.get() == on_terminate)
        runtime.set(runtime.displaced);
}
