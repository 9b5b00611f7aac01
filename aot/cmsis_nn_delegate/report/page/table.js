// Marks what is wider than the window, for page.css to say so. A folded table has no width until it is opened.
const mark = () => {
  for (const part of document.querySelectorAll(".scroll")) {
    part.toggleAttribute("data-more", part.scrollWidth > part.clientWidth);
  }
};
addEventListener("resize", mark);
for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", mark);
mark();
// Sorts a table by the column whose heading is pressed, and shows the rows that contain what is typed above it.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = (a, b) => key(a).localeCompare(key(b), "en", { numeric: true });
      const rows = [...body.rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
      body.append(...rows);
    });
  });
  const filter = document.querySelector(`input[data-filters="${table.id}"]`);
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
