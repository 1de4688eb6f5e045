// The one live stream of the page, shared by all views. Read by fetch, since EventSource cannot send the token.
import { useEffect, useState } from "preact/hooks";
import { ApiError, errorOf, headers, onSignInNeeded } from "./api";
import { EventReader, joined, keep, type Row } from "./series";

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
  typesPast: { t: number; types: TypeSample[] }[]; // the last minute, oldest first
  checks: Check[];
}

export const live: Live = {
  state: "connecting",
  problem: "",
  columns: [],
  rows: [],
  types: [],
  typesPast: [],
  checks: [],
};

export const RETRY = 2000; // ms between two attempts to connect
const SILENCE = 15_000; // ms; a sample comes every second, so by then the line is dead, whatever TCP says
const HIDDEN = 60_000; // ms a hidden tab stays connected: a browser has six connections to a daemon for all of its tabs
const MINUTE = 60_000;

const listeners = new Set<() => void>();
const returnListeners = new Set<() => void>();
let controller: AbortController | undefined;
let connections = 0;
let ahead = 0; // ms by which this browser's clock is ahead of the daemon's

function changed(): void {
  for (const listener of listeners) listener();
}

function returned(): void {
  for (const listener of returnListeners) listener();
}

function takeHistory(data: string): void {
  const { columns, rows } = JSON.parse(data) as { columns: string[]; rows: number[][] };
  const told = rows.map(([t, ...c]) => ({ t, c }));
  const same = columns.join() === live.columns.join();
  live.columns = columns;
  live.rows = same ? joined(live.rows, told) : told;
  live.typesPast = [];
  if (++connections > 1) returned();
}

function takeSample(data: string): void {
  const sample = JSON.parse(data) as { t: number; c: number[]; types: TypeSample[]; checks: Check[] };
  ahead = Date.now() - sample.t;
  keep(live.rows, { t: sample.t, c: sample.c });
  live.types = sample.types;
  live.typesPast = [...live.typesPast.filter((past) => past.t >= sample.t - MINUTE), { t: sample.t, types: sample.types }];
  const wasDown = live.checks.some((check) => !check.up);
  live.checks = sample.checks;
  if (wasDown && live.checks.every((check) => check.up)) returned();
}

function take(event: string, data: string): void {
  if (event === "history") takeHistory(data);
  if (event === "sample") takeSample(data);
  live.state = "live";
  live.problem = "";
  changed();
}

/** Reads until the stream ends, which is an error; returns only when a token is wanted. */
async function read(stop: AbortSignal): Promise<void> {
  const attempt = new AbortController();
  const giveUp = () => attempt.abort();
  stop.addEventListener("abort", giveUp);
  let silence = setTimeout(giveUp, SILENCE);
  try {
    const response = await fetch("/admin/events", { headers: headers(), signal: attempt.signal, cache: "no-store" });
    if (response.status === 401) {
      live.state = "locked";
      changed();
      return;
    }
    if (!response.ok || !response.body) throw errorOf({ status: response.status, headers: response.headers, text: await response.text() });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new ApiError(0, "the daemon ended the stream");
      clearTimeout(silence);
      silence = setTimeout(giveUp, SILENCE);
      events.feed(value, take);
    }
  } catch (problem) {
    if (problem instanceof ApiError) throw problem;
    throw new ApiError(0, attempt.signal.aborted ? `nothing came for ${SILENCE / 1000} s` : "the daemon does not answer");
  } finally {
    clearTimeout(silence);
    stop.removeEventListener("abort", giveUp);
  }
}

/** (Re)connects; after a loss again and again. */
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
        live.problem = (problem as Error).message;
        changed();
        await new Promise((done) => setTimeout(done, RETRY));
      }
    }
  };
  void run();
}

onSignInNeeded(() => {
  live.state = "locked";
  changed();
});

// A tab that nobody sees lets go of its connection; what it missed is in the history when it comes back.
let leaving: ReturnType<typeof setTimeout> | undefined;
document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.visibilityState === "hidden") {
    leaving = setTimeout(() => controller?.abort(), HIDDEN);
  } else if (controller?.signal.aborted && live.state !== "locked") {
    live.state = "connecting";
    changed();
    connect();
  }
});

/** Calls when the stream, or a store, is back after it was lost: what was loaded before failed, or may be out of date. */
export function onReturn(listener: () => void): () => void {
  returnListeners.add(listener);
  return () => void returnListeners.delete(listener);
}

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

/** The time it is for the daemon, ms. */
export function daemonNow(): number {
  return Date.now() - ahead;
}

/** How much a total of a type grew over the last `millis`, and in how many seconds; null before there are two samples. */
export function typeGrowth(type: string, total: "dispatched" | "failed", millis: number): { grown: number; took: number } | null {
  const past = live.typesPast.filter((each) => each.t >= live.typesPast[live.typesPast.length - 1].t - millis);
  if (past.length < 2) return null;
  const of = (types: TypeSample[]) => types.find((each) => each.type === type)?.[total] ?? 0;
  const [first, last] = [past[0], past[past.length - 1]];
  return { grown: Math.max(0, of(last.types) - of(first.types)), took: (last.t - first.t) / 1000 };
}

const RATE_SPAN = 5000; // ms; long enough to be calm, short enough to be now

/** Hand-overs per second of a type; null until it is known. */
export function typeRate(type: string): number | null {
  const growth = typeGrowth(type, "dispatched", RATE_SPAN);
  return growth && growth.grown / Math.max(growth.took, 0.5);
}
