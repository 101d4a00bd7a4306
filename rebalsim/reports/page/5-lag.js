// Lag over time: each variant's sum, or one partition's where a pause of it was chosen; on the timelines' own time axis.
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [1, 4]];
let lagOf = { place: -1, lane: -1 };

function drawLag(place, lane) {
  const canvas = byId("lag-canvas");
  if (!canvas) return;
  if (place !== undefined) lagOf = { place, lane };
  const lines = [];
  const own = lagOf.place >= 0 ? VARIANTS[lagOf.place].laneLag.find(([l]) => l === lagOf.lane) : null;
  if (own) lines.push({ name: `${laneName(VARIANTS[lagOf.place], VARIANTS[lagOf.place].lanes[lagOf.lane])} (${VARIANTS[lagOf.place].name})`, points: own[1], dash: [] });
  else VARIANTS.forEach((v, i) => { if (v.lag.length) lines.push({ name: v.name, points: v.lag, dash: DASHES[i % DASHES.length] }); });
  byId("lag-what").textContent = own ? `Records behind, of ${lines[0].name} alone.` : "Records behind, summed over partitions.";
  byId("lag-all").hidden = !own;
  const scaled = own ? [] : VARIANTS.filter((v) => v.members.length), band = scaled.length ? 52 : 0;
  const wide = canvas.clientWidth, names = 16 * lines.length + 6 + band, high = 194 + names, scale = devicePixelRatio || 1, gutter = TIMELINES[0] ? TIMELINES[0].gutter : 100;
  canvas.style.height = `${high}px`;
  canvas.width = Math.round(wide * scale); canvas.height = Math.round(high * scale);
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.font = ink.font; c.textBaseline = "middle";
  const x = (at) => gutter + (at - view.from) / (view.until - view.from) * (wide - gutter - 8);
  const top = Math.max(1, ...lines.map((l) => peakWithin(l.points))), y = (value) => high - 24 - value / top * (high - 34 - names);
  for (const value of [0, top / 2, top]) {
    c.fillStyle = ink.line; c.fillRect(gutter, y(value), wide - gutter, 0.7);
    c.fillStyle = ink.dim; c.textAlign = "right"; c.fillText(number(Math.round(value)), gutter - 6, y(value));
  }
  if (band) drawMembers(c, scaled, x, names - band + 10, gutter);
  c.textAlign = "left";
  const { step, found } = ticks(view.from, view.until, Math.max(2, (wide - gutter) / 95));
  for (const at of found) { c.fillStyle = ink.dim; const label = instant(at, step); if (x(at) + c.measureText(label).width < wide) c.fillText(label, x(at) + 3, high - 10); }
  c.save();
  c.beginPath(); c.rect(gutter, 0, wide - gutter - 7, high); c.clip();
  lines.forEach((line, i) => {
    c.strokeStyle = [ink.accent, ink.kinds[7], ink.kinds[0], ink.kinds[9], ink.kinds[11]][i % 5]; c.lineWidth = 1.8; c.setLineDash(line.dash);
    c.beginPath();
    line.points.forEach(([at, value], n) => (n ? c.lineTo(x(at), y(value)) : c.moveTo(x(at), y(value))));
    c.stroke(); c.setLineDash([]);
    c.beginPath(); c.setLineDash(line.dash); c.moveTo(gutter + 10, 14 + 16 * i); c.lineTo(gutter + 36, 14 + 16 * i); c.stroke(); c.setLineDash([]);
    c.fillStyle = ink.ink; c.fillText(line.name, gutter + 42, 14 + 16 * i);
  });
  c.restore();
}

function drawMembers(c, scaled, x, from, gutter) {       // how many run, as steps above the lag that autoscalers follow
  const most = Math.max(1, ...scaled.flatMap((v) => v.members.map(([, count]) => count))), high = 34;
  c.fillStyle = ink.dim; c.textAlign = "right";
  c.fillText(`${most} members`, gutter - 6, from); c.fillText("0", gutter - 6, from + high);
  for (const v of scaled) {
    const i = VARIANTS.indexOf(v);
    c.strokeStyle = [ink.accent, ink.kinds[7], ink.kinds[0], ink.kinds[9], ink.kinds[11]][i % 5]; c.lineWidth = 1.4; c.setLineDash(DASHES[i % DASHES.length]);
    c.save(); c.beginPath(); c.rect(gutter, from - 4, x(view.until) - gutter, high + 8); c.clip();
    c.beginPath();
    let last = 0;
    for (const [at, count] of v.members) { c.lineTo(x(at), from + high - last / most * high); c.lineTo(x(at), from + high - count / most * high); last = count; }
    c.lineTo(x(view.until), from + high - last / most * high);
    c.stroke(); c.setLineDash([]); c.restore();
  }
}

function peakWithin(points) {                           // the highest value that is in view, edges included
  let most = 0;
  for (let i = 0; i < points.length; i += 1) {
    const [at, value] = points[i];
    if (at >= view.from && at <= view.until) most = Math.max(most, value);
    else if (i + 1 < points.length && at < view.from && points[i + 1][0] > view.from) most = Math.max(most, value);
  }
  return most;
}
