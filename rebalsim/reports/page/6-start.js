// Everything begins here: timelines, buttons, theme, print.
const TIMELINES = [];

function refresh() {
  for (const t of TIMELINES) { t.layout(); t.draw(); }
  drawLag();
  byId("window").textContent = `${instant(Math.round(view.from), 1000)} – ${instant(Math.round(view.until), 1000)}`;
}

function arrange() { for (const t of TIMELINES) { t.arrange(); t.frame.scrollTop = 0; } refresh(); }

function bandLegend() {                                 // the colours of the group's row, by the states that they stand for
  const states = new Set(VARIANTS.flatMap((v) => [...v.groups, ...v.apps]).flatMap(([, spans]) => spans.map(([state]) => state)));
  const kinds = new Map();
  for (const state of states) {
    const kind = bandKind(state);
    if (kind >= 0) kinds.set(kind, [...(kinds.get(kind) || []), state]);
  }
  return [...kinds].map(([kind, named]) => element("li", {}, swatch(kind), element("span", {}, `in the group's row: ${named.join(", ")}`)));
}

function start() {
  document.documentElement.dataset.script = "on";
  for (const made of document.querySelectorAll(".needs-script")) made.hidden = false;
  for (const plain of document.querySelectorAll(".without-script")) plain.hidden = true;
  readInk();
  VARIANTS.forEach((_, place) => TIMELINES.push(new Timeline(place)));
  const drawn = [...new Set(VARIANTS.flatMap((v) => v.pauses.flatMap((p) => phasesOf(p).map((q) => q.kind))))].sort((a, b) => a - b);
  byId("legend").append(element("li", {}, swatch(-1), swatch(-2), "consuming", element("span", {}, " (the name: who begins to; the shade changes with the owner)")),
    ...drawn.map((kind) => element("li", { title: KINDS[kind].title }, swatch(kind), `${KINDS[kind].letter} ${KINDS[kind].name}`, element("span", {}, `: ${KINDS[kind].title}`))),
    ...(VARIANTS.some((v) => v.copies.length) ? [element("li", {}, element("span", {}, "Thinly beneath a task: its standbys and warm-ups, in the colour of restore while they copy."))] : []),
    element("li", {}, element("span", {}, "In the group's row a tick is a round that was completed.")), ...bandLegend());
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => show(0, DATA.horizon));
  byId("fold").addEventListener("click", () => { view.isFolded = !view.isFolded; byId("fold").setAttribute("aria-pressed", String(view.isFolded)); arrange(); });
  byId("filter").addEventListener("input", (event) => { view.filter = event.target.value; arrange(); });
  byId("theme").addEventListener("click", () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    readInk(); refresh();
  });
  if (byId("lag-all")) byId("lag-all").addEventListener("click", () => drawLag(-1, -1));
  VARIANTS.forEach((_, place) => byId(`details-${place}`).addEventListener("toggle", (event) => { if (event.target.open && !byId(`table-${place}`).firstChild) fillTable(place); }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readInk(); refresh(); });
  let theme = "";
  addEventListener("beforeprint", () => { theme = document.documentElement.dataset.theme || ""; document.documentElement.dataset.theme = "light"; readInk(); refresh(); });
  addEventListener("afterprint", () => { if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme; readInk(); refresh(); });
  addEventListener("resize", () => { const chosen = TIMELINES.find((t) => t.chosen); if (chosen) openBeside(chosen); else refresh(); });
  arrange();
}
window.rebalsim = { timelines: TIMELINES, view, data: DATA, duration, instant, sentence };      // for tests, and for the curious at the console
start();
