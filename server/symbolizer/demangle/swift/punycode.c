/* punycode.c - decodes Swift's Punycode, in which D800 to D880 mean bytes that no identifier contains. */
#include "demangle/punycode.h"
#include "demangle/swift/read.h"

bool swift_punycode(struct swift *s, const char **out, size_t *out_len, const char *text, size_t len)
{
    uint32_t points[MIRE_PUNYCODE_MAX], count;
    if (!punycode_read(points, &count, text, len))
        return false;
    char *bytes = arena_alloc(&s->arena, (size_t)count * 4 + 1);
    char *to = bytes;
    if (!bytes)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        bool plain = points[k] >= 0xd800 && points[k] < 0xd880;
        to = punycode_put(to, plain ? points[k] - 0xd800 : points[k]);
    }
    *out = bytes;
    *out_len = (size_t)(to - bytes);
    return true;
}
