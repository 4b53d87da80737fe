/*
 * objects_apple.c - classes of Objective-C, Swift and CoreFoundation objects among the live blocks; see gobject.h.
 *
 *     block:    [ isa | ... ]                an object begins with its class, in some bits of its first word
 *     class:    [ isa | ... ] --> metaclass: [ isa | ... ] --> metaclass of its root class
 *
 * Allocating calls do not tell classes, so the first words of blocks are read, at each look. A pointer is a class if two
 * steps lead from it to the metaclass of a root class. So neither the list of classes nor its lock is needed, which would
 * realize every class of the process; classes made at run time are found, too. All reads allow for memory that is gone.
 *
 * A block that was freed and handed out again may begin with a former object's class for as long as nobody writes to it.
 */
#include "allochook/gobject.h"
#include "base/alloc.h"
#include "heap/heap.h"
#include "heapread/read.h"
#include "platform/platform.h"

#include <CoreFoundation/CoreFoundation.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <string.h>

#define ROOTS_MAX   3
#define SEEN_MAX    1024u        /* remembered pointers, each at the place of its hash */
#define HEAD_BYTES  64u          /* of an object of CoreFoundation: its class and its type are within */
#define PLAIN_CLASS "__NSCFType" /* of all objects of CoreFoundation without a class of their own */

/* A first word's pointer, as it was judged. */
struct seen {
    uint64_t pointer;
    uint32_t class; /* in the tables; 0: it is none, or a type tells more */
    uint32_t bytes; /* of an instance, at least */
    bool is_plain;  /* the class of PLAIN_CLASS */
};

static struct {
    bool asked; /* for the roots */
    uint64_t mask;
    uint64_t roots[ROOTS_MAX], root_metas[ROOTS_MAX]; /* 0: there is no such class */
    struct seen seen[SEEN_MAX];
} objects;

struct object_sweep {
    struct heap *heap;
    struct heap_slot *slot;
};

void mire__objects_begin(void)
{
    memset(objects.seen, 0, sizeof(objects.seen));
}

/* ---- classes ---- */

static uint64_t isa_at(uint64_t address)
{
    uint64_t word = 0;

    return mire__peek(&word, address, sizeof(word)) == sizeof(word) ? word & objects.mask : 0;
}

/* The bits of a first word that are the class: those that make the class of an object whose class is known. */
static uint64_t find_mask(uint64_t object, uint64_t class)
{
    static const uint64_t masks[] = {0x0000000ffffffff8, 0x00007ffffffffff8, 0x007ffffffffffff8}; /* of the runtimes */
    uint64_t word = 0;

    for (size_t i = 0; i < MIRE_COUNT(masks); i++)
        if (mire__peek(&word, object, sizeof(word)) == sizeof(word) && (word & masks[i]) == class)
            return masks[i];
    return 0;
}

static void find_roots(void)
{
    static const char *const names[ROOTS_MAX] = {"NSObject", "_TtCs12_SwiftObject", "NSProxy"};
    Class first = (Class)objc_getClass(names[0]);
    id object = first ? ((id(*)(id, SEL))objc_msgSend)((id)first, sel_registerName("new")) : NULL; /* kept */

    objects.asked = true;
    objects.mask = object ? find_mask((uintptr_t)object, (uintptr_t)first) : 0;
    for (size_t i = 0; i < ROOTS_MAX && objects.mask; i++) {
        objects.roots[i] = (uintptr_t)objc_getClass(names[i]);
        objects.root_metas[i] = objects.roots[i] ? isa_at(objects.roots[i]) : 0;
    }
}

static bool is_among(uint64_t pointer, const uint64_t list[ROOTS_MAX])
{
    for (size_t i = 0; i < ROOTS_MAX; i++)
        if (list[i] == pointer && pointer != 0)
            return true;
    return false;
}

/* Not a metaclass, and not an instance of a root class, from which two steps lead there too. */
static bool is_class(uint64_t pointer)
{
    uint64_t meta = pointer % sizeof(pointer) == 0 ? isa_at(pointer) : 0;

    if (is_among(pointer, objects.roots))
        return true;
    return meta && !is_among(meta, objects.roots) && !is_among(meta, objects.root_metas) &&
           is_among(isa_at(meta), objects.root_metas);
}

/* ---- objects ---- */

/* The type of an object of CoreFoundation, told of a copy: the object itself may end meanwhile. */
static uint32_t class_of_type(struct heap *heap, uint64_t address)
{
    _Alignas(16) uint8_t head[HEAD_BYTES] = {0};
    char name[MIRE_HEAP_NAME_BYTES] = "";
    CFStringRef text = NULL;

    if (mire__peek(head, address, sizeof(uint64_t) * 2) == sizeof(uint64_t) * 2)
        text = CFCopyTypeIDDescription(CFGetTypeID((CFTypeRef)head));
    if (text && !CFStringGetCString(text, name, sizeof(name), kCFStringEncodingUTF8))
        name[0] = '\0';
    if (text)
        CFRelease(text);
    return mire__classes_as_find(heap, name[0] ? name : PLAIN_CLASS);
}

static void judge(struct seen *out, struct heap *heap, uint64_t pointer)
{
    const char *name = is_class(pointer) ? class_getName((Class)(uintptr_t)pointer) : NULL;

    *out = (struct seen){.pointer = pointer};
    if (!name)
        return;
    out->is_plain = strcmp(name, PLAIN_CLASS) == 0;
    out->bytes = (uint32_t)class_getInstanceSize((Class)(uintptr_t)pointer);
    out->class = out->is_plain ? 0 : mire__classes_as_find(heap, name);
}

static bool on_block(void *context, const struct heap_live *live)
{
    const struct object_sweep *sweep = context;
    uint64_t pointer =
        live->category < MIRE_CATEGORY_CLASSES && live->size >= sizeof(pointer) ? isa_at(live->address) : 0;
    struct seen *seen = &objects.seen[(pointer >> 3) * 0x9e3779b97f4a7c15ull >> 54];
    struct live_block block;
    uint32_t class;

    if (pointer == 0 || !mire__slot_as_enter(sweep->slot))
        return true;
    if (seen->pointer != pointer)
        judge(seen, sweep->heap, pointer);
    class = seen->is_plain ? class_of_type(sweep->heap, live->address) : seen->class;
    if (class && live->size >= seen->bytes && mire__block_as_find(&block, sweep->heap, live->address) &&
        !block.tagged && block.size == live->size)
        mire__block_as_tag(sweep->heap, sweep->slot, live->address, class);
    mire__slot_as_leave(sweep->slot);
    return true;
}

void mire__objects_sweep(struct heap *heap)
{
    struct object_sweep sweep = {.heap = heap};
    struct heap_reader *reader;

    if (!objects.asked)
        find_roots();
    reader = objects.mask ? mire__malloc(sizeof(*reader)) : NULL;
    if (reader && mire__read_open(reader, heap->header, heap->header->size_bytes) == MIRE_READ_OK)
        sweep.slot = mire__slot_as_take(heap, mire__tid());
    if (sweep.slot) {
        mire__read_blocks(reader, on_block, &sweep);
        mire__slot_as_give(heap, sweep.slot);
    }
    mire__free(reader);
}
