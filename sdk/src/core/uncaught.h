/*
 * uncaught.h - exceptions that nobody catches: the crash has the exception's name, and a breadcrumb its reason. Private to
 * core/.
 *
 *     C++           the handler of std::set_terminate, which then calls the one that it displaced
 *     Objective-C   the handler of NSSetUncaughtExceptionHandler, likewise, with the stack of the throw (uncaught_apple.c)
 *
 * The runtime is looked up; without it there is nothing to hear. A handler that the program sets later displaces the
 * library's.
 */
#ifndef MIRE_CORE_UNCAUGHT_H
#define MIRE_CORE_UNCAUGHT_H

#include <stddef.h>
#include <stdint.h>

/* Hear of them, and no longer. Thread: that of mire_start and of mire_stop. */
void mire__uncaught_hear(void);
void mire__uncaught_forget(void);

/* The same of Objective-C, on Apple's systems. */
void mire__uncaught_objc_hear(void);
void mire__uncaught_objc_forget(void);

/* Name the crash that follows. A breadcrumb has name and reason; reason may be NULL. Thread: any. */
void mire__uncaught_tell(const char *name, const char *reason, const uintptr_t *callers, size_t count);

#endif
