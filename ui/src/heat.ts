// The heat strip of the timeline: which window falls on which pixel, and how full it is. Pure; times are of the local zone.
import { clock, day } from "./format";

export interface WindowUse {
  start: number; // ms
  used: number;
  max: number;
}

export interface Span {
  from: number; // ms
  to: number;
}

export const SPAN_MIN = 60_000;
export const SPAN_MAX = 7 * 86_400_000;

/** The span `factor` times as long, with the instant at `anchor` staying where it is. */
export function zoom(span: Span, factor: number, anchor: number): Span {
  const length = span.to - span.from;
  const wanted = Math.min(SPAN_MAX, Math.max(SPAN_MIN, length * factor));
  const share = (anchor - span.from) / length;
  const from = anchor - share * wanted;
  return { from, to: from + wanted };
}

export function pan(span: Span, share: number): Span {
  const by = (span.to - span.from) * share;
  return { from: span.from + by, to: span.to + by };
}

/** The fill of each pixel column, 0 to 1 or more: that of the fullest window in it. -1 = no window is in use there. */
export function fills(windows: WindowUse[], size: number, span: Span, width: number): Float64Array {
  const out = new Float64Array(width).fill(-1);
  const scale = width / (span.to - span.from);
  for (const window of windows) {
    const begin = Math.floor((window.start - span.from) * scale);
    const end = Math.max(begin + 1, Math.floor((window.start + size - span.from) * scale));
    const fill = window.used / Math.max(window.max, 1);
    for (let x = Math.max(begin, 0); x < Math.min(end, width); ++x) out[x] = Math.max(out[x], fill);
  }
  return out;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map((s) => s * 1000);

/** A step of round times that leaves `room` pixels between two labels. */
export function tickStep(span: Span, width: number, room = 60): number {
  const least = ((span.to - span.from) * room) / width;
  return STEPS.find((step) => step >= least) ?? STEPS[STEPS.length - 1];
}

const DAY = 86_400_000;

export interface Tick {
  at: number; // ms
  label: string;
}

/** Round times of day in the span. Each day begins them anew, so one of 23 or 25 hours does not shift those after it. */
export function ticks(span: Span, width: number): Tick[] {
  const step = tickStep(span, width);
  const out: Tick[] = [];
  const midnight = (at: number, days = 0) => new Date(at).setHours(24 * days, 0, 0, 0);
  for (let today = midnight(span.from); today < span.to; today = midnight(today, 1)) {
    const end = Math.min(span.to, midnight(today, 1));
    const first = Math.max(0, Math.ceil((span.from - today) / step));
    for (let at = today + first * step; at < end; at += step) {
      out.push({ at, label: at === today ? day(at).slice(5) : step >= 60_000 ? clock(at).slice(0, 5) : clock(at) });
      if (step >= DAY) break;
    }
  }
  return out;
}

export interface Run {
  from: number; // ms
  to: number;
  windows: number;
}

/** Stretches of windows without room, one after the other; `windows` in the order of time. */
export function fullRuns(windows: WindowUse[], size: number): Run[] {
  const runs: Run[] = [];
  for (const window of windows) {
    if (window.used < window.max) continue;
    const last = runs[runs.length - 1];
    if (last && last.to === window.start) {
      last.to += size;
      ++last.windows;
    } else {
      runs.push({ from: window.start, to: window.start + size, windows: 1 });
    }
  }
  return runs;
}

/** A span with a good deal of room on both sides of what it is about. */
export function around(what: Span): Span {
  const length = Math.min(SPAN_MAX, Math.max((what.to - what.from) * 1.6, 600_000));
  const middle = (what.from + what.to) / 2;
  return { from: middle - length / 2, to: middle + length / 2 };
}

/** The span of that length in which `now` has most of the view before it: slots are about what comes. */
export function following(now: number, length: number): Span {
  return { from: now - length * 0.2, to: now + length * 0.8 };
}

export interface Palette {
  empty: string;
  low: string;
  mid: string;
  high: string;
  full: string;
  ink: string;
  line: string;
  now: string;
  halo: string; // around it, so that it is seen on every colour
  preview: string;
}

export function colorOf(fill: number, palette: Palette): string {
  if (fill < 0) return palette.empty;
  if (fill >= 1) return palette.full;
  return fill < 0.34 ? palette.low : fill < 0.67 ? palette.mid : palette.high;
}
