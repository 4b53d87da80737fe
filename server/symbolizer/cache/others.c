/* others.c - see others.h. */
#include "cache/others.h"
#include "cache/debug_map.h"
#include "cache/golang.h"

#include <string.h>
#include <unistd.h>

/* The first file with functions and lines in another form; used if there is no DWARF. */
const struct object *others_first(const struct convert_source *source)
{
    for (size_t i = 0; i < source->object_count; i++)
        if (source->objects[i]->go.bytes || source->objects[i]->mapped_count)
            return source->objects[i];
    return NULL;
}

static const char *read_go(struct convert_facts *facts, struct merge *merge, const struct object *object, uint64_t base)
{
    struct merge_input *input = &merge->rows[0];
    merge->count = 1;
    bool good = golang_harvest(&input->harvest, object, base) && merge_input_prepare(input);
    facts->damaged_units = input->harvest.damaged_units;
    return good ? NULL : "needs more memory than there is";
}

/* Request object files. Returns false if a system call fails. */
bool others_wanted(size_t *count_out, int fd, const struct object *program)
{
    bool good = true;
    *count_out = 0;
    for (size_t i = 0; i < program->mapped_count && i < MIRE_CONVERT_WANTS && good; i++) {
        struct convert_want want = {.id = i, .is_object = 1};
        size_t len = strlen(program->mapped[i].path);
        if (!program->mapped[i].function_count || len >= sizeof want.path)
            continue;
        memcpy(want.path, program->mapped[i].path, len);
        good = write(fd, &want, sizeof want) == (ssize_t)sizeof want;
        ++*count_out;
    }
    return good;
}

/* Make an input for each object file that was found. Returns their number; an unusable file is left out. */
static size_t read_objects(struct merge_input *rows, struct dwarf **dwarfs, const struct convert_source *source,
                           const struct object *program, uint64_t base)
{
    size_t count = 0;
    for (size_t i = 0; i < source->split_count; i++) {
        const struct convert_split *split = &source->splits[i];
        struct merge_input *input = &rows[count];
        if (!split->object || split->id >= program->mapped_count)
            continue;
        if (debug_map_harvest(&input->harvest, &dwarfs[i], program, split->id, split->object, base) ||
            !merge_input_prepare(input))
            merge_input_fini(input);
        else
            count++;
    }
    return count;
}

const char *others_read(struct convert_facts *facts, struct merge *merge, struct dwarf **dwarfs,
                        const struct convert_source *source, const struct object *program, uint64_t base)
{
    if (program->go.bytes)
        return read_go(facts, merge, program, base);
    merge->count = read_objects(merge->rows, dwarfs, source, program, base);
    return NULL;
}
