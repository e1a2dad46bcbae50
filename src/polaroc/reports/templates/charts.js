"use strict";
// Draws each chart from the JSON beside it. Expressions are interpreted, never
// compiled, so that the page may forbid eval. Views are kept for whoever inspects them.
window.polaroc = { views: {}, drawn: 0, failed: [] };

(async () => {
  const options = {
    mode: "vega-lite",
    ast: true,
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  };
  for (const place of document.querySelectorAll("[data-chart]")) {
    const name = place.dataset.chart;
    // What is closed has no width.
    const closed = place.closest("details:not([open])");
    if (closed) closed.open = true;
    // The page answers between two charts.
    await new Promise((done) => setTimeout(done));
    try {
      const text = document.getElementById(name).textContent, room = place.clientWidth;
      const view = await drawInRoom(place, text, room, options);
      sayPrior(place, view);
      window.polaroc.views[name] = view;
      window.polaroc.drawn += 1;
    } catch (error) {
      window.polaroc.failed.push(`${name}: ${error}`);
      place.textContent = `This chart could not be drawn: ${error.message}`;
    }
    if (closed) closed.open = false;
  }
  document.documentElement.dataset.ready = "true";
})();
