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
    const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    try {
      const made = await vegaEmbed(place, spec, options);
      window.polaroc.views[place.dataset.chart] = made.view;
      window.polaroc.drawn += 1;
    } catch (error) {
      window.polaroc.failed.push(String(error));
      place.textContent = "This chart could not be drawn: " + error.message;
    }
  }
  document.documentElement.dataset.ready = "true";
})();
