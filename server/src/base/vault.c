/*
 * vault.c - see vault.h. A sealed text is "sealed1.KEY.BYTES": KEY names the key by four bytes of its hash in hex, BYTES
 * are nonce and ciphertext in base64 for URLs.
 */
#include "base/vault.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"

#include <sodium.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY      crypto_aead_xchacha20poly1305_ietf_KEYBYTES
#define NONCE    crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG      crypto_aead_xchacha20poly1305_ietf_ABYTES
#define KEYS_MAX 16
#define NAME     4 /* bytes of a key's hash that name it */
#define FORM     "sealed1."
#define HEAD     (sizeof FORM - 1 + 2 * NAME + 1)
#define FILE_MAX (KEYS_MAX * (2 * KEY + 1))

struct key {
    uint8_t bytes[KEY];
    char name[2 * NAME + 1];
};

struct vault {
    struct key keys[KEYS_MAX];
    size_t count;
    bool is_shared;
};

static void name_key(struct key *key)
{
    uint8_t hash[16];

    hash_blake2b(hash, sizeof hash, key->bytes, KEY);
    hex_format(key->name, hash, NAME);
}

void vault_close(struct vault *vault)
{
    if (vault)
        sodium_memzero(vault, sizeof *vault);
    free(vault);
}

struct vault *vault_for_once(void)
{
    struct vault *vault = calloc(1, sizeof *vault);

    if (!vault)
        return NULL;
    random_fill(vault->keys[0].bytes, KEY);
    name_key(&vault->keys[0]);
    vault->count = 1;
    return vault;
}

/* --- the file ------------------------------------------------------------------------------------------------------ */

static int failed(struct problem *problem, const char *path, const char *why)
{
    problem_set(problem, "vault", "secret_key_file %.120s: %s", path, why);
    return -1;
}

/* The keys of the file's text, which is changed. False: it has another form. */
static bool read_keys(struct vault *vault, char *text)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        if (!*line)
            continue;
        if (vault->count == KEYS_MAX || strlen(line) != 2 * KEY ||
            !hex_parse(vault->keys[vault->count].bytes, line, KEY))
            return false;
        name_key(&vault->keys[vault->count++]);
    }
    return vault->count > 0;
}

