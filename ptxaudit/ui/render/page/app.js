"use strict";
(() => {
// Report contents are always inserted as text, never as markup.

const D = JSON.parse(document.getElementById("data").textContent);
const T = D.texts, S = D.sites, K = D.kernels;
const view = document.getElementById("view");
const rulesSection = document.getElementById("rules");

// --- helpers ------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "disabled", "checked", "selected", "tabIndex"]);

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) node[name] = value;
    else node.setAttribute(name === "cls" ? "class" : name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") node.append(child);
  }
  return node;
}
const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const put = (node, ...children) => { node.replaceChildren(); return fill(node, {}, children); };
const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
const number = n => n === null || n === undefined ? "–" : n.toLocaleString("en-US");
const range = (low, high) => low === high ? number(low) : `${number(low)}–${number(high)}`;
const plural = (n, word, several) => `${number(n)} ${n === 1 ? word : several || word + "s"}`;
const percent = (part, whole) => whole ? `${(100 * part / whole).toFixed(1).replace(/\.0$/, "")}%` : "–";
const hex = n => "0x" + n.toString(16).padStart(4, "0");
const sum = (list, of) => list.reduce((total, one) => total + (of(one) || 0), 0);
/** A template name, its innermost arguments removed until it fits. */
function shortened(name, most) {
  let text = name;
  for (let depth = 4; text.length > most && depth >= 1; depth--) text = shallow(name, depth);
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}
function shallow(name, most) {
  let depth = 0, out = "";
  for (const sign of name) {
    if (sign === "<" && ++depth === most) { out += "<…"; continue; }
    if (sign === ">" && depth > 0 && depth-- === most) { out += ">"; continue; }
    if (depth < most) out += sign;
  }
  return out;
}
const base = path => path.slice(path.lastIndexOf("/") + 1);

function grouped(list, key) {
  const groups = new Map();
  for (const one of list) {
    const name = key(one), group = groups.get(name);
    if (group) group.push(one); else groups.set(name, [one]);
  }
  return groups;
}

// --- accessors of the report ---------------------------------------------------------------

const kernelOf = site => K[site.k];
const settled = site => site.st === "exact" || site.st === "unreached";
const place = site => T[site.p];
const idOf = site => T[site.i].startsWith("\0") ? T[site.i].slice(1) : kernelOf(site).name + T[site.i];
const where = (kernel, at) => kernel.isa === "sass" ? "+" + hex(at) : "line " + at;
const several = new Set();       // kernels with several launches
for (const group of grouped(K.keys(), k => K[k].name + "\n" + K[k].isa + "\n" + K[k].arch + "\n" + K[k].input).values()) {
  if (group.length > 1) group.forEach((k, at) => { several.add(k); K[k].nth = at + 1; });
}
S.forEach((site, at) => { site.at_ = at; });

function costText(site, sumName, eachName) {
  if (site[sumName] !== undefined) return number(site[sumName]);
  if (sumName === "wf" && site.b) return range(...site.b);
  if (site[eachName]) return range(...site[eachName]) + " each";
  return "–";
}

/** The key that copies of one access share: line, inline stack, opcode, status and kind, as in the text report. */
function foldKey(site) {
  if (!site.s) return "#" + site.at_;
  const open = settled(site) ? "" : [site.per, site.exp, site.re, JSON.stringify(site.co || 0)].join("|");
  return [site.k, site.s.join(), site.o, site.st, site.what || "", open].join("|");
}

class Fold {
  constructor(sites) { this.sites = sites; this.first = sites.reduce((a, b) => b.weight > a.weight ? b : a); }
  total(name) { let all = 0; for (const one of this.sites) { if (one[name] === undefined) return undefined; all += one[name]; } return all; }
  get weight() { return this.total("ex") ?? this.first.weight; }
  cost(name, each) {
    const total = this.total(name);
    if (total !== undefined) return number(total);
    if (name === "wf" && this.sites.every(one => one.b)) return range(sum(this.sites, one => one.b[0]), sum(this.sites, one => one.b[1]));
    return costText(this.first, name, each);
  }
}

let FOLDS = null;
const folds = () => FOLDS || (FOLDS = [...grouped(S, foldKey).values()].map(list => new Fold(list)));

const mostExcess = Math.max(1, ...S.map(site => site.ex || 0));
function heat(excess, most) {
  if (!excess || excess <= 0) return 0;
  const share = Math.log1p(excess) / Math.log1p(most);
  return Math.min(5, Math.max(1, Math.ceil(5 * share)));
}

// --- navigation -----------------------------------------------------------------------------

function parsed() {
  const raw = location.hash.slice(1), out = { view: "overview", args: new Map() };
  for (const part of raw.split("&")) {
    if (!part) continue;
    const at = part.indexOf("=");
    let value;
    try { value = at < 0 ? "" : decodeURIComponent(part.slice(at + 1)); } catch { value = part.slice(at + 1); }
    const key = at < 0 ? part : part.slice(0, at);
    if (out.args.size === 0 && !out.named) { out.named = true; out.view = key; out.value = value; }
    else out.args.set(key, value);
  }
  return out;
}
function link(view, value, args) {
  let text = "#" + view + (value === null || value === undefined || value === "" ? "" : "=" + encodeURIComponent(value));
  for (const [key, one] of Object.entries(args || {})) {
    if (one !== null && one !== undefined && one !== "") text += `&${key}=${encodeURIComponent(one)}`;
  }
  return text;
}
const siteLink = site => link("site", idOf(site), several.has(site.k) ? { launch: K[site.k].nth } : {});
let BY_ID = null;
function siteOf(id, launch) {
  if (!BY_ID) BY_ID = grouped(S, idOf);
  const found = BY_ID.get(id);
  if (!found) return null;
  return launch && found.find(site => String(K[site.k].nth) === launch) || found[0];
}
const kernelLink = k => link("kernel", K[k].name, { isa: K[k].isa, launch: K[k].nth });
const sourceLink = (file, line, k) => link("source", D.files[file].path + (line ? ":" + line : ""), { k });

// --- a list that creates only its visible rows -----------------------------------------------

class VirtualList {
  /** rowHeight: pixels; make(index): the element of a row. */
  constructor(node, rowHeight, make) {
    this.node = node; this.height = rowHeight; this.make = make; this.count = 0;
    this.space = h("div", { cls: "space", role: "presentation" });
    this.window = h("div", { cls: "win", role: "presentation" });
    this.space.append(this.window);
    node.append(this.space);
    node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(node);
  }
  set(count) { this.count = count; this.space.style.height = count * this.height + "px"; this.draw(true); }
  draw(again) {
    const reach = Math.max(this.node.clientHeight, 200);
    const first = Math.max(0, Math.floor(this.node.scrollTop / this.height) - 8);
    const last = Math.min(this.count, first + Math.ceil(reach / this.height) + 16);
    if (!again && first === this.first && last === this.last) return;
    this.first = first; this.last = last;
    this.window.style.transform = `translateY(${first * this.height}px)`;
    const rows = [];
    for (let at = first; at < last; at++) rows.push(this.make(at));
    this.window.replaceChildren(...rows);
  }
  show(index, middle) {
    const top = index * this.height, seen = this.node.clientHeight;
    if (middle || top < this.node.scrollTop || top + this.height > this.node.scrollTop + seen) {
      this.node.scrollTop = Math.max(0, top - seen * (middle ? .4 : .5));
    }
    this.draw(true);
  }
}

// --- one request as a picture ----------------------------------------------------------------

function addressesOf(shape) {
  const steps = shape[0], out = [steps[0]];
  for (let at = 1; at < steps.length; at += 2) {
    for (let n = 0; n < steps[at + 1]; n++) out.push(out[out.length - 1] + steps[at]);
  }
  return out;
}
const isOn = (shape, lane) => Math.floor(shape[1] / 2 ** lane) % 2 === 1;
const modulo = (a, b) => ((a % b) + b) % b;

/** [{lanes: [first, last], on, rows: [[{slot, word, lanes}, …], …]}, …] for one request; each row is a wavefront. */
function layOut(rule, shape, turns) {
  const addresses = addressesOf(shape), all = Math.min(rule.all, addresses.length);
  const size = rule.paired && shape[2] ? rule.paired : rule.lanes, groups = [];
  for (let start = 0; start < all; start += size) {
    const on = [];
    for (let lane = start; lane < Math.min(start + size, all); lane++) if (isOn(shape, lane)) on.push(lane);
    const slots = new Map();
    for (const lane of on) {
      const lines = rule.what === "lines";
      const slot = modulo(Math.floor(addresses[lane] / (lines ? rule.row : rule.unit)), rule.slots);
      const unit = lines || rule.row !== rule.unit * rule.slots ? (lines ? rule.row : rule.unit) : rule.row;
      const word = Math.floor(addresses[lane] / unit) * unit;
      if (!slots.has(slot)) slots.set(slot, new Map());
      const words = slots.get(slot);
      if (words.has(word)) words.get(word).push(lane); else words.set(word, [lane]);
    }
    groups.push({ lanes: [start, Math.min(start + size, all) - 1], on, rows: stacked(rule, slots, turns) });
  }
  return groups;
}
function stacked(rule, slots, turns) {
  const rows = [];
  const put = (row, slot, word, lanes) => { while (rows.length <= row) rows.push([]); rows[row].push({ slot, word, lanes }); };
  for (const [slot, words] of [...slots].sort((a, b) => a[0] - b[0])) {
    let row = 0;
    for (const [word, lanes] of [...words].sort((a, b) => a[0] - b[0])) {
      if (turns) for (const lane of lanes) put(turns[lane] - 1, slot, word, [lane]);
      else if (rule.what === "once") put(0, slot, word, lanes);
      else if (rule.what === "lanes") for (const lane of lanes) put(row++, slot, word, [lane]);
      else put(row++, slot, word, lanes);
    }
  }
  return rows;
}
const drawnRows = groups => sum(groups, group => group.rows.length);

function runs(lanes) {
  const out = [];
  for (const lane of lanes) {
    if (out.length && out[out.length - 1][1] === lane - 1) out[out.length - 1][1] = lane; else out.push([lane, lane]);
  }
  return (lanes.length === 1 ? "lane " : "lanes ") + out.map(([a, b]) => a === b ? a : `${a}–${b}`).join(", ");
}
const laneLabel = (lanes, wide) => lanes.length <= (wide === 1 ? 1 : 2) ? lanes.join(" ") : `${lanes[0]}+${lanes.length - 1}`;
const depthClass = depth => depth === 0 ? "d0" : depth === 1 ? "d1" : depth < 4 ? "d2" : depth < 8 ? "d3" : "d4";

const CELL = 23, ROW = 17, LABEL = 74, HEAD = 20, GAP = 5;

