/*
 * late.h - a program whose debug file arrives after its reports. The program is the test itself, and its own executable
 * is the debug file.
 *
 * An error ends the program. One thread.
 */
#ifndef MIRE_TESTS_LATE_H
#define MIRE_TESTS_LATE_H

#include "pg/pg.h"

/* Two functions of the program: the scene calls the culprit. */
void planted_scene(void);
void planted_culprit(void);

/* An address in a function, in the form of a report. */
uint64_t late_offset(void (*function)(void), unsigned plus);

/* Build id of the program, hexadecimal; static. */
const char *late_build(void);

/* Store the debug file as an upload does. */
void late_arrive(struct pg *pg);

#endif
