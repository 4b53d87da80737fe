/*
 * machine.h - the parts of the machine on which Mach-O code runs on Linux: the names that a library imports, by file.
 *
 *     files.c, memory.c, threads.c, system.c
 *                libSystem: files; memory; threads, clocks and Mach calls, by Linux's, with Apple's structures and numbers
 *     runtime.c  CoreFoundation, dispatch and the ObjC runtime; session.c the classes of Foundation that send a request
 *     classes.c  the ObjC runtime's classes of the program, and the types of CoreFoundation
 *     display.c  frames of a display, and a user who scrolls
 *     exceptions.c  exceptions that nobody catches, and their signal
 */
#ifndef MIRE_TEST_MACHINE_H
#define MIRE_TEST_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct macho;

struct machine_name {
    const char *name; /* with its underscore */
    void *address;
};

/* The address of an imported name; NULL: this file has none. */
void *files_find(const char *name);
void *memory_find(const char *name);
void *threads_find(const char *name);
void *system_find(const char *name);
void *runtime_find(const char *name);
void *classes_find(const char *name);

/* The images that dyld lists: libmire, libmalloc (libmalloc.c), the executable. */
#define MACHINE_IMAGES 3
void system_set_image(size_t which, const struct macho *image, const char *path);

/* The program, whose classes the ObjC runtime has; one of them by its name, NULL: there is none; an instance of it. */
void classes_set_program(const struct macho *image);
void *classes_of_program(const char *name);
void *classes_make_instance(const void *class);

/* A limit for the footprint, as the system gives it to an app; 0: none. */
void system_set_limit(uint64_t bytes);

#define MACHINE_PAGE 4096u

/* Store a field of one of Apple's structures. */
#define MACHINE_PUT(out, at, type, value)                            \
    do {                                                             \
        const type put_value = (type)(value);                        \
        memcpy((char *)(out) + (at), &put_value, sizeof(put_value)); \
    } while (0)

/* Look a name up in a table. */
static inline void *machine_find(const struct machine_name *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *a = names[i].name, *b = name;

        while (*a && *a == *b) {
            a++;
            b++;
        }
        if (*a == *b)
            return names[i].address;
    }
    return NULL;
}

#define MACHINE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
