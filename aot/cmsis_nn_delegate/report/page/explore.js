// Draws the points by the two figures that are chosen, and shows the command of the one that is picked.
const explored = JSON.parse(document.getElementById("explored").textContent);
const FIGURES = { instructions: "instructions", flash: "flash, bytes", ram: "RAM, bytes", sqnr: "SQNR, dB", top1: "top-1" };
const SPACE = { left: 90, right: 20, top: 20, bottom: 50, width: 900, height: 460 };
const chart = document.getElementById("front");
const known = Object.keys(FIGURES).filter((name) => explored.points.some((point) => point[name] !== null));
const selects = ["across", "up"].map((id) => document.getElementById(id));
selects.forEach((select, index) => {
  for (const name of known) select.add(new Option(FIGURES[name], name));
  select.value = known.includes("sqnr") && index ? "sqnr" : known[0];
  select.addEventListener("change", draw);
});

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function scale(name, from, to) {
  const values = explored.points.map((point) => point[name]).filter((value) => value !== null);
  const low = Math.min(...values), high = Math.max(...values);
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return { low: low - room, high: high + room, at: (value) => from + ((value - low + room) / (high - low + 2 * room)) * (to - from) };
}

function shown(name, value) {
  return name === "sqnr" ? value.toFixed(1) : name === "top1" ? (100 * value).toFixed(2) + " %" : Math.round(value).toLocaleString("en");
}

function draw() {
  const [across, up] = selects.map((select) => select.value);
  const x = scale(across, SPACE.left, SPACE.width - SPACE.right);
  const y = scale(up, SPACE.height - SPACE.bottom, SPACE.top);
  chart.replaceChildren();
  for (let part = 0; part <= 4; part++) {
    const value = { x: x.low + (part / 4) * (x.high - x.low), y: y.low + (part / 4) * (y.high - y.low) };
    const at = { x: x.at(value.x), y: y.at(value.y) };
    chart.append(
      element("line", { class: "axis", x1: at.x, x2: at.x, y1: SPACE.top, y2: SPACE.height - SPACE.bottom }),
      element("line", { class: "axis", x1: SPACE.left, x2: SPACE.width - SPACE.right, y1: at.y, y2: at.y }),
      element("text", { x: at.x, y: SPACE.height - SPACE.bottom + 18, "text-anchor": "middle" }, shown(across, value.x)),
      element("text", { x: SPACE.left - 8, y: at.y + 4, "text-anchor": "end" }, shown(up, value.y)),
    );
  }
  chart.append(
    element("text", { x: SPACE.width / 2, y: SPACE.height - 8, "text-anchor": "middle" }, FIGURES[across]),
    element("text", { x: 14, y: 14 }, FIGURES[up]),
  );
  explored.points.forEach((point, index) => {
    if (point[across] === null || point[up] === null) return;
    const circle = element("circle", {
      cx: x.at(point[across]), cy: y.at(point[up]), r: 7, tabindex: 0, role: "button", "data-point": index,
      class: point.fits === false ? "no" : "yes", fill: "var(--tensor)",
    });
    circle.append(element("title", {}, [index + 1, point.formats, point.arguments].filter(Boolean).join(" \u00b7 ")));
    circle.addEventListener("click", () => pick(index));
    circle.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") pick(index);
    });
    chart.append(circle);
  });
}

const rows = [...document.querySelectorAll("#points tbody tr")];
const copy = document.getElementById("copy");

function pick(index) {
  const point = explored.points[index];
  for (const circle of chart.querySelectorAll("circle")) {
    circle.classList.toggle("picked", Number(circle.dataset.point) === index);
  }
  rows.forEach((row, number) => row.classList.toggle("picked", number === index));
  const why = point.fits === false ? ". It does not fit: " + point.obstacles.join("; ") : "";
  document.getElementById("picked").textContent =
    index + 1 + ": " + point.formats + (point.arguments ? ", " + point.arguments : "") + why;
  document.getElementById("command").textContent = point.command;
  copy.hidden = false;
}

rows.forEach((row, index) => row.addEventListener("click", () => pick(index)));
copy.addEventListener("click", async () => {
  const text = document.getElementById("command").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file may not use the clipboard in every browser: selected text can be copied by hand.
    getSelection().selectAllChildren(document.getElementById("command"));
  }
});
draw();
