"""A program with the Sentry SDK for Python: app.py DSN gzip|br. An exception nobody handles ends it."""

import sys

import sentry_sdk


def total_of_the_cart(cart):
    return cart["total"]


def checkout(cart):
    return total_of_the_cart(cart)


dsn, algorithm = sys.argv[1:]
sentry_sdk.init(dsn=dsn, release="org.example.shop@4.2+17", environment="staging", traces_sample_rate=1.0,
                _experiments={"transport_compression_algo": algorithm, "transport_compression_level": 5})
sentry_sdk.set_user({"id": "4711", "email": "kim@example.org"})
sentry_sdk.set_tag("plan", "trial")
sentry_sdk.add_breadcrumb(category="ui.click", message=f"checkout by {algorithm}")
with sentry_sdk.start_transaction(name="POST /checkout"):
    sentry_sdk.get_current_scope().add_attachment(bytes=b"a log", filename="log.txt")
checkout({"items": 3})
