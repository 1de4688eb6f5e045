// Dead letters: which, why, and back into the queue.
import { useState } from "preact/hooks";
import { page, segment } from "../api";
import { Confirm } from "../dialogs";
import { count, instant } from "../format";
import { useLive } from "../stream";
import { Empty, Field, Loading, Panel, Problem, useLoad } from "../ui";
import { change } from "./item";

interface DeadItem {
  itemId: string;
  diedAt: string;
  attempts: number;
  lastError: string | null;
}

const DEAD = 3; // its place among the depths
const PAGE = 25;

function DeadList(props: { type: string; depth: number; onPick: (id: string) => void }) {
  const first = `/api/v1/dispatch/${segment(props.type)}?status=DEAD&limit=${PAGE}`;
  const [path, setPath] = useState(first);
  // Asked again when the stream shows another depth.
  const { value, error, reload } = useLoad(() => page<DeadItem>(path), `${path} ${props.depth}`);
  const [chosen, setChosen] = useState(new Set<string>());
  const [asking, setAsking] = useState(false);
  const [done, setDone] = useState<{ good: number; bad: string[] }>();
  const items = value?.items ?? [];
  const ids = items.map((item) => item.itemId).filter((id) => chosen.has(id));
  const choose = (id: string, on: boolean) => setChosen((before) => new Set(on ? [...before, id] : [...before].filter((each) => each !== id)));
  const redrive = async () => {
    const bad: string[] = [];
    for (const id of ids) {
      try {
        await change(props.type, id, "redrive");
      } catch (problem) {
        bad.push(`${id}: ${problem instanceof Error ? problem.message : String(problem)}`);
      }
    }
    setDone({ good: ids.length - bad.length, bad });
    setChosen(new Set());
    reload();
  };
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  return (
    <>
      {items.length === 0 ? (
        <Empty title="None">Items come here when all their retries failed, or when their sink refuses them for good.</Empty>
      ) : (
        <ul class="rows" aria-label="Dead items">
          {items.map((item) => (
            <li key={item.itemId}>
              <input type="checkbox" aria-label={`Choose ${item.itemId}`} checked={chosen.has(item.itemId)} onChange={(e) => choose(item.itemId, e.currentTarget.checked)} />
              <button type="button" class="link mono" onClick={() => props.onPick(item.itemId)}>
                {item.itemId}
              </button>
              <span class="spacer" />
              <span class="quiet">
                {instant(item.diedAt)}, after {count(item.attempts, "attempt")}
              </span>
              {item.lastError && <span class="why">{item.lastError}</span>}
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        {items.length > 0 && (
          <button type="button" onClick={() => setChosen(new Set(ids.length === items.length ? [] : items.map((item) => item.itemId)))}>
            {ids.length === items.length ? "Choose none" : "Choose all shown"}
          </button>
        )}
        {path !== first && (
          <button type="button" onClick={() => setPath(first)}>
            Newest
          </button>
        )}
        {value.next && (
          <button type="button" onClick={() => setPath(value.next ?? first)}>
            Older
          </button>
        )}
        {items.length > 0 && (
          <button type="button" class="primary" disabled={ids.length === 0} onClick={() => setAsking(true)}>
            Redrive {ids.length > 0 ? count(ids.length, "item") : ""}
          </button>
        )}
      </div>
      {done && (
        <p role="status">
          {count(done.good, "item")} redriven.
          {done.bad.map((line) => (
            <span class="problem" key={line}>
              {line}
            </span>
          ))}
        </p>
      )}
      {asking && (
        <Confirm title="Redrive" action="Redrive" onClose={() => setAsking(false)} onConfirm={redrive}>
          {count(ids.length, "item")} of <code>{props.type}</code> will be due at once, with all retries.
        </Confirm>
      )}
    </>
  );
}

export function DeadLetters(props: { types: string[]; onPick: (type: string, id: string) => void }) {
  const live = useLive();
  const depthOf = (type: string) => live.types.find((each) => each.type === type)?.depths[DEAD] ?? 0;
  const [chosen, setChosen] = useState<string>();
  // Until somebody chooses: the first type that has any.
  const type = chosen ?? props.types.find((each) => depthOf(each) > 0) ?? props.types[0] ?? "";
  return (
    <Panel title="Dead letters">
      <Field label="Type">
        <select name="dead-type" value={type} onChange={(e) => setChosen(e.currentTarget.value)}>
          {props.types.map((each) => (
            <option key={each} value={each}>
              {each}: {count(depthOf(each), "dead letter")}
            </option>
          ))}
        </select>
      </Field>
      <DeadList type={type} depth={depthOf(type)} onPick={(id) => props.onPick(type, id)} key={type} />
    </Panel>
  );
}
