// The heat strip of the timeline: which window falls on which pixel, and how full it is. Pure but for paint().

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
export function tickStep(span: Span, width: number, room = 90): number {
  const least = ((span.to - span.from) * room) / width;
  return STEPS.find((step) => step >= least) ?? STEPS[STEPS.length - 1];
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
  preview: string;
}

export function colorOf(fill: number, palette: Palette): string {
  if (fill < 0) return palette.empty;
  if (fill >= 1) return palette.full;
  return fill < 0.34 ? palette.low : fill < 0.67 ? palette.mid : palette.high;
}
