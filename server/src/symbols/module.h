/*
 * module.h - the opened files of one module. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_MODULE_H
#define MIRE_SYMBOLS_MODULE_H

#include "symbols/symbols.h"

/* A module without files. NULL: out of memory. */
struct module *module_new(void);
void module_free(struct module *module);

/*
 * Add a file if it passes elf_check() and, when `id_len` is not 0, carries that build id.
 *
 * Returns what it has; MIRE_ELF_NONE if it was not added.
 */
enum elf_kind module_add(struct module *module, const char *path, const uint8_t *id, size_t id_len);

/* After the last module_add: ready for module_lookup. */
void module_seal(struct module *module);

#endif
