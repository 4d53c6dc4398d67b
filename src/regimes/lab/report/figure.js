// How a figure fits the page: its colours, room for its legend, panels below each other on a phone.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isNarrow = () => window.innerWidth < 640;
const ROW = 21, PANEL = 235, GAP = 92, SLIDER = 70;  // pixels; a slider hangs so far under its axes

const wrapped = (text, letters) => {
  if (!text || text.includes("<br>") || text.length <= letters) return text;
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && (last + " " + word).length > letters) lines.push(word);
    else lines[lines.length - 1] = last ? last + " " + word : word;
  }
  return lines.join("<br>");
};

const plain = (text) => text.replace(/<[^>]*>/g, "");

// Rows that a legend across the figure takes.
const legendRows = (spec, width, letter) => {
  const alone = spec.data.length === 1 && spec.data[0].showlegend !== true;
  if (alone || spec.layout.showlegend === false) return 0;
  const seen = new Set();
  let widest = 0, count = 0;
  for (const trace of spec.data) {
    if (trace.showlegend === false || !trace.name || trace.visible === false) continue;
    if (trace.legendgroup && trace.showlegend !== true && seen.has(trace.legendgroup)) continue;
    seen.add(trace.legendgroup);
    widest = Math.max(widest, 48 + letter * plain(trace.name).length);
    count += 1;
  }
  return Math.ceil(count / Math.max(1, Math.floor(width / widest)));
};

// Every panel as its two axes, in reading order.
const panelsOf = (layout) => {
  const name = (id) => id[0] + "axis" + id.slice(1);
  return Object.keys(layout)
    .filter((key) => /^xaxis\d*$/.test(key) && layout[key].domain && layout[key].anchor)
    .map((key) => ({ x: layout[key], y: layout[name(layout[key].anchor)] }))
    .filter((panel) => panel.y && panel.y.domain)
    .sort((a, b) => b.y.domain[1] - a.y.domain[1] || a.x.domain[0] - b.x.domain[0]);
};

// One panel under the other; returns the height of the plot in pixels.
const stack = (layout, panels) => {
  const whole = panels.length * (PANEL + GAP) - GAP;
  panels.forEach((panel, k) => {
    const [left, right] = panel.x.domain, top = panel.y.domain[1], upper = 1 - k * (PANEL + GAP) / whole;
    for (const note of layout.annotations || []) {
      const own = note.xref === "paper" && note.yref === "paper" && !note.moved
        && Math.abs(note.x - (left + right) / 2) < 1e-6 && Math.abs(note.y - top) < 1e-6;
      if (own) Object.assign(note, { x: 0.5, y: upper, moved: true });
    }
    Object.assign(panel.x, { domain: [0, 1], showticklabels: true });
    Object.assign(panel.y, { domain: [Math.max(0, upper - PANEL / whole), upper], showticklabels: true });
  });
  for (const note of layout.annotations || []) delete note.moved;
  return whole;
};

// On a phone: few ticks, none on end, slim scales of colours.
const slim = (spec) => {
  for (const [key, axis] of Object.entries(spec.layout)) {
    if (!/^xaxis\d*$/.test(key)) continue;
    axis.tickangle ??= 0; // unless the figure itself says otherwise
    if (axis.type === "log" && axis.dtick) Object.assign(axis, { dtick: undefined, nticks: 5 });
    const step = Math.ceil((axis.tickvals || []).length / 6);
    if (step < 2) continue;
    for (const part of ["tickvals", "ticktext"]) {
      if (Array.isArray(axis[part])) axis[part] = axis[part].filter((_, k) => k % step === 0);
    }
  }
  for (const holder of [...spec.data, spec.layout.coloraxis || {}]) {
    if (!holder.colorbar) continue;
    const title = { ...holder.colorbar.title, side: "right" };
    Object.assign(holder.colorbar, { thickness: 10, title, tickfont: { size: 10 } });
  }
};

