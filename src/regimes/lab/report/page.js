// Draws each figure when it comes near the screen, and sees that links land where they point.
(() => {
  const drawn = new Set(), plots = [...document.querySelectorAll(".plot")];

  // Every figure has its height before any is drawn: nothing on the page moves afterwards.
  const reserve = () => {
    for (const plot of plots) {
      plot.style.height = fitted(specOf(plot.dataset.figure), plot.clientWidth) + "px";
    }
  };

  const draw = (element) => {
    const spec = specOf(element.dataset.figure), narrow = isNarrow();
    element.style.height = fitted(spec, element.clientWidth) + "px";
    const config = { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover",
      modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d"] };
    Plotly.newPlot(element, { data: spec.data, layout: layoutOf(spec), frames: spec.frames, config });
    drawn.add(element);
  };

  reserve();
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "800px" });
  plots.forEach((plot) => watcher.observe(plot));
  const again = () => { reserve(); [...drawn].forEach(draw); };
  dark.addEventListener("change", again);
  window.matchMedia("(max-width: 639px)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => plots.filter((p) => !drawn.has(p)).forEach(draw));

  // A link may lead into a table that is folded away, or to a place that was elsewhere until now.
  const land = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const folded = target.closest("main details");
    if (folded) folded.open = true;
    target.scrollIntoView({ block: target.tagName === "TR" ? "center" : "start", behavior: "instant" });
  };
  window.addEventListener("hashchange", land);
  land();

  // On a narrow screen the contents lie over the page: a choice closes them.
  const menu = document.getElementById("menu");
  menu.addEventListener("click", (event) => {
    if (event.target.closest("a") && window.innerWidth < 1100) menu.open = false;
  });
})();
