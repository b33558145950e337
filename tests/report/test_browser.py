"""The pages in a browser: what a reader sees, points at, types and presses.

Needs Chromium with its driver (Debian: `apt-get install chromium chromium-driver`) and the
package selenium; accessibility checks fetch axe-core by npm. Skipped where they are missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from helpers.processes import PATIENCE
from helpers.report_traces import HOSTILE, hostile, hostile_relations, traces, written
from symbouq_cli.main import main

from symbouq.evidence.labels.annotation import annotation_page
from symbouq.evidence.labels.human import HumanLabels

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Wait = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait
Actions = pytest.importorskip("selenium.webdriver.common.action_chains").ActionChains

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples" / "traces.jsonl"
WIDER = "const root = document.documentElement; return root.scrollWidth > root.clientWidth"
AXE = "axe-core@4.10.3"


class Browser:
    """Chromium, with short names for what the tests do."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, anchor: str = "", **media: str) -> None:
        features = [
            {"name": name.replace("_", "-"), "value": value} for name, value in media.items()
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")  # else another anchor of one page loads nothing
        self.driver.get(f"{path.as_uri()}{anchor}")
        ready = "return document.documentElement.dataset.ready !== undefined"
        Wait(self.driver, PATIENCE).until(lambda _: self.run(ready))

    def size(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return list(self.run(script, selector))

    def hover(self, selector: str) -> None:
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        Actions(self.driver).move_to_element_with_offset(element, 0, 0).perform()

    def press(self, *keys: str) -> None:
        Actions(self.driver).send_keys(*keys).perform()

    def choose(self, value: str) -> None:
        self.run("document.querySelector(`input[value='${arguments[0]}']`).click()", value)

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def violations(self) -> list[str]:
        run = "const done = arguments[0]; axe.run().then((found) => done(found.violations))"
        found = self.driver.execute_async_script(run)
        return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(programs["chromedriver"])
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(60)
    yield Browser(driver)
    driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    chromium.size(1400, 1000)
    chromium.complaints()  # those of the test before
    return chromium


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: no axe-core")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), AXE]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm could not fetch axe-core")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples and made traces with labels, audited: `report.html`."""
    folder = tmp_path_factory.mktemp("report")
    made = folder / "made.jsonl"
    made.write_text("".join(json.dumps(trace) + "\n" for trace in traces(120)), encoding="utf-8")
    for name, options in (("first", []), ("second", ["--profile", "half-plane"])):
        out = str(folder / f"{name}.jsonl")
        command = ["audit", str(EXAMPLES), str(made), "--jobs", "1", "--out", out, *options]
        assert (
            CliRunner().invoke(main, [*command, "--report", str(folder / f"{name}.html")]).exit_code
            == 0
        )
    files = [str(folder / f"{name}.jsonl") for name in ("first", "second")]
    page = str(folder / "compared.html")
    assert CliRunner().invoke(main, ["compare", *files, "--report", page]).exit_code == 1
    (folder / "labels.html").write_bytes(annotation_page(STEPS))
    return folder


@pytest.fixture
def page(browser: Browser, folder: Path) -> Browser:
    """The report, in the order of its files."""
    browser.open(folder / "first.html")
    sorted_by(browser, "file")
    return browser


def sorted_by(browser: Browser, order: str) -> None:
    browser.run(
        "const select = document.querySelector('.pair select'); select.value = arguments[0];"
        "select.dispatchEvent(new Event('change'))",
        order,
    )


def lit(browser: Browser, kind: str) -> list[int]:
    """Numbers of the sentences or claims that are lit up."""
    script = (
        "return [...document.querySelectorAll(arguments[0] + ' > li')]"
        ".flatMap((item, n) => item.classList.contains('lit') ? [n + 1] : [])"
    )
    return list(browser.run(script, f".{kind}"))


def names(browser: Browser) -> list[str]:
    return browser.texts(".traces .name")


# Overview -------------------------------------------------------------------------------


def test_overview(page: Browser, folder: Path) -> None:
    audits = [json.loads(line) for line in (folder / "first.jsonl").read_text().splitlines()]
    claims = [claim for audit in audits for claim in audit["claims"] if claim["relations"]]
    entailed = sum(claim["verdict"] == "entailed" for claim in claims) / len(claims)
    label = page.one(".bar").get_attribute("aria-label")
    assert label.startswith(f"entailed {100 * entailed:.1f} %, ")
    assert page.texts(".histogram h4") == [
        "symbolizability", "unknown rate", "determinacy", "applicability",
    ]  # fmt: skip
    first = [c["index"] for a in audits for c in a["claims"] if c["first_conflict"]]
    chart = page.one(".columns.conflict").get_attribute("aria-label")
    assert f"claim 1: {first.count(1)}, claim 2: {first.count(2)}" in chart
    assert page.texts(".plots h4") == ["Reliability", "Risk and coverage"]
    assert page.complaints() == []


def test_no_labels_no_reliability(browser: Browser, tmp_path: Path) -> None:
    written(tmp_path / "r.html", [{**trace, "correct": None} for trace in traces(3)])
    browser.open(tmp_path / "r.html")
    assert browser.texts(".plots h4") == []


def test_report_without_traces(browser: Browser, tmp_path: Path) -> None:
    written(tmp_path / "r.html", [])
    browser.open(tmp_path / "r.html")
    assert browser.texts(".sheet") == ["There is no trace."]
    assert browser.complaints() == []


# The list -------------------------------------------------------------------------------


def test_pages(page: Browser) -> None:
    assert len(names(page)) == 50
    assert page.texts(".pager p") == ["1–50 of 130 traces"]
    page.run("document.querySelector('[aria-label=\"Next page\"]').click()")
    assert page.texts(".pager p") == ["51–100 of 130 traces"]
    assert names(page)[0] == "made-41"


def test_filters_add_up(page: Browser) -> None:
    rows = page.run("return DATA.rows")
    ends = [row for row in rows if row["verdicts"][-1] in ("contradicted", "entailed")]
    page.choose("contradicted")
    page.choose("entailed")
    assert names(page) == [row["id"] for row in ends][:50]
    page.choose("conditional")
    both = [row["id"] for row in ends if row["conditional"]]
    assert names(page) == both[:50]
    page.choose("wrong")
    assert names(page) == [r["id"] for r in ends if r["conditional"] and r["label"] is False][:50]


def test_search_reads_scenes_and_claims(page: Browser) -> None:
    box = page.one("input[type=search]")
    box.send_keys("FRIDGE kitchen-wr")
    page.run("return new Promise((done) => setTimeout(done, 300))")
    assert names(page) == ["kitchen-wrong"]
    box.send_keys(" zebra")
    page.run("return new Promise((done) => setTimeout(done, 300))")
    assert names(page) == []
    assert page.one(".nothing").is_displayed()


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("score", lambda row: row["score"]),
        ("sure", lambda row: -row["score"]),
        ("first", lambda row: row["first"] or 10**9),
        ("claims", lambda row: -len(row["verdicts"])),
        ("determinacy", lambda row: row["determinacy"]),
    ],
)
def test_sorting(page: Browser, order: str, key: Any) -> None:
    rows = page.run("return DATA.rows")
    sorted_by(page, order)
    assert names(page) == [row["id"] for row in sorted(rows, key=key)][:50]


def test_the_first_wrong_trace_is_open_with_its_premises(browser: Browser, folder: Path) -> None:
    """Nothing has to be pressed: it is the first of the list, with a claim and the reason."""
    browser.open(folder / "first.html")
    rows = browser.run("return DATA.rows")
    first = next(row for row in rows if "contradicted" in row["verdicts"])
    assert names(browser)[0] == first["id"] == browser.texts(".sheet h2")[0] == "kitchen-wrong"
    assert browser.texts(".traces .why")[0] == (
        "4. The oven is to the upper left of the fridge. (oven is to the upper left of fridge: cannot "
        "hold together with scene 1 and scene 2)"
    )
    assert lit(browser, "scene") == [1, 2]
    wrong = ["contradicted" in row["verdicts"] for row in rows]
    listed = [next(r for r in rows if r["id"] == name) for name in names(browser)]
    assert sum("contradicted" in row["verdicts"] for row in listed) == min(50, sum(wrong))


def test_a_filter_changes_what_is_shown(page: Browser) -> None:
    page.choose("entailed")
    assert page.texts(".sheet h2") == names(page)[:1] == ["kitchen-right"]
    box = page.one("input[type=search]")
    box.send_keys("zebra")
    page.run("return new Promise((done) => setTimeout(done, 300))")
    assert page.texts(".sheet") == ["No trace is like that."]


def test_model_filter(page: Browser) -> None:
    page.run(
        "const select = [...document.querySelectorAll('.field')]"
        ".find((label) => label.firstChild.textContent === 'model').querySelector('select');"
        "select.selectedIndex = 1; select.dispatchEvent(new Event('change'))"
    )
    assert len(names(page)) == 10
    assert page.texts(".pager p") == ["1–10 of 10 traces (130 in all)"]


# One trace ------------------------------------------------------------------------------


def test_words_are_underlined_and_verdicts_coloured(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=kitchen-wrong")
    assert browser.texts(".scene u") == [
        "oven is above the sink",
        "sink is to the right of the fridge",
        "table is near the window",
    ]
    assert browser.texts(".claims .side .tag")[2:4] == ["· nothing read", "✕ contradicted"]
    script = "return getComputedStyle(document.querySelectorAll('.claims > li')[arguments[0]]).borderLeftColor"
    colours = [browser.run(script, n) for n in (0, 3)]
    assert colours == ["rgb(58, 163, 146)", "rgb(212, 82, 90)"]


def test_premises_light_up_on_hover_and_go_out(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=guess-chain")
    # The first conflict is shown from the start: claim 4 rests on claim 3.
    assert (lit(browser, "scene"), lit(browser, "claims")) == ([], [3])
    browser.hover(".claims > li:nth-child(3) .said")
    assert (lit(browser, "scene"), lit(browser, "claims")) == ([], [1, 2])
    browser.hover("h1")
    assert lit(browser, "claims") == [3]


def test_sentence_lights_up_the_claims_that_rest_on_it(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=kitchen-right")
    browser.hover(".scene > li:nth-child(1) .said")
    assert lit(browser, "claims") == [2, 3, 4]
    browser.hover(".scene > li:nth-child(3) .said")
    assert lit(browser, "claims") == []


def test_conditional_verdicts_are_marked(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=guess-chain")
    marked = browser.texts(".claims > li:nth-child(3) .tag")
    assert "conditional: unknown by the scene alone" in marked
    assert not any("conditional" in t for t in browser.texts(".claims > li:nth-child(1) .tag"))


def test_keyboard_alone(page: Browser) -> None:
    for _ in range(60):
        page.press(Keys.TAB)
        if page.run("return document.activeElement.matches('.traces > li')"):
            break
    page.press(Keys.HOME, Keys.ARROW_DOWN)
    assert page.texts(".sheet h2") == ["kitchen-wrong"]
    page.press(Keys.END)
    assert page.texts(".sheet h2") == ["made-40"]
    page.press(Keys.HOME, Keys.ARROW_DOWN)
    while not page.run("return document.activeElement.matches('.claims > li')"):
        page.press(Keys.TAB)
    page.press(Keys.HOME)
    assert lit(page, "scene") == [2]
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert lit(page, "scene") == [1, 2]
    page.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ENTER)
    chosen = page.run(
        "return document.querySelector('.claims > [aria-selected=true] .number').textContent"
    )
    assert chosen == "1"
    # The list is one stop: the next one is outside of it.
    page.press(Keys.TAB)
    assert page.run("return document.activeElement.closest('.claims')") is None
    assert lit(page, "scene") == [2]  # what was chosen stays


def test_neighbours(page: Browser) -> None:
    next_one = "document.querySelector('[aria-label=\"Next trace\"]').click()"
    assert page.texts(".sheet h2") == ["kitchen-wrong"]  # the second one of the file
    for _ in range(49):
        page.run(next_one)
    assert page.texts(".sheet h2") == ["made-41"]
    assert page.texts(".pager p") == ["51–100 of 130 traces"]
    assert page.run("return new URLSearchParams(location.hash.slice(1)).get('trace')") == "made-41"


# Pictures -------------------------------------------------------------------------------


def boxes(browser: Browser) -> dict[str, list[float]]:
    """Left, top, right and bottom of each thing that is drawn."""
    script = (
        "return [...document.querySelectorAll('.canvas:not(.clash) .named')].map((g) => {"
        "const r = g.querySelector('rect').getBoundingClientRect();"
        "return [g.querySelector('title').textContent, [r.left, r.top, r.right, r.bottom]]})"
    )
    return dict(browser.run(script))


def test_layout_shows_where_things_are(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=kitchen-wrong")
    drawn = boxes(browser)
    assert drawn["oven"][3] < drawn["sink"][1]  # above
    assert drawn["fridge"][2] < drawn["sink"][0]  # to its left
    assert set(drawn) == {"oven", "sink", "fridge", "table", "window"}
    assert "of possibly many" in browser.texts(".picture h3")[0]


def test_claimed_position_against_the_possible_region(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=kitchen-wrong")
    drawn = boxes(browser)
    at = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]"
    claimed = browser.run(at, ".canvas rect.claimed")
    possible = browser.run(at, ".canvas rect.possible")
    fridge = drawn["fridge"]
    assert claimed[2] <= fridge[0] and claimed[3] <= fridge[1]  # upper left of the fridge
    assert possible[0] >= fridge[2] and possible[3] <= fridge[1]  # upper right of it
    oven = drawn["oven"]
    assert possible[0] <= oven[0] and oven[2] <= possible[2]
    assert browser.texts(".caption p")[1:] == [
        "claimed, seen from fridge: upper left",
        "the scene alone allows: upper right",
    ]


def test_containment_is_nested(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=boxes")
    drawn = boxes(browser)
    for inner, outer in (("ring", "blue box"), ("blue box", "red box")):
        (a, b, c, d), (e, f, g, h) = drawn[inner], drawn[outer]
        assert e < a and f < b and c < g and d < h
    assert drawn["coin"][0] > drawn["red box"][2]


def test_rooms_of_an_extent_are_drawn_in_what_they_are_in(browser: Browser, tmp_path: Path) -> None:
    scene = [
        *("The kitchen is inside the apartment.", "The bath is inside the apartment."),
        *("The fridge is in the kitchen.", "The stove is in the kitchen."),
        *("The fridge is left of the stove.", "The kitchen is left of the bath."),
        *("The apartment is left of the park.", "The TV is between the bath and the park."),
    ]
    trace = {"id": "a", "scene": scene, "question": "", "response": "The park is left of the bath."}
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps(trace) + "\n", encoding="utf-8")
    report = str(tmp_path / "r.html")
    command = ["audit", str(file), "--profile", "everyday", "--jobs", "1", "--report", report]
    assert CliRunner().invoke(main, command).exit_code == 0
    browser.size(1280, 1000)
    browser.open(tmp_path / "r.html")
    drawn = boxes(browser)
    assert set(drawn) == {"kitchen", "apartment", "bath", "fridge", "stove", "park", "TV"}
    for inner, outer in (("kitchen", "apartment"), ("bath", "apartment"), ("fridge", "kitchen")):
        (a, b, c, d), (e, f, g, h) = drawn[inner], drawn[outer]
        assert e < a and f < b and c < g and d < h
    for first, second in (("fridge", "stove"), ("kitchen", "bath"), ("apartment", "park")):
        assert drawn[first][2] <= drawn[second][0]
    # No label covers another, and nothing has to be scrolled.
    overlapping = browser.run(
        "const rects = [...document.querySelectorAll('.canvas:not(.clash) text')]"
        ".map((text) => text.getBoundingClientRect());"
        "return rects.some((a, n) => rects.slice(n + 1).some((b) => a.left < b.right && "
        "b.left < a.right && a.top < b.bottom && b.top < a.bottom))"
    )
    assert not overlapping
    scrolled = "const c = document.querySelector('.canvas'); return c.scrollWidth > c.clientWidth"
    assert not browser.run(scrolled)


def test_conflict_cycle_in_red(browser: Browser, folder: Path) -> None:
    browser.open(folder / "first.html", "#trace=kitchen-wrong")
    assert sorted(browser.texts(".clash .cycle-text")) == [
        "above · scene 1",
        "right · scene 2",
        "upper left · claim 4",
    ]
    red = browser.run("return getComputedStyle(document.querySelector('.clash .cycle')).stroke")
    assert red == "rgb(168, 31, 38)"
    browser.open(folder / "first.html", "#trace=contradictory-scene")
    assert sorted(browser.texts(".clash .cycle-text")) == [f"left · scene {n}" for n in (1, 2, 3)]
    assert boxes(browser) == {}


# Untrusted text, looks, access ----------------------------------------------------------


def test_nothing_in_a_trace_runs(browser: Browser, tmp_path: Path) -> None:
    records = [hostile(1), hostile(2), hostile_relations()]
    written(tmp_path / "r.html", records)
    browser.open(tmp_path / "r.html")
    browser.one("input[type=search]").send_keys("<script>")
    browser.run("return new Promise((done) => setTimeout(done, 300))")
    for n in range(3):
        browser.run("document.querySelectorAll('.traces > li')[arguments[0]].click()", n)
        for claim in browser.all(".claims > li"):
            claim.click()
    assert browser.run("return window.hit === undefined")
    assert browser.all("img, iframe, object, embed, a, body script:not([type]) ~ *") == []
    assert browser.run("return document.scripts.length") == 3
    assert HOSTILE in browser.texts(".claims .said")[0]
    assert browser.complaints() == []


def test_page_needs_no_network(page: Browser) -> None:
    loaded = page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert loaded == []


def test_dark_mode(browser: Browser, folder: Path) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    browser.open(folder / "first.html", prefers_color_scheme="light")
    light = browser.run(ground)
    browser.open(folder / "first.html", prefers_color_scheme="dark")
    assert (light, browser.run(ground)) == ("rgb(246, 247, 248)", "rgb(20, 23, 27)")


def test_phone(browser: Browser, folder: Path) -> None:
    browser.size(390, 844)
    for name in ("first", "compared"):
        browser.open(folder / f"{name}.html")
        assert not browser.run(WIDER)
    browser.open(folder / "first.html")
    assert not browser.one(".sheet").is_displayed()
    browser.run("document.querySelectorAll('.traces > li')[1].click()")
    assert browser.one(".sheet").is_displayed()
    assert not browser.one(".finder").is_displayed()
    assert not browser.run(WIDER)
    browser.one(".back").click()
    assert browser.one(".finder").is_displayed()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(
    browser: Browser, folder: Path, axe: str, scheme: str, width: int
) -> None:
    browser.size(width, 1000)
    pages = [("first", f"#trace={name}") for name in ("kitchen-wrong", "contradictory-scene")]
    found = {}
    for name, anchor in [*pages, ("compared", ""), ("labels", "")]:
        browser.open(folder / f"{name}.html", anchor, prefers_color_scheme=scheme)
        # By the debugger: the page's policy lets no other script in.
        browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
        found[name, anchor] = browser.violations()
    assert found == {key: [] for key in found}


# Comparisons ----------------------------------------------------------------------------


def test_comparison(browser: Browser, folder: Path) -> None:
    browser.open(folder / "compared.html")
    told = CliRunner().invoke(
        main,
        ["compare", str(folder / "first.jsonl"), str(folder / "second.jsonl"), "--format", "json"],
    )
    found = json.loads(told.stdout)
    total = sum(kind["count"] for kind in found["flips"])
    assert browser.texts(".pager p") == [f"1–50 of {total} flips"]
    kind = found["flips"][0]
    browser.choose(f"{kind['before']}>{kind['after']}>{str(kind['only_grounded']).lower()}")
    assert browser.texts(".pager p") == [
        f"1–{min(50, kind['count'])} of {kind['count']} flips ({total} in all)"
    ]
    assert browser.texts(".flips strong")[0] == kind["examples"][0]["id"]
    assert browser.complaints() == []


# Labels by people -------------------------------------------------------------------------


STEPS = [
    {"id": f'the "{n}", so', "scene": "A is left of B.", "question": "", "steps": ["S <b>."] * n}
    for n in (1, 2)
]


def test_labels_that_people_give_are_saved_and_kept(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(annotation_page(STEPS))
    browser.open(file)
    assert browser.texts("legend") == ["1. S <b>.", "1. S <b>.", "2. S <b>."]
    for place in (
        0,
        4,
        8,
    ):  # the first step is right, the second wrong, of the third nothing is said
        browser.all("input")[place].click()
    assert browser.texts("#about") == ["3 of 3 steps in 2 traces"]
    saved = unquote(browser.one("#save").get_attribute("href").partition(",")[2])
    (tmp_path / "labels.csv").write_text(saved, encoding="utf-8")
    people = HumanLabels(tmp_path / "labels.csv")
    found = [people({"id": t["id"], "reasoning": t["steps"]}) for t in STEPS]
    assert found == [[1, None], [0, None, None]]
    browser.open(file)  # and the browser still has them
    assert browser.texts("#about") == ["3 of 3 steps in 2 traces"]
    assert browser.one("input:checked").get_attribute("value") == "1"
    assert browser.complaints() == []
