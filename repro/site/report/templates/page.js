"use strict";
(async () => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#56B4E9"];
  const number = (value, digits = 3) => value.toLocaleString("en", { maximumSignificantDigits: digits });
  const isDark = () => document.documentElement.classList.contains("dark");
  const inks = () => isDark() ? ["#c9ced3", "#343a41"] : ["#3c4248", "#e4e5e3"];

  // Panels, pictures, rows and the library that draws travel compressed.
  const bytes = Uint8Array.from(atob(one("#carried").textContent), (letter) => letter.charCodeAt(0));
  const carried = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  for (const [key, html] of Object.entries(carried.panels)) {
    const panel = one(`section.panel[data-panel="${CSS.escape(key)}"]`);
    panel.innerHTML = html;
    if (carried.pictures[key]) one("figure img", panel).src = carried.pictures[key];
  }
  document.head.append(Object.assign(document.createElement("script"), { textContent: carried.library }));
  for (const tile of all("li.tile")) {
    const drawn = one(`#${tile.dataset.artefact} figure img`);
    if (drawn) one(".plate", tile).replaceChildren(Object.assign(document.createElement("img"), { src: drawn.src, alt: "" }));
  }

  // Rows are carried by columns, each with its heading; a column of one text alone has it once.
  const columnsOf = (key) => {
    const length = Math.max(...carried.rows[key].map((column) => column.length));
    return carried.rows[key].map((column) => column.length < length ? [column[0], ...Array(length - 1).fill(column[1])] : column);
  };
  const rowsOf = (key) => {
    const columns = columnsOf(key);
    return columns[0].slice(1).map((_, k) => Object.fromEntries(columns.map((column) => [column[0], column[k + 1]])));
  };
  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const csvOf = (columns) => columns[0].map((_, k) => columns.map((column) => quoted(column[k])).join(",") + "\n").join("");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.download");
    if (!button) return;
    const address = URL.createObjectURL(new Blob([csvOf(columnsOf(button.dataset.rows))], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: address, download: `${button.dataset.rows}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });

  // A table is sorted by the column whose heading is clicked, the other way by a second click.
  const sortable = (within) => {
    for (const head of all("thead th", within)) {
      head.tabIndex = 0;
      head.setAttribute("aria-sort", "none");
    }
  };
  const amount = (text) => {
    const found = text.replaceAll(",", "").match(/^[^\w–-]*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(ns|µs|ms|s)?/);
    return found ? Number(found[1]) * ({ ns: 1e-9, "µs": 1e-6, ms: 1e-3 }[found[2]] ?? 1) : NaN;
  };
  function sort(head) {
    const up = head.getAttribute("aria-sort") !== "ascending", place = head.cellIndex;
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0], text = (row) => row.cells[place].textContent.trim();
    const order = (a, b) => {
      const [x, y] = [text(a), text(b)], [m, n] = [amount(x), amount(y)];
      if (Number.isNaN(m) !== Number.isNaN(n)) return Number.isNaN(m) - Number.isNaN(n);  // numbers first, either way
      return (up ? 1 : -1) * (Number.isNaN(m) ? x.localeCompare(y) : m - n);
    };
    body.append(...[...body.rows].sort(order));
  }
  document.addEventListener("click", (event) => { const head = event.target.closest("th[aria-sort]"); if (head) sort(head); });
  document.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("th[aria-sort]")) sort(event.target); });
  sortable(document);

  // Light and dark.
  const theme = one("#theme");
  const remember = (value) => { try { localStorage.setItem("repro-theme", value); } catch { /* private window */ } };
  const remembered = () => { try { return localStorage.getItem("repro-theme"); } catch { return null; } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  function setTheme(dark) {
    document.documentElement.classList.toggle("dark", dark);
    theme.setAttribute("aria-pressed", String(dark));
    drawRoofline();
  }
  theme.addEventListener("click", () => {
    const dark = theme.getAttribute("aria-pressed") !== "true";
    remember(dark ? "dark" : "light");
    setTheme(dark);
  });
  system.addEventListener("change", () => { if (!remembered()) setTheme(system.matches); });

  // Filters of the wall, and of the tables and figures below it.
  const filters = one("#filters");
  const artefacts = all("details.artefact");
  const contains = (each, words) => words.toLowerCase().split(/\s+/).every((word) => each.textContent.toLowerCase().includes(word));
  const panelsOf = new Map(artefacts.map((each) => [each, all("section.panel", each)]));  // best first, wherever shown
  function filter() {
    const wanted = Object.fromEntries(new FormData(filters));
    let shown = 0;
    for (const each of artefacts) {
      const places = each.dataset.places.split(" ").filter(Boolean).map((place) => place.split("/"));
      const fits = (!wanted.paper || each.dataset.paper === wanted.paper)
        && (!wanted.state || each.dataset.state === wanted.state)
        && (!(wanted.machine || wanted.backend) || places.some(([machine, backend]) =>
          (!wanted.machine || machine === wanted.machine) && (!wanted.backend || backend === wanted.backend)))
        && contains(each, wanted.words);
      each.hidden = !fits;
      one(`li[data-artefact="${each.id}"]`).hidden = !fits;
      shown += fits;
      choose(each, wanted);
    }
    for (const paper of all("section.paper")) paper.hidden = !one("li.tile:not([hidden])", paper);
    one("#count").textContent = `${shown} of ${artefacts.length} shown`;
    one("#none").hidden = shown > 0;
  }
  filters.addEventListener("input", filter);
  filters.addEventListener("reset", () => setTimeout(filter));
  filters.addEventListener("submit", (event) => event.preventDefault());

  // Which results a table or figure shows: of one machine, or of two side by side.
  function choose(artefact, wanted) {
    const [first, second] = [one("select.first", artefact), one("select.second", artefact)];
    const panels = panelsOf.get(artefact);  // not as they stand on the page, which `show` changes
    const panelOf = (machine) => machine && panels.find((panel) => panel.dataset.machine === machine);
    if (first) {
      const fitting = panels.find((panel) => (!wanted.machine || panel.dataset.machine === wanted.machine)
        && (!wanted.backend || panel.dataset.backends.split(" ").includes(wanted.backend)));
      first.value = (fitting || panels[0]).dataset.panel;
      const other = panelOf(wanted.beside);
      second.value = other && other.dataset.panel !== first.value ? other.dataset.panel : "";
    }
    const absent = one(".absent", artefact);
    if (absent) {
      absent.hidden = !wanted.beside || Boolean(panelOf(wanted.beside));
      absent.textContent = absent.hidden ? "" : `Not measured on ${wanted.beside}.`;
    }
    show(artefact);
  }
  function show(artefact) {
    const [first, second] = [one("select.first", artefact), one("select.second", artefact)];
    if (!first) return;
    const panels = panelsOf.get(artefact);
    if (second.value === first.value) second.value = "";
    for (const option of second.options) option.disabled = option.value === first.value;
    for (const panel of panels) panel.hidden = ![first.value, second.value].includes(panel.dataset.panel);
    const left = panels.find((panel) => panel.dataset.panel === first.value);
    left.parentElement.prepend(left);
    together(artefact, first.value, second.value);
  }
  for (const artefact of artefacts) {
    for (const select of all(".choose select", artefact)) select.addEventListener("change", () => show(artefact));
  }

  // Two results on one axis, of what both have, each by its best back end, with their ratios.
  const ORDER = ["cuda", "opencl", "openmp", "host"];
  function best(key) {
    const found = new Map();
    for (const row of rowsOf(key)) {
      if (row.status !== "done" || !(Number(row.value) > 0)) continue;
      const own = Object.keys(row).filter((name) => name.startsWith("p_") && row[name]).map((name) => `${name.slice(2)}=${row[name]}`);
      const place = JSON.stringify([row.case, row.method, row.metric, row.unit, own]), known = found.get(place);
      if (!known || ORDER.indexOf(row.backend) < ORDER.indexOf(known.backend)) found.set(place, { ...row, own: own.join(", ") });
    }
    return found;
  }
  function together(artefact, first, second) {
    const room = one(".together", artefact), choice = one("select", room);
    room.hidden = !second;
    if (!second) return;
    const [left, right] = [best(first), best(second)], shared = [...left.keys()].filter((place) => right.has(place));
    const isTime = (place) => left.get(place).unit.endsWith("s");
    const metrics = [...new Set([...shared.filter(isTime), ...shared].map((place) => left.get(place).metric))];
    choice.replaceChildren(...metrics.map((metric) => new Option(metric)));
    choice.onchange = () => compare(room, first, second, shared.map((place) => [left.get(place), right.get(place)]).filter(([row]) => row.metric === choice.value));
    choice.onchange();
  }
  function compare(room, first, second, pairs) {
    const heads = ["Case", "Method", "Unit", first, second, "second over first"];
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const text of heads) head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: text }));
    const told = (row) => `${number(Number(row.value), 4)}${row.ci_low ? ` (${number(Number(row.ci_low))} to ${number(Number(row.ci_high))})` : ""}, ${row.backend}`;
    for (const [one, other] of pairs) {
      const row = body.insertRow();
      for (const text of [one.case, [one.method, one.own].filter(Boolean).join(", "), one.unit, told(one), told(other), number(other.value / one.value)]) row.insertCell().textContent = text;
    }
    one(".scroll", room).replaceChildren(table);
    sortable(table);
    const values = pairs.flatMap((pair) => pair.map((row, k) => ({ result: [first, second][k], name: `${row.case}, ${row.method}${row.own && ` ${row.own}`}`,
      value: Number(row.value), low: Number(row.ci_low || row.value), high: Number(row.ci_high || row.value), unit: row.unit })));
    const [ink, line] = inks();
    const y = { field: "name", type: "nominal", title: null, sort: null, axis: { labelLimit: 260 } };
    const x = { field: "low", type: "quantitative", scale: { type: "log" }, title: pairs[0]?.[0].unit || "" };
    const color = { field: "result", type: "nominal", title: null, scale: { domain: [first, second], range: COLOURS }, legend: { orient: "top", labelLimit: 0 } };
    vegaEmbed(one(".axis", room), { data: { values }, width: "container", height: { step: 16 }, background: "transparent", encoding: { y, color },
      layer: [{ mark: { type: "rule", strokeWidth: 2 }, encoding: { x, x2: { field: "high" } } },
        { mark: { type: "point", filled: true, size: 50, opacity: 0.9 }, encoding: { x: { ...x, field: "value" }, tooltip: [{ field: "name" }, { field: "result" }, { field: "value", format: ",.4r" }, { field: "unit" }] } }],
      config: { axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: ink, tickColor: ink }, legend: { labelColor: ink }, view: { stroke: null }, font: "system-ui, sans-serif" },
    }, { actions: false, renderer: "svg" });
  }

  // The ledger's filters.
  const ledgerFilters = one("#ledger-filters");
  const claims = all("details.claim");
  function filterLedger() {
    const wanted = Object.fromEntries(new FormData(ledgerFilters));
    for (const claim of claims) {
      claim.hidden = Boolean((wanted.paper && claim.dataset.paper !== wanted.paper)
        || (wanted.state && claim.dataset.state !== wanted.state) || !contains(claim, wanted.words));
    }
    one("#ledger-count").textContent = `${claims.filter((each) => !each.hidden).length} of ${claims.length} shown`;
  }
  ledgerFilters.addEventListener("input", filterLedger);
  ledgerFilters.addEventListener("reset", () => setTimeout(filterLedger));
  ledgerFilters.addEventListener("submit", (event) => event.preventDefault());

  // A link to a table, a figure or a claim opens it.
  function follow() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !target.matches("details.artefact, details.claim")) return;
    if (target.hidden) { filters.reset(); filter(); ledgerFilters.reset(); filterLedger(); }
    target.open = true;
    target.scrollIntoView();
    one("summary", target).focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  const unfold = one("#unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-expanded") !== "true";
    for (const each of artefacts) each.open = open && !each.hidden;
    unfold.setAttribute("aria-expanded", String(open));
    unfold.textContent = open ? "Close all" : "Open all";
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...artefacts, ...claims, ...all("details.findings, details.kernels")].filter((each) => !each.open);
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });

  // The roofline.
  const roofline = carried.roofline;
  const columns = Object.entries(roofline.points).map(([name, column]) =>
    [name, Array.isArray(column) ? column : column.places.map((place) => column.texts[place])]);
  roofline.points = (columns[0]?.[1] ?? []).map((_, k) => Object.fromEntries(columns.map(([name, values]) => [name, values[k]])));
  const rooflineFilters = one("#roofline-filters");
  const time = (seconds) => seconds < 1e-3 ? `${number(seconds * 1e6)} µs` : seconds < 1 ? `${number(seconds * 1e3)} ms` : `${number(seconds)} s`;
  function selected() {
    const { device, cache } = Object.fromEntries(new FormData(rooflineFilters));
    const here = (each) => `${each.machine}, ${each.device}` === device;
    return {
      points: roofline.points.filter((point) => here(point) && point.cold === (cache === "cold")),
      roofs: roofline.roofs.filter(here),
    };
  }
  function ofBound(point) {
    const share = (value, rest = "") => value == null ? "" : `${number(100 * value)} %${rest}`;
    return [share(point.bound), share(point.problem, " of any format's")].filter(Boolean).join(", ") || "–";
  }
  function drawRoofline() {
    if (!rooflineFilters) return;
    const { points, roofs } = selected();
    const values = points.map((point) => ({
      ...point, time: time(point.seconds), href: `#${point.artefact}`,
      "of the bound": ofBound(point),
    }));
    const dark = isDark(), [ink, line] = inks();
    const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: ink, tickColor: ink, labelFontSize: 12,
      titleFontSize: 13, titleFontWeight: "normal", titlePadding: 8 };
    // Ticks at 1, 2 and 5 where there are few decades, else at powers of ten.
    const ticks = (field) => {
      const found = [...points, ...roofs].map((each) => Math.log10(each[field]));
      const [low, high] = [Math.floor(Math.min(...found)), Math.ceil(Math.max(...found))];
      const steps = high - low > 3 ? [1] : [1, 2, 5];
      const values = Array.from({ length: high - low + 1 }, (_, i) => steps.map((step) => step * 10 ** (low + i))).flat();
      return { values, labelExpr: "format(datum.value, datum.value < 1 ? '~r' : ',')" };
    };
    const papers = [...new Set(roofline.points.map((point) => point.paper))].sort();
    const x = { field: "intensity", type: "quantitative", scale: { type: "log", nice: false }, axis: ticks("intensity"), title: "Intensity of the least work [FLOP/B]" };
    const y = { field: "rate", type: "quantitative", scale: { type: "log" }, axis: ticks("rate"), title: "Operations a second [GFLOP/s]" };
    // Each roof is named at its right end, and the bandwidth once, over the slope, which a narrow plot makes steep.
    const ends = [...new Map(roofs.map((each) => [each.roof, each])).values()].map((each) => ({ ...each, name: each.roof }));
    const slope = roofs.slice(0, 1).map((each) => ({ ...each, name: `${number(each.bandwidth, 4)} GB/s` }));
    const named = (values, align, dx, dy) => ({ data: { values }, encoding: { x, y, text: { field: "name" } },
      mark: { type: "text", align, dx, dy, color: ink, fontSize: 12, tooltip: false } });
    const tip = (field, title, format) => ({ field, title, ...(format && { format, type: "quantitative" }) });
    const spec = {
      width: "container", height: 420, background: "transparent", autosize: { type: "fit", contains: "padding" },
      description: "Roofline of the chosen device; the table below has the values",
      layer: [
        { data: { values: roofs }, mark: { type: "line", color: ink, strokeWidth: 1.5 },
          encoding: { x, y, detail: { field: "roof" }, tooltip: [tip("roof", "Roof"), tip("bandwidth", "GB/s", ",.4r")] } },
        named(ends, "right", -4, -9), named(slope, "left", 8, one("#plot").clientWidth < 600 ? -115 : -34),
        { data: { values }, mark: { type: "point", filled: true, size: 55, opacity: 0.8, cursor: "pointer" },
          encoding: { x, y, href: { field: "href" },
            color: { field: "paper", type: "nominal", title: null, scale: { domain: papers, range: COLOURS } },
            shape: { field: "precision", type: "nominal", title: null, scale: { domain: ["double", "single"], range: ["circle", "triangle-up"] } },
            tooltip: [tip("artefact"), tip("case"), tip("method"), tip("metric"), tip("precision"), tip("rate", "GFLOP/s", ",.3r"),
              tip("bandwidth", "GB/s", ",.3r"), tip("intensity", "FLOP/B", ",.3r"), tip("time"), tip("of the bound")] } },
      ],
      config: { axis, legend: { labelColor: ink, symbolBaseFillColor: ink, symbolBaseStrokeColor: ink, orient: "top", labelFontSize: 12, symbolSize: 80 }, view: { stroke: null }, font: "system-ui, sans-serif" },
    };
    one("#roofline-count").textContent = `${points.length} timed products, solves and parts of them`;
    vegaEmbed("#plot", spec, { actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" } })
      .then(() => { one("#plot").dataset.drawn = String(points.length); });
    if (one("#roofline-table").open) tabulate();
  }
  function tabulate() {
    const heads = ["Artefact", "Case", "Method", "Metric", "FLOP/B", "GFLOP/s", "GB/s", "Time", "Of the bound"];
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const text of heads) head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: text }));
    const body = table.createTBody();
    for (const point of selected().points.sort((a, b) => (b.bound ?? -1) - (a.bound ?? -1))) {
      const row = body.insertRow();
      const link = Object.assign(document.createElement("a"), { href: `#${point.artefact}`, textContent: point.artefact });
      row.insertCell().append(link);
      for (const text of [point.case, point.method, point.metric, number(point.intensity), number(point.rate), number(point.bandwidth),
        time(point.seconds), ofBound(point)]) row.insertCell().textContent = text;
    }
    one("#roofline-table .scroll").replaceChildren(table);
    sortable(table);
  }
  if (rooflineFilters) {
    rooflineFilters.addEventListener("change", drawRoofline);
    one("#roofline-table").addEventListener("toggle", tabulate);
  }

  setTheme((remembered() ?? (system.matches ? "dark" : "light")) === "dark");
  filter();
  follow();
  document.documentElement.dataset.figures = "drawn";
})();
