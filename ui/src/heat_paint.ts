// Paints the heat strip: the windows as colours, the same as bars below, and a line of times.
import { colorOf, fills, type Palette, type Span, ticks, type WindowUse } from "./heat";

const STRIP = 64; // px: the heat
const BARS = 96; // px: the same as heights
const AXIS = 26;
const HEIGHT = STRIP + BARS + AXIS + 12;

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
    now: of("--ink"),
    halo: of("--panel"),
    preview: of("--line-5"),
  };
}

export function paint(canvas: HTMLCanvasElement, windows: WindowUse[], size: number, span: Span, now: number, burst: Span | undefined): void {
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
  for (const { at, label } of ticks(span, width)) {
    draw.fillRect(x(at), base, 1, 4);
    if (x(at) > 20 && x(at) < width - 20) draw.fillText(label, x(at), base + 17);
  }
  if (now > span.from && now < span.to) {
    draw.fillStyle = colors.halo;
    draw.fillRect(x(now) - 2, 0, 4, base);
    draw.fillStyle = colors.now;
    draw.fillRect(x(now) - 1, 0, 2, base);
  }
}
