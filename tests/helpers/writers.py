"""Write the same traces in every format, as other tools would."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import RecordError
from symbouq.io.adapters.inputs import ReadOptions, TraceFile
from symbouq.io.stream import Line, read_lines
from symbouq.records import Trace, parse_record

TRACES: list[dict[str, Any]] = [
    {
        "id": "1",
        "scene": "The oven is above the sink. The sink is to the right of the fridge.",
        "question": "Where is the oven relative to the fridge?",
        "response": "The sink is right of the fridge. The oven is over the sink.\nAnswer: upper right",
    },
    {
        "id": "2",
        "scene": 'The "red" cup, a gift, is left of the pot. The pot is below the lid.',
        "question": "Where is the pot relative to the cup?",
        "response": "The cup is to the right of the pot.\n\nAnswer: left — surely",
    },
    {
        "id": "3",
        "scene": "K is north of M.",
        "question": "Is K above M?",
        "response": "",
    },
]
TOKENS = [
    {
        "text": "Up",
        "logprob": -0.25,
        "top": [{"text": "Up", "logprob": -0.25}, {"text": "Low", "logprob": -1.5}],
    },
    {
        "text": "per",
        "logprob": -2.0,
        "top": [{"text": "most", "logprob": -0.5}, {"text": "per", "logprob": -2.0}],
    },
]
"""Two tokens. The second was not the likeliest."""


def prompt(trace: dict[str, Any]) -> str:
    example = "Story: A is above B.\nQuestion: Where is B relative to A?\nAnswer: below"
    return f"{example}\n\nStory: {trace['scene']}\nQuestion: {trace['question']}\nAnswer:"


def lines(path: Path, *rows: Any) -> str:
    encoded = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in rows]
    path.write_bytes(b"\n".join(encoded) + b"\n")
    return str(path)


def array(path: Path, *rows: Any) -> str:
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return str(path)


# Rows -------------------------------------------------------------------------------------


def lm_eval_row(trace: dict[str, Any], rule: str = "none", **more: Any) -> dict[str, Any]:
    return {
        "doc_id": int(trace["id"]) if trace["id"].isdecimal() else trace["id"],
        "doc": {"story": trace["scene"], "ask": trace["question"]},
        "target": "above",
        "arguments": {"gen_args_0": {"arg_0": prompt(trace), "arg_1": {"until": ["\n\n\n"]}}},
        "resps": [[trace["response"]]],
        "filtered_resps": [f"[{rule}]"],
        "filter": rule,
        "metrics": ["exact_match"],
        "doc_hash": "0",
        "exact_match": 0.0,
        **more,
    }


def messages(trace: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "You reason about where things are."},
        {"role": "user", "content": f"{trace['scene']}\n\n{trace['question']}"},
    ]


def openai_logprobs() -> dict[str, Any]:
    def entry(token: dict[str, Any]) -> dict[str, Any]:
        return {"token": token["text"], "logprob": token["logprob"], "bytes": None}

    listed = [{**entry(t), "top_logprobs": [entry(a) for a in t["top"]]} for t in TOKENS]
    return {"content": listed}


def completion(trace: dict[str, Any], *more: str) -> dict[str, Any]:
    choices = [
        {
            "index": n,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "logprobs": openai_logprobs() if n == 0 else None,
            "finish_reason": "stop",
        }
        for n, text in enumerate((trace["response"], *more))
    ]
    return {
        "id": f"chatcmpl-{trace['id']}",
        "object": "chat.completion",
        "model": "gpt",
        "choices": choices,
    }


def batch_output(trace: dict[str, Any], *more: str) -> dict[str, Any]:
    return {
        "id": "batch_req_1",
        "custom_id": trace["id"],
        "response": {"status_code": 200, "request_id": "r", "body": completion(trace, *more)},
        "error": None,
    }


def batch_request(trace: dict[str, Any]) -> dict[str, Any]:
    body = {"model": "gpt", "messages": messages(trace), "metadata": {"story": trace["scene"]}}
    return {
        "custom_id": trace["id"],
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }


def vllm_output(trace: dict[str, Any], *more: str) -> dict[str, Any]:
    position = [
        {
            "11": {"logprob": -0.25, "rank": 1, "decoded_token": "Up"},
            "12": {"logprob": -1.5, "rank": 2, "decoded_token": "Low"},
        },
        {
            "22": {"logprob": -2.0, "rank": 2, "decoded_token": "per"},
            "21": {"logprob": -0.5, "rank": 1, "decoded_token": "most"},
        },
    ]
    return {
        "request_id": trace["id"],
        "prompt": prompt(trace),
        "prompt_token_ids": [1, 2, 3],
        "prompt_logprobs": None,
        "outputs": [
            {
                "index": n,
                "text": text,
                "token_ids": [11, 22],
                "cumulative_logprob": -2.25,
                "logprobs": position,
                "finish_reason": "stop",
            }
            for n, text in enumerate((trace["response"], *more))
        ],
        "finished": True,
    }


def inspect_sample(trace: dict[str, Any], epoch: int = 1, *more: str) -> dict[str, Any]:
    choices = [
        {
            "message": {"role": "assistant", "content": text},
            "stop_reason": "stop",
            "logprobs": openai_logprobs() if n == 0 else None,
        }
        for n, text in enumerate((trace["response"], *more))
    ]
    return {
        "id": trace["id"],
        "epoch": epoch,
        "input": prompt(trace),
        "target": "above",
        "messages": [{"role": "user", "content": prompt(trace)}, choices[0]["message"]],
        "output": {"model": "m", "choices": choices, "completion": trace["response"]},
        "scores": {"match": {"value": "C"}},
        "metadata": {"story": trace["scene"]},
        "attachments": {},
    }


def inspect_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-01-01T00:00:00+00:00",
            "task": "where",
            "dataset": {"name": "d", "samples": [1, 2]},
            "model": "m",
            "config": {},
        },
        "plan": {"steps": [{"solver": "samples", "params": {}}]},
        "samples": list(samples),
    }


def chat_row(trace: dict[str, Any]) -> dict[str, Any]:
    said = {"role": "assistant", "content": trace["response"]}
    return {"id": trace["id"], "messages": [*messages(trace), said]}


def sharegpt_row(trace: dict[str, Any]) -> dict[str, Any]:
    names = {"system": "system", "user": "human", "assistant": "gpt"}
    turns = [
        {"from": names[message["role"]], "value": message["content"]}
        for message in chat_row(trace)["messages"]
    ]
    return {"id": trace["id"], "conversations": turns}


def pair_row(trace: dict[str, Any]) -> dict[str, Any]:
    return {"id": trace["id"], "prompt": prompt(trace), "completion": trace["response"]}


def observation(trace: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": trace["id"],
        "traceId": f"t{trace['id']}",
        "type": "GENERATION",
        "name": "ask",
        "input": messages(trace),
        "output": {"role": "assistant", "content": trace["response"]},
        "model": "m",
        "level": "DEFAULT",
        "metadata": {"story": trace["scene"]},
        **more,
    }


def promptfoo_result(trace: dict[str, Any], **more: Any) -> dict[str, Any]:
    variables = {"story": trace["scene"], "ask": trace["question"]}
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "id": trace["id"],
        "testCase": {"vars": variables, "assert": [{"type": "contains", "value": "above"}]},
        "provider": {"id": "m", "label": ""},
        "prompt": {"raw": prompt(trace), "label": "where"},
        "vars": variables,
        "response": {"output": trace["response"], "tokenUsage": {"total": 3}},
        "success": False,
        "score": 0,
        **more,
    }


def promptfoo_output(*results: dict[str, Any]) -> dict[str, Any]:
    summary = {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "prompts": [{"raw": "{{story}} {{ask}}", "label": "where", "provider": "m"}],
        "results": list(results),
        "stats": {"successes": 0, "failures": len(results)},
    }
    return {"evalId": "eval-1", "results": summary, "config": {"tests": []}, "shareableUrl": None}


# Files ------------------------------------------------------------------------------------


def _own(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "own.jsonl", *traces), ReadOptions())


def _lm_eval(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    rows = [lm_eval_row(trace, rule) for rule in ("strict", "loose") for trace in traces]
    return TraceFile(lines(folder / "samples_where_2026.jsonl", *rows), ReadOptions())


def _inspect_json(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    path = folder / "log.json"
    log = inspect_log(*(inspect_sample(trace) for trace in traces))
    path.write_text(json.dumps(log, indent=2), encoding="utf-8")
    return TraceFile(str(path), ReadOptions())


def _inspect_eval(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    given = inspect_log(*(inspect_sample(trace) for trace in traces))
    given["eval"]["dataset"] = {"name": "d"}
    given["plan"] = {}
    path = folder / "log.eval"
    log.write_eval_log(log.EvalLog.model_validate(given), str(path))
    return TraceFile(str(path), ReadOptions())


def _openai(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    rows = [{**completion(trace), "messages": messages(trace)} for trace in traces]
    # A completion's own id is kept, and the test compares ids.
    rows = [{**row, "id": trace["id"]} for row, trace in zip(rows, traces, strict=True)]
    return TraceFile(lines(folder / "chat.jsonl", *rows), ReadOptions())


def _openai_batch(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    requests = lines(folder / "in.jsonl", *map(batch_request, reversed(traces)))
    output = lines(folder / "out.jsonl", *map(batch_output, traces))
    return TraceFile(output, ReadOptions(batch_input=requests))


def _vllm(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "dump.jsonl", *map(vllm_output, traces)), ReadOptions())


def _vllm_array(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(array(folder / "dump.json", *map(vllm_output, traces)), ReadOptions())


COLUMNS = {"id": "key", "scene": "context", "question": "asked", "response": "completion"}
MAPPED = ReadOptions(mapping=tuple(COLUMNS.items()))
NESTED = ReadOptions(
    mapping=(
        ("id", "key"),
        ("scene", "doc.context"),
        ("question", "doc.asked"),
        ("response", "completion"),
    )
)


def renamed(trace: dict[str, Any]) -> dict[str, Any]:
    return {COLUMNS[name]: value for name, value in trace.items()}


def nested(trace: dict[str, Any]) -> dict[str, Any]:
    row = renamed(trace)
    return {"doc": {k: row.pop(k) for k in ("context", "asked")}, **row}


def _csv(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        table = csv.DictWriter(stream, list(COLUMNS.values()))
        table.writeheader()
        table.writerows(map(renamed, traces))
    # A CSV cell cannot distinguish an empty response from an absent one.
    return TraceFile(str(path), MAPPED)


def _parquet(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = folder / "table.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(list(map(nested, traces))), path)
    return TraceFile(str(path), NESTED)


def _hf(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    path = folder / "saved"
    datasets.Dataset.from_list(list(map(nested, traces))).save_to_disk(str(path))
    return TraceFile(str(path), NESTED)


def _chat(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "chats.jsonl", *map(chat_row, traces)), ReadOptions())


def _sharegpt(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(array(folder / "sharegpt.json", *map(sharegpt_row, traces)), ReadOptions())


def _pairs(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "pairs.jsonl", *map(pair_row, traces)), ReadOptions())


def _langfuse(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(array(folder / "generations.json", *map(observation, traces)), ReadOptions())


def _promptfoo(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    path = folder / "out.json"
    output = promptfoo_output(*map(promptfoo_result, traces))
    path.write_text(json.dumps(output, indent=2), encoding="utf-8")
    return TraceFile(str(path), ReadOptions())


def _promptfoo_lines(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "out.jsonl", *map(promptfoo_result, traces)), ReadOptions())


def _own_renamed(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
    return TraceFile(lines(folder / "own.jsonl", *map(nested, traces)), NESTED)


# Formats that are declared: a row each, or a document of rows ----------------------------------


def said(trace: dict[str, Any]) -> dict[str, str]:
    return {"role": "assistant", "content": trace["response"]}


def anthropic_row(trace: dict[str, Any]) -> dict[str, Any]:
    system, user = messages(trace)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": trace["response"]}],
        "stop_reason": "end_turn",
    }
    asked = {"system": system["content"], "messages": [user]}
    return {
        "custom_id": trace["id"],
        "params": asked,
        "result": {"type": "succeeded", "message": message},
    }


def gemini_row(trace: dict[str, Any]) -> dict[str, Any]:
    system, user = ([{"text": m["content"]}] for m in messages(trace))
    answer = {"role": "model", "parts": [{"text": trace["response"]}]}
    return {
        "key": trace["id"],
        "request": {
            "contents": [{"role": "user", "parts": user}],
            "systemInstruction": {"parts": system},
        },
        "response": {"candidates": [{"content": answer, "finishReason": "STOP", "index": 0}]},
    }


def bedrock_row(trace: dict[str, Any]) -> dict[str, Any]:
    system, user = messages(trace)
    return {
        "recordId": trace["id"],
        "modelInput": {
            "system": [{"text": system["content"]}],
            "messages": [{"role": "user", "content": [{"text": user["content"]}]}],
        },
        "modelOutput": {
            "output": {"message": {"role": "assistant", "content": [{"text": trace["response"]}]}},
            "stopReason": "end_turn",
        },
    }


def langsmith_row(trace: dict[str, Any]) -> dict[str, Any]:
    def message(kind: str, text: str) -> dict[str, Any]:
        return {"lc": 1, "id": ["langchain", "schema", kind], "kwargs": {"content": text}}

    system, user = messages(trace)
    asked = [message("SystemMessage", system["content"]), message("HumanMessage", user["content"])]
    answer = {"text": trace["response"], "message": message("AIMessage", trace["response"])}
    return {
        "id": trace["id"],
        "run_type": "llm",
        "inputs": {"messages": [asked]},
        "outputs": {"generations": [[{**answer, "generation_info": {"finish_reason": "stop"}}]]},
        "error": None,
        "parent_run_id": None,
    }


def weave_row(trace: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": trace["id"],
        "op_name": "weave:///openai.chat.completions.create",
        "parent_id": None,
        "inputs": {"model": "m", "messages": messages(trace)},
        "output": {"choices": [{"index": 0, "message": said(trace), "finish_reason": "stop"}]},
        "exception": None,
    }


def _attributes(**given: Any) -> list[dict[str, Any]]:
    return [{"key": k, "value": {"stringValue": v}} for k, v in given.items()]


def gen_ai_span(trace: dict[str, Any]) -> dict[str, Any]:
    def message(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "content": text}]}

    asked = [message(m["role"], m["content"]) for m in messages(trace)]
    answer = {**message("assistant", trace["response"]), "finish_reason": "stop"}
    given = {
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps([answer]),
    }
    return {"spanId": trace["id"], "name": "chat m", "attributes": _attributes(**given)}


def inference_span(trace: dict[str, Any]) -> dict[str, Any]:
    given = {"openinference.span.kind": "LLM"}
    for n, message in enumerate(messages(trace)):
        begin = f"llm.input_messages.{n}.message"
        given |= {f"{begin}.role": message["role"], f"{begin}.content": message["content"]}
    begin = "llm.output_messages.0.message"
    given |= {f"{begin}.role": "assistant", f"{begin}.content": trace["response"]}
    return {"spanId": trace["id"], "name": "llm", "attributes": _attributes(**given)}


def otlp_document(*spans: dict[str, Any]) -> dict[str, Any]:
    other = {"spanId": "0", "name": "GET /", "attributes": _attributes(**{"url.path": "/"})}
    scopes = [{"scope": {"name": "s"}, "spans": [other, span]} for span in spans]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": scopes}]}


def mlflow_row(trace: dict[str, Any]) -> dict[str, Any]:
    return {
        "info": {"trace_id": trace["id"], "state": "OK"},
        "data": {
            "request": json.dumps({"messages": messages(trace)}),
            "response": json.dumps({"choices": [{"index": 0, "message": said(trace)}]}),
            "spans": [],
        },
    }


def ollama_row(trace: dict[str, Any]) -> dict[str, Any]:
    done = {"message": said(trace), "done": True, "done_reason": "stop"}
    return {"id": trace["id"], "model": "m", "messages": messages(trace), **done}


def braintrust_row(trace: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": trace["id"],
        "root_span_id": "r",
        "span_attributes": {"name": "chat", "type": "llm"},
        "input": messages(trace),
        "output": [{"index": 0, "finish_reason": "stop", "message": said(trace)}],
        "expected": None,
    }


def deepeval_row(trace: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": trace["id"],
        "input": trace["question"],
        "actualOutput": trace["response"],
        "context": trace["scene"],
        "success": True,
    }


def helm_row(trace: dict[str, Any]) -> dict[str, Any]:
    reason = {"reason": "stop"}
    return {
        "instance": {"id": trace["id"], "input": {"text": trace["question"]}},
        "request": {"prompt": prompt(trace), "model": "m"},
        "result": {
            "success": True,
            "completions": [{"text": trace["response"], "logprob": -1, "finish_reason": reason}],
        },
    }


def _declared(name: str, row: Callable[[dict[str, Any]], dict[str, Any]], *around: str) -> Any:
    def write(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
        rows: Any = list(map(row, traces))
        path = folder / f"{name}.json"
        if not around:
            return TraceFile(lines(path, *rows), ReadOptions())
        for member in reversed(around):
            rows = {"version": {"n": []}, member: rows}
        path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
        return TraceFile(str(path), ReadOptions())

    return write


def _spans(span: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    def write(folder: Path, traces: Sequence[dict[str, Any]]) -> TraceFile:
        document = otlp_document(*map(span, traces))
        return TraceFile(lines(folder / "spans.json", document), ReadOptions())

    return write


WRITERS: dict[str, Callable[[Path, Sequence[dict[str, Any]]], TraceFile]] = {
    "symbouq": _own,
    "symbouq, renamed": _own_renamed,
    "lm-eval": _lm_eval,
    "inspect, JSON": _inspect_json,
    "inspect, archive": _inspect_eval,
    "openai": _openai,
    "openai, batch": _openai_batch,
    "vllm": _vllm,
    "vllm, array": _vllm_array,
    "chat": _chat,
    "chat, ShareGPT": _sharegpt,
    "prompt-completion": _pairs,
    "langfuse": _langfuse,
    "promptfoo": _promptfoo,
    "promptfoo, lines": _promptfoo_lines,
    "anthropic": _declared("anthropic", anthropic_row),
    "gemini": _declared("gemini", gemini_row),
    "bedrock": _declared("bedrock", bedrock_row),
    "langsmith": _declared("langsmith", langsmith_row),
    "weave": _declared("weave", weave_row),
    "otlp": _spans(gen_ai_span),
    "otlp, OpenInference": _spans(inference_span),
    "mlflow": _declared("mlflow", mlflow_row),
    "ollama": _declared("ollama", ollama_row),
    "braintrust": _declared("braintrust", braintrust_row),
    "deepeval": _declared("deepeval", deepeval_row, "testCases"),
    "helm": _declared("helm", helm_row, "request_states"),
    "csv": _csv,
    "parquet": _parquet,
    "hf": _hf,
}
"""Maps a format to a function that writes traces in it and says how to read them. The part of a key
before a comma is the name of the format.
"""

OPTIONAL = ("inspect, archive", "parquet", "hf")
WITH_TOKENS = (
    "inspect, JSON",
    "inspect, archive",
    "openai",
    "openai, batch",
    "vllm",
    "vllm, array",
)


# Reading ----------------------------------------------------------------------------------


def read(path: str, reading: ReadOptions | None = None) -> list[dict[str, Any] | RecordError]:
    """Return the records in a file, as the commands get them."""
    items = read_lines(TraceFile(path, reading) if reading is not None else path)
    return [json.loads(item.content) if isinstance(item, Line) else item for item in items]


def good(path: str, reading: ReadOptions | None = None) -> list[dict[str, Any]]:
    """Return the records in a file without errors; each must be a trace."""
    found = read(path, reading)
    assert not [str(item) for item in found if isinstance(item, RecordError)]
    records = [item for item in found if isinstance(item, dict)]
    for record in records:
        parse_record(Trace, json.dumps(record).encode())
    return records


def faults(path: str, reading: ReadOptions | None = None) -> list[str]:
    """Return the error messages for a file as they are printed, without the folder."""
    found = [item for item in read(path, reading) if isinstance(item, RecordError)]
    assert all(item.line for item in found)
    assert all("\n" not in item.message for item in found)
    return [f"{Path(str(item.file)).name}:{item.line}: {item.message}" for item in found]
