/*
 * breakpad.c - reads identity and functions of Breakpad's text files (.sym). cache/breakpad.c reads their lines and
 * inlined calls.
 *
 *     MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 crash      a UUID and one digit or more of an age
 *     INFO CODE_ID F1C3BCC0279865FE3058404B2831D9E64135386C            the build id itself
 *     FUNC m 1580 3c 0 name                                            m: several functions share the code; address,
 *                                                                      size, parameters
 *     PUBLIC 1558 0 name                                               no size
 *
 * The UUID is the first 16 bytes of the build id, with its first three numbers byte-swapped; on Apple's systems they
 * are not swapped.
 */
#include "object/parts.h"

#include "base/grow.h"
#include "base/id.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HEAD_BYTES 4096 /* leading bytes that contain MODULE and INFO */
#define UUID_LEN   16
#define LAST_BYTES 4096u /* assumed size of the last symbol without a size */
#define RANK_SIZED 65    /* as in elf.c: symbols with a size rank above those without */
#define RANK_BARE  1

bool parts_are_breakpad(const uint8_t *bytes, size_t len)
{
    return len > 7 && !memcmp(bytes, "MODULE ", 7);
}

static void read_arch(char *out, const char *arch)
{
    static const char *const names[][2] = {{"amd64", "x86_64"},    {"arm64", "aarch64"}, {"arm64e", "aarch64"},
                                           {"aarch64", "aarch64"}, {"x86_64", "x86_64"}, {"x86_64h", "x86_64"},
                                           {"arm", "arm"},         {"armv7", "arm"},     {"x86", "x86"},
                                           {"riscv64", "riscv"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], arch))
            snprintf(out, MIRE_OBJECT_ARCH, "%s", names[i][1]);
}

static void swap_uuid(uint8_t *id)
{
    static const uint8_t places[8] = {3, 2, 1, 0, 5, 4, 7, 6};
    uint8_t was[8];
    memcpy(was, id, sizeof was);
    for (size_t i = 0; i < sizeof was; i++)
        id[i] = was[places[i]];
}

static const char *read_head(struct object_facts *facts, const char *head)
{
    char os[16], arch[16], id[80], code[2 * MIRE_OBJECT_ID_MAX + 2] = "";
    if (sscanf(head, "MODULE %15s %15s %79[0-9A-Fa-f]", os, arch, id) != 3 || strlen(id) < 2 * (size_t)UUID_LEN ||
        !hex_parse(facts->id, id, UUID_LEN))
        return "has no module line with an id";
    facts->id_len = UUID_LEN;
    read_arch(facts->arch, arch);
    bool linux_like = !strcasecmp(os, "linux") || !strcasecmp(os, "android");
    if (linux_like)
        swap_uuid(facts->id);
    const char *info = strstr(head, "\nINFO CODE_ID ");
    if (!linux_like || !info || sscanf(info, "\nINFO CODE_ID %129[0-9A-Fa-f]", code) != 1)
        return NULL;
    size_t len = strlen(code) / 2; /* the whole build id, unless CODE_ID is another kind of number */
    uint8_t whole[MIRE_OBJECT_ID_MAX] = {0};
    if (strlen(code) % 2 == 0 && len && len <= sizeof whole && hex_parse(whole, code, len) &&
        (len >= UUID_LEN || !memcmp(whole, facts->id, UUID_LEN))) {
        memcpy(facts->id, whole, len);
        facts->id_len = len;
    }
    return NULL;
}

/* Parse the rest of a FUNC or PUBLIC line. The name points into the line. False: the line is damaged. */
static bool read_symbol(struct symbol *out, const char *line, bool sized)
{
    struct text_numbers numbers = {.at = line + (!strncmp(line, "m ", 2) ? 2 : 0)};
    out->low = text_hex(&numbers);
    uint64_t size = sized ? text_hex(&numbers) : 0;
    (void)text_hex(&numbers); /* bytes of parameters */
    out->name = numbers.at;
    out->high = sized ? out->low + size : UINT64_MAX;
    out->rank = sized ? RANK_SIZED : RANK_BARE;
    return !numbers.failed && out->high > out->low && out->low < UINT64_MAX - LAST_BYTES && *out->name;
}

static const char *take_symbols(struct parts *parts)
{
    struct section *text = &parts->object->text;
    struct symbol_list *list = &parts->symbols;
    const char *end = (const char *)text->bytes + text->len;
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (const char *line = (const char *)text->bytes; line < end; line += strlen(line) + 1) {
        struct symbol symbol;
        bool sized = !strncmp(line, "FUNC ", 5);
        if (!sized && strncmp(line, "PUBLIC ", 7) != 0)
            continue;
        if (!read_symbol(&symbol, line + (sized ? 5 : 7), sized))
            continue;
        if (!GROW(list))
            return "needs more memory than there is";
        list->rows[list->count++] = symbol;
        uint64_t last = sized ? symbol.high : symbol.low + LAST_BYTES;
        low = symbol.low < low ? symbol.low : low;
        high = last > high ? last : high;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].high > high)
            list->rows[i].high = high;
    if (!list->count)
        return "has no functions";
    if (!GROW(&parts->code))
        return "needs more memory than there is";
    parts->code.rows[parts->code.count++] = (struct code){low, high};
    return NULL;
}

const char *breakpad_read(struct parts *parts)
{
    char head[HEAD_BYTES];
    snprintf(head, sizeof head, "%.*s", (int)(parts->len < sizeof head ? parts->len : sizeof head - 1),
             (const char *)parts->bytes);
    const char *wrong = read_head(&parts->facts, head);
    parts->facts.format = MIRE_FORMAT_BREAKPAD;
    parts->facts.has_dwarf = memmem(parts->bytes, parts->len, "\nFUNC ", 6) != NULL;
    parts->facts.has_symbols = memmem(parts->bytes, parts->len, "\nPUBLIC ", 8) != NULL;
    if (wrong || !parts->object)
        return wrong;
    wrong = text_hold(parts);
    return wrong ? wrong : take_symbols(parts);
}
