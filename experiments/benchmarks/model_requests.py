"""Write requests to a language model about traces as files, and read the model's replies.

    python experiments/benchmarks/model_requests.py TRACES FOLDER READINGS --model NAME

This writes the profile's `instructions.txt` and `schema.json` into FOLDER and, for each request
without a reply, the user message as `N.PART.SAMPLE.request.json`. Put each reply next to it as
`N.PART.SAMPLE.reply.json`. Running the same command again adds the replies to READINGS, a file for
`--reader-settings`, and writes the next requests. (Requests about claims can be written only after
the scene has been read, because they list the things in the scene.) At the end, it prints how many
requests still need a reply.
"""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from itertools import count
from pathlib import Path

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.readings import ReadingsFile
from symbouq.reading.model.asking import reply_in
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.reading.model.prompt import prompt_of
from symbouq.reading.model.schema import reply_schema
from symbouq.records import Reply, StoredReading, Trace, parse_record


def exchange(
    traces: list[Trace], folder: Path, file: ReadingsFile, model: str, samples: int, profile: str
) -> int:
    """Read replies from a folder and write the next requests. Return the number of requests without
    a reply.
    """
    auditor = TraceAuditor(profile=profile)
    ontology = auditor.library.ontology(profile)
    prompt = prompt_of(ontology, None)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "instructions.txt").write_text(prompt.instructions, encoding="utf-8")
    (folder / "schema.json").write_text(json.dumps(reply_schema(ontology)), encoding="utf-8")
    waiting: list[Path] = []

    def exchanged(trace: Trace, number: int) -> None:
        parts = count(1)

        def answer(request: ModelRequest) -> list[Reply]:
            replies: list[Reply] = []
            part = next(parts)
            for sample in range(samples):
                key = request.text, sample, model, prompt.version, ontology.hash
                found = file.find(*key)
                stem = f"{number}.{request.part}-{part}.{sample}"
                given = folder / f"{stem}.reply.json"
                if found is None and given.is_file():
                    reply = reply_in(given.read_text(encoding="utf-8"), request)
                    told = {"text": key[0], "model": model, "prompt": prompt.version}
                    told |= {"ontology": ontology.hash, "id": trace.id, "part": request.part}
                    found = StoredReading.model_validate({**told, "sample": sample, "reply": reply})
                    file.add(found)
                if found is None:
                    waiting.append(folder / f"{stem}.request.json")
                    waiting[-1].write_text(request.message + "\n", encoding="utf-8")
                else:
                    replies.append(found.reply)
            if len(replies) < samples:
                raise LookupError("what comes next depends on the reply")
            return replies

        parser = auditor.parser_for(trace)
        with suppress(LookupError):
            parser.model_reader.ask(parser.texts(trace), answer)

    for number, trace in enumerate(traces, start=1):
        exchanged(trace, number)
    return len(waiting)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("traces", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("readings", type=Path)
    options.add_argument("--model", required=True)
    options.add_argument("--samples", type=int, default=2)
    options.add_argument("--profile", default="everyday")
    given = options.parse_args()
    lines = enumerate(given.traces.read_bytes().splitlines(), start=1)
    traces = [parse_record(Trace, line, str(given.traces), n) for n, line in lines if line.strip()]
    with ReadingsFile(given.readings) as file:
        how = given.model, given.samples, given.profile
        waiting = exchange(traces, given.folder, file, *how)
    print(f"{waiting} requests wait for a reply in {given.folder}")


if __name__ == "__main__":
    main()