/** The map as an element, with a legend below. */
function laneMap(rule, shape, turns, said) {
  const groups = layOut(rule, shape, turns).filter(group => group.on.length);
  const lines = rule.what === "lines";
  const columns = lines ? rule.slots : rule.banks, cellWide = lines ? CELL * 8 : CELL;
  const wide = LABEL + columns * cellWide + 4;
  const high = HEAD + sum(groups, group => group.rows.length * ROW + GAP);
  const picture = s("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": said });
  picture.append(s("text", { x: LABEL - 8, y: 13, "text-anchor": "end", cls: "faint" }, lines ? "class" : "bank"));
  for (let bank = 0; bank < columns; bank++) {
    picture.append(s("text", { x: LABEL + cellWide * (bank + .5), y: 13, "text-anchor": "middle", cls: "faint" }, String(bank)));
  }
  const readout = h("div", { cls: "readout", "aria-hidden": "true" }, lines ? "Each row is a group of lanes, each column a class of 128-byte lines; in a cell the lanes that write to one line." : "Each row is one wavefront, each column a bank; in a cell the lanes it serves. Point at a cell for its address.");
  const rest = readout.textContent;
  let top = HEAD;
  for (const group of groups) {
    const height = group.rows.length * ROW;
    picture.append(s("line", { x1: LABEL, x2: wide - 4, y1: top - 2.5, y2: top - 2.5, cls: "edge" }));
    for (let bank = 1; bank < columns; bank++) {
      picture.append(s("line", { x1: LABEL + cellWide * bank, x2: LABEL + cellWide * bank, y1: top, y2: top + height, cls: "grid" }));
    }
    picture.append(s("text", { x: LABEL - 8, y: top + 12.5, "text-anchor": "end", cls: "faint" }, group.lanes[0] === group.lanes[1] ? `lane ${group.lanes[0]}` : `lanes ${group.lanes.join("–")}`));
    group.rows.forEach((row, depth) => {
      if (depth) picture.append(s("text", { x: LABEL - 8, y: top + depth * ROW + 12.5, "text-anchor": "end", cls: "faint" }, String(depth + 1)));
      const wideOf = lines ? 1 : Math.max(1, rule.unit / rule.word);
      for (const cell of row) {
        const x = LABEL + cell.slot * wideOf * cellWide, w = wideOf * cellWide, y = top + depth * ROW;
        const box = s("g", { cls: `cell ${depthClass(depth)}`, "data-lanes": cell.lanes.join() },
          s("rect", { cls: "c", x: x + .5, y: y + .5, width: w - 1, height: ROW - 1, rx: 2 }),
          s("text", { x: x + w / 2, y: y + 12.3, "text-anchor": "middle" }, lines ? laneLabel(cell.lanes, 4) : laneLabel(cell.lanes, wideOf)));
        box.addEventListener("pointerenter", () => { readout.textContent = cellText(rule, cell, depth, wideOf, shape); });
        box.addEventListener("pointerleave", () => { readout.textContent = rest; });
        picture.append(box);
      }
    });
    top += height + GAP;
  }
  const scroller = h("div", { cls: "map", tabindex: "0", role: "group", "aria-label": "lanes by bank" }, picture);
  return [scroller, readout];
}
function cellText(rule, cell, depth, wide, shape) {
  const addresses = addressesOf(shape);
  const first = cell.slot * wide, banks = rule.what === "lines" ? `class ${cell.slot}` : wide === 1 ? `bank ${first}` : `banks ${first}–${first + wide - 1}`;
  const bytes = cell.lanes.slice(0, 4).map(lane => addresses[lane]).join(", ") + (cell.lanes.length > 4 ? ", …" : "");
  return `${banks} · ${runs(cell.lanes)} · byte ${bytes}` + (depth ? ` · waits for ${plural(depth, "wavefront")}` : " · first");
}
function addressTable(shape) {
  const addresses = addressesOf(shape), rows = [];
  for (let start = 0; start < addresses.length; start += 8) {
    rows.push(h("tr", {}, h("th", { scope: "row" }, `${start}–${Math.min(start + 8, addresses.length) - 1}`),
      addresses.slice(start, start + 8).map((address, at) => h("td", {}, isOn(shape, start + at) ? String(address) : "·"))));
  }
  return h("details", {}, h("summary", {}, "Byte addresses, lane by lane"),
    h("p", { cls: "soft" }, "Known up to a shift of all of them that changes no figure."),
    h("div", { cls: "scroll", tabindex: "0", role: "group", "aria-label": "addresses by lane" }, h("table", { cls: "lanes" }, h("tbody", {}, rows))));
}

// --- overview --------------------------------------------------------------------------------

function tally(parts, label) {
  const all = sum(parts, part => part[1]);
  const box = h("div", { cls: "tally", role: "img", "aria-label": label });
  for (const [cls, value] of parts) {
    if (!value) continue;
    const piece = h("span", { cls });
    piece.style.flex = `${value / all} 0 0`;
    box.append(piece);
  }
  return box;
}
const STATUS_ORDER = ["exact", "invariant", "conditional", "bounded", "data-dependent", "unreached", "unknown"];
const statusTag = status => h("span", { cls: `tag ${status}` }, status);

function overview() {
  const mine = S.filter(once), exact = mine.filter(site => site.st === "exact");
  const wavefronts = sum(exact, site => site.wf), ideal = sum(exact, site => site.id), excess = sum(exact, site => site.ex);
  const out = [h("h1", { cls: "lead" }, lead(excess, wavefronts, exact, mine)), h("p", { cls: "under" }, inputsText())];
  for (const command of D.recorded) out.push(h("p", { cls: "under recorded" }, "Recorded: ", h("code", {}, command)));
  for (const problem of D.problems) out.push(h("pre", { cls: "problem" }, problem));
  if (wavefronts) {
    out.push(tally([["ideal", wavefronts - excess], ["excess", excess]], `${number(wavefronts - excess)} wavefronts needed, ${number(excess)} paid for conflicts`),
      h("div", { cls: "legend" },
        h("span", {}, h("i", { cls: "swatch" }), h("b", {}, number(wavefronts - excess)), " needed"),
        h("span", {}, h("i", { cls: "swatch excess" }), h("b", {}, number(excess)), " paid for conflicts"),
        h("span", {}, "of ", h("b", {}, number(wavefronts)), ` wavefronts of ${plural(exact.length, "exact site")}${BOTH ? `, ${IN_ONCE}` : ""}`)));
  }
  const counts = grouped(S, site => site.st);
  out.push(h("dl", { cls: "facts" }, STATUS_ORDER.filter(status => counts.has(status)).map(status =>
    h("div", {}, h("dt", {}, h("a", { href: link("sites", null, { st: status, isa: BOTH ? "all" : "" }) }, status)), h("dd", {}, number(counts.get(status).length), " ", h("small", {}, percent(counts.get(status).length, S.length))))),
    h("div", {}, h("dt", {}, "kernels"), h("dd", {}, number(new Set(K.map(k => k.name)).size), several.size ? h("small", {}, ` under ${number(K.length)} launches and instruction sets`) : ""))));
  out.push(h("div", { cls: "columns" }, h("div", {}, worst(mine, excess)), h("div", {}, openOnes(), repairs())));
  view.replaceChildren(...out.flat().filter(Boolean));
}
function lead(excess, wavefronts, exact, mine) {
  if (!S.length) return D.closing[0] || "There is no shared-memory site.";
  if (!wavefronts) return D.closing[0];
  const rest = mine.every(settled) ? "" : " of the exact sites";
  if (!excess) return `No conflict: all ${number(wavefronts)} wavefronts${rest} are needed`;
  return `Bank conflicts cost ${number(excess)} of ${number(wavefronts)} wavefronts${rest} (${percent(excess, wavefronts)})`;
}
function inputsText() {
  const names = D.inputs.slice(0, 4).map(one => one.path + (one.toolchain ? ` (${one.toolchain})` : ""));
  const more = D.inputs.length - names.length, archs = [...new Set(K.map(k => k.machine || k.arch))];
  return [names.join(", ") + (more > 0 ? ` and ${more} more` : ""), archs.slice(0, 4).join(", ")].filter(Boolean).join(" · ");
}
function worst(sites, excess) {
  const lines = [...grouped(sites.filter(site => site.weight >= 1), site => [place(site), site.o, site.s ? site.s[0] : site.at_].join("|")).values()]
    .map(list => new Fold(list)).sort((a, b) => b.weight - a.weight);
  if (!lines.length) return [h("h2", {}, "Where it is worst"), h("p", { cls: "soft" }, S.length ? "No site is known to cost more than its ideal." : "")];
  const top = lines.slice(0, 12), most = Math.max(1, ...top.map(fold => fold.total("ex") || 0));
  return [h("h2", {}, "Where it is worst"), h("div", { cls: "scroll" }, h("table", { cls: "fixed" },
    h("colgroup", {}, ["place", "what", "cost", "share", "ways"].map(cls => h("col", { cls }))),
    h("thead", {}, h("tr", {}, ["Place", "Instruction"].map(name => h("th", { scope: "col" }, name)),
      [["Excess", "n"], ["Share", "n only-roomy"], ["Ways", "n only-roomy"]].map(([name, cls]) => h("th", { scope: "col", cls }, name)))),
    h("tbody", {}, top.map(fold => worstRow(fold, excess, most))))),
  lines.length > top.length && h("p", {}, h("a", { href: link("sites") }, `All ${number(lines.length)} places`))];
}
function worstRow(fold, excess, most) {
  const site = fold.first, total = fold.total("ex"), ways = Math.max(0, ...fold.sites.map(one => one.ways || 0));
  const bar = h("i"), names = new Set(fold.sites.map(one => kernelOf(one).name)).size;
  bar.style.width = `${100 * (total || 0) / most}%`;
  const text = textOf(site);
  return h("tr", {},
    h("td", { cls: "wrap" }, h("a", { href: siteLink(site) }, place(site)), fold.sites.length > 1 ? h("span", { cls: "soft" }, ` ${plural(fold.sites.length, "site")}${names > 1 ? ` in ${names} kernels` : ""}`) : "",
      text && h("span", { cls: "src" }, text.trim())),
    h("td", {}, h("code", {}, T[site.o]), " ", site.fix ? h("span", { cls: "tag fix", title: T[site.fix.text] }, "repair") : "", !settled(site) && [" ", statusTag(site.st)]),
    h("td", { cls: "n gauge" }, fold.cost("ex", "exp"), bar), h("td", { cls: "n only-roomy" }, total !== undefined && excess ? percent(total, excess) : "–"), h("td", { cls: "n only-roomy" }, ways ? number(ways) : "–"));
}
function openOnes() {
  const open = [...grouped(S.filter(site => !settled(site) && site.re), site => site.st + "|" + site.re)].sort((a, b) => b[1].length - a[1].length);
  if (!open.length) return null;
  return [h("h2", {}, "What is open, and what would settle it"), h("ul", { cls: "open-list" }, open.slice(0, 8).map(([, list]) =>
    h("li", {}, statusTag(list[0].st), " ", h("a", { href: link("sites", null, { st: list[0].st, re: list[0].re }) }, plural(list.length, "site")), " ", T[list[0].re]))),
  open.length > 8 && h("p", { cls: "soft" }, `and ${open.length - 8} more reasons, each said at its site`)];
}
function repairs() {
  const named = site => !(kernelOf(site).isa === "sass" && kernelOf(site).pair !== undefined);       // the PTX names the arrays
  const found = [...grouped(S.filter(site => site.fix && named(site)), site => [site.k, site.fix.array, site.fix.text].join("|")).values()]
    .map(list => ({ site: list[0], fix: list[0].fix, saves: sum(list, site => site.ex), places: new Set(list.map(place)) }))
    .sort((a, b) => b.saves - a.saves);
  if (!found.length) return null;
  return [h("h2", {}, "Proved repairs"), h("ul", { cls: "open-list" }, found.slice(0, 8).map(one =>
    h("li", {}, h("a", { href: siteLink(one.site) }, h("code", {}, T[one.fix.array])), ` ${T[one.fix.text]}`,
      h("div", { cls: "soft" }, `${shortened(kernelOf(one.site).bare, 60)}: ${one.fix.ex === undefined ? "" : `${number(one.fix.ex)} excess left, `}${signed(one.fix.bytes)}, ${[...one.places].slice(0, 3).join(", ")}`)))),
  found.length > 8 && h("p", {}, h("a", { href: link("sites", null, { fix: "1", isa: BOTH ? "all" : "" }) }, `All sites with a repair`))];
}
const signed = bytes => bytes === 0 ? "no more bytes" : `${bytes < 0 ? "−" : "+"}${plural(Math.abs(bytes), "byte")}`;

