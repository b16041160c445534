"""The HTML pages in a headless Chromium: no errors, keyboard access, readability, speed with ten thousand sites.

Without a Chromium, these tests are skipped with the message that they did not run.
"""

from __future__ import annotations

import base64
import os
from functools import cache
from urllib.parse import quote

import pytest
from pages import OPCODES, Windows, axe, browser, data_of, large_page, requests_report
from paths import ROOT
from reports import kernel, report, site
from test_page import HOSTILE, hostile

import ptxaudit
from bench import report_pictures
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.hardware import banks, machines
from ptxaudit.review.diff.history import History
from ptxaudit.review.diff.reports import diff_reports
from ptxaudit.ui.render.changes_html import diff_html
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.history import history_svg
from ptxaudit.ui.render.html import html
from ptxaudit.ui.render.page.material import Material
from ptxaudit.ui.render.rows import SPILLED, kernel_rows
from samples import SAMPLES

PICTURES = ROOT / "docs" / "report"
SIZES = {"wide": (1440, 900), "narrow": (400, 800)}
PAINTED_SECONDS = 1.0
MOST_LOOKS = 1500
LAST_ROW_IS_DRAWN = (
    "[...document.querySelectorAll('.row')].some(row => Number(row.getAttribute('aria-rowindex')) > 9000)"
)
VIEWS = ("#overview", "#sites", "#source", "#kernels", "#findings")


@pytest.fixture(scope="module")
def running():
    try:
        with browser() as found:
            yield Windows(found)
    except LookupError as missing:
        if os.environ.get("PTXAUDIT_BROWSER") == "required":
            raise
        pytest.skip(f"NOT RUN: the pages were not tried in a browser: {missing}")


@pytest.fixture(scope="module")
def sample():
    folder = SAMPLES / "bitonic_sort"
    source = folder / "bitonic_sort.cu"
    found = ptxaudit.audit(source, launches=read_launches(folder / "launch.toml"), patterns=True, fixes=True)
    return html(Checked(found), Material({found.kernels[0].sites[0].source.file: source.read_text()}))


def until(page, condition, arg=None):
    """Waits until the condition holds. (Playwright's own wait polls with `eval`, which the pages' policy forbids.)"""
    for _ in range(MOST_LOOKS):
        if page.evaluate(condition, arg):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"it does not come: {condition}")


class Opened:
    """A page in a window; `said` has its console messages, errors, dialogs and network requests."""

    def __init__(self, windows, tmp_path, text, size="wide", color_scheme="light", **options):
        wide, high = SIZES[size]
        self.windows, self.page = windows, windows.page(**options)
        self.page.set_viewport_size({"width": wide, "height": high})
        self.page.emulate_media(color_scheme=color_scheme)
        self.said: list[str] = []
        self._heard = {
            "console": lambda message: self.said.append(message.text),
            "pageerror": lambda error: self.said.append(str(error)),
            "dialog": lambda _: self.said.append("a dialog"),
            "request": self._requested,
        }
        for event, hear in self._heard.items():
            self.page.on(event, hear)
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        self.url = file.as_uri()
        self.page.goto(self.url)

    def _requested(self, request):
        if not request.url.startswith(("file:", "data:")):
            self.said.append(request.url)

    def go(self, view):
        if not view:
            return
        self.page.evaluate("view => { location.hash = view; }", view)
        until(self.page, "view => decodeURIComponent(location.hash) === decodeURIComponent(view)", arg=view)
        self.page.wait_for_timeout(60)  # a frame or two: lists draw only what is visible

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            self.windows.closed(self.page)
            return
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)
        self.windows.emptied(self.page)


def views_of(text):
    data = data_of(text)
    views = list(VIEWS)
    if data["sites"]:
        one = next((one for one in data["sites"] if "q" in one), data["sites"][0])
        name = data["kernels"][one["k"]]["name"]
        suffix = data["texts"][one["i"]]
        views += [
            f"#site={quote(suffix[1:] if suffix.startswith(chr(0)) else name + suffix)}",
            f"#kernel={quote(name)}",
        ]
    if data["memory"]:
        one = next((one for one in data["memory"] if "q" in one), data["memory"][0])
        name = data["kernels"][one["k"]]["name"]
        views += ["#memory", f"#memory={quote(name + data['texts'][one['i']])}", f"#kernel={quote(name)}"]
    return views


