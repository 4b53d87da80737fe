/*
 * kinds.h - kinds and depths of symbol information, and sizes that all of symbolizer/ uses.
 */
#ifndef MIRE_OBJECT_KINDS_H
#define MIRE_OBJECT_KINDS_H

#define MIRE_SYMBOL_ID_MAX 64  /* bytes of a build id */
#define MIRE_SYMBOL_WHY    240 /* room for the description of a problem */

enum symbol_kind { /* source of a module's names */
                   MIRE_SYMBOLS_NONE,
                   MIRE_SYMBOLS_SYMTAB, /* names only */
                   MIRE_SYMBOLS_DEBUG,  /* DWARF */
                   MIRE_SYMBOLS_MAPPING /* Java names, without addresses */
};

enum symbol_depth { /* what a file contains, increasing */
                    MIRE_DEPTH_UNKNOWN,
                    MIRE_DEPTH_NAMES, /* functions */
                    MIRE_DEPTH_LINES, /* and lines: line tables, Breakpad, mappings */
                    MIRE_DEPTH_DWARF, /* and inlined calls, types, variables */
};

#endif
