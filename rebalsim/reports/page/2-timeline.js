// One variant's timeline on a canvas: rows are drawn only where they are seen, so thousands of partitions cost no more than thirty.
const ROW = 22, HEAD = 30, GROUP = 20, MARKS = 18, MARK_ROWS = 4;
const BAND_KINDS = { CompletingRebalance: "follow-up", Reconciling: "follow-up", REBALANCING: "restore", ERROR: "detection" };   // a state looks like this phase
const STABLE = -1, NOTHING = -2;                        // a line, and nothing at all
function bandKind(state) {                               // the phase whose colour a state of the group's row has
  if (state === "Stable" || state === "RUNNING") return STABLE;
  if (state === "Empty" || state === "Dead") return NOTHING;
  return KINDS.findIndex((k) => k.name === (BAND_KINDS[state] || "barrier"));
}
const view = { from: 0, until: DATA.horizon, isFolded: true, filter: "" };
let ink = {};

function readInk() {                                   // colours live in the style sheet, for light and dark
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
  ink = { kinds: KINDS.map((k) => get(`--p-${k.name}`)) };
  for (const name of ["back", "card", "soft", "line", "ink", "dim", "accent", "run", "run2", "mark"]) ink[name] = get(`--${name}`);
  ink.font = `12px ${getComputedStyle(document.body).fontFamily}`;
}

class Timeline {
  constructor(place) {
    this.place = place;
    this.variant = VARIANTS[place];
    this.frame = byId(`frame-${place}`);
    this.canvas = this.frame.querySelector("canvas");
    this.tall = this.frame.querySelector(".tall");
    this.row = 0;                                      // where the keyboard is
    this.chosen = null;
    this.frame.addEventListener("scroll", () => this.draw());
    this.listen();
  }

  arrange() {                                          // which rows there are, under folding and filter
    const v = this.variant, wanted = view.filter.trim().toLowerCase();
    const passes = (i) => !wanted || laneName(v, v.lanes[i]).toLowerCase().includes(wanted);
    this.rows = [];
    for (const row of v.rows) {
      const members = row.filter(passes);
      if (view.isFolded && members.length) this.rows.push(members);
      else for (const i of members) this.rows.push([i]);
    }
    if (!view.isFolded) this.rows.sort((a, b) => a[0] - b[0]);
    this.row = Math.min(this.row, Math.max(0, this.rows.length - 1));
    const c = this.canvas.getContext("2d");
    c.font = ink.font;                                 // as wide as the first names want it, within reason
    this.wanted = 14 + Math.max(0, ...this.rows.slice(0, 200).map((m) => c.measureText(laneName(v, v.lanes[m[0]]) + (m.length > 1 ? ` +${m.length - 1}` : "")).width));
  }

  get bands() { return [...this.variant.groups, ...this.variant.apps]; }   // states: the groups', and Streams applications' own

  get head() { return HEAD + MARKS * this.markRows + GROUP * this.bands.length + 4; }

  layout() {
    this.width = this.frame.clientWidth;
    const wanted = Math.max(this.wanted, ...TIMELINES.map((t) => t.wanted));       // as wide in all of them: instants stand beneath each other
    this.gutter = Math.round(Math.min(Math.max(190, Math.min(wanted, 250)), Math.max(74, this.width * 0.2, Math.min(wanted, this.width * 0.28))));
    this.markRows = this.placeMarks();
    this.height = this.head + this.rows.length * ROW + 6;
    const limit = matchMedia("print").matches ? 4000 : Math.max(240, Math.round(innerHeight * 0.62));
    this.seen = Math.min(this.height, limit);
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.seen * scale);
    this.canvas.style.height = `${this.seen}px`;
    this.frame.style.height = `${this.seen + 2}px`;
    this.tall.style.height = `${this.height}px`;
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  x(at) { return this.gutter + (at - view.from) / (view.until - view.from) * (this.width - this.gutter - 8); }
  at(x) { return view.from + (x - this.gutter) / (this.width - this.gutter - 8) * (view.until - view.from); }
  y(row) { return this.head + row * ROW - this.frame.scrollTop; }

