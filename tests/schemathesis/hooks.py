"""An envelope of Sentry's is sent as the bytes that it is; Schemathesis has no writer for the media type."""

import schemathesis


@schemathesis.serializer("application/x-sentry-envelope")
def envelope(_, value):
    value = getattr(value, "data", value)
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "ignore")
