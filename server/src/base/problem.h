/*
 * problem.h - what is wrong with something a person or a client gave us, in words.
 *
 * Belongs to the caller; the function that finds the problem fills it. http turns it into RFC 9457 problem+json, the
 * command line into a message.
 */
#ifndef MIRE_BASE_PROBLEM_H
#define MIRE_BASE_PROBLEM_H

struct problem {
    const char *code;   /* static, e.g. "report.schema"; shown as urn:mire:problem:<code> */
    long long position; /* byte at which reading stopped; -1: does not apply */
    char path[256];     /* JSON Pointer to the value that is wrong; "" also names the whole document */
    int has_path;       /* path applies */
    char text[240];     /* one sentence: what is wrong and, if that helps, what to do */
};

#define MIRE_PROBLEM_INIT \
    {                     \
        .position = -1    \
    }

/* Fill code and text, leave position and path alone. `code` is static. */
__attribute__((format(printf, 3, 4))) void problem_set(struct problem *problem, const char *code, const char *format,
                                                       ...);

#endif