  placeMarks() {                                       // labels beside each other; what says most first, and the sign alone where no label fits
    this.labels = [];
    const context = this.canvas.getContext("2d"), rows = [];
    context.font = ink.font;
    const fits = (row, from, until) => row.every(([start, end]) => until < start || from > end);
    for (const [at, kind, text] of [...this.variant.marks].sort((a, b) => a[3] - b[3] || a[0] - b[0])) {
      const x = this.x(at), whole = TEXT[text];
      if (x < this.gutter - 1 || x > this.width) continue;
      const made = { x, kind, text: whole, label: "", row: -1, isFlipped: false };
      for (const label of [whole.length > 44 ? `${whole.slice(0, 43)}…` : whole, ""]) {
        const wide = context.measureText(label).width + 14, isFlipped = x + wide > this.width && x - wide > this.gutter;
        const from = isFlipped ? x - wide + 6 : x - 6, until = from + wide;
        let row = rows.findIndex((taken) => fits(taken, from, until));
        if (row < 0 && rows.length < MARK_ROWS) { row = rows.length; rows.push([]); }
        if (row < 0) continue;
        rows[row].push([from, until]);
        Object.assign(made, { label, row, isFlipped });
        break;
      }
      this.labels.push(made);
    }
    return Math.max(1, rows.length);
  }

  draw() {
    const c = this.context;
    if (!c) return;
    c.clearRect(0, 0, this.width, this.seen);
    c.font = ink.font;
    c.textBaseline = "middle";
    this.ruler = ticks(view.from, view.until, Math.max(2, (this.width - this.gutter) / 95));
    c.fillStyle = ink.line;
    for (const at of this.ruler.found) c.fillRect(this.x(at), 18, 0.7, this.seen);
    const first = Math.max(0, Math.floor(this.frame.scrollTop / ROW) - 1), last = Math.min(this.rows.length, first + Math.ceil(this.seen / ROW) + 2);
    for (let row = first; row < last; row += 1) this.drawRow(c, row);
    this.drawHead(c);
  }

  clipped(c, from, until, paint) {                     // pieces stay right of the names
    const left = Math.round(Math.max(this.x(from), this.gutter)), right = Math.round(Math.min(this.x(until), this.width - 8));
    if (right >= this.gutter && left <= this.width - 8 && until >= view.from && from < view.until) paint(left, Math.max(right - left, 0));
  }

  drawRow(c, row) {
    const v = this.variant, lane = v.lanes[this.rows[row][0]], y = this.y(row), middle = y + ROW / 2;
    if (row === this.row && this.frame.contains(document.activeElement)) { c.fillStyle = ink.soft; c.fillRect(0, y, this.width, ROW); }
    c.fillStyle = ink.line;
    c.fillRect(this.gutter, y + ROW - 1, this.width - this.gutter, 0.5);
    let before = -1, shade = 0;
    const names = [];
    for (const [owner, started, length] of lane[2]) {
      const isOther = owner !== before;
      if (isOther) shade = 1 - shade;
      this.clipped(c, started, started + length, (left, wide) => {
        c.fillStyle = shade ? ink.run : ink.run2;
        c.fillRect(left, middle - 5, wide, 10);
        if (!isOther || wide < 16) return;
        const whole = TEXT[owner], short = DATA.prefix && whole.startsWith(DATA.prefix) ? `…${whole.slice(DATA.prefix.length)}` : "";
        const name = [whole, short].find((n) => n && c.measureText(n).width + 8 < wide);
        if (name) names.push([name, left + 4]);
      });
      before = owner;
    }
    c.fillStyle = ink.ink;
    for (const [name, left] of names) c.fillText(name, left, middle + 0.5);
    for (const place of lane[3]) this.drawPause(c, v.pauses[place], middle, this.chosen && this.chosen.pause === place && this.rows[row].includes(this.chosen.lane));
    this.drawCopies(c, this.rows[row][0], middle);
    this.drawName(c, row, middle);
  }

  drawCopies(c, lane, middle) {                        // standbys and warm-ups follow thinly beneath
    for (const [, started, caught, ended, , line] of this.variant.copiesOf.get(lane) || []) {
      const top = middle + 6 + 3 * Math.min(line, 1);
      this.clipped(c, started, caught, (left, wide) => { c.fillStyle = ink.kinds[KINDS.findIndex((k) => k.name === "restore")]; c.fillRect(left, top, Math.max(wide, 1), 2); });
      this.clipped(c, caught, ended, (left, wide) => { c.fillStyle = ink.accent; c.fillRect(left, top, wide, 2); });
    }
  }

  drawPause(c, pause, middle, isChosen) {
    const end = pause[0] + lengthOf(pause);
    for (const phase of phasesOf(pause)) {
      this.clipped(c, phase.started, phase.started + phase.length, (left, wide) => {
        this.weave(c, phase.kind, left, middle - 8, wide, 16);
        if (wide > 13) { c.fillStyle = ink.card; c.fillText(KINDS[phase.kind].letter, left + 3, middle + 0.5); }
      });
    }
    this.clipped(c, pause[0], end, (left, wide) => {     // a pause never vanishes: two pixels at least
      if (wide < 2) {
        const longest = phasesOf(pause).reduce((a, b) => (b.length > a.length ? b : a));
        c.fillStyle = ink.kinds[longest.kind];
        c.fillRect(Math.min(left, this.width - 10), middle - 8, 2, 16);
      }
      if (isChosen) { c.strokeStyle = ink.accent; c.lineWidth = 2; c.strokeRect(left - 2, middle - 9, Math.max(wide, 2) + 4, 18); }
    });
  }

