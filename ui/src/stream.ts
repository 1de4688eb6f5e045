// The one live stream of the page, shared by all views. Read by fetch, since EventSource cannot send the token.
import { useEffect, useState } from "preact/hooks";
import { errorOf, headers, onSignInNeeded } from "./api";
import { EventReader, keep, type Row } from "./series";

export interface TypeSample {
  type: string;
  dispatched: number;
  failed: number;
  slowDowns: number;
  paceUsed: number;
  paused: boolean;
  leaseHeld: boolean;
  depths: number[]; // READY CLAIMED DISPATCHED DEAD CANCELLED
}

export interface Check {
  name: string;
  up: boolean;
  message?: string;
}

interface Live {
  state: "connecting" | "live" | "lost" | "locked";
  problem: string;
  columns: string[];
  rows: Row[];
  types: TypeSample[];
  previousTypes: TypeSample[];
  checks: Check[];
}

export const live: Live = {
  state: "connecting",
  problem: "",
  columns: [],
  rows: [],
  types: [],
  previousTypes: [],
  checks: [],
};

const listeners = new Set<() => void>();
let controller: AbortController | undefined;

function changed(): void {
  for (const listener of listeners) listener();
}

function take(event: string, data: string): void {
  if (event === "history") {
    const { columns, rows } = JSON.parse(data) as { columns: string[]; rows: number[][] };
    live.columns = columns;
    live.rows = rows.map(([t, ...c]) => ({ t, c }));
  } else if (event === "sample") {
    const sample = JSON.parse(data) as { t: number; c: number[]; types: TypeSample[]; checks: Check[] };
    keep(live.rows, { t: sample.t, c: sample.c });
    live.previousTypes = live.types;
    live.types = sample.types;
    live.checks = sample.checks;
  }
  live.state = "live";
  live.problem = "";
  changed();
}

async function read(signal: AbortSignal): Promise<void> {
  const response = await fetch("/admin/events", { headers: headers(), signal, cache: "no-store" });
  if (response.status === 401) {
    live.state = "locked";
    changed();
    return;
  }
  if (!response.ok || !response.body) {
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    throw errorOf(answer);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the daemon ended the stream");
    events.feed(value, take);
  }
}

/** (Re)connects; after a loss again and again, two seconds apart. */
export function connect(): void {
  controller?.abort();
  const mine = (controller = new AbortController());
  const run = async () => {
    while (!mine.signal.aborted) {
      try {
        await read(mine.signal);
        return; // locked: signing in connects again
      } catch (problem) {
        if (mine.signal.aborted) return;
        live.state = "lost";
        live.problem = problem instanceof Error ? problem.message : String(problem);
        changed();
        await new Promise((done) => setTimeout(done, 2000));
      }
    }
  };
  void run();
}

onSignInNeeded(() => {
  live.state = "locked";
  changed();
});

/** Draws the component anew with every sample. */
export function useLive(): Live {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return live;
}

export function column(name: string): number {
  return live.columns.indexOf(name);
}

/** Hand-overs per second of a type between the last two samples. */
export function typeRate(type: string): number {
  const now = live.types.find((each) => each.type === type);
  const before = live.previousTypes.find((each) => each.type === type);
  const rows = live.rows;
  if (!now || !before || rows.length < 2) return 0;
  const took = (rows[rows.length - 1].t - rows[rows.length - 2].t) / 1000;
  return Math.max(0, (now.dispatched - before.dispatched) / Math.max(took, 0.5));
}
