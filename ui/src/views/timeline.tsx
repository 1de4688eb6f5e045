// The slot calendar: how full each window is, and where a burst would land.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ViewProps } from "../app";
import { get, post, segment } from "../api";
import { clock, count, day, instant, isoMillis, localInput, number, seconds } from "../format";
import { colorOf, fills, type Palette, pan, type Span, SPAN_MAX, SPAN_MIN, tickStep, type WindowUse, zoom } from "../heat";
import { column, useLive } from "../stream";
import { Badge, Empty, Field, Loading, Panel, Problem, useLoad } from "../ui";
import { loadSlotConfigs, type SlotConfig } from "./slot_configs";

interface WindowsAnswer {
  windowSize: string;
  windows: { windowStart: string; used: number; max: number }[];
  truncated?: boolean;
  next?: string;
}

interface Preview {
  firstScheduledTime: string | null;
  lastScheduledTime: string | null;
  windowsUsed: number;
  placed: number;
}

const STRIP = 64; // px: the heat
const BARS = 96; // px: the same as heights
const AXIS = 26;
const HEIGHT = STRIP + BARS + AXIS + 12;
const PAGES = 4; // of 100,000 windows each

async function loadWindows(config: string, span: Span): Promise<WindowUse[]> {
  const all: WindowUse[] = [];
  let from = new Date(span.from).toISOString();
  for (let page = 0; page < PAGES; ++page) {
    const to = new Date(span.to).toISOString();
    const got = await get<WindowsAnswer>(`/api/v1/windows?config=${segment(config)}&from=${segment(from)}&to=${segment(to)}`);
    for (const each of got.windows) all.push({ start: Date.parse(each.windowStart), used: each.used, max: each.max });
    if (!got.truncated || !got.next) break;
    from = got.next;
  }
  return all;
}

function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    empty: of("--heat-0"),
    low: of("--heat-1"),
    mid: of("--heat-2"),
    high: of("--heat-3"),
    full: of("--heat-4"),
    ink: of("--ink-soft"),
    line: of("--line"),
    now: of("--accent"),
    preview: of("--line-5"),
  };
}

function paint(canvas: HTMLCanvasElement, windows: WindowUse[], size: number, span: Span, now: number, burst: Span | undefined): void {
  const width = canvas.clientWidth;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const draw = canvas.getContext("2d")!;
  const colors = palette();
  draw.scale(ratio, ratio);
  const x = (at: number) => ((at - span.from) / (span.to - span.from)) * width;
  draw.fillStyle = colors.empty;
  draw.fillRect(0, 0, width, STRIP);
  const filled = fills(windows, size, span, Math.ceil(width));
  const base = STRIP + 8 + BARS;
  filled.forEach((fill, at) => {
    if (fill < 0) return;
    draw.fillStyle = colorOf(fill, colors);
    draw.fillRect(at, 0, 1, STRIP);
    const tall = Math.max(1, Math.min(fill, 1) * BARS);
    draw.fillRect(at, base - tall, 1, tall);
  });
  draw.strokeStyle = colors.line;
  draw.strokeRect(0.5, STRIP + 8.5, width - 1, BARS);
  if (burst) {
    draw.fillStyle = colors.preview;
    draw.globalAlpha = 0.28;
    draw.fillRect(x(burst.from), 0, Math.max(3, x(burst.to) - x(burst.from)), base);
    draw.globalAlpha = 1;
    draw.fillRect(x(burst.from), 0, 2, base);
    draw.fillRect(Math.max(x(burst.to), x(burst.from) + 3) - 2, 0, 2, base);
  }
  draw.font = "11px system-ui";
  draw.fillStyle = colors.ink;
  draw.textAlign = "center";
  const step = tickStep(span, width);
  const zone = new Date(span.from).getTimezoneOffset() * 60_000;
  for (let at = Math.ceil((span.from - zone) / step) * step + zone; at < span.to; at += step) {
    draw.fillRect(x(at), base, 1, 4);
    const label = step >= 86_400_000 || (at - zone) % 86_400_000 === 0 ? day(at).slice(5) : step >= 60_000 ? clock(at).slice(0, 5) : clock(at);
    if (x(at) > 20 && x(at) < width - 20) draw.fillText(label, x(at), base + 17);
  }
  if (now > span.from && now < span.to) {
    draw.fillStyle = colors.now;
    draw.fillRect(x(now) - 1, 0, 2, base);
  }
}

