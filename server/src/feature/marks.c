/* marks.c - one walk up every stack, where any function is marked at all. */
#include "feature/marks.h"

#include "base/fault.h"

/* Innermost first. A handler is an app function with a dispatch outside it. */
static enum rule_class mark_of(const struct resolved *doc, const struct classes *classes, uint32_t node)
{
    enum rule_class mark = MIRE_CLASS_NONE;
    bool app = false, idle = false, handler = false;
    for (; node; node = doc->nodes[node].parent) {
        uint32_t location = doc->nodes[node].location;
        enum rule_class here = classes->marks[location];
        if (here == MIRE_CLASS_IDLE)
            idle |= !app;
        else if (here > mark)
            mark = here;
        handler |= app && classes->of[location] == MIRE_CLASS_DISPATCH;
        app |= !class_is_skipped(classes->of[location]);
    }
    if (mark != MIRE_CLASS_NONE)
        return mark;
    return idle && !handler ? MIRE_CLASS_IDLE : MIRE_CLASS_NONE;
}

int marks_find(struct marks *out, struct arena *arena, const struct resolved *doc, const struct classes *classes,
               unsigned percent)
{
    uint64_t weights[MIRE_CLASS_COUNT] = {0}, total = 0;
    uint8_t *marks = NULL;
    *out = (struct marks){.most = MIRE_CLASS_NONE};
    if (!classes->marked)
        return 0;
    marks = arena_array(arena, doc->sample_count, sizeof *marks);
    if (!marks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < doc->sample_count; i++) {
        uint64_t weight = doc->samples[i].weight_ms + 1ull;
        marks[i] = (uint8_t)mark_of(doc, classes, doc->samples[i].node);
        weights[marks[i]] += weight;
        total += weight;
    }
    if (!doc->sample_count)
        weights[mark_of(doc, classes, doc->hot.node)] += ++total;
    for (int mark = MIRE_CLASS_IDLE; mark < MIRE_CLASS_COUNT; mark++)
        if (weights[mark] && weights[mark] * 100 >= total * percent)
            out->most = (enum rule_class)mark;
    for (size_t i = 0; i < doc->sample_count; i++)
        marks[i] = marks[i] != MIRE_CLASS_NONE && marks[i] != MIRE_CLASS_MOMENT && marks[i] != out->most;
    out->left_out = marks;
    return 0;
}
