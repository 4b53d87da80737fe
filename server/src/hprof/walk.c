/* walk.c - see walk.h. */
#include "hprof/walk.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX 4096 /* bytes of a text that are looked at */

enum { TAG_STRING = 0x01, TAG_LOAD_CLASS = 0x02, TAG_DUMP = 0x0c, TAG_SEGMENT = 0x1c };
enum { SUB_CLASS = 0x20, SUB_INSTANCE, SUB_OBJECTS, SUB_NUMBERS, SUB_NO_DATA = 0xc3, SUB_HEAP = 0xfe };

unsigned element_bytes(unsigned type, unsigned id_len)
{
    static const uint8_t widths[] = {
        [ELEMENT_BOOLEAN] = 1, [ELEMENT_CHAR] = 2,  [ELEMENT_FLOAT] = 4, [ELEMENT_DOUBLE] = 8,
        [ELEMENT_BYTE] = 1,    [ELEMENT_SHORT] = 2, [ELEMENT_INT] = 4,   [ELEMENT_LONG] = 8};
    if (type == ELEMENT_OBJECT)
        return id_len;
    return type < sizeof widths ? widths[type] : 0;
}

static bool refuse(struct hprof_fault *fault, uint64_t place, const char *what)
{
    fault->position = place;
    snprintf(fault->text, sizeof fault->text, "byte %llu: %s", (unsigned long long)place, what);
    return false;
}

/* Bytes behind the id of a root; 255: the tag is no root's. */
static uint8_t root_rest(enum root_kind *kind, unsigned tag, unsigned id_len)
{
    static const struct {
        uint8_t tag, kind, numbers; /* of four bytes behind it */
    } roots[] = {
        {0xff, ROOT_UNKNOWN, 0},  {0x01, ROOT_JNI_GLOBAL, 0}, {0x02, ROOT_LOCAL, 2},    {0x03, ROOT_LOCAL, 2},
        {0x04, ROOT_LOCAL, 1},    {0x05, ROOT_CLASS, 0},      {0x06, ROOT_LOCAL, 1},    {0x07, ROOT_MONITOR, 0},
        {0x08, ROOT_THREAD, 2},   {0x89, ROOT_INTERNAL, 0},   {0x8a, ROOT_INTERNAL, 0}, {0x8b, ROOT_INTERNAL, 0},
        {0x8c, ROOT_INTERNAL, 0}, {0x8d, ROOT_INTERNAL, 0},   {0x8e, ROOT_MONITOR, 2},  {0x90, ROOT_KINDS, 0}};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (roots[i].tag == tag) {
            *kind = (enum root_kind)roots[i].kind;
            return (uint8_t)(roots[i].numbers * 4 + (tag == 0x01 ? id_len : 0));
        }
    return 255;
}

static bool read_root(struct hprof_walk *walk, struct hprof_stream *s, enum root_kind kind, uint8_t rest)
{
    uint64_t id = hprof_id(s), serial = 0;
    const uint8_t *bytes = hprof_bytes(s, rest);
    if (bytes && rest >= 4 && (kind == ROOT_LOCAL || kind == ROOT_THREAD))
        serial = load_big(bytes, 4);
    if (bytes && walk->root && kind != ROOT_KINDS) /* Android's "unreachable" is none */
        walk->root(walk->context, kind, id, serial);
    return true;
}

const char *walk_values(struct hprof_stream *s, unsigned before,
                        void (*value)(void *context, unsigned type, uint64_t value), void *context)
{
    for (uint64_t left = hprof_number(s, 2); left > 0 && !s->ended; left--) {
        hprof_skip(s, before);
        unsigned type = (unsigned)hprof_number(s, 1);
        unsigned width = element_bytes(type, s->id_len);
        if (!s->ended && !width)
            return "a field is of no type that is known";
        uint64_t number = hprof_number(s, width ? width : 1);
        if (value && !s->ended)
            value(context, type, number);
    }
    return NULL;
}

const char *walk_skip_class(struct hprof_stream *s)
{
    hprof_skip(s, 4 + 6ull * s->id_len + 4);
    const char *wrong = walk_values(s, 2, NULL, NULL);
    if (!wrong)
        wrong = walk_values(s, s->id_len, NULL, NULL);
    if (!wrong)
        hprof_skip(s, hprof_number(s, 2) * (s->id_len + 1));
    return wrong;
}

static bool read_class(struct hprof_walk *walk, struct hprof_stream *s)
{
    uint64_t id = hprof_id(s);
    walk->wrong = walk->class_dump ? walk->class_dump(walk->context, s, id) : walk_skip_class(s);
    return !walk->wrong;
}

static bool read_instance(struct hprof_walk *walk, struct hprof_stream *s)
{
    uint64_t id = hprof_id(s);
    hprof_skip(s, 4);
    uint64_t class_id = hprof_id(s);
    uint32_t len = (uint32_t)hprof_number(s, 4);
    uint64_t end = hprof_place(s) + len;
    if (!s->ended && walk->instance)
        walk->wrong = walk->instance(walk->context, s, id, class_id, len);
    if (hprof_place(s) < end)
        hprof_skip(s, end - hprof_place(s));
    return !walk->wrong;
}