MEMORY = """
extern "C" __global__ void __launch_bounds__(64) k(const float* in, float* out, int n) {
    float own[24];
    for (int i = 0; i < 24; i++) own[i] = in[threadIdx.x * 3 + i];
    for (int r = 0; r < n; r++) out[r * 64 + threadIdx.x] = own[(threadIdx.x + r) % 24];
    atomicAdd(out, 1.0f);
}
"""


@cache
def of_memory():
    """A kernel that accesses global and local memory, but not shared memory."""
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[1 << 20, 1 << 24, 3])
    return html(Checked(ptxaudit.audit(MEMORY, space="all", launches=[launch], patterns=True)))


SPREAD = """
extern "C" __global__ void k(float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * STRIDE] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * STRIDE];
}
"""
SPREAD_LAUNCH = ptxaudit.Launch("k", grid=1, block=64)

PAGES = {
    "memory": of_memory,
    "requests": lambda: html(Checked(requests_report(12))),
    "hostile": lambda: html(Checked(hostile())),
    "nothing": lambda: html(Checked(report())),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_every_view_fits_without_console_errors(running, tmp_path, name, size):
    text = PAGES[name]()
    with Opened(running, tmp_path, text, size) as one:
        for view in views_of(text):
            one.go(view)
            assert one.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0], view
            assert one.page.locator("main h1").count() >= 1, view
        assert one.page.evaluate("window.hacked") is None
        assert one.said == []


LOOKS = [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]
DRAWN_TEXT = """() => [...document.querySelectorAll("svg text")].map(text => {
    const channel = part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(part => channel(part / 255))
        .reduce((all, part, at) => all + part * [.2126, .7152, .0722][at], 0);
    const cell = text.previousElementSibling;
    let under = cell && cell.matches("rect") ? getComputedStyle(cell).fill : null;
    for (let node = text; under === null; node = node.parentElement) {
        const back = getComputedStyle(node).backgroundColor, sheet = node.matches("svg") && node.querySelector(":scope > rect");
        if (sheet) under = getComputedStyle(sheet).fill;
        else if (!back.endsWith(", 0)")) under = back;
    }
    const [low, high] = [light(getComputedStyle(text).fill), light(under)].sort((a, b) => a - b);
    return [Math.round(100 * (high + .05) / (low + .05)) / 100, text.textContent];
})"""
LEAST_CONTRAST = 4.5  # Web Content Accessibility Guidelines 2.2, 1.4.3


ALL, COLOURS = {}, {"runOnly": ["color-contrast", "link-in-text-block"]}  # axe-core's rules


def readable(running, tmp_path, text, size, scheme, views, rules=ALL):
    """Checks views with axe-core (names, roles, contrast), and the contrast of text in pictures, which it skips."""
    with Opened(running, tmp_path, text, size, color_scheme=scheme, bypass_csp=True) as one:
        one.page.evaluate(axe())
        for view in views:
            one.go(view)
            one.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            found = one.page.evaluate("rules => axe.run(document, rules)", {"resultTypes": ["violations"], **rules})
            found = found["violations"]
            assert [(rule["id"], rule["nodes"][0]["target"]) for rule in found] == [], view
            assert [text for text in one.page.evaluate(DRAWN_TEXT) if text[0] < LEAST_CONTRAST] == [], view


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_accessible_names_roles_and_contrast(running, tmp_path, sample, size, scheme):
    """Names and roles at each size; contrast at each size in each colour scheme."""
    rules = ALL if (size, scheme) in LOOKS[::3] else COLOURS
    readable(running, tmp_path, sample, size, scheme, views_of(sample), rules)


@pytest.mark.parametrize(("size", "scheme"), LOOKS[::3])
@pytest.mark.parametrize("name", PAGES)
def test_accessible_names_roles_and_contrast_of_other_reports(running, tmp_path, name, size, scheme):
    readable(running, tmp_path, PAGES[name](), size, scheme, views_of(PAGES[name]()))


@pytest.mark.parametrize(("size", "scheme"), LOOKS[::3])
def test_accessible_names_roles_and_contrast_of_diffs_and_pictures(running, tmp_path, size, scheme):
    for text in (changed(), pictures()):
        readable(running, tmp_path, text, size, scheme, [""])


