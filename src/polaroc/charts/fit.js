// Pixels beside a panel for its axis, between panels, and of a letter, a symbol and the title of a
// legend.
const AXIS = 62, APART = 26, LETTER = 7.5, SYMBOL = 34, TITLE = 100, NARROW = 560, LEAST = 180;

// Makes a panel, and what it is layered of, as wide as its room, and no taller than wide.
// Names of rows are as wide as their room.
function widen(panel, room, tallest = room, names = Infinity) {
  for (const part of [panel, ...(panel.layer ?? [])]) {
    if (typeof part.width === "number") part.width = room;
    if (part.height > tallest) part.height = tallest;
    const axis = part.encoding?.y?.axis;
    if (axis?.labelLimit > names) axis.labelLimit = names;
  }
}

// The names in the legends of a chart.
function series(part) {
  if (part === null || typeof part !== "object") return [];
  const parts = Object.entries(part).filter(([name]) => name !== "data" && name !== "datasets");
  return [...(part.color?.scale?.domain ?? []), ...parts.flatMap(([, one]) => series(one))];
}

// Makes a chart fill its room: panels beside each other go below each other where it is narrow.
function fit(spec, room, page = room) {
  const names = 0.45 * page, side = Math.min(spec.usermeta?.polaroc_side ?? AXIS, 0.45 * room);
  const rows = spec.vconcat;
  if (spec.hconcat && room < NARROW) {
    spec.vconcat = spec.hconcat;
    delete spec.hconcat;
  }
  if (spec.hconcat) {
    const total = spec.hconcat.reduce((sum, panel) => sum + panel.width, 0);
    const free = room - spec.hconcat.length * AXIS - APART;
    for (const panel of spec.hconcat) widen(panel, (free * panel.width) / total, free / 2);
  } else if (rows) {
    // Panels of rows have the height that their rows need.
    for (const panel of rows) widen(panel, room - side - APART, Infinity, names);
  } else if (spec.vconcat) {
    for (const panel of spec.vconcat) widen(panel, room - side - APART);
  } else if (spec.concat) {
    spec.columns = Math.max(1, Math.min(spec.concat.length, Math.floor(room / (LEAST + AXIS + APART))));
    for (const panel of spec.concat) widen(panel, room / spec.columns - AXIS - APART);
  } else {
    widen(spec, room - side - APART);
  }
  const longest = spec.usermeta?.polaroc_letters ?? Math.max(12, ...series(spec).map((one) => one.length));
  const columns = Math.max(1, Math.floor(page / (LETTER * longest + SYMBOL)));
  spec.config.legend = {
    ...spec.config.legend, orient: "top", direction: "horizontal", columns, titleOrient: "left",
    labelLimit: page - SYMBOL - TITLE, symbolSize: 120, offset: 4,
    layout: { top: { direction: "vertical" } },
  };
  return spec;
}

// Breaks a title and its subtitle into lines that fit their room.
function wrapTitle(spec, room) {
  const lines = (text, letter) =>
    [text].flat().flatMap((line) =>
      line.match(new RegExp(`.{1,${Math.floor(room / letter)}}(?=\\s|$)|\\S+`, "g")).map((one) => one.trim()));
  const { text = spec.title, subtitle, ...rest } = spec.title ?? { text: "" };
  if (text === "") return spec;
  spec.title = { ...rest, text: lines(text, 8.5) };
  if (subtitle) spec.title.subtitle = lines(subtitle, 6.5);
  return spec;
}

// Draws a chart in its room, and returns its view.
async function drawInRoom(place, text, room, options) {
  let { view } = await vegaEmbed(place, fit(JSON.parse(text), room), options);
  // Labels may be wider than was thought: on a narrow page the rest makes room for them.
  const excess = place.querySelector("svg.marks").viewBox.baseVal.width - room;
  if (room < NARROW && excess > 1) {
    view.finalize();
    ({ view } = await vegaEmbed(place, fit(JSON.parse(text), room - excess, room), options));
  }
  return view;
}
