/* app.c - an app built against the installed libmire alone; C and C++ alike. Ends with 0 if it was watched. */
#include <mire/mire.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    if (argc != 2)
        return 2;
    mire_options_set_app(options, "consumer", mire_version());
    mire_options_set_store(options, argv[1]);
    err = mire_start(options);
    mire_options_free(options);
    if (err == MIRE_OK)
        err = mire_stop(NULL);
    printf("%s %s\n", mire_version(), mire_err_name(err));
    return err == MIRE_OK ? 0 : 1;
}
