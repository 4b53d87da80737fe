/*
 * elf_inside.h - an ELF file of 32 or 64 bits while it is read. For elf.c and elf_symbols.c.
 */
#ifndef MIRE_OBJECT_ELF_INSIDE_H
#define MIRE_OBJECT_ELF_INSIDE_H

#include "object/parts.h"

#include "base/bytes.h"

#include <elf.h>

struct elf {
    struct parts *parts;
    bool wide; /* ELFCLASS64 */
    uint64_t table;
    uint64_t count;
    uint64_t names;      /* start of the section names */
    uint64_t names_end;  /* end of the section names, exclusive */
    uint64_t notes_left; /* remaining bytes of the notes limit */
    uint64_t split_info; /* index of the chosen .debug_info.dwo; 0: none */
};

struct section_row { /* row of the section table */
    uint64_t index;
    const char *name;
    uint64_t type;
    uint64_t flags;
    uint64_t address;
    uint64_t offset;
    uint64_t size;
    uint64_t link;
    uint64_t entry_size;
};

#define WIDTH(elf, type, field) ((elf)->wide ? sizeof(((Elf64_##type *)0)->field) : sizeof(((Elf32_##type *)0)->field))
#define FIELD(elf, at, type, field)                                                              \
    load_wide((elf)->parts->bytes + (at) +                                                       \
                  ((elf)->wide ? offsetof(Elf64_##type, field) : offsetof(Elf32_##type, field)), \
              WIDTH(elf, type, field))
#define SIZE(elf, type) ((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

/* The row of a section, within the file: check_tables was called. */
struct section_row elf_row(const struct elf *elf, uint64_t index);

/* Add the functions of a symbol table to the parts. NULL, or the problem (static). */
const char *elf_take_symbols(const struct elf *elf, const struct section_row *table);

#endif
