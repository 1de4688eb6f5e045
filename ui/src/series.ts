// The samples of the live stream and what lines are made of them. Pure.

export interface Row {
  t: number; // ms
  c: number[]; // the columns, totals as they were then
}

export interface Line {
  times: number[]; // s, as uPlot wants them
  values: (number | null)[][];
}

export const HOUR = 3600_000;

/** Server-sent events out of text that comes in pieces. */
export class EventReader {
  private rest = "";

  feed(text: string, see: (event: string, data: string) => void): void {
    this.rest += text;
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const block = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + 2);
      let name = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        if (line.startsWith("data: ")) data.push(line.slice(6));
      }
      if (data.length > 0) see(name, data.join("\n"));
    }
  }
}

/** Adds a row and drops what is older than an hour. */
export function keep(rows: Row[], row: Row): void {
  if (rows.length > 0 && row.t <= rows[rows.length - 1].t) return;
  rows.push(row);
  let old = 0;
  while (old < rows.length && rows[old].t < row.t - HOUR) ++old;
  if (old > 0) rows.splice(0, old);
}

/** What was known, then what the daemon tells: one that was restarted has forgotten its hour, the page need not. */
export function joined(known: Row[], told: Row[]): Row[] {
  if (told.length === 0) return known;
  const oldest = told[told.length - 1].t - HOUR;
  return [...known.filter((row) => row.t < told[0].t && row.t >= oldest), ...told];
}

/** Growth per second between neighbouring rows; null across a restart, where totals fall. */
export function rate(rows: Row[], column: number): (number | null)[] {
  return rows.map((row, i) => {
    if (i === 0) return null;
    const before = rows[i - 1];
    const grown = row.c[column] - before.c[column];
    const took = (row.t - before.t) / 1000;
    return grown < 0 || took <= 0 ? null : grown / took;
  });
}

/** Mean per event: growth of a sum over growth of its count; null where nothing happened. */
export function mean(rows: Row[], sum: number, of: number): (number | null)[] {
  return rows.map((row, i) => {
    if (i === 0) return null;
    const grown = row.c[sum] - rows[i - 1].c[sum];
    const events = row.c[of] - rows[i - 1].c[of];
    return events <= 0 || grown < 0 ? null : grown / events;
  });
}

export function level(rows: Row[], column: number): (number | null)[] {
  return rows.map((row) => row.c[column]);
}

export const GAP = 15; // s without a value after which a line is broken: what was in between is not known

/** The places of values that no line leads to: nothing else is near them. `times` in seconds. */
export function lonely(values: (number | null)[], times: number[]): number[] {
  const places = values.flatMap((value, i) => (value === null ? [] : [i]));
  const far = (a: number | undefined, b: number | undefined) => a === undefined || b === undefined || (b - a > 1 && times[b] - times[a] > GAP);
  return places.filter((place, i) => far(places[i - 1], place) && far(place, places[i + 1]));
}

/** What it is now: the last value, unless that is too long ago to say so. `times` in seconds. */
export function current(values: (number | null)[], times: number[]): number | null {
  const oldest = times[times.length - 1] - GAP;
  for (let i = values.length - 1; i >= 0 && times[i] >= oldest; --i) if (values[i] !== null) return values[i];
  return null;
}
