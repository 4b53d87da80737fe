/* note.h - the target of facts that other threads store. Private to exit/. */
#ifndef MIRE_EXIT_NOTE_H
#define MIRE_EXIT_NOTE_H

#include "exit/evidence.h"

/* Facts of this process go there from now on; it stays mapped for ever. */
void mire__note_into(struct evidence *evidence);

#endif
