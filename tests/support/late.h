/*
 * late.h - the program that reports are of whose debug file comes late: the test itself, whose own file is what
 * arrives.
 *
 * What fails ends the program. One thread.
 */
#ifndef MIRE_TESTS_LATE_H
#define MIRE_TESTS_LATE_H

#include "pg/pg.h"

/* Two functions of it: the scene calls the culprit. */
void planted_scene(void);
void planted_culprit(void);

/* An address in a function, as a report has it. */
uint64_t late_offset(void (*function)(void), unsigned plus);

/* Its build id, hexadecimal; static. */
const char *late_build(void);

/* Its file arrives, as an upload stores it. */
void late_arrive(struct pg *pg);

#endif
