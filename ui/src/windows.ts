// The windows of a config around a span, asked for when the span leaves what is known and when the stream tells of new
// slots; not on a clock.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, segment } from "./api";
import type { Span, WindowUse } from "./heat";
import { onReturn } from "./stream";

interface WindowsAnswer {
  windows: { windowStart: string; used: number; max: number }[];
  truncated?: boolean;
  next?: string;
}

export interface Loaded {
  span: Span;
  windows: WindowUse[];
  /** Where it ends when there were more windows than one wants to load, ms. */
  cutAt: number | undefined;
}

const PAGES = 4; // of 100,000 windows each
const DAY = 86_400_000;
const SETTLE = 120; // ms without a move before it asks
const SHARE = 4; // while slots are given it rests so many times as long as loading takes: a wide view costs more

async function load(config: string, span: Span): Promise<Loaded> {
  const windows: WindowUse[] = [];
  let from = new Date(span.from).toISOString();
  const to = new Date(span.to).toISOString();
  for (let page = 0; page < PAGES; ++page) {
    const got = await get<WindowsAnswer>(`/api/v1/windows?config=${segment(config)}&from=${segment(from)}&to=${segment(to)}`);
    for (const each of got.windows) windows.push({ start: Date.parse(each.windowStart), used: each.used, max: each.max });
    if (!got.truncated || !got.next) return { span, windows, cutAt: undefined };
    from = got.next;
  }
  return { span, windows, cutAt: Date.parse(from) };
}

/** More than is in view, so that a little panning needs no answer. */
function margin(span: Span): Span {
  const length = span.to - span.from;
  const more = length / (length > DAY ? 8 : 2);
  return { from: Math.max(0, span.from - more), to: span.to + more };
}

/** `changed` is anything that differs once there is something new. */
export function useWindows(config: string, span: Span, changed: string) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const begun = useRef(0);
  const shown = useRef(0);
  const restUntil = useRef(0);
  useEffect(() => onReturn(() => setTurn((n) => n + 1)), []);

  const length = span.to - span.from;
  const known = loaded && loaded.span.from <= span.from && loaded.span.to >= span.to && loaded.span.to - loaded.span.from < 12 * length;
  useEffect(() => {
    const rest = known ? restUntil.current - performance.now() : 0;
    const wait = setTimeout(async () => {
      const mine = ++begun.current;
      const start = performance.now();
      const show = (set: () => void) => {
        if (mine < shown.current) return; // one that began later was quicker
        shown.current = mine;
        set();
      };
      try {
        const got = await load(config, margin(span));
        show(() => {
          setLoaded(got);
          setError(undefined);
        });
      } catch (problem) {
        show(() => setError(problem));
      }
      const end = performance.now();
      restUntil.current = end + SHARE * (end - start);
    }, Math.max(SETTLE, rest));
    return () => clearTimeout(wait);
  }, [known ? "known" : `${span.from} ${span.to}`, changed, config, turn]);
  return { loaded, error };
}
