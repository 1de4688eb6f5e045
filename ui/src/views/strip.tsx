// The heat strip: zoomed and moved by wheel, pointer and keys; what is full is told in words, too.
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, count, day, instant, isoMillis, number, seconds } from "../format";
import { around, following, fullRuns, pan, type Run, type Span, SPAN_MAX, SPAN_MIN, type WindowUse, zoom } from "../heat";
import { paint } from "../heat_paint";
import { column, daemonNow, useLive } from "../stream";
import { Empty, Problem } from "../ui";
import { useWindows } from "../windows";
import type { SlotConfig } from "./slot_configs";

const LENGTHS: [string, number][] = [
  ["10 minutes", 600_000],
  ["1 hour", 3600_000],
  ["1 day", 86_400_000],
  ["7 days", SPAN_MAX],
];
const RUNS_MAX = 12; // stretches listed; more are seen by zooming in
const LEGEND = ["empty", "under ⅓", "under ⅔", "fuller", "full"];

function Toolbar(props: { span: Span; follows: boolean; onLength: (millis: number) => void; onSpan: (span: Span) => void; onNow: () => void }) {
  const { span } = props;
  const length = span.to - span.from;
  const middle = (span.from + span.to) / 2;
  const button = (name: string, sign: string, disabled: boolean, to: () => Span) => (
    <button type="button" aria-label={name} title={name} disabled={disabled} onClick={() => props.onSpan(to())}>
      {sign}
    </button>
  );
  return (
    <div class="toolbar" role="group" aria-label="Zoom and move">
      {LENGTHS.map(([label, millis]) => (
        <button type="button" class="choice" key={label} aria-pressed={Math.abs(length - millis) < 1000} onClick={() => props.onLength(millis)}>
          {label}
        </button>
      ))}
      {button("Zoom in", "+", length <= SPAN_MIN, () => zoom(span, 0.5, middle))}
      {button("Zoom out", "−", length >= SPAN_MAX, () => zoom(span, 2, middle))}
      {button("Earlier", "←", false, () => pan(span, -0.5))}
      {button("Later", "→", false, () => pan(span, 0.5))}
      <button type="button" class="choice" aria-pressed={props.follows} onClick={props.onNow}>
        Follow now
      </button>
    </div>
  );
}

function Legend(props: { text: string }) {
  return (
    <div class="legend">
      {LEGEND.map((label, i) => (
        <span class="legend-entry" key={label}>
          <span class={`swatch heat-${i}`} /> {label}
        </span>
      ))}
      <span class="legend-entry">
        <span class="swatch now" /> now
      </span>
      <span class="spacer" />
      <span class="quiet">{props.text}</span>
    </div>
  );
}

/** 12:00:00 to 12:03:20, with the day when it is another. */
function runText(run: Run): string {
  const sameDay = day(run.from) === day(run.to);
  return `${instant(run.from).replace(/\.000$/, "")} to ${sameDay ? clock(run.to) : instant(run.to).replace(/\.000$/, "")}`;
}

