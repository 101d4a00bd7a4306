// Data, words and figures. The files of this folder are joined in order into one script; names are shared among them.
const DATA = JSON.parse(document.getElementById("data").textContent);
const TEXT = DATA.texts, KINDS = DATA.kinds, VARIANTS = DATA.variants;
const byId = (id) => document.getElementById(id);

function element(tag, attributes, ...children) {        // text goes in as text nodes only: names are hostile
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function fixed(value, digits) {                         // as Python rounds: exact halves go to the even neighbour
  const scaled = value * 10 ** digits;
  if (!Number.isInteger(value * 1048576) || Math.abs(scaled % 1) !== 0.5) return value.toFixed(digits);
  const below = Math.floor(scaled);
  return ((below % 2 ? below + 1 : below) / 10 ** digits).toFixed(digits);
}

function duration(us) {                                 // as reports say it elsewhere: 850 µs, 44 ms, 3.01 s, 5 m 12 s
  if (us === 0) return "0 s";
  if (us < 1000) return `${us} µs`;
  if (us < 1e6 - 500) return us >= 1e4 || us % 1000 === 0 ? `${fixed(us / 1e3, 0)} ms` : `${fixed(us / 1e3, 1)} ms`;
  if (us < 6e7 - 5e4) return `${fixed(us / 1e6, us < 1e7 - 5e3 ? 2 : 1)} s`;
  if (us < 36e8 - 5e5) { const s = Number(fixed(us / 1e6, 0)), m = Math.floor(s / 60); return s % 60 ? `${m} m ${s % 60} s` : `${m} m`; }
  const m = Number(fixed(us / 6e7, 0)), h = Math.floor(m / 60);
  return m % 60 ? `${h} h ${m % 60} m` : `${h} h`;
}

function instant(us, step) {                            // 41 s, 1:05, 1:05.250, 2:00:00: as exact as the step needs
  const digits = step >= 1e6 ? 0 : step >= 1e3 ? 3 : 6;
  if (us < 6e7) return `${digits ? fixed(us / 1e6, digits) : Math.floor(us / 1e6)} s`;
  const whole = Math.floor(us / 1e6), part = digits ? `.${String(us % 1e6).padStart(6, "0").slice(0, digits)}` : "";
  const two = (n) => String(n).padStart(2, "0");
  if (us < 36e8) return `${Math.floor(whole / 60)}:${two(whole % 60)}${part}`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${part}`;
}

const STEPS = [];
for (let unit = 1; unit < 1e6; unit *= 10) STEPS.push(unit, 2 * unit, 5 * unit);
STEPS.push(1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8, 72e8, 108e8, 216e8, 432e8, 864e8, 1728e8, 6048e8, 12096e8, 2592e9);

function ticks(from, until, most) {
  const step = STEPS.find((s) => (until - from) / s <= most) || STEPS[STEPS.length - 1], found = [];
  for (let at = Math.ceil(from / step) * step; at <= until; at += step) found.push(at);
  return { step, found };
}

const number = (value) => (value >= 100 || value === Math.round(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1));

// Rows of whole numbers come packed (packed.py): how many, then each less the one above it, in digits of base 44.
const DIGITS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((c) => !"\"'\\<>&".includes(c)).join("");

function unpack(text) {
  const rows = [], worth = new Map(Array.from(DIGITS, (c, i) => [c, i]));
  let place = 0, above = [];
  const next = () => {
    for (let number = 0; ; ) {
      const digit = worth.get(text[place++]);
      number = number * 44 + digit % 44;
      if (digit < 44) return number;
    }
  };
  while (place < text.length) {
    const row = [];
    for (let left = next(); left > 0; left -= 1) {
      const step = next(), from = row.length < above.length ? above[row.length] : 0;
      row.push(from + (step % 2 ? -(step + 1) / 2 : step / 2));
    }
    rows.push(row);
    above = row;
  }
  return rows;
}

function summed(steps) {
  let at = 0;
  return steps.map((step) => (at += step));
}

const points = (flat) => { let at = 0; return Array.from({ length: flat.length / 2 }, (_, i) => [at += flat[2 * i], flat[2 * i + 1] / 10]); };

for (const v of VARIANTS) {
  for (const key of DATA.packed) v[key] = unpack(v[key]);
  v.groups = v.groups.map(([name, spans]) => [name, unpack(spans).map(([state, started, ended]) => [TEXT[state], started, ended])]);
  v.apps = v.apps.map(([name, spans]) => [name, spans.map(([state, started, ended]) => [TEXT[state], started, ended])]);
  v.copiesOf = new Map();                              // standbys and warm-ups, by lane
  for (const [lane, ...copy] of v.copies) v.copiesOf.set(lane, [...(v.copiesOf.get(lane) || []), copy]);
  v.rows = v.rows.map(summed);
  v.lag = v.lag.map(([at, tenths]) => [at, tenths / 10]);
  v.laneLag = v.laneLag.map(([lane, ...flat]) => [lane, points(flat)]);
  v.shapes = v.shapes.map(([before, after, cause, hint, count, ...rest]) => [before, after, cause, hint, rest.slice(0, count), summed(rest.slice(count))]);
  v.lanes = v.lanes.map(([name, group, count, ...rest]) => {
    const places = [];
    for (let i = 0; i < count; i += 2) for (let k = 0; k < rest[i + 1]; k += 1) places.push(rest[i] + k);
    return [name, group, places, rest[count], rest.slice(count + 1)];
  });
}

// A pause comes as [shape, started, open, last event, length, …] and is unfolded here, once, into
// [started, open, before, after, cause, hint, [kind, length, text, …], events].
for (const v of VARIANTS) {
  v.pauses = v.pauses.map(([shape, started, open, last, ...lengths]) => {
    const [before, after, cause, hint, kinds, proof] = v.shapes[shape];
    return [started, open, before, after, cause, hint, lengths.flatMap((length, i) => [kinds[2 * i], length, kinds[2 * i + 1]]), last >= 0 ? [...proof, last] : proof];
  });
}

function unfoldLanes(v) {                               // a lane comes as [name, group, pauses, first had, owners], and becomes [name, group, consumed, pauses]
  v.lanes = v.lanes.map(([name, group, places, first, owners]) => {
    const consumed = [];
    let at = first;
    owners.forEach((owner, i) => {
      const pause = i < places.length ? v.pauses[places[i]] : null, until = pause ? pause[0] : v.horizon;
      if (owner >= 0 && until > at) consumed.push([owner, at, until - at]);
      if (pause) at = pause[0] + lengthOf(pause);
    });
    return [name, group, consumed, places];
  });
}

function phasesOf(pause) {
  const found = [];
  for (let i = 0, at = pause[0]; i < pause[6].length; i += 3) {
    found.push({ kind: pause[6][i], started: at, length: pause[6][i + 1], text: TEXT[pause[6][i + 2]] });
    at += pause[6][i + 1];
  }
  return found;
}

function lengthOf(pause) {
  let sum = 0;
  for (let i = 1; i < pause[6].length; i += 3) sum += pause[6][i];
  return sum;
}

function sentence(names, pause, isOne = true) {         // word for word what the terminal says of the same pause
  const length = lengthOf(pause), phases = phasesOf(pause), least = Math.max(Math.floor(length / 50), Math.min(1e5, Math.floor(length / 4)));
  let large = phases.filter((p) => p.length >= least);
  if (!large.length) large = [phases.reduce((a, b) => (b.length > a.length ? b : a))];
  const small = phases.filter((p) => !large.includes(p)), told = large.map((p) => `${duration(p.length)} ${p.text}`);
  if (small.length) {
    const kinds = [...new Set(small.map((p) => KINDS[p.kind].name))], last = kinds.pop();
    told.push(`${duration(small.reduce((sum, p) => sum + p.length, 0))} for ${kinds.length ? `${kinds.join(", ")} and ` : ""}${last}`);
  }
  const still = pause[1] ? `${isOne ? "has" : "have"} stood still for ${duration(length)} when the observation ends, and still ${isOne ? "does" : "do"},`
    : `stood still for ${duration(length)}`;
  return TEXT[pause[4]] ? `${names} ${still} ${TEXT[pause[4]]}: ${told.join(", ")}.` : `${names} ${still} ${phases[0].text}.`;
}

const laneName = (variant, lane) => (variant.groups.length > 1 ? `${TEXT[variant.groups[lane[1]][0]]} ${TEXT[lane[0]]}` : TEXT[lane[0]]);

VARIANTS.forEach(unfoldLanes);
