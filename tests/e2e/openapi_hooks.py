"""For schemathesis: bodies that are no JSON document."""
import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/ndjson", "text/csv")
def lines(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
