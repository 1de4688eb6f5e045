// The small parts that all views are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api";
import { onReturn } from "./stream";

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

/** A number as it is typed: while the field is empty or half written its value is NaN, and nothing is put in its place. */
export function NumberInput(props: {
  name?: string;
  label?: string;
  value: number;
  onValue: (value: number) => void;
  min?: number;
  max?: number;
  step?: number | "any";
}) {
  const [text, setText] = useState(String(props.value));
  useEffect(() => {
    if (!Number.isNaN(props.value)) setText((before) => (before !== "" && Number(before) === props.value ? before : String(props.value)));
  }, [props.value]);
  return (
    <input
      type="number"
      name={props.name}
      aria-label={props.label}
      required
      min={props.min}
      max={props.max}
      step={props.step}
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        props.onValue(event.currentTarget.valueAsNumber);
      }}
    />
  );
}

/** Looking something up by its id. What was written changes when something is picked elsewhere. */
export function FindForm(props: { label: string; action: string; value: string; onFind: (text: string) => void; placeholder?: string; max?: number; children?: ComponentChildren }) {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  return (
    <form
      class="line find"
      onSubmit={(event) => {
        event.preventDefault();
        props.onFind(text);
      }}
    >
      {props.children}
      <Field label={props.label}>
        <input name="find" required maxLength={props.max ?? 128} autocomplete="off" spellcheck={false} value={text} placeholder={props.placeholder} onInput={(e) => setText(e.currentTarget.value)} />
      </Field>
      <button type="submit" class="primary">
        {props.action}
      </button>
    </form>
  );
}

function verdictOf(status: number | undefined): string {
  if (!status) return "Failed";
  return status === 404 ? "Not found" : `${status >= 500 ? "Failed" : "Refused"} (${status})`;
}

/** What happened, in the daemon's own words. */
export function Problem(props: { error: unknown }) {
  const { error } = props;
  const said = error instanceof Error ? error.message : String(error);
  if (!error) return null;
  const api = error instanceof ApiError ? error : undefined;
  return (
    <p class="problem" role="alert">
      <strong>{verdictOf(api?.status)}:</strong>{" "}
      {said}
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
  return (
    <p class="quiet" role="status">
      Loading…
    </p>
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

/** Loads when `key` changes, and when the daemon or its store is back; `reload` asks again and keeps the old value meanwhile. */
export function useLoad<T>(load: () => Promise<T>, key: unknown) {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => onReturn(() => setTurn((n) => n + 1)), []);
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
