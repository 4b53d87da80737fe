/* depth.c - determines the depth of a file: names, lines or DWARF. */
#include "object/object.h"

#include <string.h>

#define TAG_FORMAL_PARAMETER 0x05
#define TAG_BASE_TYPE        0x24
#define FORM_IMPLICIT_CONST  0x21

static uint64_t take_uleb(struct section *rest)
{
    uint64_t value = 0;
    for (unsigned shift = 0; rest->len; shift += 7) {
        uint8_t byte = *rest->bytes++;
        rest->len--;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return value;
    }
    return value;
}

/* Returns true if the DWARF has parameters or types. With line tables alone (-g1) it describes only functions. */
static bool has_values(const struct object *object)
{
    struct section rest = object->sections[MIRE_SECTION_ABBREV];
    while (rest.bytes && rest.len) {
        if (!take_uleb(&rest))
            continue; /* end of a table */
        uint64_t tag = take_uleb(&rest), attribute, form;
        (void)take_uleb(&rest); /* "has children" */
        if (tag == TAG_FORMAL_PARAMETER || tag == TAG_BASE_TYPE)
            return true;
        do {
            attribute = take_uleb(&rest);
            form = take_uleb(&rest);
            if (form == FORM_IMPLICIT_CONST)
                (void)take_uleb(&rest);
        } while (rest.len && (attribute || form));
    }
    return false;
}

/* Has a Breakpad file records of lines? They begin with an address; other records begin with a word in capitals. */
static bool has_lines(const struct section *text)
{
    const char *end = (const char *)text->bytes + text->len;
    for (const char *line = (const char *)text->bytes; line < end; line += strlen(line) + 1)
        if (*line && strchr("0123456789abcdef", *line))
            return true;
    return false;
}

enum symbol_depth object_depth(const struct object *object)
{
    if (!object->facts.has_dwarf)
        return MIRE_DEPTH_NAMES;
    if (object->facts.format == MIRE_FORMAT_BREAKPAD)
        return has_lines(&object->text) ? MIRE_DEPTH_LINES : MIRE_DEPTH_NAMES;
    bool lines = object->facts.format != MIRE_FORMAT_ELF && object->facts.format != MIRE_FORMAT_MACHO;
    return !lines && has_values(object) ? MIRE_DEPTH_DWARF : MIRE_DEPTH_LINES;
}
