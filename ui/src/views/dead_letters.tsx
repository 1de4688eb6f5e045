// Dead letters: how many, and back into the queue by their ids.
import { useState } from "preact/hooks";
import { post, segment } from "../api";
import { count } from "../format";
import { useLive } from "../stream";
import { Confirm, Empty, Field, Panel } from "../ui";
import type { Item, ItemType } from "./dispatch";

const DEAD = 3; // its place among the depths
const MOST = 500; // ids in one go: some seconds of calls

export function idsOf(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((id) => id !== ""))];
}

export function DeadLetters(props: { types: ItemType[] }) {
  const live = useLive();
  const [type, setType] = useState(props.types[0]?.itemType ?? "");
  const [text, setText] = useState("");
  const [asking, setAsking] = useState(false);
  const [done, setDone] = useState<{ good: number; bad: string[] }>();
  const ids = idsOf(text);
  const withDead = live.types.filter((each) => each.depths[DEAD] > 0);
  const redrive = async () => {
    const bad: string[] = [];
    for (const id of ids) {
      try {
        await post<Item>(`/api/v1/dispatch/${segment(type)}/${segment(id)}/redrive`);
      } catch (problem) {
        bad.push(`${id}: ${problem instanceof Error ? problem.message : String(problem)}`);
      }
    }
    setDone({ good: ids.length - bad.length, bad });
    if (bad.length === 0) setText("");
  };
  return (
    <Panel title="Dead letters">
      {withDead.length === 0 ? (
        <Empty title="None">Items come here when all their retries failed, or when their sink refuses them for good.</Empty>
      ) : (
        <ul class="rows">
          {withDead.map((each) => (
            <li key={each.type}>
              <span class="mono">{each.type}</span>
              <span class="spacer" />
              <strong>{count(each.depths[DEAD], "dead letter")}</strong>
            </li>
          ))}
        </ul>
      )}
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          setAsking(true);
        }}
      >
        <Field label="Type">
          <select name="dead-type" value={type} onChange={(e) => setType(e.currentTarget.value)}>
            {props.types.map((each) => (
              <option key={each.itemType}>{each.itemType}</option>
            ))}
          </select>
        </Field>
        <Field label="Item ids" hint={`One per line, up to ${MOST}: as they were sent.`}>
          <textarea name="dead-ids" rows={3} required value={text} onInput={(e) => setText(e.currentTarget.value)} />
        </Field>
        <div class="actions">
          <button type="submit" class="primary" disabled={ids.length === 0 || ids.length > MOST}>
            Redrive {ids.length > 0 ? count(ids.length, "item") : ""}
          </button>
        </div>
      </form>
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
          {count(ids.length, "item")} of <code>{type}</code> will be due at once, with all retries.
        </Confirm>
      )}
    </Panel>
  );
}