def test_accessible_names_roles_and_contrast_of_ten_thousand_sites(running, tmp_path):
    readable(running, tmp_path, large(), "wide", "dark", [*VIEWS[:3], views_of(large())[len(VIEWS)]])


@cache
def changed():
    """A page of changes with the code of both sides."""
    old, new = (ptxaudit.audit(SPREAD.replace("STRIDE", str(stride)), launches=[SPREAD_LAUNCH]) for stride in (1, 8))
    return diff_html(diff_reports(old, new))


@cache
def pictures():
    """Content for other pages: the charts of a history, the picture of `explain --svg`, the cells of a notebook."""
    options = {"launches": [SPREAD_LAUNCH], "patterns": True}
    reports = [ptxaudit.audit(SPREAD.replace("STRIDE", str(stride)), **options) for stride in (1, 4, 8)]
    history = History(("a", "b", "c"), ("", "", ""), tuple(reports))
    worst = max(reports[-1].sites, key=lambda one: one.excess or 0)
    request = ptxaudit.score_request("ld.shared.f32", range(0, 4096, 128))
    shown = [history_svg(history), request._repr_html_(), worst._repr_html_(), reports[-1]._repr_html_()]
    body = "".join(f"<section>{one}</section>" for one in shown)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>pictures</title>'
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><main><h1>Pictures</h1>{body}</main></body></html>'


@cache
def large():
    return large_page(10_000)


def test_ten_thousand_sites_are_drawn_quickly(running, tmp_path):
    """Measures processor time of the page's thread until the overview is drawn: wall time is noisy on a busy host."""
    with Opened(running, tmp_path, large()) as one:
        meter = one.page.context.new_cdp_session(one.page)
        meter.send("Performance.enable", {"timeDomain": "threadTicks"})
        taken = []
        for _ in range(3):
            one.page.goto("about:blank")
            before = task_seconds(meter)
            one.page.goto(one.url)
            one.page.wait_for_selector(".tally")
            taken.append(task_seconds(meter) - before)
        assert min(taken) < PAINTED_SECONDS
        one.go("#sites")
        assert one.page.locator(".row").count() < 100
        assert "10,000 sites" in one.page.locator("#sum").inner_text()
        one.page.evaluate("document.querySelector('.vlist').scrollTop = 1e9")
        until(one.page, LAST_ROW_IS_DRAWN)
        assert one.said == []


def task_seconds(meter):
    return next(
        one["value"] for one in meter.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration"
    )


# --- content ------------------------------------------------------------------------------------


def test_map_has_a_row_per_wavefront(running, tmp_path):
    """The page draws what `banks` counts.

    Loads and stores of every width, atomics, matrices, some with inactive lanes.
    """
    text = html(Checked(requests_report(240)))
    with Opened(running, tmp_path, text) as one:
        drawn = one.page.evaluate("""() => ptxaudit.data.sites.map(site => {
            const rule = ptxaudit.data.rules[site.r];
            const groups = ptxaudit.layOut(rule, ptxaudit.data.shapes[site.q[0].sh]);
            return [ptxaudit.drawnRows(groups), site.q[0].hi === undefined ? site.q[0].lo : null,
                    groups.map(group => [group.lanes, group.rows.map(row => row.map(cell => cell.lanes))])];
        })""")
    assert len(drawn) == 240 and sum(low is not None for _, low, _ in drawn) > 190
    assert [rows for rows, low, _ in drawn if low is not None] == [low for _, low, _ in drawn if low is not None]
    for at, (given, (_, _, groups)) in enumerate(zip(requests_report(240).sites, drawn, strict=True)):
        pattern, machine = given.patterns[0], machines.get("sm_90")
        active = [pattern.active >> lane & 1 == 1 for lane in range(32)]
        expected = banks.groups(machine, banks.classify(OPCODES[at % len(OPCODES)]), pattern.addresses, active)
        assert [tuple(lanes) for lanes, _ in groups] == [(group.lanes[0], group.lanes[-1]) for group in expected]
        for (_, rows), group in zip(groups, expected, strict=True):
            assert sorted(lane for row in rows for lanes in row for lane in lanes) == list(group.active)
            assert len(rows) == group.wavefronts or not group.active


