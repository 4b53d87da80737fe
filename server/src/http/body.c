/*
 * body.c - the body of a request: with a length, in the connection's buffer or in memory of its own; in chunks, read
 * into the connection's buffer behind the head and gathered in memory of its own.
 */
#include "http/inside.h"

#include <string.h>

/* Bytes of a body with a length that are in the connection's buffer. */
static size_t body_here(const struct http_connection *connection)
{
    size_t here = connection->in_len - connection->seen, all = connection->exchange->announced;
    return here < all ? here : all;
}

void connection_begin_body(struct http_connection *connection)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct text interim = {.bytes = (char *)(uintptr_t)go_on, .len = sizeof go_on - 1};
    struct exchange *exchange = connection->exchange;
    bool has_body = exchange->announced || exchange->head.is_chunked;
    exchange->request.body_len = body_here(connection);
    if (exchange->head.is_expected && has_body && connection->in_len == connection->seen)
        (void)connection_write(connection, &interim, 0, NULL, 0); /* nothing was sent before: it fits */
}

/* --- with a length ----------------------------------------------------------------------------------------------- */

/* Where the next bytes of the body go. A body that fits the connection's buffer takes no memory of its own. */
static char *find_room(size_t *room_out, struct http_connection *connection)
{
    struct exchange *exchange = connection->exchange;
    struct request *request = &exchange->request;
    if (!exchange->body && connection->in_len < connection->in_room) {
        *room_out = connection->in_room - connection->in_len;
        return connection->in + connection->in_len;
    }
    bool is_first = !exchange->body;
    if (request->body_len == exchange->body_room || is_first) {
        if (!exchange_make_room(exchange))
            return NULL;
        if (is_first)
            memcpy(exchange->body, connection->in + connection->seen, request->body_len);
        connection->in_len = connection->seen;
    }
    *room_out = exchange->body_room - request->body_len;
    return (char *)exchange->body + request->body_len;
}

static enum body_outcome read_known(struct http_connection *connection)
{
    struct exchange *exchange = connection->exchange;
    struct request *request = &exchange->request;
    size_t room;
    if (request->body_len == exchange->announced) {
        request->body = exchange->body ? exchange->body : (const uint8_t *)connection->in + connection->seen;
        return MIRE_BODY_WHOLE;
    }
    if (!connection->may_read)
        return MIRE_BODY_WAIT;
    char *to = find_room(&room, connection);
    if (!to)
        return MIRE_BODY_REFUSED;
    ssize_t got = connection_read(connection, to, room);
    if (got < 0)
        return MIRE_BODY_LOST;
    if (exchange->body) {
        request->body_len += (size_t)got;
    } else {
        connection->in_len += (size_t)got;
        request->body_len = body_here(connection);
    }
    return got || connection->may_read ? MIRE_BODY_MORE : MIRE_BODY_WAIT;
}

/* --- in chunks --------------------------------------------------------------------------------------------------- */

/* False: the reply says why not. */
static bool append(struct exchange *exchange, const char *data, size_t len)
{
    struct request *request = &exchange->request;
    if (len > request->route->body_cap - request->body_len) {
        exchange_refuse_size(exchange);
        return false;
    }
    while (len) {
        if (request->body_len == exchange->body_room && !exchange_make_room(exchange))
            return false;
        size_t room = exchange->body_room - request->body_len, part = len < room ? len : room;
        memcpy(exchange->body + request->body_len, data, part);
        request->body_len += part;
        data += part;
        len -= part;
    }
    return true;
}

/* Take the chunks that have come. MIRE_BODY_MORE: all of them, and the buffer ends behind the head. */
static enum body_outcome take_chunks(struct http_connection *connection)
{
    struct exchange *exchange = connection->exchange;
    const char *bytes = connection->in + connection->seen, *data;
    size_t len = connection->in_len - connection->seen, data_len;
    enum wire_outcome found = MIRE_WIRE_MORE;
    while (len && found == MIRE_WIRE_MORE) {
        found = chunks_take(&exchange->chunks, &data, &data_len, &bytes, &len);
        if (!append(exchange, data, data_len))
            return MIRE_BODY_REFUSED;
    }
    if (found == MIRE_WIRE_BAD) {
        http_cut(exchange->server, MIRE_CUT_MALFORMED, &connection->peer);
        exchange_refuse_body(exchange, 400, "request", "The chunks of the body cannot be read.");
        return MIRE_BODY_REFUSED;
    }
    memmove(connection->in + connection->seen, bytes, len); /* of the next request */
    connection->in_len = connection->seen + len;
    if (found == MIRE_WIRE_MORE)
        return MIRE_BODY_MORE;
    if (!exchange->body)
        exchange->request.body = (const uint8_t *)connection->in + connection->seen; /* it is empty */
    return MIRE_BODY_WHOLE;
}

static enum body_outcome read_chunks(struct http_connection *connection)
{
    enum body_outcome outcome = take_chunks(connection);
    if (outcome != MIRE_BODY_MORE)
        return outcome;
    if (!connection->may_read)
        return MIRE_BODY_WAIT;
    ssize_t got =
        connection_read(connection, connection->in + connection->seen, connection->in_room - connection->seen);
    if (got < 0)
        return MIRE_BODY_LOST;
    connection->in_len += (size_t)got;
    return got || connection->may_read ? MIRE_BODY_MORE : MIRE_BODY_WAIT;
}

enum body_outcome connection_read_body(struct http_connection *connection)
{
    return connection->exchange->head.is_chunked ? read_chunks(connection) : read_known(connection);
}
