/*
 * eh_frame.c - reads the ranges of functions from the unwind table, the only source in a stripped file.
 *
 *     length | 0 for a CIE, otherwise distance back to it | ...
 *
 * A CIE is parsed again for each function that refers to it. It has few bytes, and the last one is cached.
 */
#include "object/parts.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <string.h>

#define PE_OMIT 0xff

struct cie {
    uint64_t at;
    bool good;
    uint8_t encoding; /* encoding of the addresses in its functions: DW_EH_PE_... */
};

/* Width of a number in one of the encodings DW_EH_PE_...; LEB128 has none, and is not asked about. */
static unsigned width_of(uint8_t encoding, unsigned address_size)
{
    switch (encoding & 7) {
    case 2:
        return 2;
    case 3:
        return 4;
    case 4:
        return 8;
    default:
        return address_size;
    }
}

/* Read the address encoding, R in the augmentation. */
static struct cie read_cie(const struct section *section, uint64_t at, unsigned address_size)
{
    struct cie cie = {.at = at};
    const uint8_t *end = section->bytes + section->len;
    const uint8_t *p = section->bytes + at;
    if (section->len - at < 10 || load_32(p + 4))
        return cie;
    const uint8_t *text = p + 9;
    const uint8_t *nul = memchr(text, '\0', (size_t)(end - text));
    if (!nul || nul - text > 8)
        return cie;
    uint8_t version = p[8];
    p = nul + 1;
    skip_leb(&p);
    skip_leb(&p);
    if (version == 1)
        p++;
    else
        skip_leb(&p);
    cie.good = true;
    if (*text != 'z')
        return cie;
    skip_leb(&p);
    for (text++; *text && p < end; text++) {
        if (*text == 'R') {
            cie.encoding = *p;
            return cie;
        }
        if (*text == 'L')
            p++;
        else if (*text == 'P')
            p += 1 + width_of(*p, address_size);
    }
    return cie;
}

/* Read a number in one of the widths of DW_EH_PE_...; false: a width that functions do not use. */
static bool read_number(uint64_t *out, const uint8_t **at, uint8_t encoding, unsigned address_size)
{
    unsigned width = width_of(encoding, address_size);
    if ((encoding & 7) == 1 || (encoding & 7) > 4)
        return false;
    *out = load_wide(*at, width);
    if (encoding & 8 && width < 8 && *out >> (8 * width - 1))
        *out |= ~0ull << (8 * width);
    *at += width;
    return true;
}

bool eh_frame_read(struct symbol_list *out, const struct section *section, uint64_t address, unsigned address_size)
{
    struct cie cie = {.at = UINT64_MAX};
    for (uint64_t at = 0; section->len - at > 8;) {
        const uint8_t *p = section->bytes + at;
        uint64_t len = load_32(p);
        uint64_t back = load_32(p + 4);
        if (!len || len >= 0xfffffff0u || len < 4 || len > section->len - at - 4)
            return true; /* end or damage */
        uint64_t here = at + 4;
        at += 4 + len;
        if (!back || back > here)
            continue;
        if (cie.at != here - back)
            cie = read_cie(section, here - back, address_size);
        uint8_t how = cie.encoding & 0x70;
        struct symbol frame = {.name = ""};
        uint64_t size;
        p = section->bytes + here + 4;
        if (!cie.good || cie.encoding == PE_OMIT || cie.encoding & 0x80 || (how && how != 0x10) ||
            !read_number(&frame.low, &p, cie.encoding, address_size) ||
            !read_number(&size, &p, cie.encoding & 7, address_size))
            continue;
        if (how == 0x10)
            frame.low += address + here + 4;
        if (address_size == 4)
            frame.low &= 0xffffffffu;
        frame.high = frame.low + size;
        if (frame.high <= frame.low)
            continue;
        if (!GROW(out))
            return false;
        out->rows[out->count++] = frame;
    }
    return true;
}
