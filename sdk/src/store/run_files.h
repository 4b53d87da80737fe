/*
 * run_files.h - the files of one run, which share a name in <dir>/box and differ in their suffix.
 *
 *     <n>.exit   evidence of its end: created first, deleted last; locked while the process is alive
 *     <n>.box    its blackbox, while it is watched
 *     <n>.heap   its memory tables
 *     <n>.crash  marks a crash; its content has no meaning
 *
 * Thread: any.  Signal handler: no.
 */
#ifndef MIRE_STORE_RUN_FILES_H
#define MIRE_STORE_RUN_FILES_H

#include "store/store.h"

#define MIRE_STORE_RUN_BYTES 33 /* 32 hex digits and a NUL */

#define MIRE_STORE_EXIT  ".exit"
#define MIRE_STORE_BOX   ".box"
#define MIRE_STORE_HEAP  ".heap"
#define MIRE_STORE_CRASH ".crash"

/* A new name: 128 random bits. */
void mire__store_run_name(char run[MIRE_STORE_RUN_BYTES]);

/* The path of a file of the run. False: it is too long. */
bool mire__store_run_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run,
                          const char *suffix);

/* Is there a file of the run with this suffix? */
bool mire__store_run_has(const struct store *store, const char *run, const char *suffix);

#endif
