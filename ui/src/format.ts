// Numbers and times as people read them. Every number of the page goes through here, with its unit.

const GROUP = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const LARGE: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
];

/** 1,234 · 12.3 · 0.123: three digits that mean something, no more. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  for (const [unit, letter] of LARGE) if (size >= unit) return `${(value / unit).toFixed(1).replace(/\.0$/, "")} ${letter}`;
  if (size >= 100 || Number.isInteger(value)) return GROUP.format(value);
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3).replace(/\.?0+$/, "") || "0";
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

export function perSecond(value: number): string {
  return `${number(value)}/s`;
}

/** A duration in the two largest units that matter: 1 h 5 min, 3.2 s, 12 ms. */
export function seconds(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value < 0) return `-${seconds(-value)}`;
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${number(value * 1e6)} µs`;
  if (value < 1) return `${number(value * 1e3)} ms`;
  if (value < 60) return `${number(Math.round(value * 10) / 10)} s`;
  const whole = Math.round(value);
  const units: [number, string][] = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => whole >= size);
  const [size, name] = units[first];
  const rest = units[first + 1];
  const more = rest ? Math.floor((whole % size) / rest[0]) : 0;
  return `${Math.floor(whole / size)} ${name}${more > 0 && rest ? ` ${more} ${rest[1]}` : ""}`;
}

/** Milliseconds of an ISO-8601 duration as the API gives them (PT4S, PT0.5S, P1DT2H); NaN for anything else. */
export function isoMillis(text: string): number {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!match || text === "P" || text.endsWith("T")) return NaN;
  const [days, hours, minutes, secs] = match.slice(1).map((part) => Number(part ?? 0));
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + secs) * 1000);
}

const two = (value: number) => String(value).padStart(2, "0");

export function clock(millis: number, withMillis = false): string {
  const at = new Date(millis);
  const base = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return withMillis ? `${base}.${String(at.getMilliseconds()).padStart(3, "0")}` : base;
}

export function day(millis: number): string {
  const at = new Date(millis);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Local date and time of an instant; a dash when there is none. */
export function instant(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === "") return "–";
  const millis = typeof value === "number" ? value : Date.parse(value);
  return Number.isNaN(millis) ? String(value) : `${day(millis)} ${clock(millis, true)}`;
}

/** What <input type="datetime-local"> holds for an instant. */
export function localInput(millis: number): string {
  return `${day(millis)}T${clock(millis)}`;
}

/** The zone that all times of the page are in, and how far it is from UTC: Europe/Berlin, UTC+01:00. */
export function zone(at: Date = new Date()): string {
  const ahead = -at.getTimezoneOffset();
  const size = Math.abs(ahead);
  const offset = ahead === 0 ? "UTC" : `UTC${ahead > 0 ? "+" : "−"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return !name || name === "UTC" ? offset : `${name}, ${offset}`;
}

/** An amount as the API gives it, a decimal in a string, with its thousands apart: 1,234,567.50. */
export function amount(text: string): string {
  const [whole, part] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part === undefined ? "" : `.${part}`);
}
