/*
 * program.h - the program that mire-run is to run: where it is, and whether it can be watched.
 */
#ifndef MIRE_PRELOAD_PROGRAM_H
#define MIRE_PRELOAD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Values are what mire-run exits with, as shells do. */
enum program_found { PROGRAM_FOUND = 0, PROGRAM_NOT_EXECUTABLE = 126, PROGRAM_NOT_FOUND = 127 };

/* Find `name` as execvp does: by itself if it has a slash, else in $PATH. */
enum program_found program_find(char *path, size_t cap_bytes, const char *name);

struct program_facts {
    bool is_static;  /* an ELF file that asks for no loader: nothing can be preloaded */
    bool is_foreign; /* for another processor or by another loader than this command: what is preloaded would not fit */
    bool is_privileged; /* set-uid, set-gid or with capabilities beyond the caller's: the loader ignores LD_PRELOAD */
    char first[32];     /* a library of its own that has to be loaded before any other, a sanitizer's; "": none */
    char build_id[65];  /* hex digits, "" if it has none */
};

/* What the file says. A file that is no ELF file of this machine's kind, such as a script, says nothing. */
void program_inspect(struct program_facts *out, const char *path);

#endif
