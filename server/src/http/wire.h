/*
 * wire.h - the head of an HTTP/1.1 request, read strictly. Pure.
 *
 * Requests are smuggled past a proxy when two readers understand one request differently. So a head that RFC
 * 9112 does not allow is refused: a line that does not end in CR LF, NUL and other control characters, a folded line,
 * a space before a colon, more than one Content-Length, Content-Length beside Transfer-Encoding, a Transfer-Encoding
 * other than one `chunked`, no Host or several, and versions other than HTTP/1.0 and HTTP/1.1.
 */
#ifndef MIRE_HTTP_WIRE_H
#define MIRE_HTTP_WIRE_H

#include "http/http.h"

enum wire_outcome {
    MIRE_WIRE_MORE,  /* valid so far, and incomplete */
    MIRE_WIRE_WHOLE, /* complete, with its empty line */
    MIRE_WIRE_BAD,   /* no request can begin so */
};

/*
 * Look for the end of a head.
 *
 *   seen   bytes that earlier calls have looked at, 0 at first; MIRE_WIRE_WHOLE: length of the head
 *   bytes  what has come of the head so far, from its first byte
 */
enum wire_outcome wire_scan(size_t *seen, const char *bytes, size_t len);

struct wire_head {
    const char *method, *target, *host; /* host: NULL if an HTTP/1.0 request names none */
    struct http_pair *headers;
    size_t header_count;
    uint64_t length;  /* of the body, by Content-Length */
    bool has_length;  /* Content-Length was sent */
    bool is_chunked;  /* Transfer-Encoding is chunked */
    bool is_last;     /* the client closes the connection after the answer, or speaks HTTP/1.0 */
    bool is_expected; /* the client waits for "100 Continue" before it sends the body */
};

/*
 * Cut a head that wire_scan found whole into its parts. The bytes are changed, and the parts point into them.
 *
 *   headers, room  where the headers go, and how many fit
 *   why            on a refusal: the reason, static
 *
 * 0, or the status to answer before closing the connection: 400, 417, 431 for too many headers, or 501 for a
 * Transfer-Encoding other than chunked.
 */
int wire_parse(struct wire_head *out, const char **why, struct http_pair *headers, size_t room, char *bytes,
               size_t len);

/* Are these bytes a token of RFC 9110, 5.6.2, such as a header's name? */
bool wire_is_token(const char *text, size_t len);

/* May this byte stand in a header's value? */
bool wire_is_text(char c);

#endif