function Strip(props: { config: SlotConfig; theme: string; burst: Span | undefined }) {
  const live = useLive();
  const size = isoMillis(props.config.windowSize);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [span, setSpan] = useState<Span>(() => ({ from: Date.now() - 120_000, to: Date.now() + 480_000 }));
  const [hover, setHover] = useState("");
  const [loaded, setLoaded] = useState<{ span: Span; windows: WindowUse[] }>();
  const [error, setError] = useState<unknown>();
  const drag = useRef<{ x: number; span: Span }>();
  const last = live.rows[live.rows.length - 1];
  const assigned = last ? last.c[column("assigned")] : 0;

  // Asked when the view leaves what is known, and when the stream tells of new slots; not on a clock.
  const length = span.to - span.from;
  const known = loaded && loaded.span.from <= span.from && loaded.span.to >= span.to && loaded.span.to - loaded.span.from < 12 * length;
  const wanted = useRef(0);
  useEffect(() => {
    const turn = ++wanted.current;
    const wait = setTimeout(async () => {
      const range = { from: Math.max(0, span.from - length / 2), to: span.to + length / 2 };
      try {
        const windows = await loadWindows(props.config.configName, range);
        if (turn !== wanted.current) return;
        setLoaded({ span: range, windows });
        setError(undefined);
      } catch (problem) {
        setError(problem);
      }
    }, 120);
    return () => clearTimeout(wait);
  }, [known ? "known" : `${span.from} ${span.to}`, assigned, props.config.configName, props.config.version]);

  useEffect(() => {
    if (props.burst) setSpan((before) => (props.burst!.from >= before.from && props.burst!.to <= before.to ? before : around(props.burst!)));
  }, [props.burst]);

  useEffect(() => {
    if (canvas.current) paint(canvas.current, loaded?.windows ?? [], size, span, last?.t ?? Date.now(), props.burst);
  });
  useEffect(() => {
    const element = canvas.current!;
    const redraw = new ResizeObserver(() => setSpan((before) => ({ ...before })));
    redraw.observe(element);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const share = event.offsetX / element.clientWidth;
      setSpan((before) =>
        Math.abs(event.deltaX) > Math.abs(event.deltaY)
          ? pan(before, event.deltaX / element.clientWidth)
          : zoom(before, event.deltaY > 0 ? 1.25 : 0.8, before.from + share * (before.to - before.from)),
      );
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      redraw.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);

  const middle = (span.from + span.to) / 2;
  const move = (event: PointerEvent) => {
    const width = canvas.current!.clientWidth;
    if (drag.current) {
      setSpan(pan(drag.current.span, (drag.current.x - event.clientX) / width));
      return;
    }
    const at = span.from + (event.offsetX / width) * length;
    const window = Math.floor(at / size) * size;
    const found = loaded?.windows.find((each) => each.start === window);
    setHover(`${instant(window)}: ${number(found?.used ?? 0)} of ${count(props.config.maxPerWindow, "event")}`);
  };
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, () => Span> = {
      ArrowLeft: () => pan(span, -0.2),
      ArrowRight: () => pan(span, 0.2),
      "+": () => zoom(span, 0.5, middle),
      "=": () => zoom(span, 0.5, middle),
      "-": () => zoom(span, 2, middle),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    setSpan(step());
  };
  const show = (millis: number) => () => setSpan({ from: Date.now() - millis * 0.2, to: Date.now() + millis * 0.8 });
  const inView = (loaded?.windows ?? []).filter((each) => each.start + size > span.from && each.start < span.to);
  const full = inView.filter((each) => each.used >= each.max).length;
  const events = inView.reduce((sum, each) => sum + each.used, 0);
  return (
    <>
      <div class="toolbar" role="group" aria-label="Zoom">
        {(
          [
            ["10 minutes", 600_000],
            ["1 hour", 3600_000],
            ["1 day", 86_400_000],
            ["7 days", SPAN_MAX],
          ] as [string, number][]
        ).map(([label, millis]) => (
          <button type="button" class="choice" key={label} aria-pressed={Math.abs(length - millis) < 1000} onClick={show(millis)}>
            {label}
          </button>
        ))}
        <button type="button" aria-label="Zoom in" disabled={length <= SPAN_MIN} onClick={() => setSpan(zoom(span, 0.5, middle))}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={length >= SPAN_MAX} onClick={() => setSpan(zoom(span, 2, middle))}>
          −
        </button>
        <button type="button" aria-label="Earlier" onClick={() => setSpan(pan(span, -0.5))}>
          ←
        </button>
        <button type="button" aria-label="Later" onClick={() => setSpan(pan(span, 0.5))}>
          →
        </button>
      </div>
      <Problem error={error} />
      <canvas
        ref={canvas}
        class="strip"
        tabIndex={0}
        role="img"
        aria-label={`${count(inView.length, "window")} in use, ${number(full)} full, ${count(events, "event")}, from ${instant(span.from)} to ${instant(span.to)}. Arrow keys move, plus and minus zoom.`}
        data-used={inView.length}
        data-full={full}
        data-events={events}
        onKeyDown={key}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, span };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={() => (drag.current = undefined)}
        onPointerMove={move}
        onPointerLeave={() => setHover("")}
      />
      <div class="legend">
        {["empty", "under ⅓", "under ⅔", "fuller", "full"].map((label, i) => (
          <span class="legend-entry" key={label}>
            <span class={`swatch heat-${i}`} /> {label}
          </span>
        ))}
        <span class="spacer" />
        <span class="quiet">{hover || `${count(events, "event")} in ${count(inView.length, "window")}, ${number(full)} full · ${seconds(length / 1000)} in view`}</span>
      </div>
      {loaded && inView.length === 0 && (
        <Empty title="No slot in view">
          Nothing is assigned between {instant(span.from)} and {instant(span.to)}. Zoom out, or send events to POST /api/v1/slots.
        </Empty>
      )}
    </>
  );
}