// Changes the figure for the width it has; returns the height it needs.
const fitted = (spec, width) => {
  const layout = spec.layout, narrow = isNarrow(), panels = panelsOf(layout);
  let height = layout.height || 420;
  const letter = narrow ? 6.2 : 7, rows = legendRows(spec, width - 70, letter);
  const film = (layout.sliders || []).length > 0;
  const below = ((layout.legend || {}).y ?? 1) < 0;
  if (narrow) {
    slim(spec);
    const columns = new Set(panels.map((panel) => panel.x.domain[0]));
    const long = Object.entries(layout).some(([key, axis]) => /^xaxis\d*$/.test(key)
      && ((axis.title || {}).text || "").length > (width - 70) / 7.4);
    const top = panels.length ? 46 : 30, bottom = film ? 110 : long ? 76 : 60;
    let inner = Math.min(height, 420) - top - bottom;
    if (columns.size > 1) inner = stack(layout, panels);
    else if (panels.length > 1) inner = height - top - bottom;
    const under = rows * ROW + (rows ? 12 : 0);
    layout.margin = { l: 50, r: 8, t: top, b: bottom + under };
    layout.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", font: { size: 11 },
      y: -bottom / inner, yanchor: "top", maxheight: under + 40 };
    for (const part of [...(layout.sliders || []), ...(layout.updatemenus || [])]) {
      if (part.y < 0) part.y = -SLIDER / inner;
    }
    height = inner + top + bottom + under;
  } else if (rows > 1 && !below) {
    height += (rows - 1) * ROW;
  }
  const tall = (axis) => (axis.domain ? axis.domain[1] - axis.domain[0] : 1) * (height - 130);
  const wide = (axis) => (axis.domain ? axis.domain[1] - axis.domain[0] : 1) * (width - 70);
  for (const [key, axis] of Object.entries(layout)) {
    if (!/^[xy]axis\d*$/.test(key) || !axis.title || !axis.title.text) continue;
    axis.title.text = wrapped(axis.title.text, Math.max(12, (key[0] === "x" ? wide : tall)(axis) / 7.4));
  }
  for (const note of layout.annotations || []) {
    const across = (note.xref || "").startsWith("x") ? width : width - 60;
    if (narrow) Object.assign(note, { text: wrapped(note.text, (across - 15) / 7), font: { ...note.font, size: 13 } });
  }
  layout.height = height;
  return height;
};

// Above the plot; above the titles of its panels; or hanging from where the figure puts it below.
const legendOf = (spec) => {
  const titled = (spec.layout.annotations || []).some(
    (note) => note.yref === "paper" && note.yanchor === "bottom" && note.y > 0.95);
  const below = ((spec.layout.legend || {}).y ?? 1) < 0;
  const legend = { bgcolor: "rgba(0,0,0,0)", orientation: "h", x: 0, tracegroupgap: 2,
    y: titled ? 1.08 : 1.02, yanchor: below ? "top" : "bottom" };
  // lines that lie on a map are black by day and by night: their names stand on a pale ground
  const black = spec.data.some((trace) => trace.name && (trace.line || {}).color === "#000000");
  return black && dark.matches ? { ...legend, bgcolor: "#c9cfdb", font: { color: "#1b2130" } } : legend;
};

const layoutOf = (spec) => {
  const style = getComputedStyle(document.documentElement);
  const tone = (name) => style.getPropertyValue(name).trim();
  const axis = {
    gridcolor: tone("--line"), linecolor: tone("--soft"), zerolinecolor: tone("--line"),
    tickcolor: tone("--soft"), ticks: "outside", automargin: true, title: { standoff: 10 },
  };
  const template = {
    layout: {
      font: { family: "system-ui, sans-serif", size: isNarrow() ? 12 : 13, color: tone("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      colorway: PARTNERS.slice(0, 8).map((pair) => pair[dark.matches ? 1 : 0]),
      xaxis: axis, yaxis: axis,
      polar: { bgcolor: "rgba(0,0,0,0)" },
      legend: legendOf(spec),
      margin: { l: 60, r: 16, t: 50, b: 50 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: tone("--not-run"), activecolor: tone("--ink") },
      hoverlabel: { font: { family: "system-ui, sans-serif" } },
      colorscale: { sequential: "Viridis", diverging: "RdBu" },
    },
  };
  const layout = { ...spec.layout, template, autosize: true };
  delete layout.width;
  return layout;
};

// Figures are written in light colours; in the dark each has a partner.
const specOf = (name) => {
  let text = document.getElementById(name).textContent;
  if (dark.matches) for (const [light, night] of PARTNERS) text = text.replaceAll(light, night);
  return JSON.parse(text);
};
