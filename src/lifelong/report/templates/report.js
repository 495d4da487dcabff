// Sort a table by the column whose heading is pressed: numbers high to low first, names A to Z; again: the other way.
function value(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}
function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const first = heading.classList.contains("number") ? "descending" : "ascending";
      const second = first === "descending" ? "ascending" : "descending";
      const order = heading.getAttribute("aria-sort") === first ? second : first;
      headings.forEach((other) => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        if (x === null || y === null) return (x === null) - (y === null); // what was not measured comes last
        return sign * compare(x, y);
      });
      table.tBodies[0].append(...rows);
    });
  });
}
