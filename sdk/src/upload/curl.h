/*
 * curl.h - the real transport. Private to upload/; the only file of the SDK that knows libcurl is curl.c.
 */
#ifndef MIRE_UPLOAD_CURL_H
#define MIRE_UPLOAD_CURL_H

#include "upload/upload.h"

/* As mire__upload_open. `transport_out` lives until fini. */
enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options);
void mire__curl_fini(struct transport *transport);

#endif
