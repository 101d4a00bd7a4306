// Pointer and keyboard on a timeline: hover tells, a click chooses, drag pans, Ctrl + wheel and double click zoom.
const SPAN_LEAST = 1000;

function zoom(factor, centre) {
  const length = Math.min(DATA.horizon, Math.max(SPAN_LEAST, (view.until - view.from) * factor)), middle = centre ?? (view.from + view.until) / 2;
  const share = (middle - view.from) / (view.until - view.from);
  show(middle - length * share, middle + length * (1 - share));
}

function show(from, until) {                            // held within the run; all timelines together
  const length = Math.min(DATA.horizon, until - from), start = Math.min(Math.max(0, from), DATA.horizon - length);
  view.from = start;
  view.until = start + length;
  refresh();
}

Object.assign(Timeline.prototype, {
  hit(event) {                                         // what lies under the pointer
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const at = this.at(x), v = this.variant, found = { at, x, row: -1 };
    if (y < this.head) {
      const near = this.labels.filter((m) => Math.abs(m.x - x) < 5), mark = near.length ? { text: [...new Set(near.map((m) => m.text))].join("; "), kind: near[0].kind } : null;
      const group = Math.floor((y - HEAD - MARKS * this.markRows + 2) / GROUP);
      return { ...found, mark, group: y > HEAD + MARKS * this.markRows - 2 ? this.bands[Math.min(Math.max(group, 0), this.bands.length - 1)] : null };
    }
    found.row = Math.floor((y - this.head + this.frame.scrollTop) / ROW);
    if (!this.rows[found.row]) return { ...found, row: -1 };
    found.lane = this.rows[found.row][0];
    const near = (view.until - view.from) / (this.width - this.gutter) * 3;
    let best = Infinity;
    for (const place of v.lanes[found.lane][3]) {
      const p = v.pauses[place], off = at < p[0] ? p[0] - at : Math.max(0, at - p[0] - lengthOf(p));
      if (off <= near && off < best) { best = off; found.pause = place; }
    }
    const piece = v.lanes[found.lane][2].find(([, started, length]) => at >= started && at < started + length);
    found.owner = piece ? TEXT[piece[0]] : "";
    return found;
  },

  tell(event) {
    const tip = byId("tip"), found = this.hit(event), v = this.variant, lines = [];
    if (found.x < this.gutter && found.row < 0) { tip.hidden = true; return; }
    if (found.row >= 0) {
      const members = this.rows[found.row], names = laneName(v, v.lanes[found.lane]) + (members.length > 1 ? ` and ${members.length - 1} like it` : "");
      if (found.pause !== undefined && found.x >= this.gutter) {
        const p = v.pauses[found.pause], phase = phasesOf(p).find((q) => found.at >= q.started && found.at < q.started + q.length) || phasesOf(p)[0];
        lines.push(element("b", {}, names), `${KINDS[phase.kind].name} for ${duration(phase.length)}: ${phase.text}`, element("br"),
          element("span", { class: "dim" }, `Stood still ${duration(lengthOf(p))} in all, ${TEXT[p[4]]}. Click for the whole chain.`));
      } else {
        lines.push(element("b", {}, names), found.x < this.gutter ? members.slice(0, 12).map((i) => TEXT[v.lanes[i][0]]).join(", ") + (members.length > 12 ? " …" : "")
          : found.owner ? `consumed by ${found.owner} at ${instant(Math.round(found.at), 1000)}` : `nobody's at ${instant(Math.round(found.at), 1000)}`);
      }
      for (const [who, started, caught, ended, isWarmup] of v.copiesOf.get(found.lane) || []) {
        if (found.x >= this.gutter && found.at >= started && found.at < ended) lines.push(element("br"), element("span", { class: "dim" }, `${isWarmup ? "warm-up" : "standby"} at ${TEXT[who]}, ${found.at < caught ? "copying" : "caught up"}`));
      }
    } else if (found.mark) lines.push(element("b", {}, found.mark.text), found.mark.kind);
    else if (found.group) {
      const near = (view.until - view.from) / (this.width - this.gutter) * 4, round = v.rounds.find(([at, , g]) => v.groups[g] === found.group && Math.abs(at - found.at) < near);
      const span = found.group[1].find(([, started, ended]) => found.at >= started && found.at < ended);
      if (span) lines.push(element("b", {}, `${TEXT[found.group[0]]}: ${span[0]}`), `${DATA.states[span[0]] || ""} for ${duration(span[2] - span[1])}, from ${instant(span[1], 1000)}${round ? `; round ${round[1]} at ${instant(round[0], 1000)}` : ""}`);
    }
    tip.hidden = !lines.length;
    if (!lines.length) return;
    tip.replaceChildren(...lines);
    const wide = tip.offsetWidth, high = tip.offsetHeight;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - wide - 12))}px`;
    tip.style.top = `${event.clientY + 18 + high > innerHeight ? Math.max(4, event.clientY - high - 12) : event.clientY + 18}px`;
  },

  listen() {
    const canvas = this.canvas;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: view.from, until: view.until, hasMoved: false }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) { this.tell(event); return; }
      const moved = (drag.x - event.clientX) / (this.width - this.gutter - 8) * (drag.until - drag.from);
      if (Math.abs(drag.x - event.clientX) > 4) drag.hasMoved = true;
      if (drag.hasMoved) { byId("tip").hidden = true; show(drag.from + moved, drag.until + moved); }
    });
    const end = (event) => {
      if (drag && !drag.hasMoved && event.type === "pointerup") {
        const found = this.hit(event);
        if (found.row >= 0) this.row = found.row;
        if (found.pause !== undefined) choose(this, found.lane, found.pause, this.rows[found.row]);
        this.draw();
      }
      drag = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    canvas.addEventListener("dblclick", (event) => zoom(0.4, this.hit(event).at));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      if (event.shiftKey) { const by = (event.deltaY || event.deltaX) / 600 * (view.until - view.from); show(view.from + by, view.until + by); }
      else zoom(event.deltaY > 0 ? 1.25 : 0.8, this.hit(event).at);
    }, { passive: false });
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
    canvas.addEventListener("keydown", (event) => this.key(event));
  },

  key(event) {
    const quarter = (view.until - view.from) / 4, v = this.variant;
    const keys = {
      ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1), PageDown: () => this.step(10), PageUp: () => this.step(-10),
      Home: () => this.step(-1e9), End: () => this.step(1e9),
      ArrowRight: () => (event.shiftKey ? show(view.from + quarter, view.until + quarter) : this.walk(1)),
      ArrowLeft: () => (event.shiftKey ? show(view.from - quarter, view.until - quarter) : this.walk(-1)),
      "+": () => zoom(0.5, this.centre()), "=": () => zoom(0.5, this.centre()), "-": () => zoom(2, this.centre()), 0: () => show(0, DATA.horizon),
      Enter: () => { if (this.chosen) byId("pause").focus(); },
      Escape: () => closePause(),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || !this.rows.length || !v) return;
    event.preventDefault();
    act();
  },

  centre() {
    if (!this.chosen) return undefined;
    const p = this.variant.pauses[this.chosen.pause];
    return p[0] + lengthOf(p) / 2;
  },

  step(by) {                                           // to another row
    this.row = Math.min(this.rows.length - 1, Math.max(0, this.row + by));
    const y = this.head + this.row * ROW;
    if (y - this.frame.scrollTop < this.head) this.frame.scrollTop = y - this.head;
    if (y + ROW - this.frame.scrollTop > this.seen) this.frame.scrollTop = y + ROW - this.seen;
    const v = this.variant, members = this.rows[this.row], lane = v.lanes[members[0]];
    say(`${laneName(v, lane)}${members.length > 1 ? ` and ${members.length - 1} like it` : ""}: ${lane[3].length} pauses`);
    this.draw();
  },

  walk(by) {                                           // to the next or previous pause of the row
    const members = this.rows[this.row], lane = members[0], pauses = this.variant.lanes[lane][3];
    if (!pauses.length) { say("This partition never stood still."); return; }
    const here = this.chosen && members.includes(this.chosen.lane) ? pauses.indexOf(this.chosen.pause) : by > 0 ? -1 : pauses.length;
    const place = pauses[Math.min(pauses.length - 1, Math.max(0, here + by))];
    choose(this, lane, place, members);
    const p = this.variant.pauses[place], end = p[0] + lengthOf(p);
    if (p[0] < view.from || end > view.until) { const half = Math.max((view.until - view.from) / 2, end - p[0]); show((p[0] + end) / 2 - half, (p[0] + end) / 2 + half); }
  },
});
