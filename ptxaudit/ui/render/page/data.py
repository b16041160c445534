"""The data of a report's page as plain values for JSON, with each text and each request stored once.

    Checked(Report(kernels=(Kernel(…),)))  ->  {"kernels": [{"name": "k", …}], "sites": [{"k": 0, "wf": 1024, …}], …}

Null and empty keys are left out. A page stays below ten megabytes: sources, code and requests have a budget each,
spent on the costliest kernels first. What does not fit is cut to the lines around sites, or left out with a note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from ptxaudit.base.demangle import demangle
from ptxaudit.base.errors import InputError
from ptxaudit.base.places import base_name
from ptxaudit.base.version import __version__
from ptxaudit.base.words import bare_name
from ptxaudit.hardware import banks, machines
from ptxaudit.pipeline.code_lines import CodeLine, Key, key_of
from ptxaudit.report.counterparts import kernels_once, partners
from ptxaudit.report.model import AnySite, Frame, Kernel, Loop, MemorySite, Pattern, Site, Source
from ptxaudit.report.paths import below, place
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.memory import KINDS, memory_weight
from ptxaudit.ui.render.page.entries import (
    Texts,
    agree,
    around,
    chosen,
    place_of,
    present,
    short,
    span_of,
    steps,
    trips_of,
    value_of,
)
from ptxaudit.ui.render.page.material import Material, costliest
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import SPILLED, closing_lines, verdict_line, weight
from ptxaudit.ui.render.sectormap import sector_lines

SOURCE_SHARE = 1_500_000  # characters of sources
CODE_SHARE = 2_600_000  # characters of PTX and machine code
MOST_PATTERNS = 8  # per site
PATTERN_SHARE = 2_300_000  # characters of requests: first the costliest of every site, then the most frequent, …
MOST_FINDINGS = 1_000
AROUND_SOURCE, AROUND_CODE = 12, 8  # lines to keep around a site if the whole does not fit
NAME_SHARE = 1_000_000  # characters of kernel names
LONGEST_NAME, SHORTEST_NAME = 2_000, 160  # characters of one name; the middle of a longer one is left out
_MANGLED = re.compile(r"\b_Z\w+")


class Page:
    """Collects the data of one page."""

    def __init__(self, checked: Checked, material: Material) -> None:
        self.checked, self.material = checked, material
        self.report = checked.report
        self.texts = Texts()
        self.files: dict[str, int] = {}
        self.rules: dict[str, int | None] = {}
        self.rule_list: list[dict[str, Any]] = []
        self.shapes: dict[tuple[tuple[int, ...], int, bool], int] = {}
        self.shape_list: list[list[Any]] = []
        self.number_of: dict[int, int] = {}  # id(site) -> number
        self.memory_number: dict[int, int] = {}  # the same for global and local memory
        self.known: dict[int, dict[int, str]] = defaultdict(dict)  # file -> line -> text
        self.left = PATTERN_SHARE

    def data(self) -> dict[str, Any]:
        """All data of the page."""
        report = self.report
        for kernel in report.kernels:
            for site in kernel.sites:
                self.number_of[id(site)] = len(self.number_of)
        for at, access in enumerate(access for kernel in report.kernels for access in kernel.memory):
            self.memory_number[id(access)] = at
        sites = [self._site(k, kernel, site) for k, kernel in enumerate(report.kernels) for site in kernel.sites]
        self._requests(sites)
        memory = [self._of_memory(k, kernel, site) for k, kernel in enumerate(report.kernels) for site in kernel.memory]
        self._maps(memory)
        kernels = [self._kernel(kernel) for kernel in report.kernels]
        codes, code_of = self._codes()
        for kernel, entry in zip(report.kernels, kernels, strict=True):
            entry |= present(code=code_of.get(key_of(kernel)))
        for one, other in partners(report.kernels):
            kernels[one]["pair"], kernels[other]["pair"] = other, one
        once = set(map(id, kernels_once(report.kernels)))
        for kernel, entry in zip(report.kernels, kernels, strict=True):
            entry |= present(twice=None if id(kernel) in once else 1)
        return {
            "version": __version__,
            "title": self._title(),
            "verdict": verdict_line(report),
            "closing": [line.strip() for line in closing_lines(report)],
            "inputs": [
                present(
                    path=below(entry.path, self.checked.root), kind=entry.kind, toolchain=entry.toolchain, log=entry.log
                )
                for entry in report.inputs
            ],
            "recorded": list(dict.fromkeys(entry.command for entry in report.inputs if entry.command)),
            "kernels": kernels,
            "sites": sites,
            "memory": memory,
            "rules": self.rule_list,
            "shapes": self.shape_list,
            "codes": codes,
            "files": self._files(),
            "findings": [self._finding(result) for result in self.checked.results[:MOST_FINDINGS]],
            "found": len(self.checked.results),
            "problems": [problem_text(problem) for problem in report.problems],
            "texts": self.texts.all,
        }

    def _title(self) -> str:
        names = [base_name(entry.path) for entry in self.report.inputs]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _short(self, name: str) -> str:
        return short(name, max(SHORTEST_NAME, min(LONGEST_NAME, NAME_SHARE // (3 * len(self.report.kernels) or 1))))

    # --- kernels and sites ---

    def _kernel(self, kernel: Kernel) -> dict[str, Any]:
        totals, launch = kernel.totals, kernel.launch
        mine = {site.id: self.number_of[id(site)] for site in kernel.sites}
        others = {one.id: self.memory_number[id(one)] for one in kernel.memory}
        return present(
            name=self._short(kernel.name),
            dem=self._short(kernel.demangled),
            bare=self._short(bare_name(kernel.demangled)),
            isa=kernel.isa,
            arch=kernel.arch,
            machine=kernel.machine if kernel.machine != kernel.arch else None,
            input=below(kernel.input, self.checked.root),
            launch=str(launch) if launch else None,
            params=None
            if launch is None or launch.params is None
            else ", ".join("?" if value is None else value_of(value) for value in launch.params),
            dynamic=launch.dynamic_shared if launch else 0,
            assumed=[self._readable(one) for one in kernel.assumed],
            notes=list(kernel.notes),
            shared=kernel.shared_static,
            registers=kernel.registers,
            instructions=kernel.instructions,
            stack=kernel.stack,
            barriers=kernel.barriers,
            spills=kernel.spills.everywhere if kernel.spills else None,
            occupancy=[kernel.occupancy.percent, kernel.occupancy.blocks_per_sm, kernel.occupancy.limiter]
            if kernel.occupancy
            else None,
            complete=int(totals.complete),
            requests=totals.requests,
            wavefronts=totals.wavefronts,
            ideal=totals.ideal,
            excess=totals.excess,
            ways=totals.ways,
            first=min(mine.values(), default=0),
            count=len(kernel.sites),
            firstmem=min(others.values(), default=0),
            memory=len(kernel.memory),
            loops=[self._loop(loop, mine, others) for loop in kernel.loops],
        )

    def _loop(self, loop: Loop, mine: dict[str, int], others: dict[str, int]) -> dict[str, Any]:
        """mine, others: the numbers of the kernel's sites in shared memory, and in global and local memory, by id."""
        return present(
            f=self._file(loop.file),
            first=loop.first,
            last=loop.last,
            at=place_of(loop.offset, loop.ptx_line),
            depth=loop.depth,
            sites=[mine[one] for one in loop.sites if one in mine],
            memory=[others[one] for one in loop.sites if one in others],
        )

    def _access(self, k: int, kernel: Kernel, site: AnySite) -> dict[str, Any]:
        """The keys that sites of all memories share."""
        of = self.texts.of
        own = self.checked.place_of(site.source) if site.source else None
        return {
            "k": k,
            "i": of(site.id[len(kernel.name) :] if site.id.startswith(kernel.name) else "\0" + self._short(site.id)),
            "p": of(f"{base_name(own.file)}:{own.line}" if own else place(site, kernel)),
            "s": self._stack(site.source),
            "at": place_of(site.offset, site.ptx_line),
            "o": of(site.opcode),
            "t": of(site.text),
            "a": of(site.access),
            "w": site.width,
            "st": str(site.status),
            "re": of(self._readable(site.reason)),
            "kind": of(site.reason_kind),
            "ca": of(site.cause),
            "n": site.requests,
            "na": site.active_requests if site.active_requests != site.requests else None,
            "b": site.bounds,
            "per": span_of(site.per_request),
            "idp": span_of(site.ideal_per_request),
            "exp": span_of(site.excess_per_request),
            "ev": 1 if site.evidence == "measured" else None,
            "fo": of(site.formula),
            "co": [[one.when, one.low, one.high, one.ideal] for one in site.conditions],
            "cl": [[one.when, one.requests, one.low, one.high, one.ideal] for one in site.cases],
        }

    def _site(self, k: int, kernel: Kernel, site: Site) -> dict[str, Any]:
        return present(
            **self._access(k, kernel, site),
            what=self.texts.of(SPILLED) if site.kind == "spill" else None,
            wf=site.wavefronts,
            id=site.ideal,
            ex=site.excess,
            ways=site.ways,
            k4=[site.line_class_proved, site.line_class_max, site.lines_proved, site.lines, site.lines_ideal]
            if site.line_class_max is not None
            else None,
            tr=trips_of(site),
            pa=self._pairing(site),
            fix=self._fix(site),
            weight=round(weight((site,)), 1),
            r=self._rule(site.scored_as),
            d=site.distinct,
        )

    def _of_memory(self, k: int, kernel: Kernel, site: MemorySite) -> dict[str, Any]:
        """A site of global or local memory, with sectors instead of wavefronts."""
        return present(
            **self._access(k, kernel, site),
            sp=site.space,
            what=self.texts.of(KINDS[site.kind]) if site.kind else None,
            wf=site.sectors,
            id=site.sectors_ideal,
            ex=site.sectors_excess,
            tags=site.tag_requests,
            moved=site.bytes_moved,
            used=site.bytes_used,
            same=site.same_address,
            mis=int(bool(site.misaligned)),
            vec=site.vector,
            weight=round(memory_weight((site,)), 1),
            d=site.distinct,
        )

    def _maps(self, entries: Sequence[dict[str, Any]]) -> None:
        """Adds the requests of global and local memory to their entries, with the lanes' locations; see `_requests`."""
        every = [site for kernel in self.report.kernels for site in kernel.memory]
        sites = [
            (site, entry, chosen(site.patterns, MOST_PATTERNS)) for site, entry in zip(every, entries, strict=True)
        ]
        sites.sort(key=lambda one: -one[1]["weight"])
        for turn in range(MOST_PATTERNS):
            for site, entry, patterns in sites:
                if turn < len(patterns) and self.left > 0:
                    entry.setdefault("q", []).append(self._map(site, patterns[turn]))

    def _map(self, site: MemorySite, pattern: Pattern) -> dict[str, Any]:
        lanes = [lane for lane in range(len(pattern.addresses)) if pattern.active >> lane & 1]
        lines, count = sector_lines(site.space, site.width or 1, pattern.addresses, lanes)
        self.left -= 40 + 30 * len(lines)
        return present(
            sh=self._shape(pattern.addresses, pattern.active, False),
            n=pattern.count,
            lo=pattern.low,
            hi=pattern.high if pattern.high != pattern.low else None,
            id=pattern.ideal,
            map=[[line, *(0 if one is None else [one[0], one[1]] for one in cells)] for line, cells in lines],
            lines=count,
        )

    def _readable(self, text: str) -> str:
        """The text with variables named as in the source."""
        return _MANGLED.sub(lambda name: demangle(name[0]).rpartition("::")[2], text) if "_Z" in text else text

    def _stack(self, source: Source | None) -> list[Any] | None:
        """[file, line, function, …] of the access, then of each function that it is inlined into."""
        if source is None:
            return None
        found: list[Any] = []
        for at in source.places:
            file = self._number(at.file)
            if at.text:
                self.known[file][at.line] = at.text
            function = at.function if isinstance(at, Frame) else ""
            found += [file, at.line, self.texts.of(bare_name(function)) if function else 0]
        return found

    def _file(self, file: str | None) -> int | None:
        return None if file is None else self._number(file)

    def _number(self, file: str) -> int:
        return self.files.setdefault(file, len(self.files))

    def _pairing(self, site: Site) -> list[Any] | None:
        one = site.pairing
        return (
            None
            if one is None
            else [
                one.what,
                one.times,
                int(one.hoisted),
                int(one.by == "ptxas"),
                len(one.ptx),
                len(one.sass),
                *self._others(site),
            ]
        )

    def _others(self, site: Site) -> list[int]:
        """The ids of the other side, as texts, by which the page finds the partner's sites."""
        one = site.pairing
        assert one is not None
        ids = one.sass if site.id in one.ptx else one.ptx
        return [
            number
            for name in ids
            if (number := self.texts.of("@" + name.partition("@")[2] if "@" in name else name)) is not None
        ]

    def _fix(self, site: Site) -> dict[str, Any] | None:
        fix, of = site.fix, self.texts.of
        if fix is None:
            return None
        return present(
            array=of(self._readable(fix.array)),
            text=of(fix.summary),
            code=of(fix.declaration),
            wf=fix.wavefronts,
            ex=fix.excess,
            bytes=fix.bytes,
            proved=of(fix.proved_for),
            best=int(fix.optimum),
        )

    # --- requests ---

    def _rule(self, scored_as: str) -> int | None:
        """How a machine counts an opcode, as the page needs it to lay out the lanes of a request."""
        if not scored_as:
            return None
        if scored_as not in self.rules:
            self.rules[scored_as] = self._new_rule(scored_as)
        return self.rules[scored_as]

    def _new_rule(self, scored_as: str) -> int | None:
        opcode, _, machine = scored_as.rpartition(" on ")
        try:
            model, access = machines.get(machine), banks.classify(opcode)
        except InputError:
            return None
        rule = None if model.refusal(access) else model.rule(access)
        if rule is None:
            return None
        count, source = rule.count, model.sources.get(rule.source)
        self.rule_list.append(
            present(
                what=str(count.what),
                lanes=count.lanes,
                all=access.address_lanes or model.lanes,
                unit=count.unit,
                slots=count.slots,
                row=count.row,
                paired=count.paired,
                factor=count.factor if count.factor != 1 else None,
                split=rule.split if rule.split != 1 else None,
                word=model.word,
                banks=model.banks,
                width=access.width,
                says=rule.says,
                source=source.text if source else None,
                url=source.url if source else None,
            )
        )
        return len(self.rule_list) - 1

    def _requests(self, entries: Sequence[dict[str, Any]]) -> None:
        """Adds requests to the entries of sites while the budget lasts.

        First the costliest request of each site, then that request after a repair, then others; costly sites come
        first.
        """
        both = zip(self.report.every_site, entries, strict=True)
        sites = [(site, entry, chosen(site.patterns, MOST_PATTERNS)) for site, entry in both]
        sites.sort(key=lambda one: -one[1]["weight"])
        for turn in range(MOST_PATTERNS):
            for site, entry, patterns in sites:
                if turn < len(patterns) and self.left > 0:
                    entry.setdefault("q", []).append(self._pattern(patterns[turn], self._pairs(entry)))
            if turn == 0:
                for site, entry, _ in sites:
                    if site.fix is not None and (moved := site.fix.moved) is not None and self.left > 0:
                        shape = self._shape(moved.after, moved.active, self._pairs(entry))
                        entry["fix"]["moved"] = [shape, *moved.wavefronts]

    def _pairs(self, entry: dict[str, Any]) -> bool:
        """Whether the rule may serve lanes together that agree in pairs."""
        return "r" in entry and bool(self.rule_list[entry["r"]]["paired"])

    def _pattern(self, pattern: Pattern, paired: bool) -> dict[str, Any]:
        self.left -= 40 + 16 * len(pattern.seen)
        return present(
            sh=self._shape(pattern.addresses, pattern.active, paired),
            n=pattern.count,
            lo=pattern.low,
            hi=pattern.high if pattern.high != pattern.low else None,
            id=pattern.ideal,
            ways=pattern.ways,
            turns=pattern.turns,
            seen=[[one.first, one.last, one.warps] for one in pattern.seen],
        )

    def _shape(self, addresses: tuple[int, ...], active: int, paired: bool) -> int:
        key = addresses, active, paired
        number = self.shapes.get(key)
        if number is None:
            number = self.shapes[key] = len(self.shape_list)
            self.shape_list.append([steps(addresses), active, int(paired and agree(addresses, active))])
            self.left -= 5 * len(self.shape_list[-1][0])
        return number

    # --- sources and code ---

    def _files(self) -> list[dict[str, Any]]:
        """The sources in the order of their numbers: whole files, or the lines around sites."""
        cost: Counter[int] = Counter()
        for kernel in self.report.kernels:
            for site in kernel.sites:
                if site.source is not None:
                    cost[self.files[site.source.file]] += 1 + (site.excess or 0)
            for other in kernel.memory:
                if other.source is not None:
                    cost[self.files[other.source.file]] += 1
        found: dict[int, dict[str, Any]] = {}
        left = SOURCE_SHARE
        names = list(self.files)
        for number in sorted(range(len(names)), key=lambda n: -cost[n]):
            known, text = self.known[number], self.material.sources.get(names[number])
            entry = present(path=below(names[number], self.checked.root))
            if text is not None and len(text) <= left:
                entry["lines"] = text.expandtabs(8).splitlines()
                left -= len(text)
            else:
                whole = text.expandtabs(8).splitlines() if text is not None else None
                some = around(known, len(whole), AROUND_SOURCE) if whole is not None else sorted(known)
                picked = {line: whole[line - 1] if whole is not None else known[line] for line in some}
                if sum(map(len, picked.values())) > max(left, 0):
                    picked = dict(known)
                entry["some"] = [[line, text] for line, text in sorted(picked.items())]
                left -= sum(map(len, picked.values()))
            found[number] = entry
        return [found[number] for number in range(len(names))]

    def _codes(self) -> tuple[list[dict[str, Any]], dict[Key, int]]:
        """(codes, number of the code of each kernel): whole while they fit, then only the lines around sites."""
        codes: list[dict[str, Any]] = []
        number_of: dict[Key, int] = {}
        left = CODE_SHARE
        for kernel in costliest(self.report.kernels):
            key = key_of(kernel)
            lines = self.material.codes.get(key)
            if not lines or key in number_of or not (kernel.sites or kernel.memory):
                continue
            size = sum(len(line.text) + 12 for line in lines)
            cut = size > left
            if cut:
                marks = {place_of(one.offset, one.ptx_line) for one in (*kernel.sites, *kernel.memory)}
                at = [number for number, line in enumerate(lines, 1) if line.place in marks]
                lines = tuple(lines[number - 1] for number in around(at, len(lines), AROUND_CODE))
                size = sum(len(line.text) + 12 for line in lines)
            if size <= left:
                left -= size
                number_of[key] = len(codes)
                codes.append(self._code(lines) | present(cut=int(cut)))
        return codes, number_of

    def _code(self, lines: Sequence[CodeLine]) -> dict[str, Any]:
        return {
            "p": [line.place for line in lines],
            "t": [line.text for line in lines],
            "f": [-1 if line.file is None else self._file(line.file) for line in lines],
            "l": [line.line or 0 for line in lines],
        }

    # --- findings ---

    def _finding(self, result: Any) -> dict[str, Any]:
        finding = result.finding
        return present(
            rule=result.rule.id,
            title=result.rule.title,
            level="allowed" if result.allowed else result.level,
            message=result.message,
            file=result.file,
            line=result.place.line,
            allowed=result.allowed.reason if result.allowed else None,
            state=result.state,
            site=self.number_of.get(id(finding.site)) if finding.site else None,
            kernel=self._short(bare_name(finding.kernel.demangled)) if finding.kernel else None,
        )
