/*
 * dwarf.h - functions, inlined calls and lines of one file's DWARF. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_DWARF_H
#define MIRE_SYMBOLS_DWARF_H

#include "symbols/symbols.h"

#include <libelf.h>

struct dwarf;

/* Read the list of compilation units. NULL: there is no DWARF that can be read, or no memory. */
struct dwarf *dwarf_new(Elf *elf);
void dwarf_free(struct dwarf *dwarf);

/* As module_lookup. 0: no function of the DWARF holds the address. */
size_t dwarf_lookup(struct symbol_frame *out, struct dwarf *dwarf, uint64_t address);

/* File and line of an address that no function of the DWARF holds, as in assembly. False: unknown. */
bool dwarf_line(const char **file_out, uint32_t *line_out, struct dwarf *dwarf, uint64_t address);

#endif
