// What a user did, made into lines: minutes in which nothing happened are zeros. Pure.

export interface UsagePoint {
  at: string;
  sent: number;
  limited: number;
  failed: number;
}

export interface UsageLines {
  times: number[]; // s, as uPlot wants them
  sent: number[];
  limited: number[];
  failed: number[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What can be looked at: how long, and how much time one point stands for. */
export const RANGES = [
  { label: "last hour", span: HOUR, bucket: MINUTE },
  { label: "last day", span: 24 * HOUR, bucket: 15 * MINUTE },
  { label: "last week", span: 7 * 24 * HOUR, bucket: 2 * HOUR },
];

export function usageLines(points: UsagePoint[], from: number, to: number, bucket: number): UsageLines {
  const places = Math.max(0, Math.ceil((to - from) / bucket));
  const zeros = () => new Array<number>(places).fill(0);
  const lines: UsageLines = { times: zeros().map((_, i) => (from + i * bucket) / 1000), sent: zeros(), limited: zeros(), failed: zeros() };
  for (const point of points) {
    const place = Math.floor((Date.parse(point.at) - from) / bucket);
    if (place < 0 || place >= places) continue;
    lines.sent[place] += point.sent;
    lines.limited[place] += point.limited;
    lines.failed[place] += point.failed;
  }
  return lines;
}
