/*
 * exceptions.h - exceptions of Objective-C that nobody catches, and the signal that ends the process, on the machine
 * (machine.h). Private to tests/apple.
 */
#ifndef MIRE_TEST_EXCEPTIONS_H
#define MIRE_TEST_EXCEPTIONS_H

#include "apple/session.h"

/* A name that this file has; NULL: it has none. */
void *exceptions_find(const char *name);

/* A message to an exception or its stack; 0: its result, or it is none of these. */
uintptr_t exceptions_send(struct object *self, const char *selector, uintptr_t a);

/* sigaction with Apple's structures: SIGABRT alone is handled, because the system's other signals differ in number. */
int exceptions_sigaction(int signal, const void *action, void *old);

#endif
