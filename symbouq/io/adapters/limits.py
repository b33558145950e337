"""Limits on reading an input before it is considered broken, endless or hostile."""

from __future__ import annotations

from symbouq.errors import RecordError

LONGEST = 1 << 26
"""Maximum number of bytes in a line or in an item of an array."""

ENDLESS = 1 << 30
"""Number of bytes in a line or item after which the search for its end stops."""

RATIO = 900
"""Maximum ratio of decompressed to compressed bytes. Text reaches a few dozen, a repeated
sentence several hundred, and a repeated byte 1,030.
"""

TRUSTED = 1 << 22
"""Number of bytes that a compressed file of any size may expand to."""


class Assembly:
    """A line, or an item of an array, assembled piece by piece within the limits.

    Attributes:
        length: Number of bytes so far.
    """

    def __init__(self) -> None:
        self.length = 0
        self._content = bytearray()

    def add(self, piece: bytes) -> None:
        """Add the next bytes.

        Raises:
            RecordError: If the line or item is longer than `ENDLESS`.
        """
        self.length += len(piece)
        check_ends(self.length)
        if self.length > LONGEST:
            self._content.clear()
        else:
            self._content += piece

    def take(self) -> bytes | RecordError:
        """Return the assembled bytes, or an error if there are too many, and start again."""
        length, self.length = self.length, 0
        if length > LONGEST:
            return RecordError(f"longer than {LONGEST >> 20} MiB")
        content = bytes(self._content)
        self._content.clear()
        return content


def check_ends(length: int) -> None:
    """Check that a line or an item may still end.

    Raises:
        RecordError: If the length exceeds `ENDLESS`.
    """
    if length > ENDLESS:
        raise RecordError(f"does not end within {ENDLESS >> 20} MiB; the file is read no further")


def check_honest(packed: int, unpacked: int) -> None:
    """Check that compressed content expands no more than text may.

    Args:
        packed: Number of bytes read from a compressed file.
        unpacked: Number of bytes that they expanded to.

    Raises:
        RecordError: If it expanded too much.
    """
    if unpacked > max(TRUSTED, RATIO * packed):
        raise RecordError(
            f"grows more than {RATIO}-fold when it is decompressed, as no text does; it is read no "
            "further"
        )
