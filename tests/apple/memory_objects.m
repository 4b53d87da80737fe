/*
 * memory_objects.m - the objects of memory_app.c: classes as Apple's compiler lays them out, their instances, and blocks
 * that only resemble objects. The runtime is runtime.c, which defines no class.
 */
typedef unsigned long word;

extern void *calloc(word count, word size);
extern void *memcpy(void *to, const void *from, word size);

#define NOINLINE    __attribute__((noinline))
#define INSTANCE    1ul          /* bits of a first word beside the class: objc-runtime's non-pointer isa */
#define HOLDERS     (3ul << 56)  /* its count of references */
#define TYPE_IMAGE  (300ul << 8) /* of CoreFoundation, in the second word */
#define CLASS_WORDS 5

__attribute__((objc_root_class)) @interface NSObject {
    Class isa;
}
@end
@implementation NSObject
@end

@interface __NSCFType : NSObject
@end
@implementation __NSCFType
@end

@interface Cell : NSObject {
    char pixels[1000];
}
@end
@implementation Cell
@end

__attribute__((objc_root_class, objc_runtime_name("_TtCs12_SwiftObject"))) @interface SwiftObject {
    Class isa;
}
@end
@implementation SwiftObject
@end

__attribute__((objc_runtime_name("Shop.Cart"))) @interface Cart : SwiftObject {
    char items[500];
}
@end
@implementation Cart
@end

extern word class_cell[] __asm("_OBJC_CLASS_$_Cell"), class_cart[] __asm("_OBJC_CLASS_$_Shop.Cart"),
    class_plain[] __asm("_OBJC_CLASS_$___NSCFType"), class_object[] __asm("_OBJC_CLASS_$_NSObject"),
    meta_cell[] __asm("_OBJC_METACLASS_$_Cell");

static void *blocks[1000];
static unsigned blocks_count;

NOINLINE static word *make(word first, word size)
{
    word *block = calloc(1, size);

    block[0] = first;
    blocks[blocks_count++] = block;
    return block;
}

static void make_some(unsigned count, const word *class, word size, word second)
{
    for (unsigned i = 0; i < count; i++)
        make((word)class | INSTANCE | HOLDERS, size)[1] = second;
}

/* As the runtime makes one for an observed object: no image lists it. */
static const word *make_class_of_observer(void)
{
    static const char name[] = "NSKVONotifying_Cell";
    static word class[CLASS_WORDS], facts[9];

    memcpy(class, class_cell, sizeof(class));
    memcpy(facts, (const void *)(class_cell[4] & ~7ul), sizeof(facts));
    facts[3] = (word)name;
    class[4] = (word)facts;
    return class;
}

NOINLINE void make_objects(void)
{
    make_some(200, class_cell, 1008, 0);
    make_some(100, class_cart, 512, 0);
    make_some(50, class_plain, 4096, TYPE_IMAGE);
    make_some(7, make_class_of_observer(), 1008, 0);
}

/* First words that lead to a class, or nearly, and are no isa. */
NOINLINE void make_resembling(void)
{
    static word beyond_reach = 0x7ffffffff000;
    word *object = make((word)class_object | INSTANCE, 16);

    for (unsigned i = 0; i < 20; i++) {
        make((word)object, 2000);           /* a pointer to an object */
        make((word)blocks[0], 2000);        /* a pointer to an instance of a class of the app's */
        make((word)meta_cell, 2000);        /* a metaclass */
        make((word)class_cell, 500);        /* too small for an instance */
        make(beyond_reach, 2000);           /* unmapped */
        make((word)&beyond_reach + 1, 2000); /* odd */
        make(0, 2000);
    }
}
