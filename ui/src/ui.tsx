// The small parts that all views are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api";
import type { Change } from "./diff";

export function Panel(props: { title: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`panel ${props.class ?? ""}`} aria-label={props.title}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        {props.aside && <div class="panel-aside">{props.aside}</div>}
      </header>
      {props.children}
    </section>
  );
}

export function Field(props: { label: string; hint?: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      {props.children}
      {props.hint && <span class="field-hint">{props.hint}</span>}
    </label>
  );
}

/** What happened, in the daemon's own words. */
export function Problem(props: { error: unknown }) {
  const { error } = props;
  if (!error) return null;
  const api = error instanceof ApiError ? error : undefined;
  return (
    <p class="problem" role="alert">
      <strong>{api?.status ? `Refused (${api.status})` : "Failed"}:</strong>{" "}
      {error instanceof Error ? error.message : String(error)}
      {api?.requestId && <span class="quiet"> · request {api.requestId}</span>}
    </p>
  );
}

export function Empty(props: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      <p>{props.children}</p>
    </div>
  );
}

export function Loading() {
  return <p class="quiet">Loading…</p>;
}

/** A dialog of the browser's own: focus stays in it and Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog || dialog.open) return;
    dialog.showModal();
    // What one came for, not the button that closes it; of a question, the harmless answer.
    dialog.querySelector<HTMLElement>("form input:enabled, form select, .actions button")?.focus();
  }, []);
  return (
    <dialog ref={ref} class={props.wide ? "wide" : ""} aria-label={props.title} onClose={props.onClose}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => ref.current?.close()}>
          ✕
        </button>
      </header>
      {props.children}
    </dialog>
  );
}

/** Asks before something is done, does it, and shows why it could not be. */
export function Confirm(props: {
  title: string;
  action: string;
  danger?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      await props.onConfirm();
      props.onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="dialog-body">{props.children}</div>
      <Problem error={error} />
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button type="button" class={props.danger ? "danger" : "primary"} disabled={busy} onClick={go}>
          {props.action}
        </button>
      </div>
    </Dialog>
  );
}

export function Switch(props: { on: boolean; label: string; onToggle: () => void; disabled?: boolean }) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={props.on}
      aria-label={props.label}
      disabled={props.disabled}
      onClick={props.onToggle}
    >
      <span class="switch-track" aria-hidden="true" />
      <span class="switch-text">{props.on ? "on" : "off"}</span>
    </button>
  );
}

export function Badge(props: { kind: "good" | "bad" | "warn" | "plain"; children: ComponentChildren }) {
  return <span class={`badge ${props.kind}`}>{props.children}</span>;
}

/** A versioned thing's past: each version with what it changed. */
export function History(props: { entries: { at: string; title: string; changes: Change[] }[] }) {
  if (props.entries.length === 0) return <p class="quiet">No change was recorded yet.</p>;
  return (
    <ol class="history">
      {props.entries.map((entry) => (
        <li key={entry.title + entry.at}>
          <p>
            <strong>{entry.title}</strong> <span class="quiet">{entry.at}</span>
          </p>
          {entry.changes.length === 0 ? (
            <p class="quiet">Nothing differs.</p>
          ) : (
            <table class="diff">
              <tbody>
                {entry.changes.map((change) => (
                  <tr key={change.field}>
                    <th scope="row">{change.field}</th>
                    <td class="before">{change.before}</td>
                    <td class="after">{change.after}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Loads when `key` changes; `reload` asks again and keeps the old value meanwhile. */
export function useLoad<T>(load: () => Promise<T>, key: unknown) {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let wanted = true;
    load().then(
      (got) => {
        if (!wanted) return;
        setValue(() => got);
        setError(undefined);
      },
      (problem: unknown) => wanted && setError(problem),
    );
    return () => {
      wanted = false;
    };
  }, [key, turn]);
  return { value, error, reload: () => setTurn((n) => n + 1) };
}
