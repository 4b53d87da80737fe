/*
 * fault.h - faults of the server, which every function passes up unchanged. Outcomes are above zero; each function
 * defines its own.
 */
#ifndef MIRE_BASE_FAULT_H
#define MIRE_BASE_FAULT_H

enum fault {
    MIRE_FAULT_NONE = 0,
    MIRE_FAULT_MEMORY = -1,  /* no memory, or an arena's limit reached */
    MIRE_FAULT_SYSTEM = -2,  /* the operating system refused */
    MIRE_FAULT_AWAY = -3,    /* the database is away, full or shutting down: retry later */
    MIRE_FAULT_RACED = -4,   /* two transactions conflicted: retry at once */
    MIRE_FAULT_TIMEOUT = -5, /* the statement exceeded its time limit */
    MIRE_FAULT_SQL = -6,     /* the database refused the statement or its data: a retry does not help */
    MIRE_FAULT_BROKEN = -7,  /* the data that was read back differs from the data that was stored */
};

/* "away" and so on, for logs; static. */
const char *fault_name(int fault);

#endif
