/*
 * program.h - finds the program that mire-run runs, and decides whether it can be watched.
 */
#ifndef MIRE_PRELOAD_PROGRAM_H
#define MIRE_PRELOAD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The values are exit statuses of mire-run, like those of shells. */
enum program_found { PROGRAM_FOUND = 0, PROGRAM_NOT_EXECUTABLE = 126, PROGRAM_NOT_FOUND = 127 };

/* Find `name` as execvp does: a name with a slash directly, others in $PATH. */
enum program_found program_find(char *path, size_t cap_bytes, const char *name);

struct program_facts {
    bool is_static;     /* an ELF file without a loader: nothing can be preloaded */
    bool is_foreign;    /* for another processor or loader than mire-run: the preload library would not fit */
    bool is_privileged; /* set-uid, set-gid or with capabilities beyond the caller's: the loader ignores LD_PRELOAD */
    char first[32];     /* a library that must be loaded before all others (a sanitizer's); "": none */
    char build_id[65];  /* hex digits, "" if it has none */
};

/* Read the facts of an ELF file. Other files, such as scripts, have none. */
void program_inspect(struct program_facts *out, const char *path);

#endif