int vault_open(struct vault **out, struct problem *problem, const char *path)
{
    int fd MIRE_SCOPED(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    char text[FILE_MAX + 2];
    struct stat stat;
    ssize_t len = fd < 0 || fstat(fd, &stat) ? -1 : read(fd, text, sizeof text - 1);

    *out = NULL;
    if (len < 0)
        return failed(problem, path, strerror(errno));
    text[len] = '\0';
    struct vault *vault = calloc(1, sizeof *vault);
    bool good = vault && strlen(text) == (size_t)len && read_keys(vault, text);
    sodium_memzero(text, sizeof text);
    if (!good) {
        vault_close(vault);
        return failed(problem, path, "Each line is a key of 64 hex digits, at most 16 of them.");
    }
    vault->is_shared = stat.st_mode & (S_IRWXG | S_IRWXO);
    *out = vault;
    return 0;
}

static bool write_all(int fd, const struct key *keys, size_t count)
{
    char line[2 * KEY + 2];
    bool good = true;

    for (size_t i = 0; good && i < count; i++) {
        hex_format(line, keys[i].bytes, KEY);
        line[2 * KEY] = '\n';
        good = write(fd, line, 2 * KEY + 1) == 2 * KEY + 1;
    }
    sodium_memzero(line, sizeof line);
    return good && !fsync(fd);
}

/* Make the file durable under its name. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    int fd MIRE_SCOPED(close_fd) = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        (void)fsync(fd);
}

/* Write the keys beside `path`, then under that name: in place of a file there, or only if there is none (errno is EEXIST
 * otherwise). */
static int put_file(struct problem *problem, const char *path, const struct key *keys, size_t count, bool replaces)
{
    char aside[PATH_MAX];

    if ((size_t)snprintf(aside, sizeof aside, "%s.XXXXXX", path) >= sizeof aside)
        return failed(problem, path, strerror(errno = ENAMETOOLONG));
    int fd MIRE_SCOPED(close_fd) = mkostemp(aside, O_CLOEXEC); /* its mode is 0600 */
    if (fd < 0)
        return failed(problem, path, strerror(errno));
    bool good = write_all(fd, keys, count) && !(replaces ? rename(aside, path) : link(aside, path));
    int why = errno;
    unlink(aside);
    if (!good)
        return failed(problem, path, strerror(errno = why));
    sync_directory(path);
    return 0;
}

int vault_open_or_make(struct vault **out, struct problem *problem, const char *path)
{
    if (access(path, F_OK) && errno == ENOENT) {
        struct vault *fresh = vault_for_once();
        int rc = fresh ? put_file(problem, path, fresh->keys, 1, false) : failed(problem, path, "No memory.");
        int why = errno;
        vault_close(fresh);
        if (rc && why != EEXIST)
            return -1;
    }
    return vault_open(out, problem, path);
}

int vault_rotate(struct problem *problem, const char *path)
{
    struct vault *vault, *fresh;

    if (vault_open(&vault, problem, path))
        return -1;
    fresh = vault->count < KEYS_MAX ? vault_for_once() : NULL;
    int rc;
    if (fresh) {
        memcpy(fresh->keys + 1, vault->keys, vault->count * sizeof *vault->keys);
        rc = put_file(problem, path, fresh->keys, vault->count + 1, true);
    } else {
        rc = failed(problem, path, "It has 16 keys: remove the last lines, which seal nothing any more.");
    }
    vault_close(fresh);
    vault_close(vault);
    return rc;
}

bool vault_is_shared(const struct vault *vault)
{
    return vault->is_shared;
}

/* --- sealing ------------------------------------------------------------------------------------------------------- */

/* The place of a sealed text, which is authenticated with it. */
struct place {
    char text[64];
    size_t len;
};

static struct place place_of(enum vault_purpose purpose, int32_t app)
{
    static const char *const names[MIRE_VAULT_PURPOSES] = {
        [MIRE_VAULT_TRACKER_TOKEN] = "tracker.token",
        [MIRE_VAULT_TRACKER_SECRET] = "tracker.secret",
        [MIRE_VAULT_CHANNEL_TARGET] = "channel.target",
        [MIRE_VAULT_CHANNEL_SECRET] = "channel.secret",
    };
    struct place place;

    place.len = (size_t)snprintf(place.text, sizeof place.text, "%s %d", names[purpose], app);
    return place;
}

const char *vault_seal(const struct vault *vault, struct arena *arena, enum vault_purpose purpose, int32_t app,
                       const char *plain)
{
    const struct key *key = &vault->keys[0];
    const struct place place = place_of(purpose, app);
    size_t len = strlen(plain);
    uint8_t *bytes = arena_alloc(arena, NONCE + len + TAG);
    char *text = arena_alloc(arena, MIRE_BASE64_TEXT(NONCE + len + TAG));

    if (!len)
        return "";
    if (!bytes || !text)
        return NULL;
    random_fill(bytes, NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + NONCE, NULL, (const uint8_t *)plain, len,
                                               (const uint8_t *)place.text, place.len, NULL, bytes, key->bytes);
    base64_format(text, bytes, NONCE + len + TAG, MIRE_BASE64_URL);
    return arena_printf(arena, FORM "%s.%s", key->name, text);
}

bool vault_is_sealed(const char *text)
{
    return !strncmp(text, FORM, sizeof FORM - 1) && strlen(text) > HEAD && text[HEAD - 1] == '.';
}

static const struct key *key_of(const struct vault *vault, const char *sealed)
{
    for (size_t i = 0; i < vault->count; i++)
        if (!strncmp(sealed + sizeof FORM - 1, vault->keys[i].name, sizeof(vault->keys[i].name) - 1))
            return &vault->keys[i];
    return NULL;
}

bool vault_is_current(const struct vault *vault, const char *sealed)
{
    return vault_is_sealed(sealed) && key_of(vault, sealed) == &vault->keys[0];
}

int vault_unseal(const char **out, const struct vault *vault, struct arena *arena, enum vault_purpose purpose,
                 int32_t app, const char *sealed)
{
    const struct key *key = vault_is_sealed(sealed) ? key_of(vault, sealed) : NULL;
    const struct place place = place_of(purpose, app);
    size_t room = strlen(sealed), len = 0;

    *out = "";
    if (!*sealed)
        return MIRE_VAULT_OPENED;
    if (!key)
        return vault_is_sealed(sealed) ? MIRE_VAULT_NO_KEY : MIRE_VAULT_BROKEN;
    uint8_t *bytes = arena_alloc(arena, room);
    char *plain = arena_alloc(arena, room);
    if (!bytes || !plain)
        return MIRE_FAULT_MEMORY;
    if (sodium_base642bin(bytes, room, sealed + HEAD, room - HEAD, NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) ||
        len < NONCE + TAG ||
        crypto_aead_xchacha20poly1305_ietf_decrypt((uint8_t *)plain, NULL, NULL, bytes + NONCE, len - NONCE,
                                                   (const uint8_t *)place.text, place.len, bytes, key->bytes))
        return MIRE_VAULT_BROKEN;
    *out = plain; /* the arena gave zeroes: a NUL stands behind it */
    return MIRE_VAULT_OPENED;
}

const char *vault_why(int answer)
{
    if (answer == MIRE_VAULT_NO_KEY)
        return "its secret is sealed by a key that secret_key_file does not have";
    return answer == MIRE_VAULT_BROKEN ? "its sealed secret was changed; set it again" : "out of memory";
}
