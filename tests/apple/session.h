/*
 * session.h - objects of the machine (machine.h), and the requests and sessions of Foundation among them. Private to
 * tests/apple.
 */
#ifndef MIRE_TEST_SESSION_H
#define MIRE_TEST_SESSION_H

#include <stddef.h>
#include <stdint.h>

struct object {
    const char *class; /* NULL: it is a class, of the name `text` */
    char *text;        /* of strings, URLs; a request's headers, an answer's */
    const void *bytes; /* of data */
    size_t size;
    struct object *url, *body, *request;
    struct object *session, *response; /* of a task */
    struct object *delegate;           /* of a session */
    const char *method;
    void *handler;
    long status;
};

/* Objects stay until the process ends. */
struct object *runtime_make(const char *class, const char *text);
struct object *runtime_make_data(const void *bytes, size_t size);

/* The library's own method of an object's class; NULL: it has none. */
void *runtime_method(const struct object *object, const char *selector);

/* A message to a request, a session, a task, an answer or data; 0: its result, or it is none of these. */
uintptr_t session_send(struct object *self, const char *selector, uintptr_t a, uintptr_t b);

#endif