function around(burst: Span): Span {
  const length = Math.min(SPAN_MAX, Math.max((burst.to - burst.from) * 1.6, 600_000));
  const middle = (burst.from + burst.to) / 2;
  return { from: middle - length / 2, to: middle + length / 2 };
}

function BurstForm(props: { config: string; onPreview: (burst: Span | undefined) => void }) {
  const [events, setEvents] = useState(1000);
  const [at, setAt] = useState("");
  const [answer, setAnswer] = useState<Preview & { asked: number; count: number }>();
  const [error, setError] = useState<unknown>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const asked = at === "" ? Date.now() : new Date(at).getTime();
    try {
      const got = await post<Preview>("/api/v1/slots/preview", { configName: props.config, requestedTime: new Date(asked).toISOString(), count: events });
      setAnswer({ ...got, asked, count: events });
      setError(undefined);
      props.onPreview(got.firstScheduledTime && got.lastScheduledTime ? { from: Date.parse(got.firstScheduledTime), to: Date.parse(got.lastScheduledTime) } : undefined);
    } catch (problem) {
      setError(problem);
      setAnswer(undefined);
      props.onPreview(undefined);
    }
  };
  return (
    <Panel title="Where would a burst land?" aside={<span class="quiet">a preview: nothing is assigned</span>}>
      <form class="line" onSubmit={submit}>
        <Field label="Events">
          <input name="burst-count" type="number" min={1} max={1_000_000_000} required value={events} onInput={(e) => setEvents(Number(e.currentTarget.value))} />
        </Field>
        <Field label="Asking for" hint="empty: now">
          <input name="burst-at" type="datetime-local" step={1} min={localInput(0)} value={at} onInput={(e) => setAt(e.currentTarget.value)} />
        </Field>
        <button type="submit" class="primary">
          Preview
        </button>
      </form>
      <Problem error={error} />
      {answer && (
        <div role="status" class="answer">
          {answer.placed === 0 ? (
            <p>
              <Badge kind="bad">no room</Badge> Every window within the longest delay is full.
            </p>
          ) : (
            <p>
              {count(answer.placed, "event")} would fill <strong>{count(answer.windowsUsed, "window")}</strong>, from <strong>{instant(answer.firstScheduledTime)}</strong> to{" "}
              <strong>{instant(answer.lastScheduledTime)}</strong>: the last waits up to {seconds((Date.parse(answer.lastScheduledTime!) - answer.asked) / 1000)}.
            </p>
          )}
          {answer.placed > 0 && answer.placed < answer.count && (
            <p>
              <Badge kind="bad">{count(answer.count - answer.placed, "event")}</Badge> would find no room within the longest delay.
            </p>
          )}
        </div>
      )}
    </Panel>
  );
}

export function TimelineView({ theme }: ViewProps) {
  const { value, error } = useLoad(loadSlotConfigs, 0);
  const [name, setName] = useState("");
  const [burst, setBurst] = useState<Span>();
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  const config = value.find((each) => each.configName === name) ?? value.find((each) => each.configName === "default") ?? value[0];
  if (!config) {
    return (
      <Empty title="No slot config yet">
        A timeline needs windows: create a <a href="#/slot-configs">slot config</a> first.
      </Empty>
    );
  }
  return (
    <>
      <Panel
        title="Slot calendar"
        aside={
          <select
            aria-label="Slot config"
            value={config.configName}
            onChange={(e) => {
              setName(e.currentTarget.value);
              setBurst(undefined);
            }}
          >
            {value.map((each) => (
              <option key={each.configName} value={each.configName}>
                {each.configName}: {number(each.maxPerWindow)} per {seconds(isoMillis(each.windowSize) / 1000)}
              </option>
            ))}
          </select>
        }
      >
        <Strip config={config} theme={theme} burst={burst} key={config.configName} />
      </Panel>
      <BurstForm config={config.configName} onPreview={setBurst} />
    </>
  );
}
