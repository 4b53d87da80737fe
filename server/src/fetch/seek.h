/*
 * seek.h - looks for the debug files that reports miss, away from the reports. Inside fetch/ only.
 *
 *     image, due --> symbol_dirs: .build-id/xx/yyyy.debug there? --> debuginfod servers, in order
 *                      '--> it came: its reports are derived anew      '--> stored like an upload, the same
 *     nothing: not looked for again for an hour, then two, ... a day at most
 *
 * Any number of processes take part; an image is one's until it has an answer, or ten minutes have passed.
 */
#ifndef MIRE_FETCH_SEEK_H
#define MIRE_FETCH_SEEK_H

struct worker;

/* The next image that is due. 1: there was one, 0: none is, below zero a fault. */
int seek_step(struct worker *worker);

/* The thread: steps until the workers stop. */
void *seek_main(void *worker);

#endif
