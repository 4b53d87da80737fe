/*
 * password.c - see password.h.
 */
#include "access/password.h"

#include "base/fault.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

_Static_assert(MIRE_PASSWORD_TEXT >= crypto_pwhash_STRBYTES, "room for what libsodium writes");

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char nobody[MIRE_PASSWORD_TEXT]; /* of a password that nobody knows */

static int hash(char out[MIRE_PASSWORD_TEXT], const char *password)
{
    return crypto_pwhash_str_alg(out, password, strlen(password), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                                 crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13);
}

static void make_nobody(void)
{
    char secret[33];
    randombytes_buf(secret, sizeof secret - 1);
    for (size_t i = 0; i < sizeof secret - 1; i++)
        secret[i] = (char)('a' + (unsigned char)secret[i] % 26);
    secret[sizeof secret - 1] = '\0';
    if (hash(nobody, secret))
        nobody[0] = '\0';
}

int password_hash(char out[MIRE_PASSWORD_TEXT], const char *password)
{
    pthread_mutex_lock(&one_at_a_time);
    int rc = hash(out, password);
    pthread_mutex_unlock(&one_at_a_time);
    return rc ? MIRE_FAULT_MEMORY : 0;
}

bool password_fits(const char *stored, const char *password)
{
    pthread_mutex_lock(&one_at_a_time);
    pthread_once(&once, make_nobody);
    int rc = crypto_pwhash_str_verify(stored ? stored : nobody, password, strlen(password));
    pthread_mutex_unlock(&one_at_a_time);
    return stored && !rc;
}
