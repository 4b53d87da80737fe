/*
 * demand.h - records that the app asks for: the caller's stack and those of the watched threads, now.
 *
 *     IDLE --caller--> FILLING --caller--> ASKED --check thread--> TAKING --check thread--> TAKEN --caller--> IDLE
 *                                            '---- caller, out of patience ----> IDLE
 *
 * The caller sleeps on the word meanwhile, so that its stack stands still and is read like that of any sleeping thread;
 * the report is made after it has gone on. Private to capture/, but for mire__demand_capture.
 */
#ifndef MIRE_CAPTURE_DEMAND_H
#define MIRE_CAPTURE_DEMAND_H

#include "base/base.h"
#include "ring/hang.h"

struct check;
struct process_record;

/*
 * Have a record made. Waits until the stacks are taken: a fraction of a millisecond if the check thread is free, never
 * longer than some 200 ms.
 *
 *   name     borrowed; cut to the record's room
 *   trigger  MIRE_TRIGGER_CALL or MIRE_TRIGGER_TEST
 *   caller   return address of the public call: frames further in are the library's and left out
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE    nobody watches
 *         MIRE_E_TIMEOUT  another thread is asking, or the check thread is busy: nothing was taken
 * Thread: any but the check thread. Signal handler: no.
 */
enum mire_err mire__demand_capture(const char *name, enum mire__trigger trigger, const void *caller);

/* Is the report of every record whose caller has gone on made? Thread: any. */
bool mire__demand_settled(void);

/* Thread: check thread, all three. */
void mire__demand_start(struct check *check);
void mire__demand_step(struct check *check, struct process_record *of);
void mire__demand_stop(void);

#endif
