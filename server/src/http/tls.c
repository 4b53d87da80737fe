/* tls.c - see tls.h. */
#include "http/tls.h"

#include "base/fault.h"
#include "base/log.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TICKET_KEYS 80 /* bytes, of OpenSSL: a name and two keys */

struct tls_context {
    pthread_mutex_t mutex;
    SSL_CTX *ctx; /* guarded by mutex; each SSL keeps the context of its begin */
    char *cert_path, *key_path;
};

static const char *openssl_why(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "";
}

static int failed(const struct log *log, const char *path)
{
    log_event(log, MIRE_LOG_ERROR, "tls.failed", LOG_TEXT("path", path), LOG_TEXT("why", openssl_why()),
              LOG_TEXT("next", "tls_cert and tls_key name PEM files that belong together and that mired may read."));
    ERR_clear_error();
    return MIRE_FAULT_SYSTEM;
}

/* Choose HTTP/1.1 among the client's protocols; a client that offers none, or only others, continues without. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *len_out, const unsigned char *offered,
                           unsigned len, void *context)
{
    static const unsigned char spoken[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, len_out, spoken, sizeof spoken - 1, offered, len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_up(SSL_CTX *ctx)
{
    static const unsigned char name[] = "mired";
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* sessions are in tickets, at the client */
    SSL_CTX_set_session_id_context(ctx, name, sizeof name - 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
}

/* NULL after a line in the log. */
static SSL_CTX *load(const char *cert_path, const char *key_path, const struct log *log)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    const char *path = NULL;
    if (!ctx)
        return NULL;
    set_up(ctx);
    if (SSL_CTX_use_certificate_chain_file(ctx, cert_path) != 1)
        path = cert_path;
    else if (SSL_CTX_use_PrivateKey_file(ctx, key_path, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        path = key_path;
    if (!path)
        return ctx;
    (void)failed(log, path);
    SSL_CTX_free(ctx);
    return NULL;
}

int http_tls_open(struct tls_context **out, const char *cert_path, const char *key_path, const struct log *log)
{
    struct tls_context *context = calloc(1, sizeof *context);
    if (!context)
        return MIRE_FAULT_MEMORY;
    pthread_mutex_init(&context->mutex, NULL);
    context->cert_path = strdup(cert_path);
    context->key_path = strdup(key_path);
    if (context->cert_path && context->key_path)
        context->ctx = load(cert_path, key_path, log);
    if (context->ctx) {
        *out = context;
        return 0;
    }
    http_tls_close(context);
    return MIRE_FAULT_SYSTEM;
}

void http_tls_close(struct tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ctx);
    free(context->cert_path);
    free(context->key_path);
    pthread_mutex_destroy(&context->mutex);
    free(context);
}

int http_tls_reload(struct tls_context *context, const struct log *log)
{
    unsigned char keys[TICKET_KEYS];
    SSL_CTX *ctx = load(context->cert_path, context->key_path, log);
    if (!ctx)
        return MIRE_FAULT_SYSTEM;
    pthread_mutex_lock(&context->mutex);
    SSL_CTX *old = context->ctx;
    if (SSL_CTX_get_tlsext_ticket_keys(old, keys, sizeof keys) == 1)
        (void)SSL_CTX_set_tlsext_ticket_keys(ctx, keys, sizeof keys);
    context->ctx = ctx;
    pthread_mutex_unlock(&context->mutex);
    OPENSSL_cleanse(keys, sizeof keys);
    SSL_CTX_free(old);
    log_event(log, MIRE_LOG_INFO, "tls.loaded", LOG_TEXT("path", context->cert_path));
    return 0;
}

/* struct tls is OpenSSL's SSL, under a name for the other files. */
static SSL *ssl_of(const struct tls *tls)
{
    return (SSL *)(uintptr_t)tls;
}

struct tls *tls_begin(struct tls_context *context, int fd)
{
    pthread_mutex_lock(&context->mutex);
    SSL *ssl = SSL_new(context->ctx);
    pthread_mutex_unlock(&context->mutex);
    if (ssl && SSL_set_fd(ssl, fd) == 1) {
        SSL_set_accept_state(ssl);
        return (struct tls *)ssl;
    }
    SSL_free(ssl);
    return NULL;
}

bool tls_is_shaking(const struct tls *tls)
{
    return !SSL_is_init_finished(ssl_of(tls));
}

void tls_end(struct tls *tls)
{
    if (!tls)
        return;
    ERR_clear_error();
    if (!tls_is_shaking(tls))
        (void)SSL_shutdown(ssl_of(tls));
    SSL_free(ssl_of(tls));
    ERR_clear_error();
}

static ssize_t judge(SSL *ssl, int result, size_t moved)
{
    if (result == 1)
        return (ssize_t)moved;
    int why = SSL_get_error(ssl, result);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return 0;
    /* After an error of its own nothing more may be asked of it. */
    if (why == SSL_ERROR_SSL || why == SSL_ERROR_SYSCALL)
        SSL_set_quiet_shutdown(ssl, 1);
    return -1;
}

ssize_t tls_read(struct tls *tls, void *out, size_t room)
{
    size_t got = 0;
    ERR_clear_error();
    int result = SSL_read_ex(ssl_of(tls), out, room, &got);
    return judge(ssl_of(tls), result, got);
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t len)
{
    size_t went = 0;
    ERR_clear_error();
    int result = SSL_write_ex(ssl_of(tls), bytes, len, &went);
    return judge(ssl_of(tls), result, went);
}
