/*
 * patch.h - hooks patched into the loaded modules' tables of foreign functions, in this process.
 *
 *     app's code --> table of the app's module --> hook --> the function that the table named before
 *
 * A hook stands for a function by name. It is put into every slot that the loader fills with that function's address:
 * those that calls go through, and pointers to it in data. dlsym is hooked along with the first table, so that what the
 * program loaded since is hooked before it can be reached.
 */
#ifndef MIRE_PATCH_PATCH_H
#define MIRE_PATCH_PATCH_H

#include "base/base.h"

struct hook {
    const char *name;
    void *hook;
    _Atomic(void *) real; /* what it stands for; NULL where there is none, and then the hook is left out */
};

/* Tables of hooks at a time. */
#define MIRE_PATCH_TABLES 4

/*
 * Hook the functions of a table in every module loaded now; again (refresh) those of modules loaded since.
 *   hooks  static; `real` is bound already
 * Returns MIRE_OK, MIRE_E_FULL. A module whose table cannot be written is left alone.
 * Thread: any that may wait for the loader's lock.
 */
enum mire_err mire__patch_add(struct hook *hooks, size_t count);
void mire__patch_refresh(void);

/* How many modules the loader has ever loaded: another number, and there may be new ones. Thread: as above. */
unsigned long long mire__patch_modules_loaded(void);

/* Put back what the table's hooks stand for, everywhere. Thread: as mire__patch_add. */
void mire__patch_remove(const struct hook *hooks);

#endif
