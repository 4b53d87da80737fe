/* losses.c - see losses.h. */
#include "feature/losses.h"

#include "base/fault.h"
#include "feature/tree.h"

#include <inttypes.h>
#include <stdbool.h>

/* Letters of the schema, of samples without a stack. */
static const struct loss {
    char letter;
    bool lasts; /* the program's doing, or the system's: the next hang of the thread has it too */
    const char *words;
} losses[] = {
    {'b', true, "the thread blocked every signal"},
    {'n', true, "no signal was free, or the system refused to send one"},
    {'u', false, "the thread did not get a processor in time"},
    {'g', false, "the thread had ended"},
    {'f', true, "the program's own filter of system calls forbade to ask it"},
    {'h', true, "the system did not tell where the thread slept"},
    {'m', false, "its memory could not be read"},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_asked(const struct resolved *doc, uint32_t thread, size_t sample)
{
    return thread == MIRE_TREE_ALL || doc->samples[sample].thread == thread;
}

/* Number of samples without a stack, for that reason or for any. */
static size_t count_of(const struct resolved *doc, uint32_t thread, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        count += is_asked(doc, thread, i) && !doc->samples[i].node && (!letter || doc->samples[i].loss == letter);
    return count;
}

const char *losses_lasting(const struct resolved *doc, uint32_t thread)
{
    size_t most = 0;
    const char *words = "";
    for (size_t i = 0; i < COUNT(losses); i++) {
        size_t count = losses[i].lasts ? count_of(doc, thread, losses[i].letter) : 0;
        words = count > most ? losses[i].words : words;
        most = count > most ? count : most;
    }
    return words;
}

static const char *without_stack(struct arena *arena, const struct resolved *doc, uint32_t thread, size_t all)
{
    size_t lost = count_of(doc, thread, 0);
    const char *text = "", *between = ": ";
    for (size_t i = 0; text && lost && i < COUNT(losses); i++) {
        size_t count = count_of(doc, thread, losses[i].letter);
        if (!count)
            continue;
        text = arena_printf(arena, "%s%s%s (%zu)", text, between, losses[i].words, count);
        between = ", ";
    }
    return text && lost ? arena_printf(arena, "%zu of %zu samples have no stack%s", lost, all, text) : text;
}

static const char *uncovered(struct arena *arena, const struct resolved *doc, uint32_t thread,
                             const struct report_event *event)
{
    uint64_t covered_ms = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        covered_ms += is_asked(doc, thread, i) ? doc->samples[i].weight_ms : 0;
    if (!event || !covered_ms || covered_ms * 100 >= (uint64_t)event->duration_ms * (100 - MIRE_LOSSES_SILENT))
        return "";
    return arena_printf(arena, "the samples cover %" PRIu64 " of %u ms", covered_ms, event->duration_ms);
}

int losses_text(const char **out, struct arena *arena, const struct resolved *doc, uint32_t thread,
                const uint8_t *left_out, const struct report_event *event)
{
    size_t all = 0, marked = 0;
    for (size_t i = 0; i < doc->sample_count; i++) {
        all += is_asked(doc, thread, i);
        marked += is_asked(doc, thread, i) && left_out && left_out[i] && doc->samples[i].node;
    }
    const char *parts[] = {without_stack(arena, doc, thread, all), "", uncovered(arena, doc, thread, event)};
    if (marked)
        parts[1] =
            arena_printf(arena, "%zu of %zu samples wait for events or say nothing, and are left out", marked, all);
    *out = "";
    for (size_t i = 0; *out && i < COUNT(parts); i++)
        if (!parts[i] || parts[i][0])
            *out = parts[i] ? arena_printf(arena, "%s%s%s", *out, **out ? "; " : "", parts[i]) : NULL;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
