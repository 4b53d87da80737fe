/*
 * d_walk.h - grammar rules of D's mangling that refer to each other. Internal to demangle/.
 *
 * Each function reads one rule at the cursor and writes the readable form.
 */
#ifndef MIRE_DEMANGLE_D_WALK_H
#define MIRE_DEMANGLE_D_WALK_H

#include "demangle/walk.h"

/* A number of decimal digits; without a digit it is 0 and the name bad. */
uint64_t d_number(struct walk *w);

/* Read a back reference after a Q. Returns its target; NULL: not before the cursor. */
const char *d_back(struct walk *w);

/* std.stdio.File.write, with argument types where they follow a name. */
void d_qualified(struct walk *w);

/* A complete name inside another, from _D on. */
void d_mangled(struct walk *w);

/* A type: int[string] */
void d_type(struct walk *w);

/* Returns true if a function type begins at the cursor. */
bool d_is_function(const struct walk *w);

/* Calling convention, attributes and arguments: "(int, char*)". */
void d_arguments(struct walk *w);

/* const, shared: modifiers of `this`, written after the function. */
void d_modifiers(struct walk *w);

/* The value of a template argument, whose type begins with that letter. */
void d_value(struct walk *w, char type);

#endif
