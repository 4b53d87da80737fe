/*
 * password.h - passwords as they are stored: argon2id with a salt, by libsodium.
 *
 * A hash takes 64 MiB and some 0.1 s of one processor. One is computed at a time. Threads: any.
 */
#ifndef MIRE_ACCESS_PASSWORD_H
#define MIRE_ACCESS_PASSWORD_H

#include <stdbool.h>

#define MIRE_PASSWORD_TEXT 128 /* room for the stored text, with NUL */
#define MIRE_PASSWORD_MIN  10  /* bytes */
#define MIRE_PASSWORD_MAX  1024

/* 0 or MIRE_FAULT_MEMORY. */
int password_hash(char out[MIRE_PASSWORD_TEXT], const char *password);

/* Does the password match the stored hash? stored NULL: no, after the same work, so that the time reveals nothing. */
bool password_fits(const char *stored, const char *password);

#endif
