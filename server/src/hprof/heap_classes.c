/* heap_classes.c - see heap.h: the first two walks. Classes may come behind their objects, so they are read before. */
#include "hprof/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_MAX (1u << 20)
#define OBJECTS_MAX (UINT32_MAX - (1u << 21))
#define NO_MEMORY   "out of memory"

void *heap_push(struct heap *heap, struct heap_list *list, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 256;
        void *rows = heap->failed ? NULL : reallocarray(list->rows, room, size);
        if (!rows) {
            heap->failed = true;
            return NULL;
        }
        list->rows = rows;
        list->room = room;
    }
    return memset((char *)list->rows + size * list->count++, 0, size);
}

/* ---- reading ---- */

static void on_value(void *context, unsigned type, uint64_t value)
{
    struct heap_class *class = context;
    (void)value;
    class->static_bytes += element_bytes(type, 4);
    class->static_count += type == ELEMENT_OBJECT;
}

static const char *read_fields(struct heap *heap, struct heap_class *class, struct hprof_stream *s)
{
    class->field_count = (uint32_t)hprof_number(s, 2);
    class->types = calloc(class->field_count + 1u, sizeof *class->types);
    class->names = calloc(class->field_count + 1u, sizeof *class->names);
    heap->failed |= !class->types || !class->names;
    for (uint32_t i = 0; i < class->field_count && !heap->failed && !s->ended; i++) {
        class->names[i] = hprof_id(s);
        class->types[i] = (uint8_t)hprof_number(s, 1);
        if (!s->ended && !element_bytes(class->types[i], s->id_len))
            return "a field is of no type that is known";
    }
    return heap->failed ? NO_MEMORY : NULL;
}

static const char *on_class(void *context, struct hprof_stream *s, uint64_t id)
{
    struct heap *heap = context;
    if (heap->classes.count == CLASSES_MAX)
        return "there are more classes than a million";
    struct heap_class *class = heap_push(heap, &heap->classes, sizeof *class);
    if (!class)
        return NO_MEMORY;
    class->id = id;
    hprof_skip(s, 4);
    class->super = hprof_id(s);
    hprof_skip(s, 5ull * s->id_len);
    class->dump_bytes = (uint32_t)hprof_number(s, 4);
    const char *wrong = walk_values(s, 2, NULL, NULL);
    if (!wrong)
        wrong = walk_values(s, s->id_len, on_value, class);
    return wrong ? wrong : read_fields(heap, class, s);
}

static void on_name(void *context, uint64_t class_id, uint64_t name_id)
{
    struct heap *heap = context;
    uint64_t *pair = heap_push(heap, &heap->named, 2 * sizeof *pair);
    if (pair) {
        pair[0] = class_id;
        pair[1] = name_id;
    }
}

/* Objects are numbers of 32 bits. */
static const char *count_object(struct heap *heap)
{
    return ++heap->count > OBJECTS_MAX ? "there are more objects than four thousand million" : NULL;
}

static const char *on_instance(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t len)
{
    (void)s, (void)id, (void)class_id, (void)len;
    return count_object(context);
}

static const char *on_objects(void *context, struct hprof_stream *s, uint64_t id, uint64_t class_id, uint32_t count)
{
    (void)s, (void)id, (void)class_id, (void)count;
    return count_object(context);
}

static void on_numbers(void *context, uint64_t id, unsigned type, uint32_t count)
{
    (void)id, (void)type, (void)count;
    count_object(context); /* the next object ends the walk */
}

/* ---- names ---- */

static int by_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool append(char *out, size_t room, size_t *len, const char *text, size_t text_len)
{
    if (*len + text_len + 1 > room)
        return false;
    memcpy(out + *len, text, text_len);
    out[ *len += text_len] = '\0';
    return true;
}

