// One item: how it stands, and its story.
import { useEffect, useState } from "preact/hooks";
import { del, get, post, segment } from "../api";
import { Confirm } from "../dialogs";
import { count, instant } from "../format";
import { go } from "../place";
import { Badge, Empty, Field, FindForm, Loading, Panel, Problem, useLoad } from "../ui";
import { Story } from "./story";

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

/** Items of a domain change by its own routes: the generic ones refuse them. */
const DOMAINS: Record<string, string> = { PAYMENT: "/api/v1/payments", SMS: "/api/messages" };

export async function change(type: string, id: string, action: "redrive" | "cancel"): Promise<void> {
  const domain = DOMAINS[type];
  if (domain) await post(`${domain}/${segment(id)}/${action}`);
  else if (action === "redrive") await post(`/api/v1/dispatch/${segment(type)}/${segment(id)}/redrive`);
  else await del(`/api/v1/dispatch/${segment(type)}/${segment(id)}`);
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
        <dt>Type</dt>
        <dd class="mono">{value.itemType}</dd>
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
            await change(props.type, props.id, asking);
            reload();
          }}
        >
          {asking === "redrive" ? "It is due at once, with all its retries." : "It will not be handed over, and its id stays taken."}
        </Confirm>
      )}
    </>
  );
}

/** Which item is shown is in the URL: `#/dispatch/TYPE/ID`. */
export function ItemSearch(props: { types: string[]; shown: string[] }) {
  const [shownType, shownId] = props.shown;
  const [type, setType] = useState(shownType ?? props.types[0] ?? "");
  useEffect(() => {
    if (shownType) setType(shownType);
  }, [shownType]);
  return (
    <Panel title="Find an item">
      <FindForm label="Item id" action="Find" value={shownId ?? ""} onFind={(id) => go("dispatch", type, id.trim())}>
        <Field label="Type">
          <select name="search-type" value={type} onChange={(e) => setType(e.currentTarget.value)}>
            {props.types.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
      </FindForm>
      {shownType && shownId ? (
        <ItemCard type={shownType} id={shownId} key={`${shownType}/${shownId}`} />
      ) : (
        <Empty title="No item chosen">Write the id it was sent with to see all that happened to it, or pick one of the dead letters.</Empty>
      )}
    </Panel>
  );
}