/** The source line of a site if it is known, otherwise its instruction. */
function textOf(site) {
  if (!site.s) return T[site.t];
  return lineOf(site.s[0], site.s[1]) || T[site.t];
}
function lineOf(file, line) {
  const one = D.files[file];
  if (one.lines) return one.lines[line - 1];
  if (!one.map) one.map = new Map(one.some);
  return one.map.get(line);
}

// --- sites -----------------------------------------------------------------------------------

const BOTH = new Set(K.map(k => k.isa)).size > 1;
/** Not in PTX whose machine code is here as well, which would count the same accesses twice. */
const once = site => !K[site.k].twice;
const IN_ONCE = `in machine code${K.some(k => k.isa === "ptx" && k.count && !k.twice) ? " where there is any" : ""}`;
const filter = { q: "", isa: "", st: "", a: "", k: "", re: "", fix: "", apart: "", sort: "ex", dir: "down" };
const COLUMNS = [["p", "Place", ""], ["o", "Instruction", ""], ["k", "Kernel", "only-medium"], ["st", "Status", "only-wide"], ["n", "Requests", "n only-wide"],
  ["wf", "Wavefronts", "n only-wide"], ["id", "Ideal", "n only-wide"], ["ex", "Excess", "n"], ["ways", "Ways", "n only-wide"]];
let list = { rows: [], at: -1, virtual: null };

function takeFilter(args) {
  for (const key of Object.keys(filter)) filter[key] = args.get(key) ?? (key === "sort" ? "ex" : key === "dir" ? "down" : "");
}
function filterLink() {
  const args = {};
  for (const [key, value] of Object.entries(filter)) if (value !== "" && !(key === "sort" && value === "ex") && !(key === "dir" && value === "down")) args[key] = value;
  return args;
}
let HAYSTACK = null;
const haystack = site => [place(site), T[site.o], T[site.t], kernelOf(site).dem, kernelOf(site).name, T[site.re || 0], T[site.ca || 0], textOf(site) || ""].join("\n").toLowerCase();

function chosenRows() {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length && !HAYSTACK) HAYSTACK = S.map(haystack);
  const isa = filter.isa || (filter.k || filter.re ? "all" : "");
  const wanted = site => (isa === "all" || (isa ? kernelOf(site).isa === isa : once(site))) && (!filter.st || site.st === filter.st) && (!filter.a || T[site.a] === filter.a) && (!filter.k || String(site.k) === filter.k)
    && (!filter.re || String(site.re) === filter.re) && (!filter.fix || site.fix) && words.every(word => HAYSTACK[site.at_].includes(word));
  const rows = filter.apart ? S.filter(wanted).map(site => new Fold([site])) : folds().filter(fold => fold.sites.some(wanted));
  const key = { p: r => place(r.first), o: r => T[r.first.o], k: r => kernelOf(r.first).bare, st: r => STATUS_ORDER.indexOf(r.first.st), n: r => r.total("n") ?? -1,
    wf: r => r.total("wf") ?? -1, id: r => r.total("id") ?? -1, ex: r => r.weight, ways: r => r.first.ways ?? -1 }[filter.sort] || (r => r.weight);
  const keyed = rows.map(row => [key(row), row]), turn = filter.dir === "up" ? 1 : -1;
  const compared = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  keyed.sort((a, b) => turn * compared(a[0], b[0]) || a[1].first.at_ - b[1].first.at_);
  return keyed.map(pair => pair[1]);
}

function sitesView(site) {
  const split = h("div", { cls: site ? "split two" : "split" });
  const left = h("div", { cls: "pane list" }), right = site && h("div", { cls: "pane" });
  if (!site) left.append(h("h1", { cls: "unseen" }, "Sites"));
  left.append(filterBar(), sitesTable(site));
  split.append(left);
  if (site) { right.append(detail(site)); split.append(right); }
  view.replaceChildren(split);
  refresh(site, true);
}
function filterBar() {
  const pick = (key, label, options) => h("select", { "aria-label": label, onchange: event => setFilter(key, event.target.value) },
    h("option", { value: "" }, label), options.map(([value, text]) => h("option", { value, selected: filter[key] === value }, text)));
  const statuses = STATUS_ORDER.filter(status => S.some(site => site.st === status)).map(status => [status, status]);
  const accesses = [...new Set(S.map(site => T[site.a]))].sort().map(one => [one, one]);
  const kernels = K.map((kernel, k) => [String(k), `${shortened(kernel.bare, 60)} · ${kernel.isa}${kernel.nth ? " · " + (kernel.launch || "no launch") : ""}`]).slice(0, 2000);
  const toggle = (key, text, title) => h("button", { type: "button", title, "aria-pressed": String(Boolean(filter[key])), onclick: event => {
    setFilter(key, filter[key] ? "" : "1"); event.target.setAttribute("aria-pressed", String(Boolean(filter[key]))); } }, text);
  const isas = BOTH && h("select", { "aria-label": "Instruction set", onchange: event => setFilter("isa", event.target.value) },
    [["", IN_ONCE.slice(3)], ["ptx", "PTX"], ["all", "PTX and machine code"]].map(([value, text]) => h("option", { value, selected: filter.isa === value }, text)));
  return h("div", { cls: "filters" }, isas, pick("st", "any status", statuses), accesses.length > 1 && pick("a", "any access", accesses), K.length > 1 && pick("k", "any kernel", kernels),
    S.some(site => site.fix) && toggle("fix", "repairable", "Only sites with a proved repair"), toggle("apart", "copies apart", "Show the copies of an unrolled loop one by one"),
    filter.re && h("button", { type: "button", title: T[filter.re], onclick: event => { setFilter("re", ""); event.target.remove(); } }, "one reason ✕"), h("span", { cls: "sum", id: "sum", role: "status" }));
}
function setFilter(key, value) {
  filter[key] = value;
  const now = parsed();
  history.replaceState(null, "", now.view === "site" ? link("site", now.value, { launch: now.args.get("launch"), ...filterLink() }) : link("sites", null, filterLink()));
  refresh(list.site, false);
}
function sitesTable(site) {
  const head = h("div", { cls: "head", role: "row" }, COLUMNS.map(([key, name, cls]) =>
    h("div", { cls, role: "columnheader", "aria-sort": filter.sort === key ? (filter.dir === "up" ? "ascending" : "descending") : "none", "data-sort": key },
      h("button", { type: "button", onclick: () => {
        if (filter.sort === key) filter.dir = filter.dir === "up" ? "down" : "up"; else filter.dir = ["p", "o", "k", "st"].includes(key) ? "up" : "down";
        filter.sort = key;
        setFilter("sort", key);
        for (const one of head.children) one.setAttribute("aria-sort", one.dataset.sort === key ? (filter.dir === "up" ? "ascending" : "descending") : "none");
      } }, name))));
  const scroller = h("div", { cls: "vlist", tabindex: "0", role: "rowgroup", "aria-label": "Sites" });
  list.site = site;
  list.virtual = new VirtualList(scroller, 30, siteRow);
  const table = h("div", { cls: "pane", role: "table", "aria-label": "Sites" }, head, scroller);
  table.style.flex = "1";
  return table;
}
function refresh(site, jump) {
  list.rows = chosenRows();
  list.site = site;
  list.at = site ? list.rows.findIndex(row => row.sites.includes(site)) : -1;
  document.getElementById("sum").textContent = summed();
  list.virtual.node.parentNode.setAttribute("aria-rowcount", String(list.rows.length + 1));
  list.virtual.set(list.rows.length);
  if (!list.rows.length) list.virtual.window.replaceChildren(h("div", { cls: "none", role: "row" }, h("span", { role: "cell" }, "No site is like that. Take a filter away.")));
  if (jump && list.at >= 0) requestAnimationFrame(() => list.virtual.show(list.at, true));
}
function summed() {
  const sites = sum(list.rows, row => row.sites.length), excess = sum(list.rows, row => row.total("ex") || 0);
  return `${plural(sites, "site")}${list.rows.length !== sites ? ` in ${plural(list.rows.length, "row")}` : ""} · excess ${number(excess)}`;
}
function siteRow(index) {
  const fold = list.rows[index], site = fold.first, kernel = kernelOf(site);
  const excess = fold.cost("ex", "exp"), level = site.st === "unknown" ? 0 : heat(fold.total("ex") ?? (site.weight >= 1 ? site.weight : 0), mostExcess);
  const cells = {
    p: h("a", { href: siteLink(site) + tail(), cls: "place", title: textOf(site) || "" }, placeParts(place(site)), fold.sites.length > 1 ? h("span", { cls: "dim" }, ` ×${fold.sites.length}`) : ""),
    o: [h("code", { title: T[site.t] }, T[site.o]), site.fix ? " " : "", site.fix ? h("span", { cls: "tag fix", title: T[site.fix.text] }, "repair") : ""], k: h("span", { title: kernel.dem.slice(0, 600) }, shortened(kernel.bare, 80)), st: statusTag(site.st),
    n: site.st === "unreached" ? "0" : fold.total("n") === undefined ? "?" : number(fold.total("n")), wf: fold.cost("wf", "per"), id: fold.cost("id", "idp"),
    ex: h("span", { cls: `heat heat${level}` }, excess), ways: number(site.ways),
  };
  return h("div", { cls: `row${index === list.at ? " on" : ""}`, role: "row", "aria-rowindex": index + 2, "aria-selected": index === list.at ? "true" : null, onclick: event => {
    if (!event.target.closest("a")) location.hash = siteLink(site) + tail(); } },
  COLUMNS.map(([key, , cls]) => h("div", { cls, role: "cell" }, cells[key])));
}
/** A place split so that the line number stays visible when the file name is cut. */
function placeParts(text) {
  const at = text.lastIndexOf(":");
  return at < 0 ? text : [h("span", { cls: "file" }, text.slice(0, at)), h("span", {}, text.slice(at))];
}
function tail() {
  const text = link("", null, filterLink());
  return text.slice(1);
}
function move(by) {
  if (!list.rows.length) return;
  const next = Math.min(list.rows.length - 1, Math.max(0, list.at + by));
  const target = siteLink(list.rows[next].first) + tail();
  if (parsed().view === "site") { history.replaceState(null, "", target); show(); } else location.hash = target;
}