/* "java/util/Map$Entry" -> "java.util.Map$Entry", "[[I" -> "int[][]", "[Ljava.lang.String;" -> "java.lang.String[]" */
static char *readable(const uint8_t *bytes, size_t len)
{
    static const struct {
        char letter;
        const char *name;
    } numbers[] = {{'Z', "boolean"}, {'C', "char"},  {'F', "float"}, {'D', "double"},
                   {'B', "byte"},    {'S', "short"}, {'I', "int"},   {'J', "long"}};
    char name[1024] = "";
    size_t at = 0, out = 0;
    while (at < len && bytes[at] == '[')
        at++;
    size_t dims = at;
    const char *base = NULL;
    for (size_t i = 0; dims && at + 1 == len && i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].letter == (char)bytes[at])
            base = numbers[i].name;
    if (base) {
        append(name, sizeof name, &out, base, strlen(base));
    } else {
        bool wrapped = dims && at < len && bytes[at] == 'L' && bytes[len - 1] == ';';
        for (at += wrapped; at < len - wrapped && out + 1 < sizeof name - 64; at++)
            append(name, sizeof name, &out, bytes[at] == '/' ? "." : (const char *)&bytes[at], 1);
    }
    for (size_t i = 0; i < dims && i < 16; i++)
        append(name, sizeof name, &out, "[]", 2);
    return strdup(name[0] ? name : "?");
}

struct class_naming {
    struct heap *heap;
    struct class_naming_row {
        uint64_t name_id;
        uint32_t class; /* whose name it is; UINT32_MAX: "referent" is looked for */
    } * rows;           /* by name_id */
    size_t count;
    uint64_t referent; /* the id of that text */
};

static void on_string(void *context, uint64_t id, const uint8_t *bytes, size_t len)
{
    struct class_naming *naming = context;
    size_t low = 0, high = naming->count;
    if (len == 8 && !memcmp(bytes, "referent", 8))
        naming->referent = id;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (naming->rows[middle].name_id < id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < naming->count && naming->rows[low].name_id == id; low++) {
        struct heap_class *class = heap_class_at(naming->heap, naming->rows[low].class);
        if (!class->name)
            class->name = readable(bytes, len);
        naming->heap->failed |= !class->name;
    }
}

static bool read_names(struct heap *heap, uint64_t *referent_out)
{
    struct class_naming naming = {.heap = heap, .count = heap->classes.count};
    struct hprof_walk walk = {.context = &naming, .string = on_string};
    naming.rows = calloc(naming.count + 1, sizeof *naming.rows);
    if (!naming.rows)
        return false;
    for (uint32_t i = 0; i < naming.count; i++)
        naming.rows[i] = (struct class_naming_row){heap_class_at(heap, i)->name_id, i};
    qsort(naming.rows, naming.count, sizeof *naming.rows, by_first);
    bool good = walk_all(&walk, heap->fault, heap->stream);
    *referent_out = naming.referent;
    free(naming.rows);
    return good;
}

/* ---- what the objects of a class are like ---- */

uint32_t heap_find_class(const struct heap *heap, uint64_t id)
{
    const struct heap_class *found =
        heap->classes.count ? bsearch(&id, heap->classes.rows, heap->classes.count, sizeof *found, by_first) : NULL;
    return found ? (uint32_t)(found - (const struct heap_class *)heap->classes.rows) : UINT32_MAX;
}

/*
 * Headers: of Android 8 bytes, and 12 of arrays; of a 64-bit machine 16 with whole pointers, otherwise 12, and 16 of arrays; of
 * a 32-bit one 8 and 12. Whether pointers are whole shows in the addresses: shortened ones reach 32 GiB.
 */
static struct object_layout layout_of(const struct heap *heap)
{
    if (heap->android || heap->stream->id_len == 4)
        return (struct object_layout){8, 12, 4};
    for (size_t i = 0; i < heap->classes.count; i++)
        if (heap_class_at(heap, (uint32_t)i)->id >> 35)
            return (struct object_layout){16, 24, 8};
    return (struct object_layout){12, 16, 4};
}

