"""The nodes of all operators; importing this package registers them in probe.CASES."""
from cases import (attention, contrib, control, convolution, elementwise, generating, indexing,  # noqa: F401
                   integer, integer_contrib, learning, matrix, moving, normalizing, recurrent, reducing,
                   resizing, text)
