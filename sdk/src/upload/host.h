/*
 * host.h - the transport of the app (mire_options_set_transport). Private to upload/.
 */
#ifndef MIRE_UPLOAD_HOST_H
#define MIRE_UPLOAD_HOST_H

#include "upload/upload.h"

/* As mire__upload_open; the options' transport is set. `transport_out` lives until fini. */
enum mire_err mire__host_init(struct transport *transport_out, const struct upload_options *options);
void mire__host_fini(struct transport *transport);

#endif