def test_keyboard_navigation_and_links(running, tmp_path, sample):
    with Opened(running, tmp_path, sample) as one:
        page = one.page
        page.keyboard.press("2")
        page.wait_for_selector(".row")
        page.keyboard.press("j")
        page.wait_for_selector(".detail h1")
        first = page.evaluate("location.hash")
        page.keyboard.press("j")
        until(page, "before => location.hash !== before", arg=first)
        assert first.startswith("#site=") and page.locator(".row.on").count() == 1
        page.goto(one.url + first)
        page.reload()
        page.wait_for_selector(".detail .map svg")
        page.keyboard.press("Escape")
        until(page, "location.hash.startsWith('#sites')")
        page.keyboard.press("/")
        page.keyboard.type("sort_keys ld.shared")
        until(page, "location.hash.includes('q=')")
        shown = page.evaluate("[...document.querySelectorAll('.row')].map(row => row.textContent)")
        assert shown and all("ld.shared" in text for text in shown)
        page.reload()
        assert page.evaluate("[...document.querySelectorAll('.row')].map(row => row.textContent)") == shown
        assert one.said == []


def test_requests_are_browsed_by_warp_and_trip(running, tmp_path, sample):
    data = data_of(sample)
    site_ = max(data["sites"], key=lambda one: len(one["q"]))
    assert len(site_["q"]) > 4
    with Opened(running, tmp_path, sample) as one:
        page = one.page
        one.go(f"#site={quote(data['kernels'][site_['k']]['name'] + data['texts'][site_['i']])}")
        said = page.locator(".stepper .where")
        assert said.inner_text().startswith(f"request 1 of {len(site_['q'])}")
        page.keyboard.press("]")
        assert said.inner_text().startswith("request 2 of")
        page.keyboard.press("[")
        trip = site_["q"][-1]["seen"][0][0]
        page.get_by_role("combobox", name="trip").select_option(str(trip))
        fitting = [one for one in site_["q"] if any(first <= trip <= last for first, last, _ in one["seen"])]
        assert said.inner_text().startswith(f"request 1 of {len(fitting)}") and len(fitting) < len(site_["q"])
        assert one.said == []


def test_sites_are_sorted_and_filtered(running, tmp_path, sample):
    with Opened(running, tmp_path, sample) as one:
        page = one.page
        one.go("#sites")
        page.get_by_role("button", name="Wavefronts").click()
        cells = page.evaluate("[...document.querySelectorAll('.row')].map(row => row.children[5].textContent)")
        numbers = [int(text.replace(",", "")) for text in cells if text.replace(",", "").isdecimal()]
        assert numbers == sorted(numbers, reverse=True)
        page.get_by_label("any access").select_option("store")
        opcodes = page.evaluate("[...document.querySelectorAll('.row code')].map(code => code.textContent)")
        assert {opcode[:2] for opcode in opcodes} == {"st"} and numbers
        assert "a=store" in page.evaluate("location.hash")


# `bad` exists only as PTX; `good` exists as both, and counts as machine code
MIXED = report(
    kernel(site(wavefronts=256), name="bad"),
    kernel(site(wavefronts=16), name="good"),
    kernel(site(ptx_line=None, offset=16, opcode="LDS"), name="good", isa="sass"),
)


def test_page_totals_count_each_kernel_once(running, tmp_path):
    with Opened(running, tmp_path, html(Checked(MIXED))) as one:
        assert "cost 248 of 264 wavefronts" in one.page.locator("h1").inner_text()
        assert "264 wavefronts of 2 exact sites, in machine code where there is any" in one.page.inner_text(".legend")
        one.go("#sites")
        shown = one.page.evaluate("[...document.querySelectorAll('.row code')].map(code => code.textContent)")
        assert shown == ["ld.shared.f32", "LDS"]
        one.page.get_by_label("Instruction set").select_option("ptx")
        assert one.page.locator(".row").count() == 2 and one.said == []


# on one line: an access, its copy, and a register that is spilled there
FOLDED = report(kernel(site(), site(offset=16), site(id="k@spilled", offset=32, kind="spill", wavefronts=64)))


def test_page_folds_copies_as_the_text_report(running, tmp_path):
    with Opened(running, tmp_path, html(Checked(FOLDED))) as one:
        one.go("#sites")
        shown = one.page.evaluate("[...document.querySelectorAll('.row')].map(row => row.firstChild.textContent)")
        assert [text.strip() for text in shown] == [row.cells[0] for row in kernel_rows(FOLDED.kernels[0])]
        one.page.locator(".row a").first.click()
        assert SPILLED in one.page.locator(".detail").inner_text() and one.said == []