// --- one site --------------------------------------------------------------------------------

function detail(site) {
  const kernel = kernelOf(site), box = h("div", { cls: "detail", tabindex: "0", role: "region", "aria-label": "Site in depth" });
  const copies = folds().find(fold => fold.sites.includes(site)).sites;
  box.append(h("div", { cls: "crumbs" },
    h("a", { href: link("sites", null, filterLink()) }, "all sites"), h("button", { type: "button", onclick: () => move(-1), title: "k" }, "previous"), h("button", { type: "button", onclick: () => move(1), title: "j" }, "next"),
    h("button", { type: "button", cls: "push", onclick: event => copy(idOf(site), event.target), title: "The name that ptxaudit explain takes" }, "copy id")),
  h("h1", {}, `${place(site)}  ${T[site.o]}`),
  h("div", { cls: "kernel" }, h("a", { href: kernelLink(site.k), title: kernel.dem }, shortened(kernel.bare, 90)), ` · ${kernel.arch} ${kernel.isa}${kernel.machine ? `, scored as ${kernel.machine}` : ""} · ${kernel.launch || "no launch specified"}`));
  box.append(...sourceLines(site));
  box.append(figures(site));
  if (site.what) box.append(h("p", { cls: "say" }, T[site.what]));
  box.append(...sayings(site));
  if (site.fo) box.append(h("h2", {}, "Address of its first request, in bytes"), h("div", { cls: "formula" }, T[site.fo]));
  box.append(...requests(site), ...repair(site), ...conditions(site), ...cases(site), ...trips(site), ...instruction(site), ...pairing(site));
  if (copies.length > 1) {
    box.append(h("h2", {}, `${copies.length} copies of this access`), h("div", { cls: "chips" }, copies.slice(0, 200).map(one =>
      h("a", { href: siteLink(one) + tail(), "aria-current": one === site ? "true" : null }, where(kernel, one.at)))));
  }
  if (site.r !== undefined) {
    const rule = D.rules[site.r];
    box.append(h("h2", {}, "The rule"), h("p", {}, rule.says), h("p", { cls: "soft" }, site.ev ? "This instruction was measured on this machine. " : "By rule: this instruction was not measured on this machine. ", rule.source && `From ${rule.source}`,
      rule.url && /^https:/.test(rule.url) && [" ", h("a", { href: rule.url, rel: "noreferrer" }, "source")]));
  }
  return box;
}
function copy(text, button) {
  const done = () => { const before = button.textContent; button.textContent = "copied"; setTimeout(() => { button.textContent = before; }, 1200); };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => {});
}
function sourceLines(site) {
  if (!site.s) return [h("div", { cls: "line" }, h("span", {}, site.at === undefined ? "" : where(kernelOf(site), site.at)), h("span", {}, T[site.t]))];
  const out = [];
  for (let at = 0; at < site.s.length; at += 3) {
    const [file, line, name] = site.s.slice(at, at + 3), text = lineOf(file, line);
    const tag = h("a", { href: sourceLink(file, line, site.k) }, `${base(D.files[file].path)}:${line}`);
    if (at === 0) out.push(h("div", { cls: "line", tabindex: "0", role: "group", "aria-label": "source line" }, h("span", {}, tag), h("span", {}, text === undefined ? T[site.t] : text.trim())));
    else out.push(h("div", { cls: "soft" }, name ? `${T[name]} ` : "", "inlined at ", tag, text !== undefined && [" ", h("code", {}, text.trim())]));
  }
  return out;
}
function figures(site) {
  const fact = (name, value, more) => h("div", {}, h("dt", {}, name), h("dd", {}, value, more && h("small", {}, " " + more)));
  return h("dl", { cls: "facts" }, h("div", {}, h("dt", {}, "status"), h("dd", {}, statusTag(site.st))),
    fact("requests", site.n === undefined ? "?" : number(site.n), site.na !== undefined ? `${number(site.na)} with an active lane` : ""),
    site.k4 ? [fact("steps, most", range(site.k4[0] ?? 1, site.k4[1])), site.k4[3] !== null && fact("steps, summed", range(site.k4[2] ?? site.k4[3], site.k4[3]), site.k4[4] === null ? "" : `ideal ${number(site.k4[4])}`)]
      : [fact("wavefronts", costText(site, "wf", "per")), fact("ideal", costText(site, "id", "idp")), fact("excess", costText(site, "ex", "exp")), fact("ways", number(site.ways))]);
}
function sayings(site) {
  const out = [];
  if (site.ca) out.push(h("p", { cls: "say" }, T[site.ca]));
  if (site.re && !site.k4) out.push(h("p", { cls: "say open" }, T[site.re]));
  if (site.k4) out.push(h("p", { cls: "say open" }, "No profiler counts cp.async.cg: it shows 0 wavefronts and 0 conflicts, whatever the pattern. Each 8 lanes write the 128-byte lines that they need, and lines a multiple of 512 bytes apart go one after the other, in steps."));
  return out;
}
function requests(site) {
  if (!site.q && site.d) return [h("h2", {}, "Lanes by bank"), h("p", { cls: "soft" }, "Its requests are not in this page, which has room for those of the costliest sites: ", h("code", {}, `ptxaudit explain ${kernelOf(site).input} …`), " shows them.")];
  if (!site.q || site.r === undefined) return [];
  const rule = D.rules[site.r], panel = h("div");
  const state = { at: 0, warp: "", trip: "" };
  const seen = site.q.flatMap(one => one.seen || []), warps = bits(seen), trips = tripsOf(seen);
  const fits = one => (state.warp === "" && state.trip === "") || (one.seen || []).some(([first, last, mask]) =>
    (state.warp === "" || Math.floor(mask / 2 ** state.warp) % 2 === 1) && (state.trip === "" || first <= state.trip && state.trip <= last));
  const draw = () => {
    const shown = site.q.filter(fits);
    state.at = Math.min(state.at, Math.max(0, shown.length - 1));
    panel.replaceChildren(...oneRequest(site, rule, shown, state, draw));
  };
  const pick = (key, label, values) => values.length > 1 && h("label", {}, h("span", { cls: "soft" }, label + " "), h("select", { "aria-label": label, onchange: event => {
    state[key] = event.target.value === "" ? "" : Number(event.target.value); state.at = 0; draw(); } }, h("option", { value: "" }, "any"), values.map(value => h("option", { value }, String(value)))));
  panel.step = by => { state.at += by; const n = site.q.filter(fits).length; state.at = Math.min(n - 1, Math.max(0, state.at)); draw(); };
  stepRequest = panel.step;
  draw();
  return [h("h2", {}, "Lanes by bank"), site.q.length > 1 ? h("div", { cls: "stepper" }, pick("warp", "warp", warps), pick("trip", "trip", trips)) : "", panel];
}
let stepRequest = null;
const bits = seen => { const found = new Set(); for (const [, , mask] of seen) for (let at = 0; at < 32; at++) if (Math.floor(mask / 2 ** at) % 2) found.add(at); return [...found].sort((a, b) => a - b); };
const tripsOf = seen => { const found = new Set(); for (const [first, last] of seen) if (first >= 0) for (let at = first; at <= last; at++) found.add(at); return [...found].sort((a, b) => a - b); };