uint32_t heap_array_bytes(const struct heap *heap, unsigned width, uint64_t count)
{
    uint64_t bytes = heap->layout.array_header + count * (width ? width : heap->layout.pointer);
    bytes = (bytes + 7) & ~UINT64_C(7);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static const char *name_of(const struct heap_class *class)
{
    return class->name ? class->name : "";
}

/* Does a reference's referent stay alive by it? */
static bool is_weak(const struct heap *heap, const struct heap_class *class)
{
    static const char *const weak[] = {"java.lang.ref.WeakReference", "java.lang.ref.PhantomReference",
                                       "java.lang.ref.FinalizerReference"};
    for (int depth = 0; depth < 64; depth++) {
        for (size_t i = 0; i < sizeof weak / sizeof *weak; i++)
            if (!strcmp(name_of(class), weak[i]))
                return true;
        uint32_t row = heap_find_class(heap, class->super);
        if (row == UINT32_MAX)
            break;
        class = heap_class_at(heap, row);
    }
    return false;
}

/* References and size of a class's objects: its own fields first, then those of the class above, and so on. */
static bool settle(struct heap *heap, struct heap_class *class, uint64_t referent)
{
    const struct heap_class *at = class;
    bool weak = is_weak(heap, class);
    uint64_t place = 0, bytes = heap->layout.header;
    size_t room = 0;
    for (int depth = 0; depth < 256; depth++) {
        for (uint32_t i = 0; i < at->field_count; i++) {
            unsigned width = element_bytes(at->types[i], heap->stream->id_len);
            bool skipped = weak && at->names[i] == referent && !strcmp(name_of(at), "java.lang.ref.Reference");
            if (at->types[i] == ELEMENT_OBJECT && !skipped) {
                if (class->reference_count == room) {
                    uint32_t *more = reallocarray(class->references, room = room * 2 + 8, sizeof *more);
                    if (!more)
                        return false;
                    class->references = more;
                }
                class->references[class->reference_count++] = (uint32_t)place;
            }
            place += width;
            bytes += at->types[i] == ELEMENT_OBJECT ? heap->layout.pointer : width;
        }
        uint32_t row = at->super ? heap_find_class(heap, at->super) : UINT32_MAX;
        if (row == UINT32_MAX || place > INT32_MAX)
            break;
        at = heap_class_at(heap, row);
    }
    if (heap->android && class->dump_bytes)
        bytes = class->dump_bytes;
    class->own_bytes = (uint32_t)((bytes + 7) & ~UINT64_C(7));
    return true;
}

/* Rows for arrays of numbers whose class the dump does not have. */
static bool add_number_classes(struct heap *heap)
{
    static const char *const names[12] = {
        [ELEMENT_BOOLEAN] = "boolean[]", [ELEMENT_CHAR] = "char[]", [ELEMENT_FLOAT] = "float[]",
        [ELEMENT_DOUBLE] = "double[]",   [ELEMENT_BYTE] = "byte[]", [ELEMENT_SHORT] = "short[]",
        [ELEMENT_INT] = "int[]",         [ELEMENT_LONG] = "long[]"};
    size_t known = heap->classes.count;
    for (unsigned type = ELEMENT_BOOLEAN; type <= ELEMENT_LONG; type++) {
        heap->number_class[type] = UINT32_MAX;
        for (uint32_t i = 0; i < known; i++)
            if (heap_class_at(heap, i)->name && !strcmp(heap_class_at(heap, i)->name, names[type]))
                heap->number_class[type] = i;
        if (heap->number_class[type] != UINT32_MAX)
            continue;
        struct heap_class *class = heap_push(heap, &heap->classes, sizeof *class);
        if (!class || !(class->name = strdup(names[type])))
            return false;
        class->id = UINT64_MAX; /* behind all: the order by id holds */
        heap->number_class[type] = (uint32_t)heap->classes.count - 1;
    }
    return true;
}

bool heap_read_classes(struct heap *heap)
{
    struct hprof_walk walk = {.context = heap,
                              .class_name = on_name,
                              .class_dump = on_class,
                              .instance = on_instance,
                              .objects = on_objects,
                              .numbers = on_numbers};
    uint64_t referent = 0;
    if (!walk_all(&walk, heap->fault, heap->stream))
        return false;
    heap->android = walk.android;
    if (heap->classes.count)
        qsort(heap->classes.rows, heap->classes.count, sizeof(struct heap_class), by_first);
    heap->layout = layout_of(heap);
    const uint64_t(*named)[2] = heap->named.rows;
    for (size_t i = 0; i < heap->named.count; i++) {
        uint32_t row = heap_find_class(heap, named[i][0]);
        if (row != UINT32_MAX)
            heap_class_at(heap, row)->name_id = named[i][1];
    }
    if (heap->failed || !read_names(heap, &referent) || !add_number_classes(heap))
        return false;
    heap->java_lang_class = UINT32_MAX;
    for (uint32_t i = 0; i < heap->classes.count; i++) {
        struct heap_class *class = heap_class_at(heap, i);
        if (!class->name && !(class->name = strdup("?")))
            return false;
        if (!settle(heap, class, referent))
            return false;
        if (!strcmp(class->name, "java.lang.Class"))
            heap->java_lang_class = i;
    }
    return !heap->failed;
}
