"""`symbouq data import`: converts a release to splits in JSON Lines and a manifest."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from symbouq.errors import RecordError
from symbouq.experiments.benchmarks.catalog import BENCHMARKS, Benchmark
from symbouq.experiments.benchmarks.files import files_of
from symbouq.experiments.benchmarks.items import BenchmarkError, Item
from symbouq.experiments.benchmarks.rows import read_file, read_hub, unrepeated
from symbouq.experiments.benchmarks.splits import ORDER, check_apart, cut
from symbouq.io.hashes import file_hash
from symbouq.io.output import replacing
from symbouq.records import Instance, make_record
from symbouq.version import __version__

MANIFEST = "manifest.json"


@dataclass
class Imported:
    """The result of an import.

    Attributes:
        manifest: The manifest as written.
        failed: Errors for rows and files that could not be read.
        skipped: Files in the folder that were not read.
    """

    manifest: dict[str, Any]
    failed: list[RecordError] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def import_benchmark(
    name: str,
    path: str,
    out: str,
    split: str = "paper",
    reduce: str | None = None,
    seed: int = 0,
    pool: bool = False,
    overlap: str = "refuse",
    suffix: str = ".jsonl.gz",
) -> Imported:
    """Import a benchmark.

    Args:
        name: Name of the benchmark in the catalogue.
        path: A file, a folder, or a Hugging Face dataset id.
        out: The folder to write the splits and the manifest to. Splits from an earlier import are
            removed, unless the import reads files in the same folder.
        split: `paper` for the paper's sizes, `source` for the release's own splits, `none` for one
            file, or sizes such as `validation=100,test=500`.
        reduce: Name of a smaller answer space.
        seed: Seed for drawing scenes.
        pool: Whether to draw the splits from all rows, ignoring the release's own splits.
        overlap: What to do if a scene is in two of the release's splits: `refuse` the import, or
            `drop` the scene from the earlier split.
        suffix: Suffix of the file names; with `.gz`, the files are compressed.

    Returns:
        The manifest and the failures.

    Raises:
        BenchmarkError: If the benchmark, reduction or split is unknown, nothing can be read, or
            splits overlap.
    """
    if name not in BENCHMARKS:
        raise BenchmarkError(f"no benchmark {name!r}; known are: {', '.join(BENCHMARKS)}")
    benchmark = BENCHMARKS[name]
    sizes = _sizes(benchmark, split)
    reduction = None
    if reduce is not None:
        reduction = benchmark.reduction(reduce)
        if reduction is None:
            known = ", ".join(r.name for r in benchmark.reductions) or "none"
            raise BenchmarkError(f"{name} has no reduction {reduce!r}; it has: {known}")
    sources, skipped, items, failed = _read(benchmark, path)
    checked = [(item, _invalid(item)) for item in items]
    items = [item for item, error in checked if error is None]
    failed = [*failed, *(error for _, error in checked if error is not None)]
    if not items:
        first = f"; first: {failed[0]}" if failed else ""
        raise BenchmarkError(
            f"no row of {name} could be read in {path} ({len(failed)} failed){first}"
        )
    read = len(items)
    if reduction is not None:
        items = [kept for item in items if (kept := reduction.of(item)) is not None]
        if not items:
            raise BenchmarkError(f"no row has an answer in {name}'s reduction {reduce}")
    if split == "none":
        items = [replace(item, split=None) for item in items]
    done = cut(items, sizes, seed, pool, overlap == "drop")
    check_apart(done.rows)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {n: _encoded(rows) for n, rows in done.rows.items()}
    splits = {n: _entry(f"{n}{suffix}", rows, contents[n]) for n, rows in done.rows.items()}
    for part, wanted in (sizes or {}).items():
        if part in splits:
            splits[part]["wanted"] = wanted
    manifest: dict[str, Any] = {
        "benchmark": name,
        "symbouq": __version__,
        "source": sources,
        "split": split,
        "pool": pool,
        "overlap": overlap,
        "seed": seed,
        "reduction": reduce,
        "rows": {
            "read": read,
            "failed": len(failed),
            "reduced_away": read - len(items),
            "overlapping": done.overlapping,
            "unused": done.unused,
            "written": sum(map(len, done.rows.values())),
        },
        "splits": splits,
        "notes": [*done.notes, *([benchmark.note] if benchmark.note else [])],
    }
    told = json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n"
    files = {MANIFEST: told} | {splits[n]["file"]: content for n, content in contents.items()}
    earlier = [] if _reads(path, sources, folder) else _splits_of(folder)
    with ExitStack() as made:  # files get their final names when all are complete
        for file, content in files.items():
            packed = gzip.compress(content, mtime=0) if file.endswith(".gz") else content
            stream = made.enter_context(replacing(folder / file))
            stream.write(packed)
            stream.flush()
    for split_file in earlier:  # a glob over the folder would mix two imports
        if split_file.name not in files:
            split_file.unlink()
    return Imported(manifest, failed, [str(p) for p in skipped])


def _reads(path: str, sources: Iterable[Mapping[str, Any]], folder: Path) -> bool:
    base = Path(path) if Path(path).is_dir() else Path(path).parent
    read = {(base / source["file"]).resolve().parent for source in sources if "file" in source}
    return folder.resolve() in read


def _splits_of(folder: Path) -> list[Path]:
    """Return the splits that an earlier import wrote to a folder, except files changed since
    then.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        entries = manifest["splits"].values() if manifest["symbouq"] else ()
        hashes = {folder / Path(entry["file"]).name: entry["sha256"] for entry in entries}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [file for file, sha256 in hashes.items() if _content_hash(file) == sha256]


