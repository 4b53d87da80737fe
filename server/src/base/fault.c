/*
 * fault.c - names of the faults.
 */
#include "base/fault.h"

const char *fault_name(int fault)
{
    static const char *const names[] = {"none", "memory", "system", "away", "raced", "timeout", "sql", "broken"};
    unsigned at = fault <= 0 ? (unsigned)-fault : 0;
    return at < sizeof names / sizeof *names ? names[at] : "unknown";
}
