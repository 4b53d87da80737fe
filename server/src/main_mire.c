/* main_mire.c - the command line for engineers and CI. */
#include "cli/cli.h"

#include <locale.h>

int main(int argc, char **argv)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    return cli_main(argc, argv);
}
