// Says in per cent the prior that a slider stands for: what it moves is the logarithm of the odds.
function sayPrior(place, view) {
  const slider = place.querySelector("input[type=range]");
  if (slider === null) return;
  const name = "Share of positives in use";
  // Vega writes its number anew whenever the slider is let go.
  const told = document.createElement("output");
  slider.nextElementSibling.replaceWith(told);
  const say = (_, prior) => {
    told.textContent = `${Number((100 * prior).toPrecision(3))} %`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.closest(".vega-bind").querySelector(".vega-bind-name").textContent = name;
  slider.setAttribute("aria-label", name);
  view.addSignalListener("prior", say);
  say("prior", view.signal("prior"));
}
