/* scripts.c - the functions of scripts in a blackbox. Signal-safe: arithmetic on the caller's memory only. */
#include "ring/blackbox.h"

#include "base/hash.h"

static uint64_t hash_text(uint64_t hash, const char *text, uint32_t most)
{
    for (uint32_t i = 0; i + 1 < most && text[i]; i++)
        hash = mire__hash_step(hash, (uint8_t)text[i]);
    return mire__hash_step(hash, 0xff);
}

/* Append a text. UINT32_MAX: no room. */
static uint32_t add_text(struct scripts *scripts, const char *text, uint32_t most)
{
    uint32_t at = scripts->used_bytes, size = 0;

    while (size + 1 < most && text[size])
        size++;
    if (size >= MIRE_SCRIPT_TEXTS_BYTES - 1 - at)
        return UINT32_MAX;
    mire__text_copy(scripts->texts + at, size + 1, text);
    scripts->used_bytes = at + size + 1;
    return at;
}

int mire__blackbox_add_script(struct blackbox *box, enum mire__language kind, const char *name, const char *file)
{
    struct scripts *scripts = &box->scripts;
    uint32_t count = atomic_load_explicit(&scripts->count, memory_order_relaxed);
    uint64_t hash = hash_text(hash_text(MIRE_HASH_START, name, MIRE_SCRIPT_NAME_BYTES), file, MIRE_SCRIPT_FILE_BYTES);
    struct script_function *function = &scripts->functions[count];

    hash = mire__hash_step(hash, kind);
    for (uint32_t i = 0; i < count; i++)
        if (scripts->functions[i].hash == hash)
            return (int)i;
    if (count == MIRE_SCRIPT_FUNCTIONS_MAX)
        return -1;
    function->hash = hash;
    function->kind = kind;
    function->name_at = add_text(scripts, name, MIRE_SCRIPT_NAME_BYTES);
    function->file_at = add_text(scripts, file, MIRE_SCRIPT_FILE_BYTES);
    if (function->name_at == UINT32_MAX || function->file_at == UINT32_MAX)
        return -1;
    atomic_store_explicit(&scripts->count, count + 1, memory_order_release);
    return (int)count;
}

/* ---- making room ---- */

#define GONE UINT32_MAX

struct renumbering {
    uint32_t to[MIRE_SCRIPT_FUNCTIONS_MAX]; /* by old number */
};

static void mark(struct renumbering *numbers, const struct sample *path)
{
    for (uint32_t i = 0; path && i < path->depth; i++)
        if (mire__is_script(path->pc[i]) && mire__script_number(path->pc[i]) < MIRE_SCRIPT_FUNCTIONS_MAX)
            numbers->to[mire__script_number(path->pc[i])] = 0;
}

static void renumber(struct sample *path, const struct renumbering *numbers)
{
    for (uint32_t i = 0; i < path->depth; i++)
        if (mire__is_script(path->pc[i]) && mire__script_number(path->pc[i]) < MIRE_SCRIPT_FUNCTIONS_MAX)
            path->pc[i] = MIRE_SCRIPT_PC(numbers->to[mire__script_number(path->pc[i])], mire__script_line(path->pc[i]));
}

/* Move a text down behind the kept ones; their order is unchanged. */
static uint32_t move_text(struct scripts *scripts, uint32_t from)
{
    uint32_t at = scripts->used_bytes, size = 0;

    while (from + size < MIRE_SCRIPT_TEXTS_BYTES - 1 && scripts->texts[from + size])
        size++;
    for (uint32_t i = 0; i < size; i++)
        scripts->texts[at + i] = scripts->texts[from + i];
    scripts->texts[at + size] = '\0';
    scripts->used_bytes = at + size + 1;
    return at;
}

static void keep_marked(struct scripts *scripts, struct renumbering *numbers)
{
    uint32_t count = atomic_load_explicit(&scripts->count, memory_order_relaxed), kept = 0;

    scripts->used_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct script_function function = scripts->functions[i];

        if (numbers->to[i] == GONE)
            continue;
        function.name_at = move_text(scripts, function.name_at);
        function.file_at = move_text(scripts, function.file_at);
        scripts->functions[kept] = function;
        numbers->to[i] = kept++;
    }
    atomic_store_explicit(&scripts->count, kept, memory_order_release);
    scripts->epoch++;
}

void mire__blackbox_tidy_scripts(struct blackbox *box)
{
    struct scripts *scripts = &box->scripts;
    struct renumbering numbers;

    if (atomic_load_explicit(&scripts->count, memory_order_relaxed) < MIRE_SCRIPT_FUNCTIONS_MAX / 2 &&
        scripts->used_bytes < MIRE_SCRIPT_TEXTS_BYTES / 2)
        return;
    for (uint32_t i = 0; i < MIRE_SCRIPT_FUNCTIONS_MAX; i++)
        numbers.to[i] = GONE;
    for (uint32_t i = 0; i < MIRE_LANES * MIRE_WAIT_PATHS; i++)
        mark(&numbers, mire__blackbox_wait(box, i / MIRE_WAIT_PATHS, i % MIRE_WAIT_PATHS));
    keep_marked(scripts, &numbers);
    for (uint32_t i = 0; i < MIRE_LANES * MIRE_WAIT_PATHS; i++)
        if (mire__blackbox_wait(box, i / MIRE_WAIT_PATHS, i % MIRE_WAIT_PATHS))
            renumber(&box->lanes[i / MIRE_WAIT_PATHS].waits[i % MIRE_WAIT_PATHS].sample, &numbers);
}

static const char *text_at(const struct scripts *scripts, uint32_t at)
{
    return at < MIRE_SCRIPT_TEXTS_BYTES && scripts->texts[MIRE_SCRIPT_TEXTS_BYTES - 1] == '\0' ? scripts->texts + at
                                                                                               : "";
}

bool mire__blackbox_script(const char **name_out, const char **file_out, const struct blackbox *box, uint32_t number)
{
    const struct scripts *scripts = &box->scripts;
    uint32_t count = atomic_load_explicit(&scripts->count, memory_order_acquire);

    if (count > MIRE_SCRIPT_FUNCTIONS_MAX || number >= count)
        return false;
    *name_out = text_at(scripts, scripts->functions[number].name_at);
    *file_out = text_at(scripts, scripts->functions[number].file_at);
    return true;
}

enum mire__language mire__blackbox_language(const struct blackbox *box, uint32_t number)
{
    uint32_t count = atomic_load_explicit(&box->scripts.count, memory_order_acquire);

    return count <= MIRE_SCRIPT_FUNCTIONS_MAX && number < count &&
                   box->scripts.functions[number].kind == MIRE_LANGUAGE_JAVA
               ? MIRE_LANGUAGE_JAVA
               : MIRE_LANGUAGE_PYTHON;
}
