/*
 * shim.h - intercepts a scenario's changes of the disk: every system call that changes it, and every store into a
 * mapped file, is a point. At a chosen point the process is killed; or all points are logged, to build a disk from them
 * (disk.h).
 *
 * System calls are intercepted by --wrap (CMakeLists.txt). Mapped files are read-only: a store faults, is executed as a
 * single step, and is a point. That needs x86-64; on other processors mapped files are writable and have no points.
 *
 * Single-threaded. Counters and log are in memory that parent and child share.
 */
#ifndef MIRE_REPLAY_SHIM_H
#define MIRE_REPLAY_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_kind {
    OP_MADE,       /* path: a file, `inode` */
    OP_DIR,        /* path: a directory */
    OP_WRITTEN,    /* inode, at, bytes */
    OP_SIZED,      /* inode, at: its new size */
    OP_RENAMED,    /* path to path_to */
    OP_LINKED,     /* path, also as path_to */
    OP_REMOVED,    /* path */
    OP_SYNCED,     /* inode */
    OP_DIR_SYNCED, /* path */
    OP_TRUTH       /* bytes: the scenario's knowledge from now on */
};

struct op {
    uint32_t size; /* of the whole entry */
    uint16_t kind;
    uint16_t path_size, path_to_size; /* with their NUL; after this struct */
    uint32_t inode;
    uint64_t at;
    uint32_t bytes_size; /* after the paths */
};

/* Shared by parent and child. */
struct shim {
    bool on;
    bool recording;
    uint64_t kill_at; /* number of the point; 0: none */
    uint64_t points, stores;
    size_t log_size;
    uint8_t log[64 << 20];
};

extern struct shim *shim;

/* Map the shared memory. */
void shim_open(void);

/* In the child: begin. Paths are logged relative to `root`. */
void shim_begin(const char *root, bool recording, uint64_t kill_at);

/* Log bytes of the scenario as OP_TRUTH. */
void shim_note(const void *bytes, size_t size);

#endif
