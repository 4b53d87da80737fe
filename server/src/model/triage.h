/*
 * triage.h - when a report opens an issue again that somebody resolved or ignored. Pure; thread: any.
 */
#ifndef MIRE_MODEL_TRIAGE_H
#define MIRE_MODEL_TRIAGE_H

#include <stdbool.h>

/* The decision about an issue that is not open. */
struct triage {
    bool resolved;       /* else ignored */
    const char *version; /* with the fix, or until which it is ignored; "": none */
    bool from_next;      /* the version with the fix still had reports: only later ones open it */
};

/* Does a report of this version open the issue? */
bool triage_opens(const struct triage *triage, const char *version);

#endif
