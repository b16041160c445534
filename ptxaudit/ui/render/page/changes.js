"use strict";
(() => {
const tools = document.getElementById("tools"), kernels = [...document.querySelectorAll("section.change")];
const button = (text, label, press) => {
  const one = document.createElement("button");
  one.type = "button";
  one.textContent = text;
  if (label) { one.title = label; one.setAttribute("aria-label", label); }
  one.addEventListener("click", () => press(one));
  return one;
};

let words = [], onlyWorse = false;
function choose() {
  for (const kernel of kernels) {
    const text = kernel.textContent.toLowerCase();
    kernel.hidden = onlyWorse && !kernel.dataset.worse || !words.every(word => text.includes(word));
  }
}
const search = document.createElement("input");
search.type = "search";
search.placeholder = "Search  /";
search.setAttribute("aria-label", "Search kernels and sites");
search.addEventListener("input", () => { words = search.value.toLowerCase().split(/\s+/).filter(Boolean); choose(); });

let theme = "";
try { theme = localStorage.getItem("ptxaudit-theme") || ""; } catch { theme = ""; }
const names = ["", "light", "dark"];
function setTheme(name, one) {
  theme = names.includes(name) ? name : "";
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  one.textContent = { "": "◐", light: "○", dark: "●" }[theme];
  try { localStorage.setItem("ptxaudit-theme", theme); } catch { /* a page opened from a file may have no storage */ }
}
const themeButton = button("◐", "Change colours", one => setTheme(names[(names.indexOf(theme) + 1) % 3], one));
if (kernels.some(kernel => kernel.dataset.worse) && kernels.some(kernel => !kernel.dataset.worse)) {
  tools.append(button("only worse", "", one => { onlyWorse = !onlyWorse; one.setAttribute("aria-pressed", String(onlyWorse)); choose(); }));
}
tools.append(search, button("code", "Open or close the code of all sites", () => {
  const all = [...document.querySelectorAll("details")], open = !all.every(one => one.open);
  for (const one of all) one.open = open;
}), themeButton);
setTheme(theme, themeButton);
document.addEventListener("keydown", event => {
  if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
  if (event.key === "Escape") search.blur();
});
})();