function FullRuns(props: { runs: Run[]; onShow: (run: Run) => void }) {
  const longest = [...props.runs].sort((a, b) => b.windows - a.windows || a.from - b.from).slice(0, RUNS_MAX);
  if (longest.length === 0) return null;
  return (
    <details class="full-runs" open>
      <summary>Full in this view{props.runs.length > RUNS_MAX ? `: the ${RUNS_MAX} longest of ${count(props.runs.length, "stretch", "stretches")}` : ""}</summary>
      <ul class="rows" aria-label="Full stretches">
        {longest.sort((a, b) => a.from - b.from).map((run) => (
          <li key={run.from}>
            <button type="button" class="link" onClick={() => props.onShow(run)}>
              {runText(run)}
            </button>
            <span class="spacer" />
            <span class="quiet">
              {count(run.windows, "window")}, {seconds((run.to - run.from) / 1000)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The span in view. It follows the daemon's clock until somebody moves it. */
function useSpan(now: number, burst: Span | undefined) {
  const [span, set] = useState<Span>(() => following(daemonNow(), LENGTHS[0][1]));
  const [follows, setFollows] = useState(true);
  const move = (change: (before: Span) => Span) => {
    setFollows(false);
    set(change);
  };
  const follow = (length: number) => {
    setFollows(true);
    set(following(daemonNow(), length));
  };
  useEffect(() => {
    if (follows) set((before) => following(daemonNow(), before.to - before.from));
  }, [now]);
  useEffect(() => {
    if (burst && (burst.from < span.from || burst.to > span.to)) move(() => around(burst));
  }, [burst]);
  return { span, follows, move, follow, redraw: () => set((before) => ({ ...before })) };
}

function keyStep(key: string, span: Span): Span | undefined {
  const middle = (span.from + span.to) / 2;
  if (key === "ArrowLeft") return pan(span, -0.2);
  if (key === "ArrowRight") return pan(span, 0.2);
  if (key === "+" || key === "=") return zoom(span, 0.5, middle);
  return key === "-" ? zoom(span, 2, middle) : undefined;
}

function wheelStep(event: WheelEvent, width: number, span: Span): Span {
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan(span, event.deltaX / width);
  return zoom(span, event.deltaY > 0 ? 1.25 : 0.8, span.from + (event.offsetX / width) * (span.to - span.from));
}

function windowText(at: number | undefined, size: number, windows: WindowUse[], max: number): string {
  if (at === undefined) return "";
  const start = Math.floor(at / size) * size;
  const found = windows.find((each) => each.start === start);
  return `${instant(start)}: ${number(found?.used ?? 0)} of ${count(found?.max ?? max, "event")}`;
}

export function Strip(props: { config: SlotConfig; theme: string; burst: Span | undefined }) {
  const live = useLive();
  const { config } = props;
  const size = isoMillis(config.windowSize);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; span: Span }>();
  const [pointed, setPointed] = useState<number>(); // ms
  const last = live.rows[live.rows.length - 1];
  const { span, follows, move, follow, redraw } = useSpan(last?.t ?? 0, props.burst);
  const { loaded, error } = useWindows(config.configName, span, `${last?.c[column("assigned")]} ${config.version}`);
  const length = span.to - span.from;

  useEffect(() => {
    if (canvas.current) paint(canvas.current, loaded?.windows ?? [], size, span, daemonNow(), props.burst);
  });
  useEffect(() => {
    const element = canvas.current!;
    const resized = new ResizeObserver(redraw);
    resized.observe(element);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      move((before) => wheelStep(event, element.clientWidth, before));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      resized.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);

  const point = (event: PointerEvent) => {
    const width = canvas.current!.clientWidth;
    const { current } = drag;
    if (current) move(() => pan(current.span, (current.x - event.clientX) / width));
    else setPointed(span.from + (event.offsetX / width) * length);
  };
  const drop = () => (drag.current = undefined);
  const inView = (loaded?.windows ?? []).filter((each) => each.start + size > span.from && each.start < span.to);
  const runs = fullRuns(inView, size);
  const full = runs.reduce((sum, run) => sum + run.windows, 0);
  const events = inView.reduce((sum, each) => sum + each.used, 0);
  const summary = `${count(events, "event")} in ${count(inView.length, "window")}, ${number(full)} full · ${seconds(length / 1000)} in view`;
  return (
    <>
      <Toolbar span={span} follows={follows} onLength={follow} onSpan={(to) => move(() => to)} onNow={() => follow(length)} />
      <Problem error={error} />
      <canvas
        ref={canvas}
        class="strip"
        tabIndex={0}
        role="img"
        aria-label={`${count(inView.length, "window")} in use, ${number(full)} full, ${count(events, "event")}, from ${instant(span.from)} to ${instant(span.to)}. Arrow keys move, plus and minus zoom, Home follows the time.`}
        data-used={inView.length}
        data-full={full}
        data-events={events}
        onKeyDown={(event) => {
          const to = keyStep(event.key, span);
          if (!to && event.key !== "Home") return;
          event.preventDefault();
          if (to) move(() => to);
          else follow(length);
        }}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, span };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={drop}
        onPointerCancel={drop}
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      />
      <Legend text={windowText(pointed, size, loaded?.windows ?? [], config.maxPerWindow) || summary} />
      {loaded?.cutAt !== undefined && loaded.cutAt < span.to && (
        <p class="problem">Only the windows up to {instant(loaded.cutAt)} are shown: there are too many for one view. Zoom in to see the others.</p>
      )}
      {loaded && inView.length === 0 && (
        <Empty title="No slot in view">
          Nothing is assigned between {instant(span.from)} and {instant(span.to)}. Zoom out, or send events to POST /api/v1/slots.
        </Empty>
      )}
      <FullRuns runs={runs} onShow={(run) => move(() => around(run))} />
    </>
  );
}
