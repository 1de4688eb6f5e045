// The daemon's API: one way to ask, one kind of error. The token lives in this tab only: in memory, and in
// sessionStorage so that a reload does not ask again; never in a URL or in localStorage.

const TOKEN = "penstock.token";
let token = sessionStorage.getItem(TOKEN) ?? "";
const signInListeners = new Set<() => void>();

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly field?: string,
    readonly requestId?: string,
  ) {
    super(message);
  }
}

export function setToken(value: string): void {
  token = value;
  if (value) sessionStorage.setItem(TOKEN, value);
  else sessionStorage.removeItem(TOKEN);
}

export function hasToken(): boolean {
  return token !== "";
}

export function onSignInNeeded(listener: () => void): () => void {
  signInListeners.add(listener);
  return () => signInListeners.delete(listener);
}

export function headers(extra: Record<string, string> = {}): Record<string, string> {
  return token ? { ...extra, Authorization: `Bearer ${token}` } : extra;
}

export interface Raw {
  status: number;
  headers: Headers;
  text: string;
}

/** The answer as it is, whatever its status; an ApiError only when there is none. */
export async function raw(method: string, path: string, body?: unknown): Promise<Raw> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
  } catch {
    throw new ApiError(0, "The daemon does not answer. Is it running, and reachable from here?");
  }
  if (response.status === 401) for (const listener of signInListeners) listener();
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export function errorOf(answer: Raw): ApiError {
  try {
    const body = JSON.parse(answer.text) as { message?: string; field?: string; requestId?: string };
    return new ApiError(answer.status, body.message ?? `HTTP ${answer.status}`, body.field, body.requestId);
  } catch {
    return new ApiError(answer.status, `HTTP ${answer.status}`);
  }
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await raw(method, path, body);
  if (answer.status < 200 || answer.status > 299) throw errorOf(answer);
  return (answer.text === "" ? undefined : JSON.parse(answer.text)) as T;
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body?: unknown) => ask<T>("POST", path, body);
export const put = <T>(path: string, body: unknown) => ask<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const del = (path: string) => ask<void>("DELETE", path);

export interface Page<T> {
  items: T[];
  next: string | undefined;
}

/** Where a Link header says that the next page is. */
export function nextOf(link: string | null): string | undefined {
  return /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1];
}

/** One page of a list, and where the next one is. */
export async function page<T>(path: string): Promise<Page<T>> {
  const answer = await raw("GET", path);
  if (answer.status !== 200) throw errorOf(answer);
  return { items: JSON.parse(answer.text) as T[], next: nextOf(answer.headers.get("link")) };
}

export const LIST_MAX = 5000; // entries that a list of the page holds

/** All pages of a list, up to LIST_MAX entries. */
export async function list<T>(path: string): Promise<T[]> {
  const all: T[] = [];
  let next: string | undefined = `${path}?limit=1000`;
  while (next && all.length < LIST_MAX) {
    const got: Page<T> = await page<T>(next);
    all.push(...got.items);
    next = got.next;
  }
  return all;
}

export const segment = encodeURIComponent;
