import { describe, expect, it } from "vitest";
import { changes } from "./diff";
import { amount, count, isoMillis, number, perSecond, seconds, zone } from "./format";
import { around, colorOf, fills, following, fullRuns, type Palette, pan, SPAN_MAX, SPAN_MIN, ticks, tickStep, zoom } from "./heat";
import { paceOf, sliderOf } from "./pace";
import { hashOf, placeOf } from "./place";
import { current, EventReader, HOUR, joined, keep, lonely, mean, rate, type Row } from "./series";
import { usageLines } from "./usage";

declare const process: { env: Record<string, string> }; // of Node, whose types nothing else here needs
process.env.TZ = "Europe/Berlin"; // has days of 23 and 25 hours

const row = (t: number, ...c: number[]): Row => ({ t, c });

describe("format", () => {
  it("gives numbers three digits that mean something", () => {
    expect([0, 7, 1234, 12.345, 0.1234, 1.5, 2_500_000, NaN].map(number)).toEqual(["0", "7", "1,234", "12.3", "0.123", "1.5", "2.5 M", "–"]);
    expect(count(1, "item")).toBe("1 item");
    expect(count(2, "retry", "retries")).toBe("2 retries");
    expect(perSecond(12)).toBe("12/s");
  });
  it("keeps large ones short, and amounts exact", () => {
    expect([1e12, 1_500_000_000, 1_000_000].map(number)).toEqual(["1 T", "1.5 G", "1 M"]);
    expect(["1234567.50", "999.00", "1000"].map(amount)).toEqual(["1,234,567.50", "999.00", "1,000"]);
  });
  it("names the zone of its times", () => {
    expect(zone(new Date("2026-01-01T00:00:00Z"))).toContain("UTC+01:00");
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
    expect(current([1, 2, null], [0, 1, 2])).toBe(2);
    expect(current([1, null], [0, 60])).toBeNull();
    expect(current([null], [0])).toBeNull();
  });
  it("keeps what it knew when the daemon forgot it, and no longer than an hour", () => {
    const known = [row(0), row(HOUR - 500), row(HOUR)];
    expect(joined(known, [row(HOUR), row(HOUR + 200)]).map((each) => each.t)).toEqual([HOUR - 500, HOUR, HOUR + 200]);
    expect(joined(known, [])).toBe(known);
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
    expect(lonely([null, 5, null], [0, 1, 2])).toEqual([1]);
    expect(lonely([null, 5, 6], [0, 1, 2])).toEqual([]);
    expect(lonely([5, null, 6, 7], [0, 1, 60, 61])).toEqual([0]);
    expect(lonely([5, 6, 7], [0, 60, 120])).toEqual([]);
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
    expect(tickStep({ from: 0, to: 600_000 }, 330)).toBe(120_000);
    expect(tickStep({ from: 0, to: SPAN_MAX }, 300)).toBe(86_400_000);
  });
  it("has a colour for every fill", () => {
    const palette = { empty: "e", low: "l", mid: "m", high: "h", full: "f" } as Palette;
    expect([-1, 0, 0.5, 0.9, 1, 3].map((fill) => colorOf(fill, palette))).toEqual(["e", "l", "m", "h", "f", "f"]);
  });
});

describe("the timeline", () => {
  const clocks = (day: string, width: number) => {
    const from = new Date(`${day}T00:00:00`).getTime();
    return ticks({ from, to: new Date(`${day}T23:59:59`).getTime() }, width).map((tick) => tick.label);
  };
  it("labels round times of day, also on the days when the clocks change", () => {
    expect(clocks("2026-06-01", 400)).toEqual(["06-01", "04:00", "08:00", "12:00", "16:00", "20:00"]);
    expect(clocks("2026-03-29", 400)[0]).toBe("03-29");
    const three = ticks({ from: new Date("2026-03-28T12:00:00").getTime(), to: new Date("2026-03-31T12:00:00").getTime() }, 200);
    expect(three.map((tick) => tick.label)).toEqual(["03-29", "03-30", "03-31"]);
  });
  it("tells which stretches are full", () => {
    const windows = [4, 8, 12, 20].map((start) => ({ start, used: start === 12 ? 1 : 2, max: 2 }));
    expect(fullRuns(windows, 4)).toEqual([
      { from: 4, to: 12, windows: 2 },
      { from: 20, to: 24, windows: 1 },
    ]);
  });
  it("keeps the time at a fifth of the view", () => {
    expect(following(1000, 500)).toEqual({ from: 900, to: 1400 });
    expect(around({ from: 0, to: 1_000_000 })).toEqual({ from: -300_000, to: 1_300_000 });
  });
});

describe("places", () => {
  it("go into the URL and come back, whatever is in them", () => {
    const names = ["user:1", "a/b", "<b>", "100%", "דוד"];
    expect(placeOf(hashOf("keys", ...names))).toEqual({ view: "keys", of: names });
    expect(placeOf("")).toEqual({ view: "overview", of: [] });
    expect(placeOf("#/keys/100%")).toEqual({ view: "keys", of: ["100%"] });
  });
});

describe("the pace slider", () => {
  it("reaches from 1 to 10,000 a second and back", () => {
    expect([0, 100, 400].map(paceOf)).toEqual([1, 10, 10_000]);
    expect([1, 10, 10_000, 1e9, NaN].map(sliderOf)).toEqual([0, 100, 400, 400, 0]);
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
