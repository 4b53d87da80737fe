/*
 * kinds.h - what files know of code, and room for what is said of them: words that all of symbolizer/ shares.
 */
#ifndef MIRE_OBJECT_KINDS_H
#define MIRE_OBJECT_KINDS_H

#define MIRE_SYMBOL_ID_MAX 64  /* bytes of a build id */
#define MIRE_SYMBOL_WHY    240 /* room for what is wrong with a file */

enum symbol_kind { /* what a module is known by */
                   MIRE_SYMBOLS_NONE,
                   MIRE_SYMBOLS_SYMTAB, /* names only */
                   MIRE_SYMBOLS_DEBUG,  /* DWARF */
                   MIRE_SYMBOLS_MAPPING /* names of Java, not addresses */
};

enum symbol_depth { /* what a file tells of the code, less to more */
                    MIRE_DEPTH_UNKNOWN,
                    MIRE_DEPTH_NAMES, /* functions */
                    MIRE_DEPTH_LINES, /* and lines: line tables, Breakpad's files, mappings */
                    MIRE_DEPTH_DWARF, /* and calls, types, variables */
};

#endif
