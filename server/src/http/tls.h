/*
 * tls.h - TLS under a connection, by OpenSSL on the connection's own socket. Inside http/ only.
 *
 *     http_tls_open: certificate and key -> context <- http_tls_reload: other files, for connections that come from then on
 *                                         `- tls_begin: one a connection
 *
 * A handshake continues inside tls_read as bytes arrive. A client that stalls costs one connection, until
 * headers_s are over. TLS 1.2 and 1.3; sessions are resumed by tickets, whose keys outlive a reload. No early data, no
 * renegotiation.
 *
 * Threads: http_tls_reload any; the rest the connection's network thread.
 */
#ifndef MIRE_HTTP_TLS_H
#define MIRE_HTTP_TLS_H

#include "http/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;

/* NULL: no memory. */
struct tls *tls_begin(struct tls_context *context, int fd);

/* Send the closing alert if the socket takes it at once, and free. NULL is allowed. */
void tls_end(struct tls *tls);

/* Has the handshake not ended? */
bool tls_is_shaking(const struct tls *tls);

/* Bytes read or written, at least one; 0: the socket is not ready; -1: the connection has ended. */
ssize_t tls_read(struct tls *tls, void *out, size_t room);
ssize_t tls_write(struct tls *tls, const void *bytes, size_t len);

#endif
