/*
 * inherit.h - descriptors of libcurl that programs which the app executes must not get. Thread: any.
 *
 * libcurl (7.88, say) makes the descriptors that wake a transfer without close-on-exec: they go to every program that
 * the app executes. It has no call that names them: they are those that are new and hold a byte once the handle is
 * woken.
 */
#ifndef MIRE_UPLOAD_INHERIT_H
#define MIRE_UPLOAD_INHERIT_H

#include <curl/curl.h>

/* As curl_multi_init, whose descriptors no child inherits. One below 1024 is found, others are left as they are. */
CURLM *mire__multi_init(void);

/* CURLOPT_OPENSOCKETFUNCTION: a socket that no child inherits. */
curl_socket_t mire__socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address);

#endif
