// Draws each figure when it comes near the screen, in the colours of the page.
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = () => window.innerWidth < 640;
  const drawn = new Set();

  // Above the plot; above the titles of its panels; or hanging from where the figure puts it below.
  const legendOf = (spec) => {
    const titled = (spec.layout.annotations || []).some(
      (note) => note.yref === "paper" && note.yanchor === "bottom" && note.y > 0.95);
    const below = ((spec.layout.legend || {}).y ?? 1) < 0;
    return { bgcolor: "rgba(0,0,0,0)", orientation: "h", x: 0,
      y: titled ? 1.08 : 1.02, yanchor: below ? "top" : "bottom" };
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
        font: { family: "system-ui, sans-serif", size: 13, color: tone("--ink") },
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
    if (narrow()) layout.margin = { l: 48, r: 8, t: 60, b: 46 };
    return layout;
  };

  // Figures are written in light colours; in the dark each has a partner.
  const specOf = (name) => {
    let text = document.getElementById(name).textContent;
    if (dark.matches) for (const [light, night] of PARTNERS) text = text.replaceAll(light, night);
    return JSON.parse(text);
  };

  const draw = (element) => {
    const spec = specOf(element.dataset.figure);
    const config = { responsive: true, displaylogo: false, displayModeBar: narrow() ? false : "hover",
      modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d"] };
    element.style.minHeight = (spec.layout.height || (narrow() ? 340 : 420)) + "px";
    Plotly.newPlot(element, { data: spec.data, layout: layoutOf(spec), frames: spec.frames, config });
    drawn.add(element);
  };

  const plots = [...document.querySelectorAll(".plot")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "800px" });
  plots.forEach((plot) => watcher.observe(plot));
  dark.addEventListener("change", () => [...drawn].forEach(draw));
  window.addEventListener("beforeprint", () => plots.filter((p) => !drawn.has(p)).forEach(draw));
  // A link from the overview leads into a table that may be folded away.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded) { folded.open = true; target.scrollIntoView({ block: "center" }); }
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
