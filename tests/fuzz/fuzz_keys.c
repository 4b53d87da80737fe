/* Names of functions in keys: the output fits, ends, and is the same in a second pass. */
#include "feature/names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[300], again[300];
    struct arena arena;
    struct name found;
    bool made, made_again;
    char *name = malloc(size + 1);
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    const char *file = size && data[0] % 2 ? "main.go" : "";
    size_t len = name_write(key, sizeof key, &made, name, file);
    if (len >= sizeof key || strlen(key) != len || (!len && name[0]))
        abort();
    arena_init(&arena, (size_t)1 << 20);
    if (name_find(&found, &arena, name, file) || strncmp(found.key, key, sizeof key - 1) != 0 ||
        found.rule_count > MIRE_NAMES_RULES || found.made != made || (name[0] && !found.shown[0]))
        abort();
    (void)name_write(again, sizeof again, &made_again, name, file);
    if (strcmp(key, again) != 0 || made != made_again)
        abort();
    arena_fini(&arena);
    free(name);
    return 0;
}
