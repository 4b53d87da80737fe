/*
 * messages.h - messages to objects of Apple's Foundation, through the ObjC runtime; an object is a `void *` here. Private to
 * upload/, for Apple's systems.
 */
#ifndef MIRE_UPLOAD_MESSAGES_H
#define MIRE_UPLOAD_MESSAGES_H

/* A message without an argument, and with an object; their results, if those are objects. */
void *mire__call(void *object, const char *selector);
void *mire__call_with(void *object, const char *selector, void *argument);

/* A class; NULL: there is none. A string, released with the pool. */
void *mire__class(const char *name);
void *mire__text(const char *utf8);

#endif
