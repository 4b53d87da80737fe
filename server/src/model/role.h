/*
 * role.h - the role of a frame in its program, by the rule packs. The names are those of the API's Frame.role.
 */
#ifndef MIRE_MODEL_ROLE_H
#define MIRE_MODEL_ROLE_H

enum role {
    MIRE_ROLE_UNKNOWN,   /* no symbol, or no rule and no module */
    MIRE_ROLE_APP,       /* the program's own code: may be a culprit */
    MIRE_ROLE_SYSTEM,    /* a library's code, not to blame by itself */
    MIRE_ROLE_RUNTIME,   /* start-up, string and memory functions, generic containers */
    MIRE_ROLE_ALLOCATOR, /* malloc and similar functions */
    MIRE_ROLE_WAIT,      /* sleeps, or waits for another thread or process */
    MIRE_ROLE_IO,        /* reads, writes, names files and sockets */
    MIRE_ROLE_LOCK,      /* takes a lock */
    MIRE_ROLE_DISPATCH,  /* passes events to their handlers */
    MIRE_ROLE_THREAD,    /* no frame: in a flame graph, the thread of the frames above */
    MIRE_ROLE_COUNT
};

/* Name of a role, static; "unknown" for a number that is none. */
const char *role_name(enum role role);

/* The role with that name; MIRE_ROLE_UNKNOWN if there is none. */
enum role role_of_name(const char *name);

#endif
