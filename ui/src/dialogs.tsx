// What opens above the page: questions, forms and pasts.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Change } from "./diff";
import { Loading, Problem, useLoad } from "./ui";

/** A dialog of the browser's own: focus stays in it, Escape closes it, and focus goes back to where it was. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  useEffect(() => {
    const dialog = ref.current!;
    dialog.showModal();
    // What one came for, not the button that closes it; of a question, the harmless answer.
    dialog.querySelector<HTMLElement>("form input:enabled, form select, .actions button")?.focus();
    return () => {
      gone.current = true;
      dialog.close(); // the browser then restores the focus; taking the element away would lose it
    };
  }, []);
  return (
    <dialog ref={ref} class={props.wide ? "wide" : ""} aria-label={props.title} onClose={() => gone.current || props.onClose()}>
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

/** Does something once at a time; `then` when it could be done, else `error` says why not. */
function useDoing(what: () => Promise<unknown>, then: () => void) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const go = async () => {
    if (busy) return;
    setBusy(true);
    try {
      await what();
      then();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return { go, busy, error };
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
  const { go, busy, error } = useDoing(props.onConfirm, props.onClose);
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

/** A form in a dialog: saves, says why it could not, and closes once it could. */
export function EditDialog(props: {
  title: string;
  action?: string;
  save: () => Promise<unknown>;
  onSaved: () => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { go, busy, error } = useDoing(props.save, () => {
    props.onSaved();
    props.onClose();
  });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        {props.children}
        <Problem error={error} />
        <div class="actions">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {props.action ?? "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export interface Past {
  at: string;
  title: string;
  changes: Change[];
}

function History(props: { entries: Past[] }) {
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

/** A versioned thing's past: each version with what it changed. */
export function HistoryDialog(props: { name: string; load: () => Promise<Past[]>; onClose: () => void }) {
  const { value, error } = useLoad(props.load, props.name);
  return (
    <Dialog title={`History of ${props.name}`} onClose={props.onClose} wide>
      <Problem error={error} />
      {value ? <History entries={value} /> : !error && <Loading />}
    </Dialog>
  );
}
