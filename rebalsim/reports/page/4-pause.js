// The pause that was chosen: its sentence, its phases as a table that adds up, its evidence, and how to ask for more.
function say(text) { byId("said").textContent = text; }

function choose(timeline, lane, place, members) {
  for (const other of TIMELINES) { const had = other.chosen; other.chosen = other === timeline ? { lane, pause: place } : null; if (had || other === timeline) other.draw(); }
  const v = timeline.variant, pause = v.pauses[place], length = lengthOf(pause), name = TEXT[v.lanes[lane][0]];
  const same = members.filter((i) => v.lanes[i][3].includes(place));
  const names = same.length > 1 ? `${laneName(v, v.lanes[lane])} and ${same.length - 1} like it` : laneName(v, v.lanes[lane]);
  const rows = phasesOf(pause).map((p) => element("tr", {}, element("td", {}, swatch(p.kind), KINDS[p.kind].name), element("td", { class: "num" }, duration(p.length)),
    element("td", { class: "num" }, instant(p.started, 1000)), element("td", { class: "long" }, p.text)));
  const sum = element("tr", {}, element("th", {}, "together"), element("th", { class: "num" }, duration(length)), element("td", { class: "num" }, `until ${instant(pause[0] + length, 1000)}`),
    element("td", { class: "long dim" }, pause[1] ? "not over when the observation ended" : `${TEXT[pause[2]] || "nobody"} had it before, ${TEXT[pause[3]] || "nobody"} after`));
  const head = element("tr", {}, ...["phase", "for", "from", "what it waited for"].map((h, i) => element("th", i === 1 || i === 2 ? { class: "num" } : {}, h)));
  const parts = [element("h3", {}, VARIANTS.length > 1 ? `${v.name}: ${names}` : names), element("p", {}, sentence(names, pause, same.length < 2))];
  for (const [cause, arrow] of v.remedies) if (cause === pause[4]) parts.push(element("p", {}, `→ ${TEXT[arrow]}`));
  if (TEXT[pause[5]]) parts.push(element("p", { class: "dim" }, `What it hangs on: ${TEXT[pause[5]]}`));
  parts.push(element("div", { class: "scroll" }, element("table", { class: "phases" }, element("thead", {}, head), element("tbody", {}, ...rows, sum))));
  parts.push(...chain(v, pause));
  const file = v.file || byId("command").dataset.file || "FILE";
  parts.push(element("p", {}, element("code", {}, `rebalsim explain ${quoted(file)} --partition ${quoted(name)} --at ${(pause[0] / 1e6).toFixed(6)}s${v.file.endsWith("json") ? "" : ` --variant ${quoted(variantName(v))}`}`)));
  const close = element("button", { class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", closePause);
  byId("pause").replaceChildren(close, ...parts);
  openBeside(timeline);
  say(sentence(names, pause, same.length < 2));
  drawLag(timeline.place, lane);
}

function openBeside(timeline) {                         // where there is room for both; else right below what was clicked
  const panel = byId("pause"), row = timeline.rows.findIndex((members) => members.includes(timeline.chosen.lane));
  const place = () => timeline.frame.getBoundingClientRect().top + timeline.y(row), before = panel.hidden ? place() : null;
  if (isWide()) byId("beside").append(panel); else timeline.frame.after(panel);
  panel.hidden = false;
  byId("beside").classList.toggle("open", isWide());
  refresh();
  if (before !== null) scrollBy(0, place() - before);    // what was clicked stays where it was
}

function closePause() {
  byId("pause").hidden = true;
  byId("beside").classList.remove("open");
  const timeline = TIMELINES.find((t) => t.chosen);
  for (const other of TIMELINES) other.chosen = null;
  refresh();
  if (timeline) timeline.canvas.focus({ preventScroll: true });
}

const isWide = () => matchMedia("(min-width: 1100px)").matches;

function chain(v, pause) {                              // the trace's events that prove it, in words where the page holds them
  v.told = v.told || new Map(v.events.map(([n, at, who, what]) => [n, [at, TEXT[who], TEXT[what]]]));
  const known = pause[7].filter((n) => v.told.has(n)), others = pause[7].filter((n) => !v.told.has(n)), parts = [];
  const rows = known.map((n) => {
    const [at, who, what] = v.told.get(n);
    return element("tr", {}, element("td", { class: "num" }, instant(at, 1000)), element("td", {}, who), element("td", { class: "long" }, what), element("td", { class: "num dim" }, `#${n}`));
  });
  if (rows.length) parts.push(element("details", { open: "" }, element("summary", {}, "What happened, event by event"), element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...rows)))));
  if (others.length) parts.push(element("p", { class: "dim" }, `Evidence${rows.length ? " besides" : ""}: events ${others.join(", ")} of the trace.`));
  return parts;
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
const variantName = (v) => v.name;

function swatch(kind) {                                 // an SVG, since a strict policy forbids style attributes
  const SVG = "http://www.w3.org/2000/svg", made = document.createElementNS(SVG, "svg"), box = document.createElementNS(SVG, "rect");
  made.setAttribute("viewBox", "0 0 14 12"); made.setAttribute("width", "14"); made.setAttribute("height", "12"); made.setAttribute("aria-hidden", "true");
  box.setAttribute("width", "14"); box.setAttribute("height", "12");
  if (kind < 0) { box.setAttribute("y", "2"); box.setAttribute("height", "8"); }
  box.style.fill = kind < 0 ? `var(--run${kind < -1 ? "2" : ""})` : `var(--p-${KINDS[kind].name})`;
  made.append(box);
  const weave = kind < 0 ? 0 : KINDS[kind].weave;
  if (weave) {
    const lines = document.createElementNS(SVG, "path");
    lines.setAttribute("d", weave === 1 ? "M-8 12L4 0M-2 12L10 0M4 12L16 0M10 12L22 0" : "M0 3.5H14M0 7.5H14M0 11.5H14");
    lines.style.stroke = "var(--card)"; lines.style.opacity = "0.5";
    made.append(lines);
  }
  return made;
}

function fillTable(place) {                             // the same as the picture, in words; built when it is opened
  const v = VARIANTS[place], body = [];
  v.lanes.forEach((lane) => {
    if (!lane[3].length) body.push(row(lane, null));
    for (const p of lane[3]) body.push(row(lane, v.pauses[p]));
  });
  function row(lane, pause) {
    const owners = [...new Set(lane[2].map(([owner]) => TEXT[owner]))];
    const cells = [element("th", { scope: "row" }, laneName(v, lane)), element("td", { class: "long" }, owners.slice(0, 8).join(", ") + (owners.length > 8 ? " …" : ""))];
    if (!pause) return element("tr", {}, ...cells, element("td", { class: "num" }, "-"), element("td", { class: "num" }, "-"), element("td", { class: "long dim" }, "never stood still"));
    return element("tr", {}, ...cells, element("td", { class: "num" }, instant(pause[0], 1000)), element("td", { class: "num" }, duration(lengthOf(pause))),
      element("td", { class: "long" }, `${TEXT[pause[4]]}: ${phasesOf(pause).map((p) => `${KINDS[p.kind].name} ${duration(p.length)}`).join(", ")}`));
  }
  const head = element("tr", {}, ...["partition", "owners", "stood still at", "for", "phases"].map((h, i) => element("th", { scope: "col", ...(i === 2 || i === 3 ? { class: "num" } : {}) }, h)));
  byId(`table-${place}`).replaceChildren(element("table", {}, element("caption", {}, `Every pause of every partition: ${v.title}`), element("thead", {}, head), element("tbody", {}, ...body)));
}
