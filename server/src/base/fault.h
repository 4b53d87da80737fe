/*
 * fault.h - faults of the server: what goes up a call chain as it came. Outcomes are above zero and each function's
 * own.
 */
#ifndef MIRE_BASE_FAULT_H
#define MIRE_BASE_FAULT_H

enum fault {
    MIRE_FAULT_NONE = 0,
    MIRE_FAULT_MEMORY = -1,  /* no memory, or an arena's limit reached */
    MIRE_FAULT_SYSTEM = -2,  /* the operating system refused */
    MIRE_FAULT_AWAY = -3,    /* the database is away, full or shutting down: later it may work */
    MIRE_FAULT_RACED = -4,   /* two transactions got in each other's way: do it again at once */
    MIRE_FAULT_TIMEOUT = -5, /* the statement took longer than it may */
    MIRE_FAULT_SQL = -6,     /* the database refused the statement or its data: doing it again does not help */
    MIRE_FAULT_BROKEN = -7,  /* what was read back is not what was stored */
};

/* "away" and so on, for logs; static. */
const char *fault_name(int fault);

#endif
