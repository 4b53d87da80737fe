/*
 * state.h - the gate's words. Private to gate/; who writes what is told in gate.c.
 */
#ifndef MIRE_GATE_STATE_H
#define MIRE_GATE_STATE_H

#include "base/base.h"

/* CHILD: the first waiting call of the thread that is here starts the watch. */
enum mire__gate_mode { MIRE_GATE_OFF, MIRE_GATE_ON, MIRE_GATE_CHILD };

struct gate {
    _Atomic uint64_t turn;
    _Atomic uint64_t since_ns;
    _Atomic uint64_t end_ns;
    _Atomic uint32_t kind;
    _Atomic uint32_t asked;
    _Atomic uint32_t mode;  /* written by start, stop and the fork handler */
    uint32_t mark_depth;    /* watched thread only, like the next */
    uintptr_t wait_frame;   /* stack address of the outermost wait under way; 0 if idle by a mark */
    _Atomic uint32_t *wake; /* this and the next two: written by start, before the mode */
    void (*on_child)(void *context);
    void *context;
    uint32_t pid;                     /* whose `left` it is: a vforked child has the same memory */
    _Atomic(_Atomic uint64_t *) left; /* where to note that the program ends itself; NULL if nowhere */
    _Atomic uint32_t leaving;         /* threads that may be storing there just now */
};
extern struct gate mire__gate;

/* The calling thread is the watched one, busy since now. */
void mire__gate_as_open(void);

/* The calling thread is to start the watch with its first waiting call. */
void mire__gate_as_await(void);

/* In a forked child: its only thread may start anew. */
void mire__gate_as_forked(void);

#endif
