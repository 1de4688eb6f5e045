// Where one is in the page: a view, and what it shows. All of it is in the fragment of the URL, so it can be sent to
// somebody and the browser's own buttons work.
import { useEffect, useState } from "preact/hooks";

export interface Place {
  view: string;
  of: string[];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
}

/** `#/dispatch/EMAIL/e-1` is the view `dispatch` of EMAIL and e-1. */
export function placeOf(hash: string): Place {
  const [view, ...of] = hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
  return { view: view ?? "overview", of };
}

export function hashOf(view: string, ...of: string[]): string {
  return `#/${[view, ...of].map(encodeURIComponent).join("/")}`;
}

export function go(view: string, ...of: string[]): void {
  location.hash = hashOf(view, ...of);
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return placeOf(hash);
}