function oneRequest(site, rule, shown, state, draw) {
  if (!shown.length) return [h("p", { cls: "soft" }, "None of the requests shown is of that warp and trip", site.d > site.q.length ? `; ${site.d - site.q.length} of ${site.d} distinct ones are not in this page.` : ".")];
  const one = shown[state.at], shape = D.shapes[one.sh], groups = layOut(rule, shape, one.turns);
  const cost = one.lo < 0 ? "no hardware counter covers its wavefronts" : `${range(one.lo, one.hi ?? one.lo)} ${one.lo === 1 && !one.hi ? "wavefront" : "wavefronts"}, ideal ${one.id}`;
  const said = `${cost}; ${plural(groups.filter(group => group.on.length).length, "group")} of lanes`;
  const where = whereText(one);
  const drawn = drawnRows(groups), exact = one.lo >= 0 && one.hi === undefined && ["words", "lanes"].includes(rule.what) && !rule.factor && !rule.split;
  return [h("div", { cls: "stepper" },
    h("button", { type: "button", "aria-label": "previous request", disabled: state.at === 0, onclick: () => { state.at--; draw(); } }, "‹"),
    h("button", { type: "button", "aria-label": "next request", disabled: state.at >= shown.length - 1, onclick: () => { state.at++; draw(); } }, "›"),
    h("span", { cls: "where", role: "status" }, h("b", {}, `request ${state.at + 1} of ${shown.length}`), site.d > site.q.length ? h("span", { cls: "soft" }, ` (${site.q.length} shown of ${number(site.d)} distinct)`) : ""),
    h("span", {}, h("b", {}, cost)), one.n !== undefined && h("span", { cls: "soft" }, `${number(one.n)} in this launch are like it`), where && h("span", { cls: "soft" }, where)),
  ...laneMap(rule, shape, one.turns, said),
  !exact || drawn !== one.lo ? noteOn(rule, one, drawn) : null, addressTable(shape)].filter(Boolean);
}
function noteOn(rule, one, drawn) {
  const parts = [];
  if (rule.split) parts.push(`the access is ${rule.split} requests, each of which costs this`);
  if (rule.factor) parts.push(`what is drawn counts ${rule.factor} times`);
  if (rule.what === "once") parts.push("one lane of each bank gets through in a pass; the others try again");
  if (rule.what === "lines") parts.push("destination lines by their class: the fullest class decides");
  if (one.hi !== undefined) parts.push("a range: the map shows which lanes meet, not which of its ends holds");
  if (!parts.length && drawn !== one.lo) parts.push("a step serves all lanes of one word and a lane of each other bank: fewer steps than rows");
  return parts.length ? h("p", { cls: "soft" }, parts.join("; ") + ".") : null;
}
function whereText(one) {
  if (!one.seen || !one.seen.length) return "";
  const warps = bits(one.seen), trips = tripsOf(one.seen);
  return [runs(warps).replace("lane", "warp"), trips.length && trips[trips.length - 1] > 0 ? "trips " + runs(trips).replace(/^lanes? /, "") : ""].filter(Boolean).join(", ") + " of a block";
}
function repair(site) {
  const fix = site.fix;
  if (!fix) return [];
  const out = [h("h2", {}, "Repair"), h("p", { cls: "say good" }, h("b", {}, T[fix.text]), ` of ${T[fix.array]}: ${fix.ex === undefined ? "less excess" : `${number(fix.ex)} excess left`}, ${signed(fix.bytes)}, proved for ${T[fix.proved]}${fix.best ? "; no layout of its family does better" : ""}`)];
  if (fix.code) out.push(h("pre", { cls: "excerpt" }, "  " + T[fix.code]));
  if (fix.moved && site.r !== undefined) {
    const [after, was, now] = fix.moved, rule = D.rules[site.r];
    out.push(h("p", { cls: "soft" }, `Its costliest request after it: ${plural(now, "wavefront")} instead of ${number(was)}. Bytes count from the beginning of the array.`),
      ...laneMap(rule, D.shapes[after], null, `after the repair: ${plural(now, "wavefront")} instead of ${was}`), addressTable(D.shapes[after]));
  }
  const origin = site.pa && kernelOf(site).isa === "sass" && kernelOf(site).pair !== undefined ? site.pa.slice(6).map(id => partnerSite(kernelOf(site).pair, id)).find(one => one && one.fix) : null;
  if (origin) out.push(h("p", {}, "In the source: ", h("a", { href: siteLink(origin) }, `${T[origin.fix.array]}: ${T[origin.fix.text]}`), origin.fix.code && h("pre", { cls: "excerpt" }, "  " + T[origin.fix.code])));
  out.push(h("p", { cls: "soft" }, "All repairs, and a patch: ", h("code", {}, `ptxaudit fix ${K[site.k].input}`)));
  return out;
}
function conditions(site) {
  if (!site.co) return [];
  return [h("h2", {}, "It depends"), h("div", { cls: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), h("th", { scope: "col", cls: "n" }, "Wavefronts of a request"), h("th", { scope: "col", cls: "n" }, "Ideal"))),
    h("tbody", {}, site.co.slice(0, 64).map(([when, low, high, ideal]) => h("tr", {}, h("td", { cls: "wrap" }, when), h("td", { cls: "n" }, range(low, high)), h("td", { cls: "n" }, number(ideal)))))))];
}
function cases(site) {
  if (!site.cl) return [];
  return [h("h2", {}, "Over the launch"), h("div", { cls: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), h("th", { scope: "col", cls: "n" }, "Requests"), h("th", { scope: "col", cls: "n" }, "Wavefronts"), h("th", { scope: "col", cls: "n" }, "Ideal"))),
    h("tbody", {}, site.cl.map(([when, requests, low, high, ideal]) => h("tr", {}, h("td", { cls: "wrap" }, when), h("td", { cls: "n" }, number(requests)), h("td", { cls: "n" }, range(low, high)), h("td", { cls: "n" }, number(ideal)))))))];
}
function trips(site) {
  if (!site.tr) return [];
  const all = sum(site.tr, one => one[3]), most = Math.max(...site.tr.map(one => one[1])), wide = 640, high = 60;
  if (site.tr.length === 1) { const [n, wf, id] = site.tr[0]; return [h("h2", {}, "Trips"), h("p", {}, `${number(all)} trips, each ${plural(n, "request")}, ${plural(wf, "wavefront")}, ideal ${number(id)}`)]; }
  const picture = s("svg", { cls: "spark", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": `wavefronts of ${all} trips, ${number(Math.min(...site.tr.map(one => one[1])))} to ${number(most)}` });
  let x = 0;
  for (const [, wf, id, times] of site.tr) {
    const w = wide * times / all, gap = w > 4 ? 1 : 0;
    picture.append(s("rect", { cls: "ideal", x, y: high - high * id / most, width: Math.max(.5, w - gap), height: high * id / most }),
      s("rect", { cls: "excess", x, y: high - high * wf / most, width: Math.max(.5, w - gap), height: high * (wf - id) / most }));
    x += w;
  }
  return [h("h2", {}, "Trip by trip"), picture, h("div", { cls: "legend" }, h("span", {}, h("i", { cls: "swatch" }), "ideal"), h("span", {}, h("i", { cls: "swatch excess" }), "excess"), h("span", {}, `${number(all)} trips, at most ${plural(most, "wavefront")} in one`))];
}
function instruction(site) {
  const kernel = kernelOf(site), code = kernel.code === undefined ? null : D.codes[kernel.code];
  const title = h("h2", {}, kernel.isa === "sass" ? "Machine code" : "PTX");
  const at = code ? code.p.indexOf(site.at) : -1;
  if (at < 0) return [title, h("pre", { cls: "excerpt" }, "  " + T[site.t])];
  const marks = siteMarks(site.k), lines = [];
  for (let n = Math.max(0, at - 5); n < Math.min(code.p.length, at + 6); n++) lines.push(codeRow(code, n, kernel, marks, n === at));
  return [title, h("div", { cls: "excerpt", tabindex: "0", role: "group", "aria-label": "instructions" }, lines)];
}
function pairing(site) {
  if (!site.pa) return [];
  const [what, times, hoisted, map, mine, theirs, ...ids] = site.pa, kernel = kernelOf(site), other = kernel.pair === undefined ? null : K[kernel.pair];
  const partner = other ? ids.map(id => partnerSite(kernel.pair, id)).filter(Boolean) : [];
  const text = { kept: "ptxas kept it", merged: `ptxas merged ${mine} into ${theirs}`, split: `ptxas split it into ${theirs}`, unrolled: `ptxas made ${times} copies of it`, narrowed: "ptxas narrowed it to what is used",
    expanded: `ptxas made ${theirs} accesses of it`, deleted: "ptxas deleted it", added: "it is in the machine code only" }[what] || what;
  return [h("h2", {}, kernel.isa === "sass" ? "It came from" : "It became"), h("p", {}, text + (hoisted ? ", out of a loop" : "") + (map ? "" : " (paired by source position)")),
    partner.length ? h("div", { cls: "chips" }, partner.slice(0, 64).map(one => h("a", { href: siteLink(one) }, `${T[one.o]} ${where(other, one.at)}`))) : ""];
}
const PARTNERS = new Map();
function partnerSite(k, id) {
  if (!PARTNERS.has(k)) {
    const kernel = K[k], found = new Map();
    for (let at = kernel.first; at < kernel.first + kernel.count; at++) found.set(T[S[at].i], S[at]);
    PARTNERS.set(k, found);
  }
  return PARTNERS.get(k).get(T[id]);
}

// --- source, PTX and machine code --------------------------------------------------------------

const MARKS = new Map();
/** place -> site, for one kernel. */
function siteMarks(k) {
  if (!MARKS.has(k)) { const found = new Map(); for (let at = K[k].first; at < K[k].first + K[k].count; at++) if (!found.has(S[at].at)) found.set(S[at].at, S[at]); MARKS.set(k, found); }
  return MARKS.get(k);
}
function codeRow(code, n, kernel, marks, on, click) {
  const site = marks.get(code.p[n]);
  return h("div", { cls: `code${on ? " on" : ""}${site ? site.weight >= 1 ? " site" : " site fine" : ""}`, onclick: click },
    h("span", { cls: `m heat${site ? heat(site.ex ?? (site.weight >= 1 ? site.weight : 0), mostExcess) : 0}` }, site && site.ex ? number(site.ex) : site && site.ex === undefined && site.st !== "unreached" ? "?" : ""),
    h("span", { cls: "no" }, kernel.isa === "sass" ? code.p[n].toString(16).padStart(4, "0") : String(code.p[n])),
    h("span", { cls: "tx" }, site && !on ? h("a", { href: siteLink(site) }, code.t[n]) : code.t[n]));
}

let LINES = null;
/** file -> line -> {own, through, open, sites}: the cost of the sites on a line, and of those inlined at it. */
function lineCosts() {
  if (LINES) return LINES;
  LINES = D.files.map(() => new Map());
  const slot = (file, line) => { let one = LINES[file].get(line); if (!one) LINES[file].set(line, one = { own: 0, through: 0, open: 0, sites: [] }); return one; };
  for (const site of S) {
    if (!site.s || !once(site)) continue;
    for (let at = 0; at < site.s.length; at += 3) {
      const one = slot(site.s[at], site.s[at + 1]);
      if (at === 0) { one.own += site.ex || 0; if (!settled(site)) one.open++; } else one.through += site.ex || 0;
      one.sites.push(site);
    }
  }
  return LINES;
}
function costliestFile() {
  let best = -1, most = -1;
  lineCosts().forEach((lines, file) => { const cost = sum([...lines.values()], one => one.own * 1000 + one.sites.length); if (cost > most) { most = cost; best = file; } });
  return best;
}
function sourceView(value, args) {
  if (!D.files.length) { view.replaceChildren(h("h1", { cls: "lead" }, "No source is known"), h("p", {}, "Compile with line information (-lineinfo), and audit where the sources are.")); view.classList.remove("fill"); return; }
  const match = /^(.*?)(?::(\d+))?$/s.exec(value || ""), wanted = match[1], line = Number(match[2]) || 0;
  let file = D.files.findIndex(one => one.path === wanted);
  if (file < 0) file = costliestFile();
  const users = kernelsOf(file);
  const k = args.get("k") && users.includes(Number(args.get("k"))) ? Number(args.get("k")) : users.find(one => K[one].code !== undefined) ?? users[0];
  const state = { file, k, line };
  const panes = h("div", { cls: "panes" }), info = h("div", { cls: "info" });
  const order = D.files.map((one, at) => [at, sum([...lineCosts()[at].values()], cost => cost.own)]).sort((a, b) => b[1] - a[1]);
  const bar = h("div", { cls: "filters" },
    h("select", { "aria-label": "File", onchange: event => { location.hash = sourceLink(Number(event.target.value)); } }, order.map(([at, cost]) => h("option", { value: at, selected: at === file }, `${D.files[at].path}${cost ? ` · excess ${number(cost)}` : ""}`))),
    users.length > 1 && h("select", { "aria-label": "Kernel", onchange: event => { location.hash = sourceLink(file, state.line, event.target.value); } }, users.slice(0, 1000).map(one => h("option", { value: one, selected: one === k }, `${shortened(K[one].bare, 70)} · ${K[one].isa}${K[one].nth ? ` · ${K[one].launch}` : ""}`))),
    h("span", { cls: "soft only-wide" }, "excess wavefronts a line, in the margin"));
  view.replaceChildren(h("div", { cls: "work" }, h("div", {}, h("h1", { cls: "unseen" }, "Source"), bar, info), panes));
  const parts = [sourcePane(state, select)];
  const sides = k === undefined ? [] : [k, K[k].pair].filter(one => one !== undefined && K[one].code !== undefined).sort((a, b) => K[a].isa < K[b].isa ? -1 : 1);
  for (const one of sides) parts.push(codePane(one, state, select));
  if (!sides.length) parts.push({ node: h("div", { cls: "pane" }, h("div", { cls: "none" }, k === undefined ? "No kernel has code of this file." : "The code of this kernel is not in this page.")), mark() {} });
  panes.append(...parts.map(part => part.node));
  function select(file, line) {
    if (file !== state.file && file >= 0) { location.hash = sourceLink(file, line, state.k); return; }
    state.line = line;
    history.replaceState(null, "", sourceLink(state.file, line, state.k));
    put(info, lineInfo(state));
    for (const part of parts) part.mark(true);
  }
  put(info, lineInfo(state));
  requestAnimationFrame(() => { for (const part of parts) part.mark(true); });
}
function kernelsOf(file) {
  const found = new Map();
  for (const site of S) if (site.s && site.s.some((one, at) => at % 3 === 0 && one === file)) found.set(site.k, (found.get(site.k) || 0) + (site.ex || 0));
  const all = [...found].sort((a, b) => b[1] - a[1]).map(pair => pair[0]);
  const one = all.filter(k => K[k].isa === "ptx");
  return one.length ? one.concat(all.filter(k => K[k].isa !== "ptx" && K[k].pair === undefined)) : all;
}
function lineInfo(state) {
  const cost = state.line ? lineCosts()[state.file].get(state.line) : null;
  if (!state.line) return [h("span", { cls: "soft" }, "Choose a line: the code that was made of it is marked beside it.")];
  const name = `${base(D.files[state.file].path)}:${state.line}`;
  if (!cost) return [h("b", {}, name), h("span", { cls: "soft" }, "no shared-memory access")];
  const shown = [...grouped(cost.sites, site => [site.k, site.o, site.st].join()).values()].map(some => new Fold(some));
  return [h("b", {}, name), h("span", {}, `excess ${number(cost.own)}`, cost.through ? `, ${number(cost.through)} in what is inlined here` : "", cost.open ? `, ${plural(cost.open, "open site")}` : ""),
    shown.slice(0, 12).map(fold => h("a", { href: siteLink(fold.first) }, `${T[fold.first.o]}${fold.sites.length > 1 ? ` ×${fold.sites.length}` : ""}`, several.has(fold.first.k) ? ` (${kernelOf(fold.first).launch})` : "")), shown.length > 12 && h("span", { cls: "soft" }, `and ${shown.length - 12} more`)];
}
function sourcePane(state, select) {
  const file = D.files[state.file], costs = lineCosts()[state.file];
  const rows = file.lines ? file.lines.map((text, at) => [at + 1, text]) : withGaps(file.some || []);
  const most = Math.max(1, ...[...costs.values()].map(one => one.own + one.through));
  const scroller = h("div", { cls: "vlist", tabindex: "0", role: "region", "aria-label": "Source" });
  const node = h("div", { cls: "pane" }, h("div", { cls: "pane-head" }, file.path, !file.lines && " (the lines that are known)"), scroller);
  const virtual = new VirtualList(scroller, 20, at => {
    const [line, text] = rows[at], cost = costs.get(line);
    if (line === 0) return h("div", { cls: "code gone" }, h("span", { cls: "m" }), h("span", { cls: "no" }, "⋯"), h("span", { cls: "tx" }));
    return h("div", { cls: `code${line === state.line ? " on" : ""}${cost ? cost.own + cost.through > 0 ? " site" : " site fine" : ""}`, onclick: () => select(state.file, line) },
      h("span", { cls: `m heat${cost ? heat(cost.own + cost.through, most) : 0}` }, cost && (cost.own || cost.through) ? number(cost.own || cost.through) : cost && cost.open ? "?" : cost ? "0" : ""),
      h("span", { cls: "no" }, String(line)), h("span", { cls: "tx" }, text));
  });
  widen(virtual, rows.map(row => row[1].length));
  virtual.set(rows.length);
  return { node, mark(jump) { virtual.draw(true); const at = rows.findIndex(row => row[0] === state.line); if (jump && at >= 0) virtual.show(at); else if (jump && !state.line) { const first = rows.findIndex(row => costs.has(row[0])); if (first > 12) virtual.show(first, true); } } };
}
function withGaps(some) {
  const out = [];
  for (const [line, text] of some) { if (out.length && out[out.length - 1][0] !== line - 1) out.push([0, ""]); out.push([line, text]); }
  return out;
}
function widen(virtual, lengths) {
  virtual.space.style.minWidth = `calc(${Math.min(2000, lengths.reduce((a, b) => Math.max(a, b), 0))}ch + 160px)`;
}
function codePane(k, state, select) {
  const kernel = K[k], code = D.codes[kernel.code], marks = siteMarks(k);
  const title = kernel.isa === "sass" ? "Machine code" : "PTX";
  const scroller = h("div", { cls: "vlist", tabindex: "0", role: "region", "aria-label": title });
  const node = h("div", { cls: "pane" }, h("div", { cls: "pane-head" }, h("b", {}, title), h("a", { href: kernelLink(k) }, shortened(kernel.bare, 80)), code.cut ? " (what is near its sites)" : ""), scroller);
  const of = new Map();          // place of an access -> the lines that it counts for: its own, and those that it is inlined at
  for (const site of marks.values()) if (site.s) of.set(site.at, site.s);
  const here = n => {
    const stack = of.get(code.p[n]);
    if (stack) return stack.some((file, at) => at % 3 === 0 && file === state.file && stack[at + 1] === state.line);
    return code.f[n] === state.file && code.l[n] === state.line;
  };
  const virtual = new VirtualList(scroller, 20, n => codeRow(code, n, kernel, marks, state.line > 0 && here(n), () => code.l[n] && select(code.f[n], code.l[n])));
  widen(virtual, code.t.map(text => text.length));
  virtual.set(code.p.length);
  return { node, mark(jump) {
    virtual.draw(true);
    if (!jump || !state.line) return;
    let at = -1;
    for (let n = 0; n < code.p.length; n++) if (here(n) && (at < 0 || marks.has(code.p[n]))) { at = n; if (marks.has(code.p[n])) break; }
    if (at >= 0) virtual.show(at, true);
  } };
}

// --- kernels -----------------------------------------------------------------------------------

const MOST_KERNELS = 400;
function kernelsView() {
  const order = [...K.keys()].filter(k => K[k].count || K[k].memory).sort((a, b) => K[b].excess - K[a].excess || K[b].wavefronts - K[a].wavefronts);
  const groups = [...grouped(order, k => K[k].name + "\n" + K[k].input).values()];
  for (const group of groups) group.sort((a, b) => (K[a].isa < K[b].isa ? 1 : K[a].isa > K[b].isa ? -1 : K[b].excess - K[a].excess));
  const most = Math.max(1, ...K.map(k => k.excess)), without = K.filter(k => !k.count && !k.memory).length;
  const table = some => h("tbody", {}, some.map(group => group.map((k, at) => kernelRow(k, at, group.length, most))));
  const body = table(groups.slice(0, MOST_KERNELS));
  view.replaceChildren(h("h1", { cls: "lead" }, several.size ? "Kernels and their launches" : "Kernels"),
    h("p", { cls: "under" }, `${plural(groups.length, "kernel")} with ${M.length ? "accesses that were looked at" : "shared-memory sites"}${without ? `, ${without} without` : ""}. Sums are of the sites that are settled; + where others are open.`),
    h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": "Kernels" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Kernel"), h("th", { scope: "col" }, "Code"), h("th", { scope: "col" }, "Launch"),
      ["Sites", "Wavefronts", "Excess", "Share", "Ways", "Registers", "Shared", "Occupancy", "Spills"].map(name => h("th", { scope: "col", cls: "n" }, name)))), body)),
    groups.length > MOST_KERNELS ? h("p", {}, h("button", { type: "button", onclick: event => { body.append(...table(groups.slice(MOST_KERNELS)).children); event.target.remove(); } }, `${groups.length - MOST_KERNELS} more`)) : "");
}
function kernelRow(k, at, rows, most) {
  const kernel = K[k], open = kernel.complete ? "" : "+", bar = h("i");
  bar.style.width = `${100 * kernel.excess / most}%`;
  const cell = (value, more) => h("td", { cls: "n" }, value === undefined || value === null ? "–" : number(value), more || "");
  return h("tr", {}, at === 0 && h("td", { cls: "wrap", rowspan: rows > 1 ? rows : null }, h("a", { href: kernelLink(k), title: kernel.dem.slice(0, 600) }, shortened(kernel.bare, 160))),
    h("td", { cls: "nowrap" }, h("a", { href: kernelLink(k) }, `${kernel.isa === "sass" ? "machine code" : "PTX"}`), h("span", { cls: "soft" }, ` ${kernel.arch}`)),
    h("td", {}, kernel.launch || h("span", { cls: "soft" }, "not specified"), kernel.params && h("span", { cls: "src" }, `(${kernel.params})`)),
    cell(kernel.count), cell(kernel.wavefronts, open), h("td", { cls: "n gauge" }, number(kernel.excess) + open, bar), h("td", { cls: "n" }, percent(kernel.excess, kernel.wavefronts)), cell(kernel.ways), cell(kernel.registers),
    cell(kernel.shared + (kernel.dynamic || 0)), h("td", { cls: "n" }, kernel.occupancy ? `${Math.round(kernel.occupancy[0])}%` : "–"), cell(kernel.spills));
}
function kernelView(name, args) {
  const found = [...K.keys()].filter(k => K[k].name === name && (!args.get("isa") || K[k].isa === args.get("isa")));
  const k = found.find(one => String(K[one].nth) === args.get("launch")) ?? found[0];
  if (k === undefined) return kernelsView();
  const kernel = K[k], sites = S.slice(kernel.first, kernel.first + kernel.count), shown = new Set(found.map(one => K[one].isa)).size;
  const fact = (label, value, more) => value !== undefined && value !== null && h("div", {}, h("dt", {}, label), h("dd", {}, value, more && h("small", {}, " " + more)));
  const other = kernel.pair === undefined ? null : h("a", { href: kernelLink(kernel.pair) }, K[kernel.pair].isa === "sass" ? "its machine code" : "its PTX");
  view.replaceChildren(...[h("p", { cls: "soft" }, h("a", { href: "#kernels" }, "all kernels")), h("h1", { cls: "lead mono" }, shortened(kernel.bare, 160)), kernel.dem.length > kernel.bare.length && h("details", {}, h("summary", {}, "the whole name"), h("pre", {}, kernel.dem)), h("p", { cls: "under" }, `${kernel.input} · ${kernel.arch} ${kernel.isa}${kernel.machine ? `, scored as ${kernel.machine}` : ""} · ${kernel.launch || "no launch specified"}${kernel.params ? ` · (${kernel.params})` : ""}`, other && [" · ", other]),
    found.length > 1 && h("div", { cls: "chips" }, found.map(one => h("a", { href: kernelLink(one), "aria-current": one === k ? "true" : null }, shown > 1 ? `${K[one].isa === "sass" ? "machine code" : "PTX"} · ` : "", K[one].launch || "no launch", K[one].params ? ` (${K[one].params})` : ""))),
    h("dl", { cls: "facts" }, fact("sites", number(kernel.count)), fact("wavefronts", number(kernel.wavefronts) + (kernel.complete ? "" : "+")), fact("excess", number(kernel.excess) + (kernel.complete ? "" : "+"), percent(kernel.excess, kernel.wavefronts)),
      fact("registers", kernel.registers), fact("static shared", number(kernel.shared), "bytes"), kernel.dynamic ? fact("dynamic shared", number(kernel.dynamic), "bytes") : null, fact("barriers", kernel.barriers), fact("stack", kernel.stack, "bytes"),
      fact("spilled", kernel.spills === undefined ? undefined : number(kernel.spills), "bytes"), kernel.occupancy ? fact("occupancy", `${Math.round(kernel.occupancy[0])}%`, `${kernel.occupancy[1]} blocks, by ${kernel.occupancy[2]}`) : null),
    (kernel.assumed || []).map(one => h("p", { cls: "say open" }, "assumed: " + one)), (kernel.notes || []).map(one => h("p", { cls: "say open" }, one)),
    loops(kernel, sites), kernel.count ? [h("h2", {}, "Sites"), siteTable(sites, kernel), h("p", {}, h("a", { href: link("sites", null, { k }) }, "in the list of sites"))] : null,
    SPACES.map(space => { const mine = memoryOf(kernel).filter(site => site.sp === space); return mine.length ? [h("h2", {}, `${space[0].toUpperCase()}${space.slice(1)} memory`), memoryTable(mine, false, `Accesses to ${space} memory`)] : null; })].flat(2).filter(Boolean));
}
function loops(kernel, sites) {
  if (!kernel.loops) return null;
  const all = sum(sites, site => site.wf), paid = sum(sites, site => site.ex), memory = memoryOf(kernel);
  const moved = sum(memory, site => site.wf), sectors = memory.length ? ["Sectors", "of the kernel", "of them spills"] : [];
  return [h("h2", {}, "Loops"), h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": "Loops" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Loop"), ["Sites", "Wavefronts", "of the kernel", "Excess", "of the kernel", ...sectors].map(name => h("th", { scope: "col", cls: "n" }, name)))),
    h("tbody", {}, kernel.loops.slice(0, 200).map(loop => {
      const inside = (loop.sites || []).map(at => S[at]), open = inside.some(site => !settled(site)) ? "+" : "", wf = sum(inside, site => site.wf), ex = sum(inside, site => site.ex);
      const name = loop.first === undefined ? `at ${where(kernel, loop.at)}` : `${base(D.files[loop.f].path)}:${loop.first === loop.last ? loop.first : `${loop.first}–${loop.last}`}`;
      const label = h("td", { cls: "wrap" }, loop.first === undefined ? name : h("a", { href: sourceLink(loop.f, loop.first) }, name), loop.depth > 1 && h("span", { cls: "soft" }, ` depth ${loop.depth}`));
      label.style.paddingLeft = `${(loop.depth - 1) * 18}px`;
      return h("tr", {}, label, h("td", { cls: "n" }, number(inside.length + (loop.memory || []).length)), h("td", { cls: "n" }, number(wf) + open), h("td", { cls: "n" }, percent(wf, all)), h("td", { cls: "n" }, number(ex) + open), h("td", { cls: "n" }, percent(ex, paid)), memory.length ? sectorsOf(loop, moved) : "");
    }))))];
}
const memoryOf = kernel => kernel.memory ? M.slice(kernel.firstmem || 0, (kernel.firstmem || 0) + kernel.memory) : [];
function sectorsOf(loop, moved) {
  const inside = (loop.memory || []).map(at => M[at]), open = inside.some(site => !settled(site)) ? "+" : "", sectors = sum(inside, site => site.wf);
  const spilled = sum(inside.filter(site => site.what && T[site.what].startsWith("spill")), site => site.wf);
  return [number(sectors) + open, percent(sectors, moved), number(spilled)].map(text => h("td", { cls: "n" }, text));
}
function siteTable(sites, kernel) {
  const rows = [...grouped(sites, foldKey).values()].map(some => new Fold(some)).sort((a, b) => b.weight - a.weight);
  return h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": "Sites of the kernel" }, h("table", {}, h("thead", {}, h("tr", {}, ["Place", "Instruction", "Status"].map(name => h("th", { scope: "col" }, name)), ["Requests", "Wavefronts", "Ideal", "Excess", "Ways"].map(name => h("th", { scope: "col", cls: "n" }, name)))),
    h("tbody", {}, rows.slice(0, 300).map(fold => { const site = fold.first; return h("tr", {}, h("td", {}, h("a", { href: siteLink(site) }, place(site)), fold.sites.length > 1 ? h("span", { cls: "soft" }, ` ×${fold.sites.length}`) : ""), h("td", {}, h("code", {}, T[site.o])), h("td", {}, statusTag(site.st)),
      h("td", { cls: "n" }, fold.total("n") === undefined ? "?" : number(fold.total("n"))), h("td", { cls: "n" }, fold.cost("wf", "per")), h("td", { cls: "n" }, fold.cost("id", "idp")), h("td", { cls: "n" }, fold.cost("ex", "exp")), h("td", { cls: "n" }, number(site.ways))); }))));
}

