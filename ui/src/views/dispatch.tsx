// Dispatch: the item types with their switches, one item's story, and the dead letters.
import { useState } from "preact/hooks";
import { del, get, list, patch, post, put, segment } from "../api";
import { Confirm, EditDialog, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, number, perSecond, seconds } from "../format";
import { typeRate, useLive } from "../stream";
import { Badge, Empty, Field, Loading, Panel, Problem, Switch, useLoad } from "../ui";
import { DeadLetters } from "./dead_letters";
import { Story } from "./story";

export interface ItemType {
  itemType: string;
  enabled: boolean;
  maxPerSecond?: number | null;
  burst?: number | null;
  batchSize: number;
  maxDispatchRetries: number;
  sink: { type: string; url?: string };
  version: number;
}

interface Summary {
  counts: Record<string, number>;
  oldestDue: string | null;
  predictedDrainSeconds: number | null;
  pausedUntil: string | null;
  leaseHolder: string | null;
}

export interface Item {
  itemType: string;
  itemId: string;
  status: string;
  scheduledTime: string;
  retryCount: number;
  attempts: number;
  lastError: string | null;
  createdAt: string;
  audit: { at: string; action: string; from: string | null; to: string; detail: string | null }[];
}

export const STATES = ["READY", "CLAIMED", "DISPATCHED", "DEAD", "CANCELLED"];
const PACE_MAX = 10_000; // per second, of the slider; a higher pace is typed

/** The slider is logarithmic: 1 to 10,000 a second over 0 to 400. */
export const paceOf = (place: number) => Math.max(1, Math.round(10 ** (place / 100)));
export const placeOf = (pace: number) => Math.round(100 * Math.log10(Math.max(1, Math.min(pace, PACE_MAX))));

function PaceEditor(props: { type: ItemType; onSaved: () => void }) {
  const now = props.type.maxPerSecond ?? null;
  const [draft, setDraft] = useState<number>(now ?? 100);
  const [asking, setAsking] = useState<number | null>();
  const name = props.type.itemType;
  return (
    <div class="pace">
      <label>
        <span class="field-label">Pace: {now === null ? "unpaced" : perSecond(now)}</span>
        <input type="range" min={0} max={400} value={placeOf(draft)} aria-label={`Pace of ${name}`} aria-valuetext={perSecond(draft)} onInput={(e) => setDraft(paceOf(Number(e.currentTarget.value)))} />
      </label>
      <label class="pace-number">
        <input type="number" min={1} value={draft} aria-label={`Pace of ${name}, items per second`} onInput={(e) => setDraft(Number(e.currentTarget.value))} />
        <span>/s</span>
      </label>
      <button type="button" disabled={draft === now || !(draft >= 1)} onClick={() => setAsking(draft)}>
        Apply
      </button>
      {now !== null && (
        <button type="button" onClick={() => setAsking(null)}>
          No pace
        </button>
      )}
      {asking !== undefined && (
        <Confirm
          title={`Pace of ${name}`}
          action="Apply"
          onClose={() => setAsking(undefined)}
          onConfirm={async () => {
            await patch(`/admin/dispatch/types/${segment(name)}`, { maxPerSecond: asking });
            props.onSaved();
          }}
        >
          From {now === null ? "unpaced" : perSecond(now)} to <strong>{asking === null ? "unpaced: as fast as the sink takes them" : perSecond(asking)}</strong>, on every node within a second.
        </Confirm>
      )}
    </div>
  );
}

async function loadPast(name: string): Promise<Past[]> {
  const entries = await get<{ at: string; old: object | null; new: object }[]>(`/admin/dispatch/types/${segment(name)}/history`);
  return entries.map((change) => ({ at: instant(change.at), title: change.old ? "Changed" : "Created", changes: changes(change.old, change.new) }));
}

