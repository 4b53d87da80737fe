/*
 * fact.h - a number that may be unknown.
 */
#ifndef MIRE_BASE_FACT_H
#define MIRE_BASE_FACT_H

#include <stdbool.h>
#include <stdint.h>

struct fact {
    uint64_t value; /* 0 unless known */
    bool known;
};

#endif
