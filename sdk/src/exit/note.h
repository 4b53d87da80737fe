/* note.h - where notes go. Private to exit/. */
#ifndef MIRE_EXIT_NOTE_H
#define MIRE_EXIT_NOTE_H

#include "exit/evidence.h"

/* From now on notes of this process go there; mapped for good. */
void mire__note_into(struct evidence *evidence);

#endif