// --- global and local memory -----------------------------------------------------------------------

const M = D.memory, SPACES = ["global", "local"], SECTOR = 32;
M.forEach((site, at) => { site.at_ = at; });
const memoryLink = site => link("memory", idOf(site), several.has(site.k) ? { launch: K[site.k].nth } : {});
const memoryFolds = sites => [...grouped(sites, foldKey).values()].map(list => new Fold(list)).sort((a, b) => b.weight - a.weight);

function memoryView(now) {
  if (now.value) {
    const found = M.filter(site => idOf(site) === now.value), launch = now.args.get("launch");
    const site = launch && found.find(one => String(kernelOf(one).nth) === launch) || found[0];
    if (site) { view.replaceChildren(memoryDetail(site)); return; }
  }
  const out = [h("h1", { cls: "lead" }, "Global and local memory"), h("p", { cls: "under" }, "Sectors are 32 bytes, lines 128: what a request moves, summed over the launch, and what its bytes need where they lie side by side.")];
  for (const space of SPACES) {
    const mine = M.filter(site => site.sp === space && once(site));
    if (mine.length) out.push(h("h2", {}, `${space[0].toUpperCase()}${space.slice(1)} memory`), memorySums(mine), memoryTable(mine, K.length > 1, `Accesses to ${space} memory`));
  }
  view.replaceChildren(...out.flat());
}
function memorySums(sites) {
  const exact = sites.filter(site => site.st === "exact"), sectors = sum(exact, site => site.wf), excess = sum(exact, site => site.ex);
  if (!sectors) return h("p", { cls: "soft" }, `${plural(sites.length, "site")}, none of them exact`);
  return [tally([["ideal", sectors - excess], ["excess", excess]], `${number(sectors - excess)} sectors needed, ${number(excess)} more moved`),
    h("p", { cls: "legend" }, `${number(excess)} of ${number(sectors)} sectors of ${plural(exact.length, "exact site")} are excess (${percent(excess, sectors)})`)].map(one => h("div", {}, one));
}
function memoryTable(sites, kernels, label) {
  const rows = memoryFolds(sites), most = 500;
  const numbers = ["Requests", "Sectors", "Ideal", "Excess", "Lines"];
  return h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, ["Place", "Instruction", "Status"].map(name => h("th", { scope: "col" }, name)), numbers.map(name => h("th", { scope: "col", cls: "n" }, name)), kernels && h("th", { scope: "col" }, "Kernel"))),
    h("tbody", {}, rows.slice(0, most).map(fold => memoryRow(fold, kernels)))),
  rows.length > most && h("p", { cls: "soft" }, `and ${number(rows.length - most)} more, which the JSON report has`));
}
function memoryRow(fold, kernels) {
  const site = fold.first, cell = (...inside) => h("td", { cls: "n" }, inside);
  return h("tr", {}, h("td", { cls: "wrap" }, h("a", { href: memoryLink(site) }, place(site)), fold.sites.length > 1 ? h("span", { cls: "soft" }, ` ×${fold.sites.length}`) : "", textOf(site) && h("span", { cls: "src" }, textOf(site).trim())),
    h("td", {}, h("code", {}, T[site.o]), site.what ? h("span", { cls: "src" }, T[site.what]) : ""), h("td", {}, statusTag(site.st)),
    cell(fold.total("n") === undefined ? "?" : number(fold.total("n"))), cell(fold.cost("wf", "per")), cell(fold.cost("id", "idp")), cell(fold.cost("ex", "exp")), cell(number(fold.total("tags"))), kernels && h("td", { cls: "wrap soft" }, shortened(kernelOf(site).bare, 60)));
}
function memoryDetail(site) {
  const kernel = kernelOf(site), box = h("div", { cls: "detail", role: "region", "aria-label": "Site in depth" });
  const fact = (name, value, more) => h("div", {}, h("dt", {}, name), h("dd", {}, value, more && h("small", {}, " " + more)));
  box.append(h("div", { cls: "crumbs" }, h("a", { href: "#memory" }, "all of global and local memory"), h("button", { type: "button", cls: "push", onclick: event => copy(idOf(site), event.target), title: "The name that ptxaudit explain takes" }, "copy id")),
    h("h1", {}, `${place(site)}  ${T[site.o]}`),
    h("div", { cls: "kernel" }, h("a", { href: kernelLink(site.k), title: kernel.dem }, shortened(kernel.bare, 90)), ` · ${kernel.arch} ${kernel.isa} · ${site.sp} memory · ${kernel.launch || "no launch specified"}`), ...sourceLines(site));
  box.append(h("dl", { cls: "facts" }, h("div", {}, h("dt", {}, "status"), h("dd", {}, statusTag(site.st))), fact("requests", site.n === undefined ? "?" : number(site.n)),
    fact("sectors", costText(site, "wf", "per")), fact("ideal", costText(site, "id", "idp")), fact("excess", costText(site, "ex", "exp")), fact("lines", number(site.tags)),
    site.moved !== undefined && site.st === "exact" ? fact("bytes used", number(site.used || 0), `of ${number(site.moved)} moved`) : ""));
  if (site.what) box.append(h("p", { cls: "say" }, T[site.what]));
  box.append(...sayings(site));
  if (site.same > 1) box.append(h("p", { cls: "say" }, `Up to ${site.same} lanes are on one address: the L2 takes them one after the other.`));
  if (site.mis) box.append(h("p", { cls: "say" }, "A request would take fewer sectors if its lowest address were a multiple of 32."));
  if (site.fo) box.append(h("h2", {}, "Address of its first request, in bytes"), h("div", { cls: "formula" }, T[site.fo]));
  box.append(...sectorMaps(site), ...memoryConditions(site), ...instruction(site),
    h("p", { cls: "soft" }, site.ev ? "This instruction was measured on this machine." : "By rule: this instruction was not measured on this machine."));
  return box;
}
function sectorMaps(site) {
  if (!site.q) return site.d ? [h("h2", {}, "Lanes by sector"), h("p", { cls: "soft" }, "Its requests are not in this page, which has room for those of the costliest sites: ", h("code", {}, `ptxaudit explain ${kernelOf(site).input} …`), " shows them.")] : [];
  const panel = h("div"), state = { at: 0 };
  const draw = () => {
    const one = site.q[state.at], said = `${range(one.lo, one.hi ?? one.lo)} ${one.lo === 1 && !one.hi ? "sector" : "sectors"}, ideal ${one.id}`;
    const step = (label, by, sign) => h("button", { type: "button", "aria-label": label, disabled: state.at + by < 0 || state.at + by >= site.q.length, onclick: () => panel.step(by) }, sign);
    put(panel, h("div", { cls: "stepper" }, step("previous request", -1, "‹"), step("next request", 1, "›"),
      h("span", { cls: "where", role: "status" }, h("b", {}, `request ${state.at + 1} of ${site.q.length}`), site.d > site.q.length ? h("span", { cls: "soft" }, ` (${site.q.length} shown of ${number(site.d)} distinct)`) : ""),
      h("span", {}, h("b", {}, said)), one.n !== undefined && h("span", { cls: "soft" }, `${number(one.n)} in this launch are like it`)), sectorMap(one, said), addressTable(D.shapes[one.sh]));
  };
  panel.step = by => { state.at = Math.min(site.q.length - 1, Math.max(0, state.at + by)); draw(); };
  stepRequest = panel.step;
  draw();
  return [h("h2", {}, "Lanes by sector"), panel];
}
/** A row per 128-byte line and a column per sector; a cell has the lanes that touch the sector and the bytes that they use. */
function sectorMap(one, said) {
  const all = sum(one.map, line => line.slice(1).filter(Boolean).length);
  return h("div", { cls: "scroll", tabindex: "0", role: "group", "aria-label": "lanes by sector" }, h("table", { cls: "sectors" }, h("caption", {}, `${said}: each row is a line of 128 bytes, each column a sector of it; the lanes that touch a sector, and how many of its bytes they use`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "line"), [0, 1, 2, 3].map(at => h("th", { scope: "col" }, `${at * SECTOR}–${at * SECTOR + SECTOR - 1}`)))),
    h("tbody", {}, one.map.map(([line, ...cells]) => h("tr", {}, h("th", { scope: "row" }, `+${line}`), cells.map(cell => cell ? h("td", { cls: cell[1] < SECTOR ? "part" : "whole" }, cell[0], h("small", {}, ` ${cell[1]} B`)) : h("td", { cls: "none" }, "·")))))),
  one.lines > one.map.length && h("p", { cls: "soft" }, `and ${plural(one.lines - one.map.length, "more line")}; ${all} sectors are shown`));
}
function memoryConditions(site) {
  if (!site.co) return [];
  return [h("h2", {}, "It depends"), h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": "Cases" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), h("th", { scope: "col", cls: "n" }, "Sectors of a request"), h("th", { scope: "col", cls: "n" }, "Ideal"))),
    h("tbody", {}, site.co.slice(0, 64).map(([when, low, high, ideal]) => h("tr", {}, h("td", { cls: "wrap" }, when), h("td", { cls: "n" }, range(low, high)), h("td", { cls: "n" }, number(ideal)))))))];
}

