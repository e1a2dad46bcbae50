"use strict";
// Draws each chart from the JSON beside it. Expressions are interpreted, never
// compiled, so that the page may forbid eval. Views are kept for whoever inspects them.
window.polaroc = { views: {}, drawn: 0, failed: [] };

// Says the prior that a slider stands for: what it moves is the logarithm of the odds.
function sayPrior(place, view) {
  const slider = place.querySelector("input[type=range]");
  if (slider === null) return;
  const name = "Share of positives in use";
  const told = slider.nextElementSibling;
  const say = (_, prior) => {
    told.textContent = `${Number((100 * prior).toPrecision(3))} %`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.closest(".vega-bind").querySelector(".vega-bind-name").textContent = name;
  slider.setAttribute("aria-label", name);
  view.addSignalListener("prior", say);
  say("prior", view.signal("prior"));
}

(async () => {
  const options = {
    mode: "vega-lite",
    ast: true,
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  };
  for (const place of document.querySelectorAll("[data-chart]")) {
    const name = place.dataset.chart;
    // The page answers between two charts.
    await new Promise((done) => setTimeout(done));
    try {
      const spec = JSON.parse(document.getElementById(name).textContent);
      const { view } = await vegaEmbed(place, spec, options);
      sayPrior(place, view);
      window.polaroc.views[name] = view;
      window.polaroc.drawn += 1;
    } catch (error) {
      window.polaroc.failed.push(`${name}: ${error}`);
      place.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }
  document.documentElement.dataset.ready = "true";
})();
