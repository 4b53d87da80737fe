/*
 * patch.h - patches hooks into the loaded modules' tables of imported functions (GOT), in this process.
 *
 *     app's code --> table of the app's module --> hook --> the function that the table named before
 *
 * A hook replaces a function by name, in every slot that the loader fills with the function's address: slots of calls,
 * and pointers in data. dlsym is hooked along with the first table, so that modules loaded since are hooked before the
 * program can call them.
 */
#ifndef MIRE_PATCH_PATCH_H
#define MIRE_PATCH_PATCH_H

#include "base/base.h"

struct hook {
    const char *name;
    void *hook;
    _Atomic(void *) real; /* the replaced function; NULL: there is none, and the hook is left out */
};

/* Maximal number of tables. */
#define MIRE_PATCH_TABLES 5

/*
 * Hook the functions of a table in every loaded module; refresh: in modules loaded since.
 *   hooks  static; `real` is bound already
 * Returns MIRE_OK, MIRE_E_FULL. A module whose table cannot be written is skipped.
 * Thread: any that may wait for the loader's lock.
 */
enum mire_err mire__patch_add(struct hook *hooks, size_t count);

/* The same in one module alone, by the last part of its path; static. */
enum mire_err mire__patch_add_in(const char *module, struct hook *hooks, size_t count);
void mire__patch_refresh(void);

/* Number of modules that the loader has ever loaded; a change means that there may be new ones. Thread: as above. */
unsigned long long mire__patch_modules_loaded(void);

/* Restore the replaced functions everywhere. Thread: as mire__patch_add. */
void mire__patch_remove(const struct hook *hooks);

#endif