// --- findings ------------------------------------------------------------------------------------

function findingsView() {
  view.replaceChildren(h("h1", { cls: "lead" }, "Findings"), h("p", { cls: "under" }, "What the rules say, gravest and costliest first; the rules are below."),
    h("div", { cls: "scroll", tabindex: "0", role: "region", "aria-label": "Findings" }, h("table", {}, h("thead", {}, h("tr", {}, ["Rule", "Level", "Place", "What", "Kernel"].map(name => h("th", { scope: "col" }, name)))),
      h("tbody", {}, D.findings.map(one => h("tr", {}, h("td", {}, h("a", { href: "#" + one.rule, title: one.title }, one.rule)), h("td", {}, one.level, one.state ? ` (${one.state})` : ""),
        h("td", { cls: "nowrap" }, one.site === undefined ? h("code", {}, one.file + (one.line ? ":" + one.line : "")) : h("a", { href: siteLink(S[one.site]) }, h("code", {}, base(one.file) + (one.line ? ":" + one.line : "")))),
        h("td", { cls: "wrap" }, one.message, one.allowed && h("em", {}, ` allowed: ${one.allowed}`)), h("td", { cls: "wrap soft" }, shortened(one.kernel || "", 80))))))),
    D.found > D.findings.length ? h("p", { cls: "soft" }, `and ${number(D.found - D.findings.length)} more, which the JSON and SARIF reports have`) : "");
}

