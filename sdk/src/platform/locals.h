/*
 * locals.h - the thread-local state of the whole library, and the only access to it.
 *
 * The hooks of allocating calls read this state, so the access must not allocate. CMake's MIRE_LOCALS chooses:
 *
 *   tls  ELF thread-local storage, model initial-exec: a load at a fixed distance from the thread pointer. For C
 *        libraries that keep room for it in every thread: glibc, musl.
 *   key  a pthread key that leads to a record in static memory (locals_key.c). For systems where the compiler emulates
 *        thread-local storage with malloc, or where the model is refused in a library that is opened later: Android,
 *        Apple. A key below 32 takes no memory of glibc either, so the same code is tested on Linux.
 *
 * A thread begins with zeros. Thread: any.  Signal handler: yes.
 */
#ifndef MIRE_PLATFORM_LOCALS_H
#define MIRE_PLATFORM_LOCALS_H

#include "base/base.h"

struct collect_thread;
struct gate;
struct kept;

/* The first line is read by each allocating call and each turn; the fields are private to the folder named. */
struct locals {
    _Alignas(64) struct collect_thread *collect; /* allochook: the thread's state; NULL before its first call */
    int64_t collect_left;   /* allochook: sampling budget: bytes, 0 or more, before a call takes the slow path */
    struct gate *gate;      /* gate: the thread's words; NULL: not watched */
    uint64_t look_again_ns; /* gate: when an unwatched thread's name is looked at again */
    uint64_t own_stack;     /* platform: an address on the stack of a thread of the library */
    struct kept *keeping;   /* platform: files that the thread keeps open; NULL: none */
    uint32_t tid_of_ego;    /* platform: the thread for which this kernel thread runs; otherwise 0 */
    bool is_ours;           /* platform: a thread of the library */
    bool is_apart;          /* platform: the thread has the library's descriptor table */
    bool is_lost;           /* allochook: the thread got no state, and was counted */
    bool is_binding;        /* allochook: the thread looks up the real calls */
    bool is_allocating;     /* allochook: the thread is inside an allocator's call (zones_apple.c) */
};
_Static_assert(sizeof(struct locals) == 64, "C libraries have little room for thread-local storage");

#ifdef MIRE_LOCALS_KEY

/*
 * The calling thread's state. Never NULL. If 4096 other threads live, or no key is free, the thread gets a record that
 * all such threads share. So a caller asks mire__locals_as_exist before it stores a pointer.
 */
struct locals *mire__locals_as_own(void);

/* Has the calling thread a record of its own? */
bool mire__locals_as_exist(void);

#else

extern __thread struct locals mire__locals __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline __attribute__((always_inline)) struct locals *mire__locals_as_own(void)
{
    return &mire__locals;
}

static inline bool mire__locals_as_exist(void)
{
    return true;
}

#endif
#endif
