/*
 * d_walk.h - the parts of a name of D, which refer to each other. Inside demangle/ only.
 */
#ifndef MIRE_DEMANGLE_D_WALK_H
#define MIRE_DEMANGLE_D_WALK_H

#include "demangle/walk.h"

/* A number of decimal digits; none is 0 and bad. */
uint64_t d_number(struct walk *w);

/* Behind a Q: where it leads, NULL if that is no place before it. */
const char *d_back(struct walk *w);

/* std.stdio.File.write, with the types of arguments where they stand behind a name. */
void d_qualified(struct walk *w);

/* A whole name inside another, from _D on. */
void d_mangled(struct walk *w);

/* int[string] */
void d_type(struct walk *w);

/* Does a function's type begin here? */
bool d_is_function(const struct walk *w);

/* Calling convention, attributes and arguments: "(int, char*)". */
void d_arguments(struct walk *w);

/* const, shared: of `this`, behind what they are of. */
void d_modifiers(struct walk *w);

/* The value of a template's argument, of a type that begins with that letter. */
void d_value(struct walk *w, char type);

#endif
