/*
 * retrace.c - opens mappings, and looks up classes by either name and methods by a methodmap's number.
 */
#include "java/retrace_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *retrace_open(struct retrace **out, const struct object *object)
{
    struct retrace *retrace = calloc(1, sizeof *retrace);
    bool methods = object->facts.format == MIRE_FORMAT_METHODMAP;
    if (!retrace)
        return "needs more memory than there is";
    retrace->head = (struct retrace_head){.magic = MIRE_RETRACE_MAGIC,
                                          .version = MIRE_RETRACE_VERSION,
                                          .methods = methods,
                                          .changed = object->facts.changed};
    if (methods ? !retrace_read_methods(retrace, &object->text) : !retrace_read_mapping(retrace, &object->text)) {
        retrace_close(retrace);
        return "needs more memory than there is";
    }
    *out = retrace;
    return NULL;
}

void retrace_close(struct retrace *retrace)
{
    if (!retrace)
        return;
    if (retrace->map) {
        munmap(retrace->map, retrace->map_len);
    } else {
        free((void *)(uintptr_t)retrace->classes);
        free((void *)(uintptr_t)retrace->names);
        free((void *)(uintptr_t)retrace->members);
        free((void *)(uintptr_t)retrace->numbers);
    }
    free(retrace);
}

bool retrace_is_methods(const struct retrace *retrace)
{
    return retrace->head.methods;
}

bool retrace_is_whole(const struct retrace *retrace)
{
    return !retrace->head.changed;
}

/* The class at a position in the order of either name. A damaged file may contain any number. */
static const struct retrace_class *class_at(const struct retrace *retrace, size_t at, bool by_name)
{
    uint32_t number = by_name ? retrace->names[at] : (uint32_t)at;
    return &retrace->classes[number < retrace->head.class_count ? number : 0];
}

static int compare_at(const struct retrace *retrace, size_t at, bool by_name, const struct piece_of_text *wanted)
{
    const struct retrace_class *class = class_at(retrace, at, by_name);
    struct piece_of_text name = retrace_text(retrace, by_name ? &class->name : &class->short_name);
    return retrace_compare(&name, wanted);
}

static const struct retrace_class *find(const struct retrace *retrace, bool by_name, const struct piece_of_text *wanted)
{
    size_t low = 0;
    size_t high = retrace->head.class_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_at(retrace, middle, by_name, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < retrace->head.class_count && compare_at(retrace, low, by_name, wanted) == 0;
    return found ? class_at(retrace, low, by_name) : NULL;
}

const struct retrace_class *retrace_find(const struct retrace *retrace, const struct piece_of_text *short_name)
{
    return find(retrace, false, short_name);
}

const struct retrace_class *retrace_find_named(const struct retrace *retrace, const struct piece_of_text *name)
{
    return find(retrace, true, name);
}

const char *retrace_class_name(size_t *len_out, const struct retrace *retrace, const char *name, size_t len)
{
    struct piece_of_text wanted = {name, len < INT32_MAX ? (uint32_t)len : 0};
    const struct retrace_class *class = retrace_find(retrace, &wanted);
    struct piece_of_text found = class ? retrace_text(retrace, &class->name) : (struct piece_of_text){NULL, 0};
    *len_out = found.len;
    return found.at;
}

bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number)
{
    size_t low = 0;
    size_t high = retrace->head.number_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (retrace->numbers[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == retrace->head.number_count || retrace->numbers[low].number != number)
        return false;
    const struct retrace_number *row = &retrace->numbers[low];
    struct piece_of_text class_name = retrace_text(retrace, &row->class_name);
    struct piece_of_text method = retrace_text(retrace, &row->method);
    *out = (struct retrace_frame){
        .class_name = class_name.at, .class_len = class_name.len, .method = method.at, .method_len = method.len};
    return true;
}
