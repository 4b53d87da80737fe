/* context.c - see context.h. */
#include "core/context.h"

#include "base/sha256.h"
#include "mire/memory.h"
#include "platform/platform.h"

#include <stdio.h>
#include <string.h>

#define LOCK_NS    (100 * MIRE_NS_PER_MS) /* a call takes a microsecond */
#define USER_BYTES 16                     /* of the hash */

static struct {
    struct context own;            /* private memory: a forked child has its copy */
    _Atomic(struct context *) box; /* NULL: there is none */
    _Atomic uint32_t pid;          /* the process whose box it is */
    _Atomic uint32_t users;        /* threads that may be storing there */
    _Atomic uint32_t lock;         /* the process whose thread writes a text; 0: none */
} now;

/* The box, which stays until end_box; NULL: there is none. */
static struct context *begin_box(void)
{
    struct context *box;

    if (!atomic_load(&now.box) || atomic_load(&now.pid) != mire__pid())
        return NULL;
    atomic_fetch_add(&now.users, 1);
    box = atomic_load(&now.box);
    if (!box)
        atomic_fetch_sub(&now.users, 1);
    return box;
}

static void end_box(const struct context *box)
{
    if (box)
        atomic_fetch_sub(&now.users, 1);
}

/* A forked child has inherited the lock of a thread that it does not have. */
static bool begin_texts(void)
{
    const uint64_t until_ns = mire__now_ns() + LOCK_NS;
    uint32_t own = mire__pid(), who = 0;

    if (own == 0) /* confined: no system call, so nothing can be waited for */
        return !atomic_exchange_explicit(&now.lock, 1, memory_order_acquire);
    while (!atomic_compare_exchange_weak_explicit(&now.lock, &who, own, memory_order_acquire, memory_order_relaxed)) {
        if (who != own)
            continue;
        if (mire__now_ns() > until_ns)
            return false;
        mire__yield();
        who = 0;
    }
    return true;
}

static void end_texts(void)
{
    atomic_store_explicit(&now.lock, 0, memory_order_release);
}

void mire__context_open(struct context *box)
{
    bool locked = begin_texts();

    atomic_store(&now.users, 0);
    mire__context_copy(box, &now.own);
    atomic_store(&now.pid, mire__pid());
    atomic_store(&now.box, box);
    if (locked)
        end_texts();
}

void mire__context_close(void)
{
    uint32_t users;

    if (atomic_load(&now.pid) != mire__pid())
        return;
    atomic_store(&now.box, NULL);
    while ((users = atomic_load(&now.users)) > 0)
        mire__futex_wait(&now.users, users, mire__now_ns() + MIRE_NS_PER_MS);
}

void mire__context_as_set_state(enum mire_app_state state)
{
    struct context *box = begin_box();

    atomic_store(&now.own.state, (uint32_t)state);
    if (box)
        atomic_store(&box->state, (uint32_t)state);
    end_box(box);
}

static enum mire_err set_text(size_t at, const char *text)
{
    char clean[MIRE_CONTEXT_TEXT_BYTES];
    struct context *box;

    mire__context_as_clean(clean, sizeof(clean), text ? text : "");
    if (!begin_texts())
        return MIRE_E_TIMEOUT;
    mire__context_as_set((struct context_text *)(void *)((char *)&now.own + at), clean);
    box = begin_box();
    if (box)
        mire__context_as_set((struct context_text *)(void *)((char *)box + at), clean);
    end_box(box);
    end_texts();
    return MIRE_OK;
}

enum mire_err mire_set_scene(const char *name)
{
    return set_text(offsetof(struct context, scene), name);
}

static void hash_user(char out[2 * USER_BYTES + 1], const char *id)
{
    uint8_t hash[MIRE_SHA256_BYTES];
    struct sha256 sha;

    mire__sha256_begin(&sha);
    mire__sha256_add(&sha, "mire:", 5);
    mire__sha256_add(&sha, id, strlen(id));
    mire__sha256_end(hash, &sha);
    for (size_t i = 0; i < USER_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

enum mire_err mire_set_user(const char *id, enum mire_user_form form)
{
    char text[MIRE_CONTEXT_TEXT_BYTES], hash[2 * USER_BYTES + 1];

    if (form != MIRE_USER_HASHED && form != MIRE_USER_PLAIN)
        return MIRE_E_RANGE;
    if (!id || !id[0])
        return set_text(offsetof(struct context, user), NULL);
    if (form == MIRE_USER_HASHED)
        hash_user(hash, id);
    text[0] = form == MIRE_USER_HASHED ? MIRE_CONTEXT_HASHED : MIRE_CONTEXT_PLAIN;
    mire__context_as_clean(text + 1, sizeof(text) - 1, form == MIRE_USER_HASHED ? hash : id);
    return set_text(offsetof(struct context, user), text);
}

enum mire_err mire_set_tag(const char *name, const char *value)
{
    char clean[MIRE_CONTEXT_TEXT_BYTES];
    struct context *box;
    bool fits;

    if (!name || !mire__context_is_name(name))
        return MIRE_E_ARG;
    mire__context_as_clean(clean, sizeof(clean), value ? value : "");
    if (!begin_texts())
        return MIRE_E_TIMEOUT;
    fits = mire__context_as_set_tag(&now.own, name, clean);
    box = begin_box();
    if (box && fits)
        mire__context_as_set_tag(box, name, clean);
    end_box(box);
    end_texts();
    return fits ? MIRE_OK : MIRE_E_FULL;
}

enum mire_err mire_memory_gauge(const char *name, uint64_t bytes, uint64_t count)
{
    char clean[MIRE_CONTEXT_NAME_BYTES];
    struct context *box;
    bool fits;

    if (!name || !name[0] || strlen(name) >= sizeof(clean))
        return MIRE_E_ARG;
    mire__context_as_clean(clean, sizeof(clean), name);
    if (!begin_texts())
        return MIRE_E_TIMEOUT;
    fits = mire__context_as_set_gauge(&now.own, clean, bytes, count);
    box = begin_box();
    if (box && fits)
        mire__context_as_set_gauge(box, clean, bytes, count);
    end_box(box);
    end_texts();
    return fits ? MIRE_OK : MIRE_E_FULL;
}

void mire_breadcrumb(const char *text)
{
    const uint64_t now_ns = mire__now_ns();
    char clean[MIRE_CRUMB_BYTES];
    struct context *box;

    if (!text || !text[0])
        return;
    mire__context_as_clean(clean, sizeof(clean), text);
    box = begin_box();
    mire__context_as_add(&now.own, clean, now_ns);
    if (box)
        mire__context_as_add(box, clean, now_ns);
    end_box(box);
}