def test_selecting_a_source_line_marks_its_code(running, tmp_path, sample):
    with Opened(running, tmp_path, sample) as one:
        one.go("#source")
        rows = one.page.locator(".code.site:has(.m:not(:empty))")
        rows.first.click()
        assert one.page.locator(".code.on").count() >= 1
        assert one.page.evaluate("/:\\d+/.test(decodeURIComponent(location.hash))")
        assert "excess" in one.page.locator(".info").inner_text()
        assert one.said == []


def test_diff_page_is_drawn_with_hostile_names(running, tmp_path):
    old, new = (report(kernel(site(1, wavefronts=cost), name=HOSTILE, demangled=HOSTILE)) for cost in (8, 64))
    text = diff_html(diff_reports(old, new))
    for size in SIZES:
        with Opened(running, tmp_path, text, size) as one:
            assert "got worse" in one.page.locator("h1").inner_text()
            one.page.get_by_label("Search kernels and sites").fill("nothing like it")
            assert one.page.locator("section.change:visible").count() == 0
            one.page.get_by_label("Search kernels and sites").fill("window.hacked")
            assert one.page.locator("section.change:visible").count() == 1
            assert one.page.evaluate("window.hacked") is None and one.said == []
            assert one.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]


def test_printed_site_has_its_map_without_buttons(running, tmp_path, sample):
    with Opened(running, tmp_path, sample) as one:
        one.go(views_of(sample)[5])
        one.page.emulate_media(media="print")
        assert one.page.locator(".map svg").first.is_visible()
        assert not one.page.locator(".bar").is_visible() and not one.page.locator(".list").is_visible()
        assert one.page.pdf()[:5] == b"%PDF-"


def test_memory_sites_have_tables_and_a_map(running, tmp_path):
    data = data_of(of_memory())
    apart = next(one for one in data["memory"] if one["sp"] == "global" and one["ex"])
    with Opened(running, tmp_path, of_memory()) as opened:
        opened.go("#memory")
        page = opened.page
        assert [one.text_content() for one in page.query_selector_all("main h2")] == ["Global memory", "Local memory"]
        rows = page.query_selector_all("main tbody tr")
        assert len(rows) > 4
        page.click(f"text={data['texts'][apart['p']]}")
        page.wait_for_selector("table.sectors")
        cells = page.query_selector_all("table.sectors td.part, table.sectors td.whole")
        assert len(cells) == apart["q"][0]["lo"] > apart["q"][0]["id"]
        assert "lane" not in (cells[0].text_content() or "") and cells[0].text_content().endswith(" B")
        if len(apart["q"]) > 1:
            before = page.text_content("[role=status]")
            page.keyboard.press("]")
            assert page.text_content("[role=status]") != before
        opened.go("#kernel=k")
        assert "of them spills" in page.text_content("main")
        assert opened.said == []


# --- the pictures of the documentation --------------------------------------------------------------

FARTHEST = 0.05  # of the pixels may differ: other fonts draw other edges
DIFFERENCE = """async ([one, other]) => {
    const drawn = async data => {
        const image = new Image();
        image.src = "data:image/webp;base64," + data;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), to = canvas.getContext("2d");
        to.drawImage(image, 0, 0);
        return to.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await drawn(one), await drawn(other)];
    if (a.width !== b.width || a.height !== b.height) return 1;
    let far = 0;
    for (let at = 0; at < a.data.length; at += 4)
        far += Math.max(...[0, 1, 2].map(of => Math.abs(a.data[at + of] - b.data[at + of]))) > 48;
    return far / (a.width * a.height);
}"""


def test_documentation_pictures_match_the_pages(running, tmp_path):
    """`make report-pictures` regenerates them."""
    report_pictures.take(running.browser, tmp_path)
    page = running.browser.new_page()
    shown = {path.name for path in PICTURES.glob("*.webp")}
    assert shown == {path.name for path in tmp_path.glob("*.webp")}
    for name in sorted(shown):
        pair = [base64.b64encode((folder / name).read_bytes()).decode() for folder in (PICTURES, tmp_path)]
        assert page.evaluate(DIFFERENCE, pair) < FARTHEST, name
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert all(f"report/{name}" in text for name in shown)
