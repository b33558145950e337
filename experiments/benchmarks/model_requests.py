"""What a language model is asked about the traces of a file, as files, and its replies taken back.

    python experiments/benchmarks/model_requests.py TRACES FOLDER READINGS --model NAME

writes `instructions.txt` and `schema.json` of the profile, and for each request that has no reply
yet `N.PART.SAMPLE.request.json`, the user's message, into FOLDER. Whoever answers puts the reply
beside it as `N.PART.SAMPLE.reply.json`. The same command again takes replies into READINGS, a file
for `--reader-settings`, and writes the requests that come next: those for the claims have the
things of the scene. It ends with how many requests wait for a reply.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.readings import ReadingsFile
from symbouq.reading.model.asking import reply_in
from symbouq.reading.model.prompt import prompt_of
from symbouq.reading.model.schema import reply_schema
from symbouq.records import Reply, StoredReading, Trace, parse_record


def exchange(
    traces: list[Trace], folder: Path, file: ReadingsFile, model: str, samples: int, profile: str
) -> int:
    """Takes replies from a folder, and writes the requests that come next; how many wait."""
    auditor = TraceAuditor(profile=profile)
    ontology = auditor.library.ontology(profile)
    prompt = prompt_of(ontology, None)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "instructions.txt").write_text(prompt.instructions, encoding="utf-8")
    (folder / "schema.json").write_text(json.dumps(reply_schema(ontology)), encoding="utf-8")
    waiting = 0
    for number, trace in enumerate(traces, start=1):
        parser = auditor.parser_for(trace)
        asking = parser.model_reader.requests(parser.texts(trace))
        asked, request = 0, next(asking, None)
        while request is not None:
            asked += 1
            replies: list[Reply] = []
            for sample in range(samples):
                key = request.text, sample, model, prompt.version, ontology.hash
                found = file.find(*key)
                stem = f"{number}.{request.part}-{asked}.{sample}"
                answer = folder / f"{stem}.reply.json"
                if found is None and answer.is_file():
                    reply = reply_in(answer.read_text(encoding="utf-8"), request)
                    told = {"text": key[0], "model": model, "prompt": prompt.version}
                    told |= {"ontology": ontology.hash, "id": trace.id, "part": request.part}
                    found = StoredReading.model_validate({**told, "sample": sample, "reply": reply})
                    file.add(found)
                if found is None:
                    path = folder / f"{stem}.request.json"
                    path.write_text(request.message + "\n", encoding="utf-8")
                    waiting += 1
                else:
                    replies.append(found.reply)
            if len(replies) < samples:
                break
            try:
                request = asking.send(replies)
            except StopIteration:
                request = None
    return waiting


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