// --- the frame -------------------------------------------------------------------------------------

const TABS = [["overview", "Overview"], ["sites", "Sites", S.length], ["source", "Source"], ["kernels", "Kernels", new Set(K.filter(k => k.count || k.memory).map(k => k.name)).size], ["memory", "Memory", M.length], ["findings", "Findings", D.found]];
function tabs(current) {
  document.getElementById("tabs").replaceChildren(...TABS.filter(([key, , n]) => n !== 0 || key === "sites").map(([key, name, n]) => h("a", { href: "#" + key, "aria-current": key === current ? "page" : null }, name, n ? [" ", h("small", {}, number(n))] : "")));
}
const search = h("input", { type: "search", placeholder: "Search sites  /", "aria-label": "Search sites", oninput: () => {
  filter.q = search.value;
  if (!["sites", "site"].includes(parsed().view)) { history.pushState(null, "", link("sites", null, filterLink())); show(); search.focus(); } else setFilter("q", search.value);
} });
const themes = ["", "light", "dark"];
let theme = "";
try { theme = localStorage.getItem("ptxaudit-theme") || ""; } catch { theme = ""; }
const themeButton = h("button", { type: "button", onclick: () => { setTheme(themes[(themes.indexOf(theme) + 1) % 3]); } });
function setTheme(name) {
  theme = themes.includes(name) ? name : "";
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  themeButton.textContent = { "": "◐", light: "○", dark: "●" }[theme];
  const said = { "": "Colours as the system has them", light: "Light colours", dark: "Dark colours" }[theme];
  themeButton.title = said;
  themeButton.setAttribute("aria-label", said + ": change");
  try { localStorage.setItem("ptxaudit-theme", theme); } catch { /* a page opened from a file may have no storage */ }
}
const help = document.getElementById("help");
help.append(h("h2", {}, "Keys"), h("table", {}, h("tbody", {}, [["/", "search"], ["j k  or  ↓ ↑", "next and previous site"], ["[ ]", "previous and next request of a site"], ["1 – 6", "overview, sites, source, kernels, memory, findings"], ["Esc", "back to the list, leave the search"], ["?", "these keys"]]
  .map(([keys, what]) => h("tr", {}, h("td", {}, h("kbd", {}, keys)), h("td", {}, what))))), h("p", {}, h("button", { type: "button", onclick: () => help.close() }, "Close")));
document.getElementById("tools").append(search, h("button", { type: "button", "aria-label": "Keys", title: "Keys  ?", onclick: () => help.showModal() }, "?"), themeButton);

const FILLED = new Set(["sites", "site", "source"]);
function show() {
  const now = parsed();
  let name = now.view;
  const rule = /^PA\d+$/.test(name) ? name : "";
  if (rule) name = "findings";
  if (!["overview", "sites", "site", "source", "kernels", "kernel", "memory", "findings"].includes(name)) name = "overview";
  stepRequest = null;
  const fills = FILLED.has(name) && (S.length || name !== "source");
  view.classList.toggle("fill", fills);
  document.body.classList.toggle("filled", fills);
  rulesSection.hidden = name !== "findings";
  tabs({ site: "sites", kernel: "kernels" }[name] || name);
  view.style.setProperty("--top", document.querySelector(".bar").offsetHeight + "px");
  if (name === "sites" || name === "site") { takeFilter(now.args); search.value = filter.q; }
  if (name === "overview") overview();
  else if (name === "sites") sitesView(null);
  else if (name === "site") siteView(now);
  else if (name === "source") sourceView(now.value, now.args);
  else if (name === "kernels") kernelsView();
  else if (name === "kernel") kernelView(now.value, now.args);
  else if (name === "memory") memoryView(now);
  else findingsView();
  if (rule) { const one = document.getElementById(rule); if (one) { one.open = true; one.scrollIntoView(); } } else if (!fills) window.scrollTo(0, 0);
}
function siteView(now) {
  const site = siteOf(now.value, now.args.get("launch"));
  if (!site) { view.classList.remove("fill"); view.replaceChildren(h("h1", { cls: "lead" }, "There is no such site in this report"), h("p", {}, h("code", {}, now.value)), h("p", {}, h("a", { href: "#sites" }, "all sites"))); return; }
  const there = view.querySelector(".split.two");
  if (!there) return sitesView(site);
  there.lastChild.replaceChildren(detail(site));      // keeps the list's scroll position
  list.site = site;
  list.at = list.rows.findIndex(row => row.sites.includes(site));
  if (list.at >= 0) list.virtual.show(list.at); else list.virtual.draw(true);
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), now = parsed().view;
  if (event.key === "Escape") {
    if (typing) event.target.blur(); else if (now === "site" && !help.open) location.hash = link("sites", null, filterLink());
    return;
  }
  if (typing || help.open) return;
  const inSites = now === "site" || now === "sites";
  const keys = { "/": () => search.focus(), "?": () => help.showModal(), j: () => inSites && move(1), k: () => inSites && move(-1),
    "[": () => stepRequest && stepRequest(-1), "]": () => stepRequest && stepRequest(1) };
  if (event.target.matches(".list .vlist") || event.target === document.body && inSites) Object.assign(keys, { ArrowDown: () => move(1), ArrowUp: () => move(-1) });
  TABS.forEach(([key], at) => { keys[String(at + 1)] = () => { location.hash = key; }; });
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
window.addEventListener("hashchange", show);
let printed = null;
window.addEventListener("beforeprint", () => {
  if (parsed().view !== "sites") return;
  printed = h("section", { cls: "print-only" }, h("h1", {}, D.verdict || D.closing[0]), h("table", {}, h("thead", {}, h("tr", {}, COLUMNS.map(([, name, cls]) => h("th", { cls: cls.includes("n") && cls[0] === "n" ? "n" : "" }, name)))),
    h("tbody", {}, list.rows.slice(0, 500).map(fold => h("tr", {}, h("td", {}, place(fold.first), fold.sites.length > 1 ? ` ×${fold.sites.length}` : ""), h("td", {}, T[fold.first.o]), h("td", {}, kernelOf(fold.first).bare), h("td", {}, fold.first.st), h("td", { cls: "n" }, number(fold.total("n"))), h("td", { cls: "n" }, fold.cost("wf", "per")), h("td", { cls: "n" }, fold.cost("id", "idp")), h("td", { cls: "n" }, fold.cost("ex", "exp")), h("td", { cls: "n" }, number(fold.first.ways)))))),
  list.rows.length > 500 ? h("p", {}, `and ${number(list.rows.length - 500)} more rows`) : "");
  view.append(printed);
});
window.addEventListener("afterprint", () => { if (printed) { printed.remove(); printed = null; } });

setTheme(theme);
show();
window.ptxaudit = { data: D, layOut, drawnRows, siteOf };       // for the browser's console
})();
