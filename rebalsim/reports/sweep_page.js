"use strict";
(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const NS = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const make = (tag, attrs = {}, ...children) => fill(document.createElement(tag), attrs, children);
  const draw = (tag, attrs = {}, ...children) => fill(document.createElementNS(NS, tag), attrs, children);
  function fill(node, attrs, children) {
    for (const [k, v] of Object.entries(attrs)) {
      if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
      else if (v !== null && v !== undefined && v !== false) node.setAttribute(k, v === true ? "" : v);
    }
    for (const c of children) node.append(typeof c === "object" && c !== null ? c : document.createTextNode(String(c)));
    return node;
  }
  const clear = (node) => { node.replaceChildren(); return node; };

  // ---------------------------------------------------------------- words
  function duration(us) {
    if (!us) return "0 s";
    if (us < 1000) return `${Math.round(us)} µs`;
    if (us < 1e6) return `${(us / 1e3).toFixed(us < 1e4 ? 1 : 0)} ms`;
    if (us < 6e7) return `${(us / 1e6).toFixed(us < 1e7 ? 2 : 1)} s`;
    if (us < 3.6e9) { const s = Math.round(us / 1e6); return `${Math.floor(s / 60)} m${s % 60 ? ` ${s % 60} s` : ""}`; }
    const m = Math.round(us / 6e7); return `${Math.floor(m / 60)} h${m % 60 ? ` ${m % 60} m` : ""}`;
  }
  const thousands = (n, digits = 0) => n.toLocaleString("en-US", { maximumFractionDigits: digits });
  function say(metric, value) {
    if (value === null || value === undefined) return "unknown";
    const unit = D.units[metric];
    if (unit === "duration") return duration(value);
    if (unit === "partition-time") return `${thousands(value / 1e6, 1)} s`;
    if (unit === "share") return `${(value * 100).toFixed(1)} %`;
    if (unit === "money") return `${thousands(value * 730)} ${D.currency}`;
    return thousands(value, 2);
  }
  const title = (metric) => (D.units[metric] === "money" ? `cost a month (${D.currency})` : D.titles[metric] ?? metric.replaceAll("_", " "));
  const seedsSay = D.percentile === null ? "worst seed" : `p${D.percentile} of seeds`;

  // ---------------------------------------------------------------- points
  const points = D.points;
  const key = (p) => `${p.n}-${D.variants[p.v]}`;
  const pointByKey = new Map(points.map((p) => [key(p), p]));
  const mains = D.metrics.indexOf(D.main);
  const worst = (p, metric) => {
    const o = D.objectiveMetrics.indexOf(metric);
    if (o >= 0) return p.o[o];
    const m = D.metrics.indexOf(metric);
    return m >= 0 ? p.m[m][2] : null;
  };
  const at = (p, a) => (D.axes[a].labels.length ? D.axes[a].labels[p.d[a]] : p.at[a]);
  let chosen = null;
  const listeners = [];
  function choose(p) { chosen = p; for (const f of listeners) f(); history.replaceState(null, "", p ? `#${encodeURIComponent(key(p))}` : "#"); }
  const pickable = (p) => ({ tabindex: 0, role: "button", onclick: () => choose(p),
    onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(p); } } });

  function table(head, rows, picks) {
    const body = make("tbody");
    rows.forEach((row, i) => {
      const p = picks && picks[i];
      const tr = make("tr", p ? { class: "pick" + (chosen === p ? " is-chosen" : ""), ...pickable(p) } : {});
      row.forEach((c) => tr.append(make("td", {}, c)));
      body.append(tr);
    });
    return make("table", {}, make("thead", {}, make("tr", {}, ...head.map((h) => make("th", { scope: "col" }, h)))), body);
  }

  // ---------------------------------------------------------------- the best
  const varying = D.axes.map((a, i) => i).filter((i) => !D.axes[i].labels.length || D.axes[i].labels.length > 1);
  function best() {
    const list = D.best.map((k) => pointByKey.get(k)).filter(Boolean).slice(0, 12);
    const box = clear(byId("best"));
    if (!list.length) { box.append(make("p", { class: "bad" }, "Nothing meets all budgets. The Pareto front below shows what nothing else beats.")); return; }
    const shown = D.objectiveMetrics.map((m, i) => i).filter((i) => !varying.some((a) => D.axes[a].name === D.objectiveMetrics[i]));   // no column twice
    const costs = D.hasCosts && !D.objectiveMetrics.some((m) => D.units[m] === "money");
    const head = ["point", ...varying.map((i) => D.axes[i].name), "variant", ...shown.map((i) => (D.units[D.objectiveMetrics[i]] === "money" ? "a month" : D.objectives[i])), ...(costs ? ["a month"] : [])];
    box.append(table(head, list.map((p) => [p.n, ...varying.map((i) => at(p, i)), D.variants[p.v], ...shown.map((i) => say(D.objectiveMetrics[i], p.o[i])), ...(costs ? [p.c === undefined ? "–" : `${thousands(p.c * 730)} ${D.currency}`] : [])]), list));
  }
  listeners.push(best);

  // ---------------------------------------------------------------- the heat map
  const heat = { x: D.heat[0], y: D.heat[1] ?? -1, metric: D.show, variant: 0, fixed: {} };
  const listed = varying.filter((i) => D.axes[i].labels.length);
  function select(label, options, value, change) {
    const box = make("select", { onchange: (e) => { change(e.target.value); } });
    options.forEach(([v, text]) => box.append(make("option", { value: v, selected: String(v) === String(value) }, text)));
    return make("label", {}, label, box);
  }
  function heatControls() {
    const box = clear(byId("heat-controls"));
    const redraw = () => { heatControls(); heatMap(); };
    const axes = listed.map((i) => [i, D.axes[i].name]);
    box.append(select("across", axes, heat.x, (v) => { if (+v === heat.y) heat.y = heat.x; heat.x = +v; redraw(); }));
    if (listed.length > 1) box.append(select("down", axes, heat.y, (v) => { if (+v === heat.x) heat.x = heat.y; heat.y = +v; redraw(); }));
    box.append(select("shows", [["verdict", "verdict"], ["settles", "settles at once, slowly, never"], ...D.metrics.map((m) => [m, title(m)])], heat.metric,
      (v) => { heat.metric = v; redraw(); }));
    if (D.variants.length > 1) box.append(select("variant", D.variants.map((v, i) => [i, v]), heat.variant, (v) => { heat.variant = +v; redraw(); }));
    for (const i of listed) if (i !== heat.x && i !== heat.y) {
      box.append(select(D.axes[i].name, D.axes[i].labels.map((l, d) => [d, l]), heat.fixed[i], (v) => { heat.fixed[i] = +v; redraw(); }));
    }
  }
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function mix(a, b, t) {
    const parse = (h) => [1, 3, 5].map((i) => parseInt(h.length === 4 ? h[(i + 1) / 2].repeat(2) : h.slice(i, i + 2), 16));
    const [x, y] = [parse(a), parse(b)];
    return `rgb(${x.map((c, i) => Math.round(c + (y[i] - c) * t)).join(",")})`;
  }
  function ramp(t) {
    const stops = ["--ramp0", "--ramp1", "--ramp2", "--ramp3"].map(css);
    const s = Math.min(2.999, Math.max(0, t * 3));
    return mix(stops[Math.floor(s)], stops[Math.floor(s) + 1], s - Math.floor(s));
  }
  function heatMap() {
    const box = clear(byId("heat"));
    if (!listed.length) { box.append(make("p", { class: "dim" }, "A heat map needs an axis with listed values.")); return; }
    const X = D.axes[heat.x].labels, Y = heat.y >= 0 && listed.length > 1 ? D.axes[heat.y].labels : [""];
    const cells = new Map();
    for (const p of points) {
      if (p.v !== heat.variant || p.s !== 0) continue;
      if (listed.some((i) => i !== heat.x && i !== heat.y && p.d[i] !== heat.fixed[i])) continue;
      cells.set(`${p.d[heat.x]},${Y.length > 1 || heat.y >= 0 ? p.d[heat.y] ?? 0 : 0}`, p);
    }
    const values = [...cells.values()].map((p) => worst(p, heat.metric)).filter((v) => v !== null && v !== undefined);
    const low = Math.min(...values), high = Math.max(...values);
    const left = Math.min(220, 14 + 7 * Math.max(...Y.map((l) => l.length), 4)), top = 8;
    const w = Math.max(26, Math.min(110, (1040 - left) / X.length)), h = Y.length > 25 ? 16 : 30;
    const W = left + w * X.length + 8, H = top + h * Y.length + 44;
    const svg = draw("svg", { viewBox: `0 0 ${W} ${H}`, width: W, role: "group", "aria-label": `${title(heat.metric)} by ${D.axes[heat.x].name}${heat.y >= 0 ? " and " + D.axes[heat.y].name : ""}` });
    const isLog = low > 0 && high / low > 30;
    const scale = (v) => (high === low ? 0.3 : isLog ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    Y.forEach((label, y) => {
      svg.append(draw("text", { x: left - 6, y: top + h * y + h / 2 + 4, "text-anchor": "end" }, label));
      X.forEach((xl, x) => {
        const p = cells.get(`${x},${y}`);
        const value = p ? worst(p, heat.metric) : null;
        let color = css("--none"), text = "";
        if (p && heat.metric === "verdict") { color = p.w === "pass" ? css("--good") : p.w === "fail" ? css("--bad") : p.w === "error" ? css("--none") : css("--unsure"); text = p.w === "error" ? "" : told(p); }
        else if (p && heat.metric === "settles") { const s = p.g; color = s === "at once" ? css("--good") : s === "slowly" ? css("--unsure") : s === "never" ? css("--bad") : css("--none"); text = s; }
        else if (value !== null && value !== undefined) { color = ramp(scale(value)); text = (p.w === "inconclusive" ? "? " : "") + say(heat.metric, value); }
        if (p && p.w === "error") text = "×";
        const isChosen = chosen && p && chosen.n === p.n && chosen.v === p.v;
        const cell = draw("rect", { x: left + w * x, y: top + h * y, width: w, height: h, fill: color, class: "cell" + (isChosen ? " is-chosen" : ""), "data-key": p ? key(p) : null, ...(p ? pickable(p) : {}) });
        const what = p ? `${D.axes[heat.x].name} ${xl}${heat.y >= 0 ? `, ${D.axes[heat.y].name} ${label}` : ""}: ${p.w === "error" ? p.e || "cannot be played" : text} (${p.w})` : "not played";
        cell.append(draw("title", {}, what));
        if (p) cell.setAttribute("aria-label", what);
        svg.append(cell);
        if (text && w > 44 && h > 18) {
          const isDark = !["verdict", "settles"].includes(heat.metric) && value !== null && scale(value) > 0.5;
          const t = draw("text", { x: left + w * x + w / 2, y: top + h * y + h / 2 + 4, "text-anchor": "middle", "pointer-events": "none" }, text);
          t.style.fill = p.w === "error" ? "" : isDark || ["verdict", "settles"].includes(heat.metric) ? css("--paper") : css("--ink");
          svg.append(t);
        }
      });
    });
    X.forEach((label, x) => { if (w >= 40 || x % Math.ceil(40 / w) === 0) svg.append(draw("text", { x: left + w * x + w / 2, y: top + h * Y.length + 16, "text-anchor": "middle" }, label)); });
    svg.append(draw("text", { x: left + (w * X.length) / 2, y: H - 8, "text-anchor": "middle", class: "dimtext" }, D.axes[heat.x].name + (heat.y >= 0 ? `  ·  down: ${D.axes[heat.y].name}` : "")));
    if (D.budgets.length) {
      // The budget line: along every edge between a point that meets all budgets and one that does not.
      const meets = (x, y) => { const p = cells.get(`${x},${y}`); return p ? p.w === "pass" : null; };
      for (let y = 0; y < Y.length; y++) for (let x = 0; x < X.length; x++) {
        const here = meets(x, y);
        for (const [dx, dy] of [[1, 0], [0, 1]]) {
          const there = meets(x + dx, y + dy);
          if (here === null || there === null || here === there) continue;
          const x1 = left + w * (x + dx), y1 = top + h * (y + dy);
          svg.append(draw("line", { class: "budget", x1, y1, x2: dx ? x1 : left + w * (x + 1), y2: dx ? top + h * (y + 1) : y1 }));
        }
      }
    }
    box.append(svg);
    const legend = heat.metric === "settles" ? "at once: left alone within 30 s of its first disturbance; slowly: later; never: disturbed again in the last quarter of the story" : heat.metric === "verdict" ? "" : `${title(heat.metric)}, ${D.objectiveMetrics.includes(heat.metric) ? seedsSay : "worst seed"}; the stronger the colour, the more`;
    box.append(make("p", { class: "dim" }, [legend, D.budgets.length ? "the thick line parts what meets all budgets from what does not" : "", "× cannot be played"].filter(Boolean).join("; ") + "."));
    const shown = [...cells.values()];
    clear(byId("heat-table")).append(table([D.axes[heat.x].name, ...(heat.y >= 0 ? [D.axes[heat.y].name] : []), "verdict", title(D.main)],
      shown.map((p) => [at(p, heat.x), ...(heat.y >= 0 ? [at(p, heat.y)] : []), told(p), say(D.main, worst(p, D.main))]), shown));
  }
  listeners.push(() => {
    if (chosen) { heat.variant = chosen.v; for (const i of listed) if (i !== heat.x && i !== heat.y) heat.fixed[i] = chosen.d[i]; }
    heatControls(); heatMap();
  });

  // ---------------------------------------------------------------- plots with two scales
  // Round numbers in the unit that people read: `unit` is how much one of it is in the data.
  function ticks(a, b, unit) {
    const rough = (b - a) / unit / 5, power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) * unit;
    const found = [];
    for (let v = Math.ceil(a / step) * step; v <= b && found.length < 12; v += step) found.push(v);
    return found;
  }
  const unitOf = (metric, most) => (D.units[metric] === "money" ? 1 / 730 : D.units[metric] === "duration" ? (most > 3e8 ? 6e7 : most > 2e6 ? 1e6 : 1e3) : D.units[metric] === "partition-time" ? 1e6 : 1);
  const widthBeside = (other) => (byId(other) ? 540 : 1060);  // a picture that has a row to itself fills it
  function plot(W, H, xs, ys, xsay, ysay, xtitle, ytitle, xtimes = 1, ytimes = 1) {
    const pad = { l: 74, r: 14, t: 26, b: 42 };
    const lim = (v) => { const a = Math.min(...v), b = Math.max(...v); return a === b ? [a * 0.9 - 1e-9, b * 1.1 + 1e-9] : [a - (b - a) * 0.04, b + (b - a) * 0.04]; };
    const [x0, x1] = lim(xs), [y0, y1] = lim(ys);
    const X = (v) => pad.l + ((v - x0) / (x1 - x0)) * (W - pad.l - pad.r), Y = (v) => H - pad.b - ((v - y0) / (y1 - y0)) * (H - pad.t - pad.b);
    const svg = draw("svg", { viewBox: `0 0 ${W} ${H}`, width: W, role: "group", "aria-label": `${ytitle} against ${xtitle}` });
    for (const v of ticks(Math.max(0, y0), y1, ytimes)) svg.append(draw("line", { class: "rule", x1: pad.l, x2: W - pad.r, y1: Y(v), y2: Y(v) }), draw("text", { x: pad.l - 6, y: Y(v) + 4, "text-anchor": "end" }, ysay(v)));
    for (const u of ticks(Math.max(0, x0), x1, xtimes)) svg.append(draw("text", { x: X(u), y: H - pad.b + 16, "text-anchor": "middle" }, xsay(u)));
    svg.append(draw("text", { x: (W + pad.l) / 2, y: H - 6, "text-anchor": "middle", class: "dimtext" }, xtitle));
    svg.append(draw("text", { x: pad.l, y: 14, class: "dimtext" }, ytitle));
    return { svg, X, Y, x0, x1, y0, y1 };
  }

  function pareto() {
    if (!byId("pareto")) return;                         // where there is nothing to show there is no panel
    const box = clear(byId("pareto"));
    if (D.objectives.length < 2) { box.append(make("p", { class: "dim" }, "A front needs two objectives; the plan has one.")); return; }
    const [mx, my] = D.objectiveMetrics;
    const list = points.filter((p) => p.w !== "error" && p.o[0] !== null && p.o[1] !== null);
    if (!list.length) { box.append(make("p", { class: "dim" }, "No point has a result.")); return; }
    const g = plot(widthBeside("curves"), 330, list.map((p) => p.o[0]), list.map((p) => p.o[1]), (v) => say(mx, v), (v) => say(my, Math.max(0, v)), title(mx), D.objectives[1].replace(my, title(my)),
      unitOf(mx, Math.max(...list.map((p) => p.o[0]))), unitOf(my, Math.max(...list.map((p) => p.o[1]))));
    const front = list.filter((p) => p.f).sort((a, b) => a.o[0] - b.o[0]);
    g.svg.append(draw("polyline", { class: "front", points: front.map((p) => `${g.X(p.o[0])},${g.Y(p.o[1])}`).join(" ") }));
    for (const p of [...list.filter((q) => !q.f), ...front]) {
      const dot = draw("circle", { cx: g.X(p.o[0]), cy: g.Y(p.o[1]), r: p.f ? 6 : 4, class: `dot ${p.w}` + (chosen === p ? " is-chosen" : ""), "data-key": key(p), ...pickable(p), tabindex: p.f ? 0 : -1 });
      dot.append(draw("title", {}, `${describe(p)}: ${say(mx, p.o[0])}, ${say(my, p.o[1])} (${p.w})`));
      g.svg.append(dot);
    }
    box.append(g.svg, make("p", { class: "dim" }, `Large dots on the line: nothing else${list.some((p) => p.w === "pass") ? " that meets all budgets" : ""} is better in one objective without being worse in another. Full green dots meet all budgets, hollow red ones do not.`));
    clear(byId("pareto-table")).append(table(["point", ...D.objectives, "verdict"], front.map((p) => [describe(p), ...p.o.map((v, i) => say(D.objectiveMetrics[i], v)), told(p)]), front));
  }
  listeners.push(pareto);
  const told = (p) => (p.w === "inconclusive" ? "? undecided" : p.w);
  const describe = (p) => [...varying.map((i) => `${D.axes[i].name} ${at(p, i)}`), D.variants[p.v]].join(" · ");

  const COLORS = ["--mark", "--bad", "--good", "--unsure"];
  function curves() {
    if (!byId("curves")) return;
    const box = clear(byId("curves"));
    const lines = chosen ? D.variants.map((name, v) => [name, D.curves[`${chosen.n}-${name}`], v]).filter((l) => l[1]) : [];
    if (!lines.length) {
      box.append(make("p", { class: "dim" }, D.seeds < 3 ? "Percentiles need three seeds or more; the plan has fewer." : chosen ? "This point's percentiles are in the table `runs`, not on this page." : "Choose a point."));
      clear(byId("curves-table")); return;
    }
    const all = lines.flatMap((l) => l[1]);
    const g = plot(widthBeside("pareto"), 300, [0, 100], [0, ...all], (v) => `${Math.round(v)} %`, (v) => say(D.main, Math.max(0, v)), "share of the seeds that are no worse", title(D.main), 1, unitOf(D.main, Math.max(...all)));
    lines.forEach(([name, values, v], i) => {
      const color = css(COLORS[v % COLORS.length]);
      const line = draw("polyline", { class: "curve" + ["", " second", " third"][i % 3], points: values.map((y, k) => `${g.X((k * 100) / (values.length - 1))},${g.Y(y)}`).join(" ") });
      line.style.stroke = color;
      const label = draw("text", { x: g.X(2), y: g.Y(g.y1) + 34 + 16 * i }, name);
      label.style.fill = color;
      g.svg.append(line, label);
    });
    for (const b of D.limits) if (b.metric === D.main && b.limit !== null && b.limit < g.y1) g.svg.append(draw("line", { class: "limit", x1: g.X(0), x2: g.X(100), y1: g.Y(b.limit), y2: g.Y(b.limit) }));
    box.append(g.svg);
    clear(byId("curves-table")).append(table(["share", ...lines.map((l) => l[0])], lines[0][1].map((_, k) => [`${(k * 100) / (lines[0][1].length - 1)} %`, ...lines.map((l) => say(D.main, l[1][k]))])));
  }
  listeners.push(curves);

  function tornado() {
    if (!byId("tornado")) return;
    const box = clear(byId("tornado"));
    if (!D.tornado.length) { box.append(make("p", { class: "dim" }, "Nothing varies enough to tell.")); return; }
    const low = Math.min(...D.tornado.map((b) => b.low)), high = Math.max(...D.tornado.map((b) => b.high)), span = high - low || 1;
    const left = 130, mid = 460, W = 1060, H = 30 * D.tornado.length + 8;
    const svg = draw("svg", { viewBox: `0 0 ${W} ${H}`, width: W, role: "img", "aria-label": `How far each axis moves ${title(D.main)}` });
    D.tornado.forEach((b, i) => {
      const y = 6 + 30 * i, x = 330 + ((b.low - low) / span) * mid, x2 = 330 + ((b.high - low) / span) * mid;
      svg.append(draw("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, b.axis));
      svg.append(draw("text", { x: x - 6, y: y + 15, "text-anchor": "end", class: "dimtext" }, `${b.lowValue}: ${say(D.main, b.low)}`));
      svg.append(draw("rect", { class: "bar", x, y, width: Math.max(2, x2 - x), height: 20, rx: 3 }));
      svg.append(draw("text", { x: Math.max(x2, x + 2) + 6, y: y + 15, class: "dimtext" }, `${b.highValue}: ${say(D.main, b.high)}`));
    });
    box.append(svg);
    clear(byId("tornado-table")).append(...D.tornado.map((b) => make("div", {}, make("p", {}, b.axis), table(["value", "points", "within budgets", "mean", "least", "most"],
      b.values.map((v) => [v.value, v.points, v.share === null ? "–" : `${(v.share * 100).toFixed(0)} %`, say(D.main, v.mean), say(D.main, v.least), say(D.main, v.most)])))));
  }

  function panel() {
    const box = clear(byId("chosen"));
    if (!chosen) { box.append(make("p", { class: "dim" }, "Click a cell, a dot or a row.")); return; }
    const p = chosen;
    box.append(make("p", {}, make("strong", {}, `Point ${p.n}, ${D.variants[p.v]}: `), make("span", { class: p.w === "pass" ? "good" : p.w === "fail" ? "bad" : "unsure" }, p.w === "pass" ? "meets all budgets" : p.w === "fail" ? `breaks ${p.b.map((i) => D.budgets[i]).join(", ")}` : p.w === "error" ? p.e : "cannot be judged")));
    const list = make("dl");
    D.axes.forEach((a, i) => list.append(make("dt", {}, a.path || a.name), make("dd", {}, at(p, i))));
    D.objectives.forEach((o, i) => list.append(make("dt", {}, D.units[D.objectiveMetrics[i]] === "money" ? "cost a month" : o), make("dd", {}, say(D.objectiveMetrics[i], p.o[i]))));
    if (p.u) list.append(make("dt", {}, "fullest member"), make("dd", { class: p.u > 1 ? "bad" : null }, `busy ${(p.u * 100).toFixed(0)} % of its time, before anything happens${p.u > 1 ? ": its lag grows for ever" : ""}`));
    if (p.r !== null) list.append(make("dt", {}, "seeds within budgets"), make("dd", {}, `${(p.r * 100).toFixed(0)} % of ${p.k}`));
    const figures = table(["metric", "p50 of seeds", "p95", "worst"], D.metrics.map((m, i) => [title(m), ...p.m[i].map((v) => say(m, v))]));
    box.append(make("div", { class: "beside" }, list, figures));
    const run = `rebalsim replay ${D.out} --run ${p.n}-${D.variants[p.v]}-${D.firstSeed}`;
    const copy = make("button", { type: "button", onclick: () => { navigator.clipboard?.writeText(run); copy.textContent = "copied"; } }, "copy");
    box.append(make("p", { class: "dim" }, "Play it again as a timeline: ", copy), make("pre", { id: "replay" }, run));
  }
  listeners.push(panel);

  for (const i of listed) heat.fixed[i] = 0;
  const fromHash = pointByKey.get(decodeURIComponent(location.hash.slice(1)));
  tornado();
  choose(fromHash ?? D.best.map((k) => pointByKey.get(k)).find(Boolean) ?? points.find((p) => p.w !== "error") ?? null);
  matchMedia("(prefers-color-scheme: dark)").addEventListener?.("change", () => { for (const f of listeners) f(); });
})();