static bool read_objects(struct hprof_walk *walk, struct hprof_stream *s)
{
    uint64_t id = hprof_id(s);
    hprof_skip(s, 4);
    uint32_t count = (uint32_t)hprof_number(s, 4);
    uint64_t class_id = hprof_id(s);
    uint64_t end = hprof_place(s) + (uint64_t)count * s->id_len;
    if (!s->ended && walk->objects)
        walk->wrong = walk->objects(walk->context, s, id, class_id, count);
    if (hprof_place(s) < end)
        hprof_skip(s, end - hprof_place(s));
    return !walk->wrong;
}

static bool read_numbers(struct hprof_walk *walk, struct hprof_stream *s, bool data)
{
    uint64_t id = hprof_id(s);
    hprof_skip(s, 4);
    uint32_t count = (uint32_t)hprof_number(s, 4);
    unsigned type = (unsigned)hprof_number(s, 1);
    unsigned width = element_bytes(type, s->id_len);
    if (s->ended)
        return true;
    if (!width || type == ELEMENT_OBJECT) {
        walk->wrong = "an array has elements of no type that is known";
        return false;
    }
    if (walk->numbers)
        walk->numbers(walk->context, id, type, count);
    if (data)
        hprof_skip(s, (uint64_t)count * width);
    return true;
}

static bool read_sub(struct hprof_walk *walk, struct hprof_stream *s)
{
    unsigned tag = (unsigned)hprof_number(s, 1);
    enum root_kind kind;
    uint8_t rest = root_rest(&kind, tag, s->id_len);
    if (rest != 255)
        return read_root(walk, s, kind, rest);
    switch (tag) {
    case SUB_CLASS:
        return read_class(walk, s);
    case SUB_INSTANCE:
        return read_instance(walk, s);
    case SUB_OBJECTS:
        return read_objects(walk, s);
    case SUB_NUMBERS:
    case SUB_NO_DATA:
        return read_numbers(walk, s, tag == SUB_NUMBERS);
    case SUB_HEAP:
        hprof_skip(s, 4 + s->id_len);
        return true;
    default:
        walk->wrong = "this is no kind of record of a heap dump that is known";
        return false;
    }
}

static bool read_segment(struct hprof_walk *walk, struct hprof_fault *fault, struct hprof_stream *s, uint64_t end)
{
    while (!s->ended && hprof_place(s) < end) {
        uint64_t place = hprof_place(s);
        if (!read_sub(walk, s))
            return refuse(fault, place, walk->wrong);
        if (!s->ended && hprof_place(s) > end)
            return refuse(fault, place, "a record is longer than the segment it is in");
    }
    return true;
}

static bool read_record(struct hprof_walk *walk, struct hprof_fault *fault, struct hprof_stream *s)
{
    unsigned tag = (unsigned)hprof_number(s, 1);
    hprof_skip(s, 4);
    uint32_t len = (uint32_t)hprof_number(s, 4);
    uint64_t end = hprof_place(s) + len;
    if (s->ended)
        return true;
    if (tag == TAG_DUMP || tag == TAG_SEGMENT)
        return read_segment(walk, fault, s, end);
    if (tag == TAG_STRING && walk->string && len >= s->id_len) {
        uint64_t id = hprof_id(s);
        size_t text = len - s->id_len < NAME_MAX ? len - s->id_len : NAME_MAX;
        const uint8_t *bytes = hprof_bytes(s, text);
        if (bytes)
            walk->string(walk->context, id, bytes, text);
    } else if (tag == TAG_LOAD_CLASS && walk->class_name && len >= 8 + 2 * s->id_len) {
        hprof_skip(s, 4);
        uint64_t class_id = hprof_id(s);
        hprof_skip(s, 4);
        walk->class_name(walk->context, class_id, hprof_id(s));
    }
    if (hprof_place(s) < end)
        hprof_skip(s, end - hprof_place(s));
    return true;
}

static bool read_header(struct hprof_walk *walk, struct hprof_fault *fault, struct hprof_stream *s)
{
    char name[20] = "";
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = (char)hprof_number(s, 1);
        if (!name[i])
            break;
    }
    if (!hprof_is(name, sizeof name) || name[sizeof name - 1])
        return refuse(fault, 0, "this is no heap dump: it does not begin with \"JAVA PROFILE 1.0.\"");
    walk->android = strcmp(name, "JAVA PROFILE 1.0.3") == 0;
    s->id_len = (unsigned)hprof_number(s, 4);
    s->wall_ms = hprof_number(s, 8);
    if (s->id_len != 4 && s->id_len != 8)
        return refuse(fault, strlen(name) + 1, "ids must have 4 or 8 bytes");
    return true;
}

bool hprof_is(const void *bytes, size_t len)
{
    static const char begin[] = "JAVA PROFILE 1.0.";
    return len > sizeof begin && !memcmp(bytes, begin, sizeof begin - 1);
}

bool walk_all(struct hprof_walk *walk, struct hprof_fault *fault, struct hprof_stream *s)
{
    hprof_rewind(s);
    if (!read_header(walk, fault, s))
        return false;
    for (;;) {
        uint64_t place = hprof_place(s);
        if (!hprof_bytes(s, 1))
            return true; /* the end, between two records */
        s->at--;
        if (!read_record(walk, fault, s))
            return false;
        if (s->ended)
            return refuse(fault, place, "the file ends within the record that begins here");
    }
}