function TypeCard(props: { type: ItemType; onChanged: () => void }) {
  const live = useLive();
  const { type } = props;
  const name = type.itemType;
  const sample = live.types.find((each) => each.type === name);
  // Asked again when the stream shows another depth.
  const summary = useLoad(() => get<Summary>(`/api/v1/dispatch/${segment(name)}/summary`), `${sample?.depths.join()} ${type.enabled} ${type.maxPerSecond}`);
  const [open, setOpen] = useState<"switch" | "history">();
  const close = () => setOpen(undefined);
  const counts = summary.value?.counts;
  const drain = summary.value?.predictedDrainSeconds;
  return (
    <article class="type" aria-label={name} id={`type-${name}`}>
      <header>
        <h3 class="mono">{name}</h3>
        <Badge kind={type.enabled ? "good" : "bad"}>{type.enabled ? "dispatching" : "stopped"}</Badge>
        {sample?.paused && <Badge kind="warn">paused by its sink</Badge>}
        <span class="spacer" />
        <span class="quiet">{type.sink.type === "http" ? type.sink.url : `${type.sink.type} sink`}</span>
        <button type="button" onClick={() => setOpen("history")}>
          History
        </button>
        <Switch on={type.enabled} label={`Dispatch of ${name}`} onToggle={() => setOpen("switch")} />
      </header>
      <Problem error={summary.error} />
      <div class="counts">
        {STATES.map((state) => (
          <div key={state} class={state === "DEAD" && (counts?.DEAD ?? 0) > 0 ? "bad" : ""}>
            <span class="tile-label">{state}</span>
            <span class="tile-value">{counts ? number(counts[state] ?? 0) : "–"}</span>
            <span class="tile-note">items</span>
          </div>
        ))}
        <div>
          <span class="tile-label">Rate now</span>
          <span class="tile-value">{perSecond(typeRate(name))}</span>
          <span class="tile-note">{Math.round((sample?.paceUsed ?? 0) * 100)} % of the pace</span>
        </div>
        <div>
          <span class="tile-label">Drained in</span>
          <span class="tile-value">{drain === null || drain === undefined ? "–" : seconds(drain)}</span>
          <span class="tile-note">{!type.enabled ? "not while it is stopped" : drain === null ? "nothing was sent lately" : "predicted"}</span>
        </div>
      </div>
      <PaceEditor type={type} onSaved={props.onChanged} key={`${type.version}`} />
      {open === "history" && <HistoryDialog name={name} load={() => loadPast(name)} onClose={close} />}
      {open === "switch" && (
        <Confirm
          title={type.enabled ? `Stop ${name}` : `Start ${name}`}
          action={type.enabled ? "Stop" : "Start"}
          danger={type.enabled}
          onClose={close}
          onConfirm={async () => {
            await patch(`/admin/dispatch/types/${segment(name)}`, { enabled: !type.enabled });
            props.onChanged();
          }}
        >
          {type.enabled
            ? "No item is handed over any more, on every node within a second. What waits keeps waiting; new items are still taken."
            : `${count(counts?.READY ?? 0, "item")} wait. Those that are due are handed over at once, within the pace.`}
        </Confirm>
      )}
    </article>
  );
}

