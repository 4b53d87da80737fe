/*
 * unwind.h - the door of this folder: what other folders include.
 *
 *     modules.h, symbols.h   the loaded modules and their symbols
 *     row.h                  the rules by which a frame is left
 *     snapshot.h             walk a copied stack of another thread
 *     self.h                 walk the calling thread's own stack
 */
#ifndef MIRE_UNWIND_UNWIND_H
#define MIRE_UNWIND_UNWIND_H

#include "unwind/modules.h"
#include "unwind/row.h"
#include "unwind/self.h"
#include "unwind/snapshot.h"
#include "unwind/symbols.h"

#endif
