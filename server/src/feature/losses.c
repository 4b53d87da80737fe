/* losses.c - see losses.h. */
#include "feature/losses.h"

#include "base/fault.h"
#include "feature/tree.h"

/* Letters of the schema, of samples without a stack. */
static const struct loss {
    char letter;
    const char *words;
} losses[] = {
    {'b', "the thread blocked every signal"},
    {'n', "no signal was free, or the system refused to send one"},
    {'u', "the thread did not get a processor in time"},
    {'g', "the thread had ended"},
    {'f', "the program's own filter of system calls forbade to ask it"},
    {'h', "the system did not tell where the thread slept"},
    {'m', "its memory could not be read"},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t count_of(const struct resolved *doc, uint32_t thread, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        count += (thread == MIRE_TREE_ALL || doc->samples[i].thread == thread) && !doc->samples[i].node &&
                 (!letter || doc->samples[i].loss == letter);
    return count;
}

int losses_text(const char **out, struct arena *arena, const struct resolved *doc, uint32_t thread)
{
    size_t lost = count_of(doc, thread, 0), all = 0;
    const char *text = "", *between = ": ";
    *out = "";
    if (!lost)
        return 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        all += thread == MIRE_TREE_ALL || doc->samples[i].thread == thread;
    for (size_t i = 0; text && i < COUNT(losses); i++) {
        size_t count = count_of(doc, thread, losses[i].letter);
        if (!count)
            continue;
        text = arena_printf(arena, "%s%s%s (%zu)", text, between, losses[i].words, count);
        between = ", ";
    }
    *out = text ? arena_printf(arena, "%zu of %zu samples have no stack%s", lost, all, text) : NULL;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