  weave(c, kind, left, top, wide, high) {              // whoever cannot tell colours apart sees the stripes
    c.fillStyle = ink.kinds[kind];
    c.fillRect(left, top, wide, high);
    const from = left + (wide > 13 ? 13 : 0);          // the letter stands on plain ground
    if (!KINDS[kind].weave || left + wide - from < 3) return;
    c.save();
    c.beginPath(); c.rect(from, top, left + wide - from, high); c.clip();
    c.beginPath();
    if (KINDS[kind].weave === 1) for (let x = from - high; x < left + wide; x += 6) { c.moveTo(x, top + high); c.lineTo(x + high, top); }
    else for (let y = top + 3.5; y < top + high; y += 4) { c.moveTo(from, y); c.lineTo(left + wide, y); }
    c.strokeStyle = ink.card; c.globalAlpha = 0.5; c.lineWidth = 1;
    c.stroke();
    c.restore();
  }

  drawName(c, row, middle) {
    const v = this.variant, members = this.rows[row];
    c.fillStyle = ink.card;
    c.fillRect(0, middle - ROW / 2 + 1, this.gutter, ROW - 2);
    c.fillStyle = ink.ink;
    const more = members.length > 1 ? ` +${members.length - 1}` : "", room = this.gutter - 12 - c.measureText(more).width;
    let name = laneName(v, v.lanes[members[0]]);
    if (c.measureText(name).width > room) {
      while (name.length > 4 && c.measureText(`…${name}`).width > room) name = name.slice(1);   // its end tells it apart
      name = `…${name}`;
    }
    c.fillText(name, 6, middle + 0.5);
    if (more) { c.fillStyle = ink.dim; c.fillText(more, 6 + c.measureText(name).width, middle + 0.5); }
  }

  drawHead(c) {
    const v = this.variant;
    c.fillStyle = ink.card;
    c.fillRect(0, 0, this.width, this.head - 1);
    for (const at of this.ruler.found) {
      const x = this.x(at), label = instant(at, this.ruler.step);
      c.fillStyle = ink.line; c.fillRect(x, 18, 0.7, this.head - 19);
      c.fillStyle = ink.dim;
      if (x + c.measureText(label).width < this.width) c.fillText(label, x + 3, 10);
    }
    for (const m of this.labels) {
      const y = HEAD - 6 + Math.max(0, m.row < 0 ? this.markRows - 1 : m.row) * MARKS + MARKS / 2;
      c.strokeStyle = ink.mark; c.globalAlpha = 0.45; c.setLineDash([3, 3]); c.lineWidth = 1;
      c.beginPath(); c.moveTo(m.x, y + 6); c.lineTo(m.x, this.seen); c.stroke();
      c.setLineDash([]); c.globalAlpha = 1; c.fillStyle = ink.mark;
      if (m.row < 0) continue;
      c.beginPath(); c.moveTo(m.x - 4, y - 4); c.lineTo(m.x + 4, y - 4); c.lineTo(m.x, y + 4); c.fill();
      c.textAlign = m.isFlipped ? "right" : "left";
      c.fillText(m.label, m.isFlipped ? m.x - 8 : m.x + 8, y);
      c.textAlign = "left";
    }
    this.bands.forEach((group, i) => this.drawGroup(c, group, i));
    c.fillStyle = ink.line;
    c.fillRect(0, this.head - 1, this.width, 1);
  }

  drawGroup(c, [name, spans], i) {
    const middle = HEAD + MARKS * this.markRows + GROUP * i + GROUP / 2 - 2;
    for (const [state, started, ended] of spans) {
      this.clipped(c, started, ended, (left, wide) => {
        const kind = bandKind(state), isStable = kind === STABLE;
        if (kind === NOTHING) return;
        c.fillStyle = isStable ? ink.line : ink.kinds[kind];
        c.fillRect(left, middle - (isStable ? 1 : 5), isStable ? wide : Math.max(wide, 2), isStable ? 2 : 10);
      });
    }
    for (const [at, , group] of this.variant.rounds) {    // each round that the coordinator completed
      if (group === i) this.clipped(c, at, at, (left) => { c.fillStyle = ink.mark; c.fillRect(left - 1, middle - 7, 2, 14); });
    }
    c.fillStyle = ink.dim;
    c.fillText(this.variant.groups.length > 1 || i >= this.variant.groups.length ? TEXT[name].slice(0, 24) : "group", 6, middle);
  }
}
