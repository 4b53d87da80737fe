/*
 * vault.h - seals secrets that mired keeps for others: tokens of trackers, addresses and secrets of alert channels.
 *
 * The database holds only sealed text. The keys are in a file outside of the database: one key a line, 64 hex digits.
 * The first key seals; the others open text that was sealed before a change of the key. Sealed text is bound to its
 * purpose and its app (XChaCha20-Poly1305 of libsodium), and opens for no other. Threads: any; a vault does not change.
 */
#ifndef MIRE_BASE_VAULT_H
#define MIRE_BASE_VAULT_H

#include "base/arena.h"
#include "base/problem.h"

#include <stdbool.h>
#include <stdint.h>

enum vault_purpose {
    MIRE_VAULT_TRACKER_TOKEN,
    MIRE_VAULT_TRACKER_SECRET,
    MIRE_VAULT_CHANNEL_TARGET,
    MIRE_VAULT_CHANNEL_SECRET,
    MIRE_VAULT_PURPOSES,
};

struct vault;

/* Open the key file. 0, or -1 with the problem: the file cannot be read, or is no key file. */
int vault_open(struct vault **out, struct problem *problem, const char *path);

/* The same, but first create a missing file with a new key, mode 0600. Safe in two processes at once. */
int vault_open_or_make(struct vault **out, struct problem *problem, const char *path);

/* A vault with a key of its own, for tests. NULL: no memory. */
struct vault *vault_for_once(void);

/* Free the vault and erase its keys. NULL does nothing. */
void vault_close(struct vault *vault);

/* Put a new key first in the file, which is replaced as a whole. 0, or -1 with the problem. */
int vault_rotate(struct problem *problem, const char *path);

/* Can users other than the owner read or change the file? */
bool vault_is_shared(const struct vault *vault);

/* The sealed text of `plain`; "" for "". NULL: no memory. */
const char *vault_seal(const struct vault *vault, struct arena *arena, enum vault_purpose purpose, int32_t app,
                       const char *plain);

enum vault_answer {
    MIRE_VAULT_OPENED = 0,
    MIRE_VAULT_NO_KEY = 1, /* sealed by a key that the vault does not have */
    MIRE_VAULT_BROKEN = 2, /* no sealed text of this purpose and app, or changed */
};

/* The text that was sealed. An enum vault_answer, or MIRE_FAULT_MEMORY. */
int vault_unseal(const char **out, const struct vault *vault, struct arena *arena, enum vault_purpose purpose,
                 int32_t app, const char *sealed);

/* Does the text have the form of a sealed one? Is it sealed by the first key? */
bool vault_is_sealed(const char *text);
bool vault_is_current(const struct vault *vault, const char *sealed);

/* The reason as a message shows it, of an answer that is not MIRE_VAULT_OPENED. */
const char *vault_why(int answer);

#endif
