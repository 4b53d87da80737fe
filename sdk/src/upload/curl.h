/*
 * curl.h - the real transport: libcurl (curl.c), or on Apple's systems NSURLSession (url_session_apple.c). Private to upload/.
 */
#ifndef MIRE_UPLOAD_CURL_H
#define MIRE_UPLOAD_CURL_H

#include "upload/upload.h"

/* As mire__upload_open. `transport_out` lives until fini. */
enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options);
void mire__curl_fini(struct transport *transport);

#endif
