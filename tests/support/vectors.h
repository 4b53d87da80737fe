/*
 * vectors.h - runs the vectors of a folder of schema/wire/vectors: <folder>/<name>/{document,expect}.json.
 */
#ifndef MIRE_TESTS_VECTORS_H
#define MIRE_TESTS_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* `document` has exactly `size` bytes on the heap, so that a sanitizer finds reads after them; `expect` ends with a
 * NUL. */
typedef void vector_fn(void *context, const char *name, const char *document, size_t size, const char *expect);

static inline char *vector_read(size_t *size_out, const char *folder, const char *name, const char *file)
{
    static char room[1 << 16];
    char path[1024];
    FILE *in;
    char *bytes;

    snprintf(path, sizeof(path), "%s/schema/wire/vectors/%s/%s/%s", MIRE_SOURCE_DIR, folder, name, file);
    in = fopen(path, "rb");
    assert_non_null(in);
    *size_out = fread(room, 1, sizeof(room), in);
    fclose(in);
    bytes = malloc(*size_out ? *size_out : 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < *size_out; i++)
        bytes[i] = room[i];
    return bytes;
}

static inline void vectors_run(const char *folder, vector_fn *run, void *context)
{
    char path[1024];
    DIR *dir;

    snprintf(path, sizeof(path), "%s/schema/wire/vectors/%s", MIRE_SOURCE_DIR, folder);
    dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t size, expect_size;

        if (entry->d_name[0] == '.')
            continue;
        char *document = vector_read(&size, folder, entry->d_name, "document.json");
        char *expect = vector_read(&expect_size, folder, entry->d_name, "expect.json");
        expect = realloc(expect, expect_size + 1);
        assert_non_null(expect);
        expect[expect_size] = '\0';
        run(context, entry->d_name, document, size, expect);
        free(document);
        free(expect);
    }
    closedir(dir);
}

#endif
