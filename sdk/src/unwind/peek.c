/* peek.c - see peek.h. Signal-safe. */
#include "unwind/peek.h"

#include "platform/platform.h"

bool mire__peek_cached(void *out, struct peek_cache *cache, uint64_t address, size_t size_bytes)
{
    uint8_t *to = out;

    while (size_bytes > 0) {
        uint64_t page = address & ~(uint64_t)(MIRE_PEEK_PAGE_BYTES - 1);
        size_t at = (size_t)(address - page), slot = (size_t)(page / MIRE_PEEK_PAGE_BYTES) % MIRE_PEEK_PAGES;
        size_t part = MIRE_PEEK_PAGE_BYTES - at < size_bytes ? MIRE_PEEK_PAGE_BYTES - at : size_bytes;

        if (cache->address[slot] != page || page == 0) {
            cache->address[slot] = 0;
            if (mire__peek(cache->bytes[slot], page, MIRE_PEEK_PAGE_BYTES) != MIRE_PEEK_PAGE_BYTES)
                return false;
            cache->address[slot] = page;
        }
        memcpy(to, cache->bytes[slot] + at, part);
        to += part;
        address += part;
        size_bytes -= part;
    }
    return true;
}

uint64_t mire__cursor_fetch(struct cursor *cursor, size_t size_bytes)
{
    uint64_t value = 0;

    if (cursor->bad || cursor->at > cursor->end || cursor->end - cursor->at < size_bytes ||
        !mire__peek_cached(&value, cursor->cache, cursor->at, size_bytes)) {
        cursor->bad = true;
        return 0;
    }
    cursor->at += size_bytes;
    return value;
}

uint64_t mire__cursor_uleb_slow(struct cursor *cursor, uint64_t first)
{
    uint64_t value = first & 0x7f;

    for (unsigned shift = 7; !cursor->bad; shift += 7) {
        uint8_t byte = (uint8_t)mire__cursor_fixed(cursor, 1);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

int64_t mire__cursor_sleb(struct cursor *cursor)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;

    do {
        byte = (uint8_t)mire__cursor_fixed(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && !cursor->bad);
    if (shift < 64 && (byte & 0x40))
        value |= ~0ull << shift;
    return (int64_t)value;
}
