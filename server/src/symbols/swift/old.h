/*
 * old.h - what the readers of Swift 3's names share. Inside swift/ only.
 */
#ifndef MIRE_SYMBOLS_SWIFT_OLD_H
#define MIRE_SYMBOLS_SWIFT_OLD_H

#include "symbols/swift/read.h"

struct old {
    struct swift *s;
    unsigned depth;
};

/* The next type; NULL: there is none. (old.c) */
struct swift_node *swift_old_type(struct old *o);

/* Behind XF: a function type of the intermediate language. (old_impl.c) */
struct swift_node *swift_old_impl(struct old *o);

/* Behind TR: a thunk that hands values over in another way, from one such type to another. (old_impl.c) */
struct swift_node *swift_old_reabstraction(struct old *o, const char *text);

#endif
