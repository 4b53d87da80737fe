/*
 * names.h - the functions of ELF symbol tables, sorted by address. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_NAMES_H
#define MIRE_SYMBOLS_NAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name {
    uint64_t start;
    uint64_t end;     /* not in it */
    const char *text; /* lies in the ELF file, which stays open */
    unsigned rank;    /* among names of one address: the highest is shown */
};

struct names {
    struct name *rows;
    size_t count;
    size_t room;
};

/* Add the functions of all symbol tables of a file. False: out of memory. */
bool names_add(struct names *names, Elf *elf);

/* Sort; after this nothing is added. */
void names_seal(struct names *names);

/* The function an address lies in, NULL if in none. */
const struct name *names_find(const struct names *names, uint64_t address);

void names_fini(struct names *names);

#endif
