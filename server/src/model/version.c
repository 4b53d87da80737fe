/* version.c - runs of digits are compared by value, whatever their length; the other bytes one by one. */
#include "model/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t run(const char *text)
{
    return strspn(text, "0123456789");
}

int version_compare(const char *a, const char *b)
{
    const char *x = a, *y = b;

    while (*x && *y) {
        if (!is_digit(*x) || !is_digit(*y)) {
            if (*x != *y)
                return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++;
            y++;
            continue;
        }
        x += strspn(x, "0");
        y += strspn(y, "0");
        size_t i = run(x), j = run(y);
        if (i != j)
            return i < j ? -1 : 1;
        int order = memcmp(x, y, i);
        if (order)
            return order;
        x += i;
        y += j;
    }

    if (*x || *y)
        return *x ? 1 : -1;
    return strcmp(a, b); /* 1.01 and 1.1 */
}
