// Draws the points by the two figures that are chosen, and shows the command of the one that is picked.
const explored = JSON.parse(document.getElementById("explored").textContent);
const FIGURES = {
  instructions: { title: "instructions" }, cycles: { title: "cycles at most", of: (range) => range[1] }, flash: { title: "flash", unit: "bytes" }, ram: { title: "RAM", unit: "bytes" },
  sqnr: { title: "SQNR", unit: "dB", more: true }, top1: { title: "top-1", unit: "%", factor: 100, more: true },
};
const RADIUS = 7;
const GAPS = [90, 48]; // between marks of the axes, at least
const TOUCHING = 1.2 * RADIUS; // points that are nearer share a label
const WIDE = 6; // a ratio from which an axis of counts is logarithmic
const chart = document.getElementById("front");
const known = Object.keys(FIGURES).filter((name) => explored.points.some((point) => point[name] !== null));
const selects = ["across", "up"].map((id) => document.getElementById(id));
selects.forEach((select, index) => {
  for (const name of known) select.add(new Option(FIGURES[name].title, name));
  select.value = known.includes("sqnr") && index ? "sqnr" : known[0];
  select.addEventListener("change", draw);
});
const fitting = document.getElementById("fitting"); // only where some points fit and some do not
fitting?.addEventListener("change", draw);
let picked = -1;

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function isShown(point) {
  return !(fitting?.checked && point.fits === false);
}

function figure(point, name) {
  if (point[name] === null) return null;
  const { of, factor } = FIGURES[name];
  return of ? of(point[name]) : point[name] * (factor ?? 1);
}

// Round numbers from `low` to `high`, at most `count`: 1, 2 or 5 times a power of ten apart, or these powers themselves.
function marks(low, high, count, logarithmic) {
  if (logarithmic) {
    const powers = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) powers.push(10 ** power);
    for (const factors of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
      const found = powers.flatMap((power) => factors.map((factor) => factor * power)).filter((x) => x >= low && x <= high);
      if (found.length <= count) return found;
    }
  }
  const least = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((found) => found >= least);
  const found = [];
  for (let number = Math.ceil(low / step); number * step <= high; number++) found.push(number * step);
  return found;
}

function scale(name, from, to, gap) {
  const values = explored.points.filter(isShown).map((point) => figure(point, name)).filter((value) => value !== null);
  const least = Math.min(...values), most = Math.max(...values);
  const logarithmic = !FIGURES[name].more && least > 0 && most / least > WIDE;
  const [on, off] = logarithmic ? [Math.log, Math.exp] : [(x) => x, (x) => x];
  const room = (on(most) - on(least) || 0.1 * Math.abs(on(most)) || 1) * 0.08;
  const low = on(least) - room, high = on(most) + room;
  const found = marks(off(low), off(high), Math.max(2, Math.floor(Math.abs(to - from) / gap)), logarithmic);
  // Long numbers are shown in thousands or millions.
  const isRound = (part) => most >= 2 * part && found.every((mark) => Math.round(mark) % (part / 10) === 0);
  const large = FIGURES[name].more ? 1 : [1e6, 1e3].find(isRound) ?? 1;
  const unit = [{ 1e3: "thousand", 1e6: "million" }[large], FIGURES[name].unit].filter(Boolean).join(" ");
  return {
    at: (value) => from + ((on(value) - low) / (high - low)) * (to - from),
    marks: found.map((mark) => [mark, (mark / large).toLocaleString("en", { maximumFractionDigits: 4 })]),
    title: FIGURES[name].title + (unit ? ", " + unit : "") + (logarithmic ? " (logarithmic)" : ""),
  };
}

// The points that no other one beats in the two figures that are shown, among those that fit.
function best(names) {
  const least = (point) => names.map((name) => (FIGURES[name].more ? -1 : 1) * figure(point, name));
  const drawn = explored.points.filter((point) => point.fits !== false && names.every((name) => point[name] !== null));
  const beats = (a, b) => a.every((value, axis) => value <= b[axis]) && a.some((value, axis) => value < b[axis]);
  return drawn
    .filter((point) => !drawn.some((other) => beats(least(other), least(point))))
    .sort((a, b) => figure(a, names[0]) - figure(b, names[0]));
}

// A place beside a circle for a text of this width where it covers neither circles, other labels nor the frame.
function place(spot, width, taken, frame) {
  const away = RADIUS + 4;
  const boxes = [
    [away, -7], [-away - width, -7], [-width / 2, -away - 13], [-width / 2, away], [away - 3, -away - 9],
    [-away - width + 3, -away - 9], [away - 3, away - 3], [-away - width + 3, away - 3],
  ].map(([dx, dy]) => ({ left: spot.x + dx, top: spot.y + dy, right: spot.x + dx + width, bottom: spot.y + dy + 14 }));
  const free = (box) =>
    box.left > frame.left && box.right < frame.right && box.top > frame.top && box.bottom < frame.bottom &&
    taken.every((o) => box.right < o.left || box.left > o.right || box.bottom < o.top || box.top > o.bottom);
  return boxes.find(free);
}

