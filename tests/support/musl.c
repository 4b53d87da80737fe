/*
 * musl.c - stubs for a build of the SDK for musl on a machine with libraries for glibc: no libcurl, so no built-in
 * transport; and the functions of glibc's <stdio.h> that libzstd calls.
 */
#include "upload/curl.h"

#include <stdarg.h>
#include <stdio.h>

enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options)
{
    (void)transport_out;
    (void)options;
    return MIRE_E_STATE;
}

void mire__curl_fini(struct transport *transport)
{
    (void)transport;
}

__attribute__((visibility("default"))) int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    int printed;

    (void)flag;
    va_start(arguments, format);
    printed = vfprintf(file, format, arguments);
    va_end(arguments);
    return printed;
}
