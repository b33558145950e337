"""Settings are read from YAML whole or not at all, and each fault has its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symbouq.io.settings import ReaderSettings, SettingsError, read_settings


def written(folder: Path, text: str) -> Path:
    file = folder / "reader.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_is_not_set_has_its_default(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, ""), ReaderSettings) == ReaderSettings()
    settings = read_settings(written(tmp_path, "samples: 3\nprice: [0.5, 1e1]\n"), ReaderSettings)
    assert (settings.samples, settings.price, settings.retries) == (3, (0.5, 10.0), 5)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("alone: true\n\nsampels: 3", 3, "sampels: Extra inputs are not permitted"),
        ("retries: 1\nsamples: 0", 2, "samples: Input should be greater than or equal to 1"),
        ("price:\n- 1\n- much", 3, "price.1: Input should be a valid number"),
        ("alone: true\nshare: true", None, "`share` and `alone` exclude each other"),
        ("samples: 0\nretries: -1", 1, "samples: .*; retries: .*"),
        ("alone: true\nalone: false", 2, "not valid YAML: .*duplicate key"),
        ("alone: true\nprice: [1, 2", 2, "not valid YAML"),
        ("? [1, 2]\n: 3\nsamples: 0", 3, "samples: .*"),
        ("a: " + "[" * 20_000, None, "not valid YAML"),
        ("- samples", None, "Input should be a valid dictionary"),
    ],
)
def test_a_fault_is_named_with_its_line(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SettingsError, match=message) as raised:
        read_settings(file, ReaderSettings)
    assert (raised.value.file, raised.value.line) == (str(file), line)


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path / "none.yaml", ReaderSettings)


def test_every_key_is_documented_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs/model.md").read_text(encoding="utf-8")
    table = page.partition("| key |")[2].partition("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", table, re.MULTILINE)
    defaults = {name: field.default for name, field in ReaderSettings.model_fields.items()}
    words = {None: "none", False: "false"}
    assert dict(shown) == {name: words.get(value, str(value)) for name, value in defaults.items()}
