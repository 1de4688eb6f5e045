// One item type: how it stands, its kill switch, its pace and its past.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, patch, segment } from "../api";
import { Confirm, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, number, perSecond, seconds } from "../format";
import { paceOf, SLIDER_MAX, sliderOf } from "../pace";
import { usePlace } from "../place";
import { daemonNow, typeRate, useLive } from "../stream";
import { Badge, NumberInput, Problem, Switch, useLoad } from "../ui";

export interface ItemType {
  itemType: string;
  enabled: boolean;
  maxPerSecond?: number | null;
  burst?: number | null;
  batchSize: number;
  maxDispatchRetries: number;
  sink: { type: string; url?: string; topic?: string; taskQueue?: string; host?: string };
  version: number;
}

interface Summary {
  counts: Record<string, number>;
  oldestDue: string | null;
  predictedDrainSeconds: number | null;
  pausedUntil: string | null;
  leaseHolder: string | null;
}

const STATES = ["READY", "CLAIMED", "DISPATCHED", "DEAD", "CANCELLED"];

function PaceEditor(props: { type: ItemType; onSaved: () => void }) {
  const now = props.type.maxPerSecond ?? null;
  const [draft, setDraft] = useState<number>(now ?? 100);
  const [asking, setAsking] = useState<number | null>();
  const name = props.type.itemType;
  return (
    <div class="pace">
      <label>
        <span class="field-label">Pace: {now === null ? "unpaced" : perSecond(now)}</span>
        <input type="range" min={0} max={SLIDER_MAX} value={sliderOf(draft)} aria-label={`Pace of ${name}`} aria-valuetext={perSecond(draft)} onInput={(e) => setDraft(paceOf(Number(e.currentTarget.value)))} />
      </label>
      <label class="pace-number">
        <NumberInput min={1} value={draft} label={`Pace of ${name}, items per second`} onValue={setDraft} />
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

/** Why there is no prediction, or what it is one of. */
function drainNote(type: ItemType, summary: Summary | undefined): string {
  if (!summary) return "";
  if (summary.counts.READY + summary.counts.CLAIMED === 0) return "nothing waits";
  if (!type.enabled) return "not while it is stopped";
  return summary.predictedDrainSeconds === null ? "nothing was sent lately" : "predicted";
}

function waitingSince(summary: Summary | undefined): string {
  if (!summary?.oldestDue) return "";
  const late = (daemonNow() - Date.parse(summary.oldestDue)) / 1000;
  return late > 0 ? `The oldest that is due waits for ${seconds(late)}.` : `The next is due in ${seconds(-late)}.`;
}

function sinkOf(sink: ItemType["sink"]): string {
  if (sink.type === "http") return sink.url ?? "http sink";
  const where = sink.topic ?? sink.taskQueue ?? sink.host;
  return where ? `${sink.type} sink, ${where}` : `${sink.type} sink`;
}

export function TypeCard(props: { type: ItemType; onChanged: () => void }) {
  const live = useLive();
  const { type } = props;
  const name = type.itemType;
  const sample = live.types.find((each) => each.type === name);
  // Asked again when the stream shows another depth.
  const summary = useLoad(() => get<Summary>(`/api/v1/dispatch/${segment(name)}/summary`), `${sample?.depths.join()} ${type.enabled} ${type.maxPerSecond}`);
  const [open, setOpen] = useState<"switch" | "history">();
  const card = useRef<HTMLElement>(null);
  const { of } = usePlace();
  // Who followed a link to this type wants to see it, not the first of the list.
  useEffect(() => {
    if (of[0] === name && of.length === 1) card.current?.scrollIntoView({ block: "start" });
  }, [of[0] === name && of.length === 1]);
  const close = () => setOpen(undefined);
  const counts = summary.value?.counts;
  const rate = typeRate(name);
  const drain = summary.value?.predictedDrainSeconds;
  return (
    <article class="type" aria-label={name} ref={card}>
      <header>
        <h3 class="mono">{name}</h3>
        <Badge kind={type.enabled ? "good" : "bad"}>{type.enabled ? "dispatching" : "stopped"}</Badge>
        {sample?.paused && <Badge kind="warn">paused by its sink{summary.value?.pausedUntil && ` until ${instant(summary.value.pausedUntil)}`}</Badge>}
        <span class="spacer" />
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
          <span class="tile-value">{rate === null ? "–" : perSecond(rate)}</span>
          <span class="tile-note">{type.maxPerSecond ? `${Math.round((sample?.paceUsed ?? 0) * 100)} % of the pace` : "unpaced"}</span>
        </div>
        <div>
          <span class="tile-label">Drained in</span>
          <span class="tile-value">{drain === null || drain === undefined ? "–" : seconds(drain)}</span>
          <span class="tile-note">{drainNote(type, summary.value)}</span>
        </div>
      </div>
      <p class="quiet">
        To <span class="mono">{sinkOf(type.sink)}</span>. {waitingSince(summary.value)}
      </p>
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
