/* hidden.c - splits the map into lines, indexed by number. */
#include "object/hidden.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MARK   \
    "Mire\x7f" \
    "BCM"
#define FIRST    "BCSymbolMap Version: "
#define VERSION  "2.0"
#define HIDDEN   "__hidden#"
#define ORIGINAL "<key>DBGOriginalUUID</key>"
#define STRING   "<string>"

struct hidden {
    char *text; /* a NUL in place of each line end */
    uint32_t *rows;
    size_t count;
};

bool hidden_is_map(const void *bytes, size_t len)
{
    return len >= strlen(FIRST) && !memcmp(bytes, FIRST, strlen(FIRST));
}

void hidden_tail(uint8_t out[MIRE_HIDDEN_TAIL], uint64_t map_len)
{
    memcpy(out, MARK, 8);
    for (size_t i = 0; i < 8; i++)
        out[8 + i] = (uint8_t)(map_len >> 8 * i);
}

/* Bytes of the map and its tail at the end of a file; 0: no map. */
static size_t map_len_of(const void *bytes, size_t len)
{
    if (len < MIRE_HIDDEN_TAIL)
        return 0;
    const uint8_t *tail = (const uint8_t *)bytes + len - MIRE_HIDDEN_TAIL;
    if (memcmp(tail, MARK, 8) != 0)
        return 0;
    uint64_t map = load_64(tail + 8);
    if (map > len - MIRE_HIDDEN_TAIL || map > UINT32_MAX || !hidden_is_map(tail - map, (size_t)map))
        return 0;
    return (size_t)map + MIRE_HIDDEN_TAIL;
}

/* Index the lines after the first one. */
static const char *read_lines(struct hidden *hidden, size_t len)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += hidden->text[i] == '\n';
    hidden->rows = malloc((lines + 1) * sizeof *hidden->rows);
    if (!hidden->rows)
        return "needs more memory than there is";
    for (size_t i = 0; i < len; i++) {
        if (hidden->text[i] != '\n')
            continue;
        hidden->text[i] = '\0';
        if (i && hidden->text[i - 1] == '\r')
            hidden->text[i - 1] = '\0';
        if (i + 1 < len)
            hidden->rows[hidden->count++] = (uint32_t)(i + 1);
    }
    if (strncmp(hidden->text + strlen(FIRST), VERSION, strlen(VERSION) + 1) != 0)
        return "has a BCSymbolMap of a version that is not read (2.0 is)";
    return NULL;
}

const char *hidden_open(struct hidden **out, const void *bytes, size_t len)
{
    size_t whole = map_len_of(bytes, len);
    *out = NULL;
    if (!whole)
        return NULL;
    size_t map = whole - MIRE_HIDDEN_TAIL;
    struct hidden *hidden = calloc(1, sizeof *hidden);
    if (!hidden || !(hidden->text = malloc(map + 1))) {
        hidden_close(hidden);
        return "needs more memory than there is";
    }
    memcpy(hidden->text, (const uint8_t *)bytes + len - whole, map);
    hidden->text[map] = '\0';
    const char *wrong = read_lines(hidden, map);
    if (wrong)
        hidden_close(hidden);
    else
        *out = hidden;
    return wrong;
}

void hidden_close(struct hidden *hidden)
{
    if (!hidden)
        return;
    free(hidden->text);
    free(hidden->rows);
    free(hidden);
}

const char *hidden_name(const struct hidden *hidden, const char *name)
{
    uint64_t number = 0;
    if (!hidden || !name || strncmp(name, HIDDEN, strlen(HIDDEN)) != 0)
        return name;
    const char *digits = name + strlen(HIDDEN);
    const char *at = digits;
    for (; *at >= '0' && *at <= '9' && number < hidden->count; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == digits || at[0] != '_' || at[1] || number >= hidden->count)
        return name;
    const char *shown = hidden->text + hidden->rows[number];
    shown += *shown == '\1'; /* marks a name without a leading underscore */
    return *shown ? shown : name;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

bool hidden_uuid(uint8_t out[MIRE_HIDDEN_UUID], const char *text, size_t len)
{
    size_t at = 0;
    for (size_t i = 0; i < MIRE_HIDDEN_UUID; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            if (at >= len || text[at++] != '-')
                return false;
        }
        int high = at + 1 < len ? digit(text[at]) : -1;
        int low = high >= 0 ? digit(text[at + 1]) : -1;
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return true;
}

bool hidden_original(uint8_t out[MIRE_HIDDEN_UUID], const void *plist, size_t len)
{
    const char *end = (const char *)plist + len;
    const char *key = memmem(plist, len, ORIGINAL, strlen(ORIGINAL));
    const char *text = key ? memmem(key, (size_t)(end - key), STRING, strlen(STRING)) : NULL;
    if (!text)
        return false;
    text += strlen(STRING);
    return hidden_uuid(out, text, (size_t)(end - text));
}
