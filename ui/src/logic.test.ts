import { describe, expect, it } from "vitest";
import { changes } from "./diff";
import { count, isoMillis, number, perSecond, seconds } from "./format";
import { colorOf, fills, type Palette, pan, SPAN_MAX, SPAN_MIN, tickStep, zoom } from "./heat";
import { EventReader, HOUR, keep, latest, lonely, mean, rate, type Row } from "./series";
import { usageLines } from "./usage";

const row = (t: number, ...c: number[]): Row => ({ t, c });

describe("format", () => {
  it("gives numbers three digits that mean something", () => {
    expect([0, 7, 1234, 12.345, 0.1234, 1.5, 2_500_000, NaN].map(number)).toEqual(["0", "7", "1,234", "12.3", "0.123", "1.5", "2.5 M", "–"]);
    expect(count(1, "item")).toBe("1 item");
    expect(count(2, "retry", "retries")).toBe("2 retries");
    expect(perSecond(12)).toBe("12/s");
  });
  it("gives durations their unit", () => {
    expect([0, 0.0005, 0.012, 3.21, 61, 3660, 90000, -5].map(seconds)).toEqual(["0 s", "500 µs", "12 ms", "3.2 s", "1 min 1 s", "1 h 1 min", "1 d 1 h", "-5 s"]);
  });
  it("reads the API's durations", () => {
    expect([isoMillis("PT4S"), isoMillis("PT0.5S"), isoMillis("P1DT2H"), isoMillis("PT1M30S")]).toEqual([4000, 500, 93_600_000, 90_000]);
    expect([isoMillis("4s"), isoMillis("P"), isoMillis("PT")]).toEqual([NaN, NaN, NaN]);
  });
});

describe("series", () => {
  it("reads events that come in pieces", () => {
    const seen: [string, string][] = [];
    const reader = new EventReader();
    const see = (event: string, data: string) => seen.push([event, data]);
    reader.feed("retry: 2000\nevent: his", see);
    reader.feed('tory\ndata: {"a":1}\n', see);
    reader.feed("\nevent: sample\ndata: 2\n\ndata: 3\n\n: comment\n\n", see);
    expect(seen).toEqual([
      ["history", '{"a":1}'],
      ["sample", "2"],
      ["message", "3"],
    ]);
  });
  it("makes rates of totals, and none across a restart", () => {
    expect(rate([row(0, 10), row(1000, 30), row(3000, 40), row(4000, 2)], 0)).toEqual([null, 20, 5, null]);
    expect(mean([row(0, 0, 0), row(1, 6, 3), row(2, 6, 3)], 0, 1)).toEqual([null, 2, null]);
    expect(latest([1, 2, null])).toBe(2);
    expect(latest([null])).toBeNull();
  });
  it("keeps an hour, in order", () => {
    const rows: Row[] = [];
    keep(rows, row(0));
    keep(rows, row(1000));
    keep(rows, row(1000));
    keep(rows, row(HOUR + 500));
    expect(rows.map((each) => each.t)).toEqual([1000, HOUR + 500]);
  });
});

describe("usage", () => {
  it("has a zero for every time in which nothing happened", () => {
    const points = [{ at: "1970-01-01T00:02:00Z", sent: 3, limited: 1, failed: 0 }];
    expect(usageLines(points, 60_000, 240_000, 60_000)).toEqual({ times: [60, 120, 180], sent: [0, 3, 0], limited: [0, 1, 0], failed: [0, 0, 0] });
    expect(usageLines(points, 180_000, 240_000, 60_000).sent).toEqual([0]);
  });
  it("shows a value that stands alone", () => {
    expect(lonely([null, 5, null])).toEqual([1]);
    expect(lonely([null, 5, 6])).toEqual([]);
  });
});

describe("heat", () => {
  it("zooms around an instant and within its bounds", () => {
    const span = { from: 0, to: 1_000_000 };
    expect(zoom(span, 0.5, 250_000)).toEqual({ from: 125_000, to: 625_000 });
    const small = zoom(span, 1e-9, 500_000);
    expect(small.to - small.from).toBe(SPAN_MIN);
    const large = zoom(span, 1e9, 500_000);
    expect(large.to - large.from).toBe(SPAN_MAX);
    expect(pan(span, 0.1)).toEqual({ from: 100_000, to: 1_100_000 });
  });
  it("shows the fullest window of a pixel, and every window at least one", () => {
    const windows = [
      { start: 0, used: 1, max: 10 },
      { start: 10, used: 10, max: 10 },
      { start: 500, used: 5, max: 10 },
    ];
    expect([...fills(windows, 10, { from: 0, to: 1000 }, 10)]).toEqual([1, -1, -1, -1, -1, 0.5, -1, -1, -1, -1]);
    expect([...fills(windows, 500, { from: 0, to: 1000 }, 2)]).toEqual([1, 0.5]);
  });
  it("picks round steps for its labels", () => {
    expect(tickStep({ from: 0, to: 600_000 }, 1000)).toBe(60_000);
    expect(tickStep({ from: 0, to: SPAN_MAX }, 300)).toBe(86_400_000);
  });
  it("has a colour for every fill", () => {
    const palette = { empty: "e", low: "l", mid: "m", high: "h", full: "f" } as Palette;
    expect([-1, 0, 0.5, 0.9, 1, 3].map((fill) => colorOf(fill, palette))).toEqual(["e", "l", "m", "h", "f", "f"]);
  });
});

describe("changes", () => {
  it("names the fields that differ, nested ones by their path", () => {
    expect(changes({ a: 1, b: { c: "x" }, v: 1 }, { a: 2, b: { c: "x", d: [1] }, v: 2 }, ["v"])).toEqual([
      { field: "a", before: "1", after: "2" },
      { field: "b.d", before: "–", after: "[1]" },
    ]);
    expect(changes(null, { a: "x" })).toEqual([{ field: "a", before: "–", after: "x" }]);
  });
});
