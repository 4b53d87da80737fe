/*
 * problem.h - a problem with the input of a person or a client, in words.
 *
 * The caller owns the struct; the function that finds the problem fills it. http converts it to RFC 9457 problem+json,
 * the command line prints it.
 */
#ifndef MIRE_BASE_PROBLEM_H
#define MIRE_BASE_PROBLEM_H

struct problem {
    const char *code;   /* static, e.g. "report.schema"; shown as urn:mire:problem:<code> */
    long long position; /* byte at which reading stopped; -1: does not apply */
    char path[256];     /* JSON Pointer to the wrong value; "" also names the whole document */
    int has_path;       /* path applies */
    char text[240];     /* one sentence: the problem and, if known, the next step */
};

#define MIRE_PROBLEM_INIT \
    {                     \
        .position = -1    \
    }

/* Fill code and text, leave position and path alone. `code` is static. */
__attribute__((format(printf, 3, 4))) void problem_set(struct problem *problem, const char *code, const char *format,
                                                       ...);

#endif
