"""What the tests in this folder share."""

import resource

import pytest


@pytest.fixture(autouse=True)
def seconds_of_the_processors(record_property):
    """Into junit.xml, beside the time that a test took: what it, and all that it started, used of the processors."""
    def used():
        return sum(getattr(resource.getrusage(who), kind) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
                   for kind in ("ru_utime", "ru_stime"))

    before = used()
    yield
    record_property("processor_seconds", f"{used() - before:.1f}")
