/* categories.c - see categories.h. Signal-safe. */
#include "heapread/categories.h"

#include <string.h>

static const char *const kind_names[MIRE_HEAP_KINDS] = {
    [MIRE_KIND_ANONYMOUS] = "VM: anonymous",
    [MIRE_KIND_FILE] = "VM: file",
    [MIRE_KIND_STACK] = "VM: stack",
    [MIRE_KIND_SHARED] = "VM: shared",
    [MIRE_KIND_DEVICE] = "VM: device",
    [MIRE_KIND_BRK] = "VM: brk",
    [MIRE_KIND_ALLOCATOR] = "VM: allocator",
    [MIRE_KIND_OTHER] = "VM: other",
    /* In the order of mach/vm_statistics.h, as vmmap and Instruments name them; platform/proc_apple.c tells the same names. */
    [MIRE_KIND_TAGGED] = "VM: Mach message",
    "VM: IOKit",
    "VM: shared libraries",
    "VM: dyld",
    "VM: ObjC dispatchers",
    "VM: AppKit",
    "VM: Foundation",
    "VM: CoreGraphics",
    "VM: CoreServices",
    "VM: CoreData",
    "VM: fonts",
    "VM: CoreAnimation",
    "VM: CG image",
    "VM: CG raster data",
    "VM: SQLite",
    "VM: JavaScriptCore",
    "VM: JS code",
    "VM: OpenGL",
    "VM: CoreImage",
    "VM: WebKit",
    "VM: ImageIO",
    "VM: libdispatch",
    "VM: Accelerate",
    "VM: CoreUI",
    "VM: Swift",
    "VM: SceneKit",
    "VM: network",
    "VM: IOSurface",
    "VM: audio",
    "VM: CoreMedia",
    "VM: IOAccelerator",
    "VM: app-specific"};

_Static_assert(MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS < MIRE_CATEGORY_CLASSES, "the numbers of kinds are no class's");

/* "Malloc " and the size in the largest of bytes, KiB, MiB and GiB that gives a whole number. */
static void size_name(char *out, uint64_t bytes)
{
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    char digits[20];
    uint32_t unit = 0, count = 0;

    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    for (; bytes > 0; bytes /= 10)
        digits[count++] = (char)('0' + bytes % 10);
    memcpy(out, "Malloc ", 7);
    out += 7;
    while (count > 0)
        *out++ = digits[--count];
    memcpy(out, units[unit], strlen(units[unit]) + 1);
}

void mire__category_name(char out[MIRE_CATEGORY_NAME_BYTES], uint32_t category)
{
    out[0] = '\0';
    if (category < MIRE_HEAP_SIZES)
        size_name(out, mire__size_class_bytes(category));
    else if (category >= MIRE_CATEGORY_KINDS && category < MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS)
        memcpy(out, kind_names[category - MIRE_CATEGORY_KINDS], strlen(kind_names[category - MIRE_CATEGORY_KINDS]) + 1);
}
