// Each chart of the page is drawn in its place; its data stand beside it.
for (const place of document.querySelectorAll(".live-chart")) {
  const spec = JSON.parse(place.querySelector("script").textContent);
  vegaEmbed(place.querySelector("[role=figure]"), spec, {
    mode: "vega-lite",
    actions: { export: true, source: false, compiled: false, editor: false },
  });
}
