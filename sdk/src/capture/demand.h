/*
 * demand.h - events that the app requests: the stacks of the caller and of the watched threads, now.
 *
 *     IDLE --caller--> FILLING --caller--> ASKED --check thread--> TAKING --check thread--> TAKEN --caller--> IDLE
 *                                            '---- caller, after its time limit ----> IDLE
 *
 * The caller sleeps on the word, so its stack is still and is read like that of any sleeping thread. The report is made
 * after the caller has continued. Private to capture/, except mire__demand_capture.
 */
#ifndef MIRE_CAPTURE_DEMAND_H
#define MIRE_CAPTURE_DEMAND_H

#include "base/base.h"
#include "ring/event.h"

struct check;
struct process_record;

/*
 * Request an event, and wait until its stacks are taken: less than 1 ms if the check thread is free, at most about
 * 200 ms.
 *
 *   name     borrowed; cut to the event's room
 *   trigger  MIRE_TRIGGER_CALL or MIRE_TRIGGER_TEST
 *   caller   return address of the public call: frames further in are the library's, and are left out
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE    there is no watch
 *         MIRE_E_TIMEOUT  another thread requests an event, or the check thread is busy: no event
 * Thread: any but the check thread. Signal handler: no.
 */
enum mire_err mire__demand_capture(const char *name, enum mire__trigger trigger, const void *caller);

/* Are the reports of all requested events made? Thread: any. */
bool mire__demand_settled(void);

/* Thread: check thread. */
void mire__demand_start(struct check *check);
void mire__demand_step(struct check *check, struct process_record *of);
void mire__demand_stop(void);

#endif