def _content_hash(file: Path) -> str | None:
    """Return the SHA-256 of a split's uncompressed content; None if the file cannot be read."""
    try:
        content = file.read_bytes()
        unpacked = gzip.decompress(content) if file.suffix == ".gz" else content
        return hashlib.sha256(unpacked).hexdigest()
    except (OSError, EOFError, zlib.error):
        return None


def _sizes(benchmark: Benchmark, split: str) -> Mapping[str, int] | None:
    if split == "paper":
        return benchmark.sizes or None
    if split in ("source", "none"):
        return None
    sizes: dict[str, int] = {}
    for part in split.split(","):
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(\d+)\s*", part)
        if match is None or match.group(1) not in ORDER or not int(match.group(2)):
            raise BenchmarkError(
                f"--split {split}: expected paper, source, none, or sizes of {', '.join(ORDER)} "
                "such as validation=100,test=500"
            )
        sizes[match.group(1)] = int(match.group(2))
    return sizes


def _read(
    benchmark: Benchmark, path: str
) -> tuple[list[dict[str, Any]], list[Path], list[Item], list[RecordError]]:
    place = Path(path)
    if place.exists() and not path.startswith("hf:"):
        files, skipped = files_of(place)
        base = place if place.is_dir() else place.parent
        sources: list[dict[str, Any]] = []
        every: list[Item | RecordError] = []
        for file in files:
            found = list(read_file(file, benchmark))
            every.extend(found)
            sources.append(
                {
                    "file": file.relative_to(base).as_posix(),
                    "sha256": _hash(file),
                    "rows": sum(isinstance(one, Item) for one in found),
                }
            )
        return sources, skipped, *unrepeated(every)
    if not re.fullmatch(r"(?:hf:)?[\w.-]+/[\w.-]+(?::.+)?", path):
        raise BenchmarkError("no such file or folder, and no Hugging Face dataset id", path)
    items, failed = unrepeated(read_hub(path, benchmark))
    return [{"hub": path, "rows": len(items)}], [], items, failed


def _hash(file: Path) -> str | None:
    """Return the SHA-256 of a file; None if it cannot be read, which has already been reported."""
    try:
        return file_hash(file)
    except OSError:
        return None


def _invalid(item: Item) -> RecordError | None:
    """Return an error if a question is not a valid record, otherwise None."""
    try:
        record = item.record()
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
        make_record(Instance, record)
        return None
    except UnicodeEncodeError:
        message = "not UTF-8, or half of a character"
    except ValueError as error:
        message = f"cannot be written as JSON: {error}"
    except RecordError as error:
        message = error.message
    return RecordError(message, item.file, item.line)


def _encoded(items: Iterable[Item]) -> bytes:
    return "".join(json.dumps(item.record(), ensure_ascii=False) + "\n" for item in items).encode()


def _entry(file: str, items: Sequence[Item], content: bytes) -> dict[str, Any]:
    pairs = sorted(item.pair_key for item in items)
    return {
        "file": file,
        "rows": len(items),
        "scenes": len({item.scene_key for item in items}),
        "repeated_pairs": len(pairs) - len(set(pairs)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "pairs_sha256": hashlib.sha256("\n".join(pairs).encode()).hexdigest(),
        "answers": _counts(items),
    }


def _counts(items: Iterable[Item]) -> dict[str, int]:
    """Count how often each label is an answer. For multiple choice, all options count as one
    label.
    """
    counts: Counter[str] = Counter()
    for item in items:
        if item.space == "choice":
            counts["<option>"] += 1
        else:
            counts.update(item.gold or ["(none)"])
    return dict(counts.most_common())
