"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // Files travel compressed in data: links; without this script they download as .gz.
  async function unpack(link, type) {
    const packed = Uint8Array.from(atob(link.href.slice(link.href.indexOf(",") + 1)), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Blob([await new Response(stream).arrayBuffer()], { type });
  }
  const TYPES = { csv: "text/csv", json: "application/json", png: "image/png" };
  const typeOf = (link) => TYPES[link.dataset.name.split(".").pop()];

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.download");
    if (!link) return;
    event.preventDefault();
    const address = URL.createObjectURL(await unpack(link, typeOf(link)));
    const file = Object.assign(document.createElement("a"), { href: address, download: link.dataset.name });
    file.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });

  async function drawFigures() {
    for (const link of all('a.download[id^="png-"]')) {
      const key = link.id.slice(4);
      const address = URL.createObjectURL(await unpack(link, TYPES.png));
      for (const image of all(`img[data-source="${key}"], img[data-figure="${key}"]`)) image.src = address;
    }
    await Promise.all(all("img[src]").map((image) => image.decode().catch(() => {})));
    document.documentElement.dataset.figures = "drawn";
  }

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
  const panelsOf = new Map(artefacts.map((each) => [each, all("section.panel", each)]));  // best first, wherever shown
  function filter() {
    const wanted = Object.fromEntries(new FormData(filters));
    let shown = 0;
    for (const each of artefacts) {
      const places = each.dataset.places.split(" ").filter(Boolean).map((place) => place.split("/"));
      const fits = (!wanted.paper || each.dataset.paper === wanted.paper)
        && (!wanted.state || each.dataset.state === wanted.state)
        && (!(wanted.machine || wanted.backend) || places.some(([machine, backend]) =>
          (!wanted.machine || machine === wanted.machine) && (!wanted.backend || backend === wanted.backend)));
      each.hidden = !fits;
      one(`li[data-artefact="${each.id}"]`).hidden = !fits;
      shown += fits;
      choose(each, wanted);
    }
    for (const paper of all("section.paper")) paper.hidden = !one("li.tile:not([hidden])", paper);
    one("#count").textContent = `${shown} of ${artefacts.length} shown`;
    one("#none").hidden = shown > 0;
  }
  filters.addEventListener("change", filter);
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
  }
  for (const artefact of artefacts) {
    for (const select of all(".choose select", artefact)) select.addEventListener("change", () => show(artefact));
  }

  // The ledger's filters.
  const ledgerFilters = one("#ledger-filters");
  const claims = all("#ledger tbody tr");
  function filterLedger() {
    const wanted = Object.fromEntries(new FormData(ledgerFilters));
    let shown = 0;
    for (const claim of claims) {
      claim.hidden = Boolean((wanted.paper && claim.dataset.paper !== wanted.paper)
        || (wanted.state && !claim.dataset.states.split("|").includes(wanted.state)));
      shown += !claim.hidden;
    }
    one("#ledger-count").textContent = `${shown} of ${claims.length} shown`;
  }
  ledgerFilters.addEventListener("change", filterLedger);
  ledgerFilters.addEventListener("reset", () => setTimeout(filterLedger));
  ledgerFilters.addEventListener("submit", (event) => event.preventDefault());

  // A link to a table or figure opens it.
  function follow() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !target.matches("details.artefact")) return;
    if (target.hidden) { filters.reset(); filter(); }
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
    closed = [...artefacts, ...all("details.findings, details.kernels")].filter((each) => !each.open);
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });

  // The roofline.
  const roofline = JSON.parse(one("#roofline-data").textContent);
  const columns = Object.entries(roofline.points).map(([name, column]) =>
    [name, Array.isArray(column) ? column : column.places.map((place) => column.texts[place])]);
  roofline.points = (columns[0]?.[1] ?? []).map((_, k) => Object.fromEntries(columns.map(([name, values]) => [name, values[k]])));
  const rooflineFilters = one("#roofline-filters");
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#56B4E9"];
  const number = (value, digits = 3) => value.toLocaleString("en", { maximumSignificantDigits: digits });
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
    const dark = document.documentElement.classList.contains("dark");
    const [ink, line] = dark ? ["#c9ced3", "#343a41"] : ["#3c4248", "#e4e5e3"];
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
  }
  if (rooflineFilters) {
    rooflineFilters.addEventListener("change", drawRoofline);
    one("#roofline-table").addEventListener("toggle", tabulate);
  }

  setTheme((remembered() ?? (system.matches ? "dark" : "light")) === "dark");
  filter();
  follow();
  drawFigures();
})();
