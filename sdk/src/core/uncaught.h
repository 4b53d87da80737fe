/*
 * uncaught.h - uncaught exceptions: the crash gets the exception's name, and a breadcrumb the reason. Private to core/.
 *
 *     C++           the handler of std::set_terminate, which then calls the previous handler
 *     Objective-C   the handler of NSSetUncaughtExceptionHandler, likewise, with the stack of the throw (uncaught_apple.c)
 *
 * The language's runtime is looked up; without a runtime the calls have no effect. A handler that the program sets later
 * replaces the library's.
 */
#ifndef MIRE_CORE_UNCAUGHT_H
#define MIRE_CORE_UNCAUGHT_H

#include <stddef.h>
#include <stdint.h>

/* Install and remove the handlers. Thread: that of mire_start and of mire_stop. */
void mire__uncaught_hear(void);
void mire__uncaught_forget(void);

/* The same for Objective-C, on Apple's systems. */
void mire__uncaught_objc_hear(void);
void mire__uncaught_objc_forget(void);

/* Name the crash that follows. A breadcrumb has name and reason; reason may be NULL. Thread: any. */
void mire__uncaught_record(const char *name, const char *reason, const uintptr_t *callers, size_t count);

#endif
