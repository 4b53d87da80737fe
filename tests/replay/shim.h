/*
 * shim.h - between a scenario and the kernel: every system call that changes the disk, and every store into a mapped
 * file, is a point. At the chosen one the process is killed; or all of them are written down, for a disk to be put
 * together from them (disk.h).
 *
 * System calls come by --wrap (CMakeLists.txt). Mapped files are read-only: a store faults, is stepped over by itself,
 * and is a point. That takes x86-64; elsewhere mapped files are written as ever, and have no points of their own.
 *
 * Single-threaded. What it counts and writes down lies in memory that parent and child share.
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
    OP_TRUTH       /* bytes: what the scenario knows from now on */
};

struct op {
    uint32_t size; /* of the whole entry */
    uint16_t kind;
    uint16_t path_size, path_to_size; /* with their NUL; behind this */
    uint32_t inode;
    uint64_t at;
    uint32_t bytes_size; /* behind the paths */
};

/* Shared by parent and child. */
struct shim {
    bool on;
    bool recording;
    uint64_t kill_at; /* which point; 0: none */
    uint64_t points, stores;
    size_t log_size;
    uint8_t log[64 << 20];
};

extern struct shim *shim;

/* Map it. */
void shim_open(void);

/* In the child: begin. Paths are taken down below `root`, without it. */
void shim_begin(const char *root, bool recording, uint64_t kill_at);

/* The scenario's own word, written down as OP_TRUTH. */
void shim_note(const void *bytes, size_t size);

#endif
