"""Bounds on what is read before an input is taken for what it is: broken, endless or hostile."""

from __future__ import annotations

from symbouq.errors import RecordError

LONGEST = 1 << 26
"""Bytes that a line, or an item of an array, may have."""

ENDLESS = 1 << 30
"""Bytes of one line or item after which its end is not awaited."""

RATIO = 900
"""Bytes that one of a compressed file may stand for: text has some tens, a sentence over and over
some hundreds, one byte over and over 1,030.
"""

TRUSTED = 1 << 22
"""Bytes that may come of a compressed file, whatever its size."""


class Assembly:
    """A line, or an item of an array, put together piece by piece within the bounds.

    Attributes:
        length: Bytes that it has by now.
    """

    def __init__(self) -> None:
        self.length = 0
        self._content = bytearray()

    def add(self, piece: bytes) -> None:
        """Adds the next bytes.

        Raises:
            RecordError: If it does not end.
        """
        self.length += len(piece)
        check_ends(self.length)
        if self.length > LONGEST:
            self._content.clear()
        else:
            self._content += piece

    def take(self) -> bytes | RecordError:
        """Gives what was put together, or that it is too long, and begins anew."""
        length, self.length = self.length, 0
        if length > LONGEST:
            return RecordError(f"longer than {LONGEST >> 20} MiB")
        content = bytes(self._content)
        self._content.clear()
        return content


def check_ends(length: int) -> None:
    """Makes sure that a line or an item may still end.

    Raises:
        RecordError: If it is longer than `ENDLESS`.
    """
    if length > ENDLESS:
        raise RecordError(f"does not end within {ENDLESS >> 20} MiB; the file is read no further")


def check_honest(packed: int, unpacked: int) -> None:
    """Makes sure that compressed content is text.

    Args:
        packed: Bytes read of a compressed file.
        unpacked: Bytes that came of them.

    Raises:
        RecordError: If there are too many.
    """
    if unpacked > max(TRUSTED, RATIO * packed):
        raise RecordError(
            f"grows more than {RATIO}-fold when it is decompressed, as no text does; it is read no "
            "further"
        )
