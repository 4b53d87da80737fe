/*
 * replay.c - runs a fuzz target as an ordinary test: with every file below the given folders, and with truncated files.
 *
 * Truncated input is a parser's most frequent error, so each file up to CUT_BYTES is also passed without its last 1, 2,
 * ... bytes.
 */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUT_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t fed_count;

/* Pass a heap copy of exactly `size` bytes, so that a sanitizer finds the first read beyond it. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        perror("replay");
        exit(2);
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay_file(const char *path, const struct stat *st, int kind, struct FTW *location)
{
    (void)location;
    if (kind != FTW_F)
        return 0;
    size_t size = (size_t)st->st_size;
    uint8_t *data = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    feed(data, size);
    for (size_t cut = size <= CUT_BYTES ? size : 0; cut > 0; cut--)
        feed(data, cut - 1);
    free(data);
    fed_count++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], replay_file, 16, FTW_PHYS) != 0) {
            perror(argv[i]);
            return 2;
        }
    }
    printf("%zu files\n", fed_count);
    return fed_count > 0 ? 0 : 1;
}
