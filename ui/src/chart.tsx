// A line chart on uPlot. The colours are the page's own, read from its style sheet, so both themes fit.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock } from "./format";
import { current, GAP, lonely } from "./series";

export interface ChartLine {
  label: string;
  color: string; // a custom property of the style sheet: --line-1
  values: (number | null)[];
  dashed?: boolean;
  off?: boolean; // until its name in the legend is pressed: it would dwarf the others
}

function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Times of day, without seconds where they say nothing. */
function times(ticks: number[]): string[] {
  const whole = ticks.every((at) => at % 60 === 0);
  return ticks.map((at) => clock(at * 1000).slice(0, whole ? 5 : 8));
}

/** Of the stretches without a value, in pixels, those that are too long to draw a line over. */
function wideGaps(chart: uPlot, _series: number, _from: number, _to: number, gaps: uPlot.Series.Gaps): uPlot.Series.Gaps {
  const { min, max } = chart.scales.x;
  const wide = (GAP * chart.bbox.width) / Math.max(1, (max ?? 0) - (min ?? 0));
  return gaps.filter(([from, to]) => to - from > wide);
}

/** A line is shown and hidden by its name in the legend: by keyboard, too. */
function makeLegendButtons(chart: uPlot): void {
  chart.root.querySelectorAll<HTMLElement>(".u-legend .u-series").forEach((row, series) => {
    const name = row.querySelector("th");
    if (!name || series === 0) return;
    name.tabIndex = 0;
    name.setAttribute("role", "button");
    const say = () => name.setAttribute("aria-pressed", String(chart.series[series].show));
    name.addEventListener("click", () => queueMicrotask(say));
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      chart.setSeries(series, { show: !chart.series[series].show });
      say();
    });
    say();
  });
}

const HEIGHT = 164;
const SYNC = "page"; // one pointer over all charts of a view

export function Chart(props: {
  label: string;
  times: number[];
  range: number;
  lines: ChartLine[];
  format: (value: number) => string;
  unit?: string; // said in the legend; the axis has no room for it
  theme: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const format = useRef(props.format);
  format.current = props.format;
  const unit = props.unit ? ` ${props.unit}` : "";
  const range = useRef(props.range);
  range.current = props.range;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const ink = style("--ink-soft");
    const grid = { stroke: style("--line"), width: 1 };
    const show = (value: number | null | undefined) => (value === null || value === undefined ? "–" : format.current(value));
    const chart = new uPlot(
      {
        width: Math.max(element.clientWidth, 200),
        height: HEIGHT,
        cursor: { y: false, sync: { key: SYNC } },
        legend: { live: true },
        scales: { x: { time: true, range: (_u, _min, max) => [max - range.current / 1000, max] }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
        axes: [
          { stroke: ink, grid, ticks: grid, font: "11px system-ui", size: 34, space: 60, values: (_u, ticks) => times(ticks) },
          { stroke: ink, grid, ticks: grid, font: "11px system-ui", size: 64, values: (_u, ticks) => ticks.map(show) },
        ],
        series: [
          { label: "at", value: (u, at) => clock((at ?? u.data[0][u.data[0].length - 1] ?? 0) * 1000) },
          ...props.lines.map((line) => ({
            label: line.label,
            show: !line.off,
            stroke: style(line.color),
            width: 1.75,
            dash: line.dashed ? [5, 4] : undefined,
            gaps: wideGaps,
            // A value without neighbours makes no line: it is shown as a dot.
            points: { show: true, size: 5, filter: (u: uPlot, series: number) => lonely(u.data[series] as (number | null)[], u.data[0] as number[]) },
            // Without a pointer over the chart, what is now.
            value: (u: uPlot, value: number | null, series: number, at: number | null) => {
              const shown = show(at === null ? current(u.data[series] as (number | null)[], u.data[0] as number[]) : value);
              return shown === "–" ? shown : shown + unit;
            },
          })),
        ],
      },
      [props.times, ...props.lines.map((line) => line.values)] as uPlot.AlignedData,
      element,
    );
    plot.current = chart;
    makeLegendButtons(chart);
    chart.root.querySelector(".u-wrap")?.setAttribute("role", "img");
    const resize = new ResizeObserver(() => chart.setSize({ width: Math.max(element.clientWidth, 200), height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = undefined;
    };
  }, [props.theme, props.lines.map((line) => line.label).join()]);

  // What the lines end with is all of them that can be read out. Beside the picture, the legend is for buttons.
  const ends = props.lines.filter((line) => !line.off).map((line) => {
    const value = current(line.values, props.times);
    return `${line.label} ${value === null ? "none" : props.format(value) + unit}`;
  });
  const label = `${props.label}: ${ends.join(", ")}`;
  useEffect(() => {
    plot.current?.setData([props.times, ...props.lines.map((line) => line.values)] as uPlot.AlignedData);
    plot.current?.root.querySelector(".u-wrap")?.setAttribute("aria-label", label);
  });

  return <div class="chart" ref={box} />;
}
