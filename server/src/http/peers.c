/*
 * peers.c - how many connections each address has. An address of IPv6 is the network of 64 bits it lies in: one client
 * has as many addresses there as it likes.
 */
#include "http/inside.h"

#include "base/fault.h"
#include "base/hash.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct peer_count {
    struct peer_count *next;
    uint8_t network[16];
    unsigned connections;
};

static void network_of(uint8_t out[16], const struct http_peer *peer)
{
    memcpy(out, peer->address, 16);
    if (!http_peer_is_v4(peer))
        memset(out + 8, 0, 8);
}

int peers_start(struct peers *peers)
{
    peers->buckets = calloc(BUCKETS, sizeof *peers->buckets);
    pthread_mutex_init(&peers->mutex, NULL);
    return peers->buckets ? 0 : MIRE_FAULT_MEMORY;
}

void peers_stop(struct peers *peers)
{
    for (size_t b = 0; peers->buckets && b < BUCKETS; b++)
        for (struct peer_count *count; (count = peers->buckets[b]);) {
            peers->buckets[b] = count->next;
            free(count);
        }
    free(peers->buckets);
    pthread_mutex_destroy(&peers->mutex);
}

/* The link that leads to the network's count, or to where it would be. */
static struct peer_count **find(struct peers *peers, const uint8_t network[16])
{
    struct peer_count **link = &peers->buckets[fnv_bytes(MIRE_HASH_START, network, 16) % BUCKETS];
    while (*link && memcmp((*link)->network, network, 16) != 0)
        link = &(*link)->next;
    return link;
}

bool peers_enter(struct peers *peers, const struct http_peer *peer, unsigned most)
{
    uint8_t network[16];
    network_of(network, peer);
    pthread_mutex_lock(&peers->mutex);
    struct peer_count **link = find(peers, network), *count = *link;
    if (!count && (count = calloc(1, sizeof *count))) {
        memcpy(count->network, network, 16);
        *link = count;
    }
    bool fits = count && (!most || count->connections < most);
    if (fits)
        count->connections++;
    pthread_mutex_unlock(&peers->mutex);
    return fits;
}

void peers_leave(struct peers *peers, const struct http_peer *peer)
{
    uint8_t network[16];
    network_of(network, peer);
    pthread_mutex_lock(&peers->mutex);
    struct peer_count **link = find(peers, network), *count = *link;
    if (count && --count->connections == 0) {
        *link = count->next;
        free(count);
    }
    pthread_mutex_unlock(&peers->mutex);
}

bool http_peer_is_v4(const struct http_peer *peer)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return !memcmp(peer->address, mapped, sizeof mapped);
}

bool http_peer_is_loopback(const struct http_peer *peer)
{
    static const uint8_t one[16] = {[15] = 1};
    return http_peer_is_v4(peer) ? peer->address[12] == 127 : !memcmp(peer->address, one, sizeof one);
}

bool http_peer_is_among(const struct http_peer *peer, const struct http_peer *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!memcmp(all[i].address, peer->address, sizeof peer->address))
            return true;
    return false;
}

void http_peer_format(char out[MIRE_HTTP_PEER_TEXT], const struct http_peer *peer)
{
    bool is_v4 = http_peer_is_v4(peer);
    if (!inet_ntop(is_v4 ? AF_INET : AF_INET6, peer->address + (is_v4 ? 12 : 0), out, MIRE_HTTP_PEER_TEXT))
        out[0] = '\0';
}

bool http_peer_parse(struct http_peer *out, const char *text)
{
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET6, text, out->address) == 1)
        return true;
    memset(out->address + 10, 0xff, 2);
    return inet_pton(AF_INET, text, out->address + 12) == 1;
}
