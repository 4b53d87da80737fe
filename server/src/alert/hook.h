/*
 * hook.h - hands one message over: an HTTP POST, or an e-mail.
 * Private addresses are refused, unless allowed (exchange.h). Threads: any; each call has a connection of its own.
 */
#ifndef MIRE_ALERT_HOOK_H
#define MIRE_ALERT_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct outbox_message;
struct vault;

#define MIRE_HOOK_WHY 200

struct hook_options {
    const struct vault *vault; /* opens the secrets of channels and trackers; hook_send itself takes them open */
    bool private_too;          /* hooks may lead to private addresses */
    const char *ca_file;       /* certificates trusted besides the system's; "": none */
    const char *smtp;          /* smtp://host:port or smtps://host:port; "": e-mail cannot be sent */
    const char *smtp_user, *smtp_password;
    bool smtp_plain; /* without TLS */
    const char *mail_from;
    const char *host;             /* in the ids of e-mails */
    const _Atomic bool *stopping; /* gives up within a second when it becomes true */
};

struct hook_outcome {
    bool taken;
    bool for_good;  /* refused, and no further attempt can help */
    int64_t wait_s; /* wait that the receiver asks for; 0: none */
    char why[MIRE_HOOK_WHY];
};

/* Send the message, whose channel's target and secret are open. Takes at most ten seconds to connect and twenty in all. */
void hook_send(struct hook_outcome *out, const struct hook_options *options, const struct outbox_message *message,
               int64_t now_us);

/* Is it an address of this machine or of a private network, or a reserved one (RFC 6890)? */
bool hook_is_private(const struct sockaddr *address);

/* "v1,BASE64": the signature of Standard Webhooks over "id.timestamp.body" with a secret "whsec_BASE64". */
#define MIRE_HOOK_SIGNATURE 64
bool hook_sign(char out[MIRE_HOOK_SIGNATURE], const char *secret, const char *id, int64_t now_s, const char *body);

/* A new secret: "whsec_" and base64 of 32 bytes. */
#define MIRE_HOOK_SECRET 64
void hook_make_secret(char out[MIRE_HOOK_SECRET]);

/* Inside alert/ only: the part of hook_send that sends e-mail. */
void mail_send(struct hook_outcome *out, const struct hook_options *options, const struct outbox_message *message,
               int64_t now_us);

#endif
