/* ties ROOT PROGRAM PATH... - compares each path with the package databases below ROOT: same, other or unknown. */
#include "report/packages.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const char *const words[] = {"unknown", "other", "same"};
    size_t count = argc > 3 ? (size_t)argc - 3 : 0;
    enum package_tie *ties = calloc(count + 1, sizeof(*ties));

    if (!ties || argc < 3)
        return 2;
    mire__packages_find(ties, argv[1], argv[2], (const char *const *)argv + 3, count);
    for (size_t i = 0; i < count; i++)
        printf("%s\n", words[ties[i]]);
    free(ties);
    return 0;
}