function NewType(props: { onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState("");
  const [sink, setSink] = useState("log");
  const [url, setUrl] = useState("");
  const [pace, setPace] = useState("");
  const save = () =>
    put(`/admin/dispatch/types/${segment(name)}`, {
      enabled: true,
      maxPerSecond: pace === "" ? null : Number(pace),
      sink: sink === "http" ? { type: sink, url } : { type: sink },
    });
  return (
    <EditDialog title="New item type" action="Create" save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Name">
        <input name="itemType" required maxLength={128} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      </Field>
      <Field label="Sink">
        <select name="sink" value={sink} onChange={(e) => setSink(e.currentTarget.value)}>
          <option value="log">log: writes a line for each item</option>
          <option value="http">HTTP: posts each item to a URL</option>
        </select>
      </Field>
      {sink === "http" && (
        <Field label="URL">
          <input name="url" type="url" required value={url} onInput={(e) => setUrl(e.currentTarget.value)} />
        </Field>
      )}
      <Field label="Pace" hint="items per second; empty: unpaced">
        <input name="pace" type="number" min={1} value={pace} onInput={(e) => setPace(e.currentTarget.value)} />
      </Field>
    </EditDialog>
  );
}

function ItemCard(props: { type: string; id: string }) {
  const path = `/api/v1/dispatch/${segment(props.type)}/${segment(props.id)}`;
  const { value, error, reload } = useLoad(() => get<Item>(path), path);
  const [asking, setAsking] = useState<"redrive" | "cancel">();
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  return (
    <>
      <p>
        <strong class="mono">{value.itemId}</strong>{" "}
        <Badge kind={value.status === "DEAD" ? "bad" : value.status === "DISPATCHED" ? "good" : "plain"}>{value.status}</Badge>
      </p>
      <dl class="facts">
        <dt>Scheduled</dt>
        <dd>{instant(value.scheduledTime)}</dd>
        <dt>Tried</dt>
        <dd>
          {count(value.attempts, "time")}, {count(value.retryCount, "retry", "retries")} used
        </dd>
        {value.lastError && <dt>Last error</dt>}
        {value.lastError && <dd>{value.lastError}</dd>}
      </dl>
      <div class="actions">
        <button type="button" onClick={reload}>
          Look again
        </button>
        {value.status === "READY" && (
          <button type="button" class="danger" onClick={() => setAsking("cancel")}>
            Cancel item
          </button>
        )}
        {value.status === "DEAD" && (
          <button type="button" class="primary" onClick={() => setAsking("redrive")}>
            Redrive
          </button>
        )}
      </div>
      <Story steps={value.audit.map((entry) => ({ at: entry.at, title: entry.action, from: entry.from, to: entry.to, detail: entry.detail }))} />
      {asking && (
        <Confirm
          title={asking === "redrive" ? "Redrive this item" : "Cancel this item"}
          action={asking === "redrive" ? "Redrive" : "Cancel item"}
          danger={asking === "cancel"}
          onClose={() => setAsking(undefined)}
          onConfirm={async () => {
            await (asking === "redrive" ? post(`${path}/redrive`) : del(path));
            reload();
          }}
        >
          {asking === "redrive" ? "It is due at once, with all its retries." : "It will not be handed over, and its id stays taken."}
        </Confirm>
      )}
    </>
  );
}

interface Picked {
  type: string;
  id: string;
}

function ItemSearch(props: { types: ItemType[]; shown: Picked | undefined; onShow: (item: Picked) => void }) {
  const { shown } = props;
  const [type, setType] = useState(props.types[0]?.itemType ?? "");
  const [id, setId] = useState("");
  return (
    <Panel title="Find an item">
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          props.onShow({ type, id: id.trim() });
        }}
      >
        <Field label="Type">
          <select name="search-type" value={type} onChange={(e) => setType(e.currentTarget.value)}>
            {props.types.map((each) => (
              <option key={each.itemType}>{each.itemType}</option>
            ))}
          </select>
        </Field>
        <Field label="Item id">
          <input name="search-id" required maxLength={128} value={id} onInput={(e) => setId(e.currentTarget.value)} />
        </Field>
        <button type="submit" class="primary">
          Find
        </button>
      </form>
      {shown ? <ItemCard type={shown.type} id={shown.id} key={`${shown.type}/${shown.id}`} /> : <Empty title="No item chosen">Write the id it was sent with to see all that happened to it.</Empty>}
    </Panel>
  );
}

export function DispatchView() {
  const live = useLive();
  const { value, error, reload } = useLoad(() => list<ItemType>("/admin/dispatch/types", (type) => type.itemType), live.types.length);
  const [creating, setCreating] = useState(false);
  const [shown, setShown] = useState<Picked>();
  return (
    <>
      <Panel
        title="Item types"
        aside={
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New item type
          </button>
        }
      >
        <Problem error={error} />
        {!value && !error && <Loading />}
        {value && value.length === 0 && <Empty title="No item type yet">Press New item type to say where items go and how fast; then send them to POST /api/v1/dispatch/TYPE.</Empty>}
        {(value ?? []).map((type) => (
          <TypeCard type={type} onChanged={reload} key={type.itemType} />
        ))}
      </Panel>
      {value && value.length > 0 && (
        <div class="grid-2">
          <ItemSearch types={value} shown={shown} onShow={setShown} />
          <DeadLetters types={value} onPick={(type, id) => setShown({ type, id })} />
        </div>
      )}
      {creating && <NewType onClose={() => setCreating(false)} onSaved={reload} />}
    </>
  );
}
