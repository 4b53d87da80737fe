/*
 * options_delivery.c - the setters of mire/delivery.h.
 */
#include "core/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MAX_MS    86400000u /* a day: no wait is longer */
#define DAILY_BYTES_MIN 65536u    /* with less, most memory reports could never be sent */
#define PIN             "sha256//"
#define PIN_BYTES       (sizeof(PIN) - 1 + 44) /* 32 bytes in base64 */

enum mire_err mire_options_set_consent_required(mire_options *options, int required)
{
    if (!options)
        return MIRE_E_ARG;
    options->delivery.consent_required = required != 0;
    return MIRE_OK;
}

enum mire_err mire_options_set_daily_bytes(mire_options *options, uint32_t bytes)
{
    if (!options)
        return MIRE_E_ARG;
    if (bytes > 0 && bytes < DAILY_BYTES_MIN)
        return MIRE_E_RANGE;
    options->delivery.daily_bytes = bytes;
    return MIRE_OK;
}

enum mire_err mire_options_set_retry_ms(mire_options *options, uint32_t first_ms, uint32_t limit_ms)
{
    if (!options)
        return MIRE_E_ARG;
    if (first_ms == 0 || first_ms > limit_ms || limit_ms > RETRY_MAX_MS)
        return MIRE_E_RANGE;
    options->delivery.retry_first_ms = first_ms;
    options->delivery.retry_limit_ms = limit_ms;
    return MIRE_OK;
}

enum mire_err mire_options_set_plain_http(mire_options *options, int allowed)
{
    if (!options)
        return MIRE_E_ARG;
    options->delivery.plain_http = allowed != 0;
    return MIRE_OK;
}

enum mire_err mire_options_set_background(mire_options *options, int background)
{
    if (!options)
        return MIRE_E_ARG;
    options->delivery.background = background != 0;
    return MIRE_OK;
}

static enum mire_err set_text(char *field, size_t cap_bytes, const char *value)
{
    size_t length = value ? strnlen(value, cap_bytes) : 0;

    if (length == 0 || length == cap_bytes)
        return MIRE_E_ARG;
    mire__text_copy(field, cap_bytes, value);
    return MIRE_OK;
}

enum mire_err mire_options_set_ca_file(mire_options *options, const char *ca_file)
{
    return options ? set_text(options->ca_file, sizeof(options->ca_file), ca_file) : MIRE_E_ARG;
}

/* "sha256//<44 characters>", one or more between semicolons. libcurl takes any other text as a file name. */
static bool are_pins(const char *text)
{
    for (;; text += PIN_BYTES + 1) {
        if (strncmp(text, PIN, sizeof(PIN) - 1) != 0 || strcspn(text, ";") != PIN_BYTES || text[PIN_BYTES - 1] != '=')
            return false;
        if (!text[PIN_BYTES])
            return true;
    }
}

enum mire_err mire_options_set_pins(mire_options *options, const char *pins)
{
    return options && pins && are_pins(pins) ? set_text(options->pins, sizeof(options->pins), pins) : MIRE_E_ARG;
}

enum mire_err mire_options_set_before_send(mire_options *options, mire_before_send_fn *before_send, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->delivery.before_send = before_send;
    options->delivery.before_send_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_set_transport(mire_options *options, mire_transport_fn *transport, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->delivery.transport = transport;
    options->delivery.transport_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_set_clock(mire_options *options, mire_clock_fn *clock, void *context)
{
    if (!options)
        return MIRE_E_ARG;
    options->clock = clock;
    options->clock_context = context;
    return MIRE_OK;
}

enum mire_err mire_options_set_allocator(mire_options *options, const mire_allocator *allocator)
{
    if (!options || (allocator && (!allocator->allocate || !allocator->reallocate || !allocator->release)))
        return MIRE_E_ARG;
    options->allocator = allocator ? *allocator : (mire_allocator){0};
    return MIRE_OK;
}

struct upload_options mire__options_delivery(const mire_options *options)
{
    struct upload_options delivery = options->delivery;

    delivery.url = options->server_url[0] ? options->server_url : NULL;
    delivery.key = options->server_key;
    delivery.ca_file = options->ca_file[0] ? options->ca_file : NULL;
    delivery.pins = options->pins[0] ? options->pins : NULL;
    return delivery;
}

/* "localhost", 127.x.x.x or [::1], followed by a port, a path or the end. A longer name is another host. */
static bool is_loopback(const char *host)
{
    size_t length = strcspn(host, "/?#");

    if (memchr(host, '@', length))
        return false;
    if (strncmp(host, "[::1]", 5) == 0)
        return host[5] == ':' || length == 5;
    length = strcspn(host, ":/?#");
    if (length == 9 && strncmp(host, "localhost", 9) == 0)
        return true;
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length;
}

bool mire__options_server_is_safe(const mire_options *options)
{
    const char *url = options->server_url;

    return strncmp(url, "http://", 7) != 0 || options->delivery.plain_http || options->delivery.transport ||
           is_loopback(url + 7);
}

static bool read_number(uint32_t *out, const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *out = (uint32_t)value;
    return *text >= '0' && *text <= '9' && !*end && value <= UINT32_MAX;
}

const char *mire__options_delivery_from_environment(mire_options *options)
{
    const char *ca_file = getenv("MIRE_CA_FILE"), *pins = getenv("MIRE_PINS"), *bytes = getenv("MIRE_DAILY_BYTES"),
               *plain = getenv("MIRE_PLAIN_HTTP");
    uint32_t number;

    if (ca_file && mire_options_set_ca_file(options, ca_file) != MIRE_OK)
        return "MIRE_CA_FILE";
    if (pins && mire_options_set_pins(options, pins) != MIRE_OK)
        return "MIRE_PINS";
    if (bytes && (!read_number(&number, bytes) || mire_options_set_daily_bytes(options, number) != MIRE_OK))
        return "MIRE_DAILY_BYTES";
    if (plain && (!read_number(&number, plain) || number > 1))
        return "MIRE_PLAIN_HTTP";
    if (plain)
        mire_options_set_plain_http(options, (int)number);
    return NULL;
}