function draw() {
  const names = selects.map((select) => select.value);
  const width = Math.max(300, chart.parentElement.clientWidth), height = width < 600 ? 340 : 440;
  const frame = { left: 64, right: width - 16, top: 36, bottom: height - 52 };
  const x = scale(names[0], frame.left, frame.right, GAPS[0]), y = scale(names[1], frame.bottom, frame.top, GAPS[1]);
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.replaceChildren();
  for (const [mark, text] of x.marks) {
    const at = x.at(mark);
    chart.append(
      element("line", { class: "axis", x1: at, x2: at, y1: frame.top, y2: frame.bottom }),
      element("text", { x: at, y: frame.bottom + 18, "text-anchor": "middle" }, text),
    );
  }
  for (const [mark, text] of y.marks) {
    const at = y.at(mark);
    chart.append(
      element("line", { class: "axis", x1: frame.left, x2: frame.right, y1: at, y2: at }),
      element("text", { x: frame.left - 8, y: at + 4, "text-anchor": "end" }, text),
    );
  }
  chart.append(
    element("text", { x: (frame.left + frame.right) / 2, y: height - 10, "text-anchor": "middle" }, x.title),
    element("text", { x: 0, y: 16 }, y.title),
  );
  const at = (point) => ({ x: x.at(figure(point, names[0])), y: y.at(figure(point, names[1])) });
  const line = best(names).map(at).map((spot) => `${spot.x.toFixed(1)},${spot.y.toFixed(1)}`);
  chart.append(element("polyline", { class: "best", points: line.join(" ") }));
  const groups = [];
  explored.points.forEach((point, index) => {
    if (!isShown(point) || names.some((name) => point[name] === null)) return;
    const spot = at(point);
    const near = groups.find((group) => Math.hypot(group.spot.x - spot.x, group.spot.y - spot.y) < TOUCHING);
    if (near) near.points.push(index);
    else groups.push({ spot, points: [index] });
    const fits = point.fits === false ? "no" : "yes";
    const circle = element("circle", {
      cx: spot.x, cy: spot.y, r: RADIUS, role: "button", tabindex: 0, "data-point": index, class: fits,
    });
    const about = [index + 1, point.formats, point.arguments, fits === "no" ? "does not fit" : ""].filter(Boolean).join(" \u00b7 ");
    circle.setAttribute("aria-label", about);
    circle.append(element("title", {}, about));
    circle.addEventListener("click", () => pick(next(index)));
    circle.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault(); // which would scroll the page
      pick(index);
    });
    chart.append(circle);
  });
  // Of points that lie on each other, each press picks the next one.
  const next = (index) => {
    const { points } = groups.find((group) => group.points.includes(index));
    return points[(points.indexOf(picked) + 1) % points.length];
  };
  const taken = groups.map(({ spot }) => ({
    left: spot.x - RADIUS, right: spot.x + RADIUS, top: spot.y - RADIUS, bottom: spot.y + RADIUS,
  }));
  for (const { spot, points } of groups) {
    const text = points.map((index) => index + 1).join(", ");
    const box = place(spot, 7 * text.length, taken, { ...frame, top: 20, right: width });
    if (!box) continue;
    taken.push(box);
    chart.append(element("text", { class: "number", x: box.left, y: box.bottom - 3 }, text));
  }
  show();
}

const rows = [...document.querySelectorAll("#points tbody tr")];
const copy = document.getElementById("copy");

function pick(index) {
  picked = index;
  copy.textContent = "copy";
  show();
}

function show() {
  for (const circle of chart.querySelectorAll("circle")) {
    circle.classList.toggle("picked", Number(circle.dataset.point) === picked);
  }
  rows.forEach((row, number) => {
    row.classList.toggle("picked", number === picked);
    row.querySelector("button").setAttribute("aria-pressed", number === picked);
  });
  if (picked < 0) return;
  const point = explored.points[picked];
  const why = point.fits === false ? ". It does not fit: " + point.obstacles.join("; ") : "";
  document.getElementById("picked").textContent =
    picked + 1 + ": " + point.formats + (point.arguments ? ", " + point.arguments : "") + why;
  document.getElementById("command").textContent = point.command;
  copy.hidden = false;
}

rows.forEach((row, index) => row.addEventListener("click", () => pick(index)));
copy.addEventListener("click", async () => {
  const command = document.getElementById("command");
  try {
    await navigator.clipboard.writeText(command.textContent);
    copy.textContent = "copied";
  } catch {
    // A page from a file may not use the clipboard in every browser.
    getSelection().selectAllChildren(command);
    copy.textContent = "selected: copy it by keys";
  }
});
addEventListener("resize", draw);
draw();
