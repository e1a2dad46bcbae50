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
  const { views, failed } = window.polaroc;
  const draw = async (place) => {
    const name = place.dataset.chart;
    try {
      const text = document.getElementById(name).textContent;
      const view = await drawInRoom(place, text, place.clientWidth, options);
      sayPrior(place, view);
      views[name] = view;
    } catch (error) {
      failed.push(`${name}: ${error}`);
      place.textContent = `This chart could not be drawn: ${error.message}`;
    }
  };
  for (const place of document.querySelectorAll("[data-chart]")) {
    // What is closed has no width.
    const closed = place.closest("details:not([open])");
    if (closed) closed.open = true;
    // The page answers between two charts.
    await new Promise((done) => setTimeout(done));
    await draw(place);
    window.polaroc.drawn += 1;
    if (closed) closed.open = false;
  }
  // The explorer is never scaled: where the width changes it is drawn anew.
  const explorer = document.querySelector('[data-chart="explorer"]');
  let width = explorer?.clientWidth, waiting;
  if (explorer) addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      if (explorer.clientWidth === width) return;
      width = explorer.clientWidth;
      const before = views.explorer, slid = before.signal("log_odds");
      await draw(explorer);
      before.finalize();
      await views.explorer.signal("log_odds", slid).runAsync();
    }, 200);
  });
  document.documentElement.dataset.ready = "true";
})();
