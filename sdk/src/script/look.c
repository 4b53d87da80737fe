/* look.c - finds an interpreter, and the thread state of a thread. Signal-safe. */
#include "script/script.h"

#include "platform/platform.h"
#include "unwind/unwind.h"

#include <string.h>

#define INTERPRETERS_MAX 64
#define THREADS_MAX      512

static bool read_word(uint64_t *out, uint64_t address)
{
    return address != 0 && address < MIRE_SCRIPT_ADDRESS_MAX && address % 8 == 0 &&
           mire__peek(out, address, sizeof(*out)) == sizeof(*out);
}

/* The interpreter is the program itself, or a library named after it. */
static bool may_be(const struct module *module, uint32_t index)
{
    return module->is_image && (index == 0 || module->is_python);
}

static bool look_at(struct script *script, struct modules *modules, const struct module *module)
{
    struct module_symbols symbols;
    uint64_t version = 0;

    if (!mire__symbols_open(&symbols, &modules->cache, module))
        return false;
    script->runtime = mire__symbols_find(&symbols, "_PyRuntime");
    script->code_type = mire__symbols_find(&symbols, "PyCode_Type");
    if (!script->runtime || !script->code_type || !read_word(&version, mire__symbols_find(&symbols, "Py_Version")))
        return false;
    script->layout = mire__script_layout(version);
    return script->layout != NULL;
}

void mire__script_look(struct script *script, struct modules *modules)
{
    if (script->signature == modules->signature)
        return;
    script->signature = modules->signature;
    script->layout = NULL;
    script->tid = 0;
    for (uint32_t i = 0; i < modules->count && !script->layout; i++)
        if (may_be(&modules->list[i], i))
            look_at(script, modules, &modules->list[i]);
}

static bool is_of(const struct script *script, uint64_t state, uint32_t tid)
{
    uint64_t number;

    return read_word(&number, state + script->layout->thread_number) && number == tid;
}

/* The state with this thread id among those of one interpreter; 0: none. */
static uint64_t find_thread(const struct script *script, uint64_t interpreter, uint32_t tid)
{
    const struct script_layout *layout = script->layout;
    uint64_t state, owner;

    if (!read_word(&state, interpreter + layout->threads))
        return 0;
    for (uint32_t i = 0; state && i < THREADS_MAX; i++) {
        if (!read_word(&owner, state + layout->thread_interpreter) || owner != interpreter)
            return 0;
        if (is_of(script, state, tid))
            return state;
        if (!read_word(&state, state + layout->thread_next))
            return 0;
    }
    return 0;
}

void mire__script_aim(struct script *script, uint32_t tid)
{
    const struct script_layout *layout = script->layout;
    uint64_t interpreter, state = 0;

    if (!layout || (script->tid == tid && is_of(script, script->state, tid)))
        return;
    script->tid = 0;
    if (!read_word(&interpreter, script->runtime + layout->interpreters))
        return;
    for (uint32_t i = 0; interpreter && !state && i < INTERPRETERS_MAX; i++) {
        state = find_thread(script, interpreter, tid);
        if (!read_word(&interpreter, interpreter + layout->interpreter_next))
            break;
    }
    script->state = state;
    script->tid = state ? tid : 0;
}
