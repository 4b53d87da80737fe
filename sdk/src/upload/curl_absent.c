/* curl_absent.c - see curl.h: a library without libcurl, whose host sets a transport (mire_options_set_transport). */
#include "upload/curl.h"

enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options)
{
    (void)options;
    *transport_out = (struct transport){0};
    return MIRE_E_SYSTEM;
}

void mire__curl_fini(struct transport *transport)
{
    (void)transport;
}
