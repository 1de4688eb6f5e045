// Payments: find one, see what happened to it, let a held one go.
import { useState } from "preact/hooks";
import { get, page, post, segment } from "../api";
import { Confirm } from "../dialogs";
import { amount, count, instant } from "../format";
import { go, usePlace } from "../place";
import { Badge, Empty, FindForm, Loading, Panel, Problem, useLoad } from "../ui";
import { Story } from "./story";

interface PaymentRow {
  paymentId: string;
  status: string;
  reason?: string;
  scheduledTime: string;
}

interface Payment extends PaymentRow {
  amount: string;
  currency: string;
  debtorIban: string;
  creditorIban: string;
  executionTime: string;
  reference?: string | null;
  createdAt: string;
  queue: { status: string; scheduledTime: string; retryCount: number; lastError: string | null } | null;
  history: { at: string; from: string | null; to: string; detail: string | null }[];
}

const STATUSES = ["", "SCHEDULED", "HELD", "REJECTED", "ACCEPTED", "PROCESSING", "FAILED"];
const kindOf = (status: string) => (/FAILED|REJECTED/.test(status) ? "bad" : status === "HELD" ? "warn" : "good");

function PaymentCard(props: { id: string }) {
  const { value, error, reload } = useLoad(() => get<Payment>(`/api/v1/payments/${segment(props.id)}`), props.id);
  const [asking, setAsking] = useState(false);
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  return (
    <>
      <p>
        <strong class="mono">{value.paymentId}</strong> <Badge kind={kindOf(value.status)}>{value.status}</Badge>
      </p>
      <dl class="facts">
        <dt>Amount</dt>
        <dd>
          {amount(value.amount)} {value.currency}
        </dd>
        <dt>From</dt>
        <dd class="mono">{value.debtorIban}</dd>
        <dt>To</dt>
        <dd class="mono">{value.creditorIban}</dd>
        {value.reference && <dt>Reference</dt>}
        {value.reference && <dd>{value.reference}</dd>}
        <dt>Taken</dt>
        <dd>{instant(value.createdAt)}</dd>
        <dt>Execution</dt>
        <dd>{instant(value.executionTime)}</dd>
        {value.reason && <dt>Reason</dt>}
        {value.reason && <dd>{value.reason}</dd>}
        <dt>In the queue</dt>
        <dd>
          {value.queue
            ? `${value.queue.status}, due ${instant(value.queue.scheduledTime)}, ${count(value.queue.retryCount, "retry", "retries")}${value.queue.lastError ? `: ${value.queue.lastError}` : ""}`
            : "no"}
        </dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={reload}>
          Look again
        </button>
        {value.status === "HELD" && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            Release
          </button>
        )}
      </div>
      <Story steps={value.history.map((note) => ({ at: note.at, title: note.to, from: note.from, detail: note.detail }))} />
      {asking && (
        <Confirm
          title="Release this payment"
          action="Release"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await post(`/api/v1/payments/${segment(value.paymentId)}/release`);
            reload();
          }}
        >
          {amount(value.amount)} {value.currency} to <code>{value.creditorIban}</code> will be carried out at its time, or at once when that has passed.
        </Confirm>
      )}
    </>
  );
}

function PaymentList(props: { status: string }) {
  const first = `/api/v1/payments?limit=25${props.status ? `&status=${props.status}` : ""}`;
  const [path, setPath] = useState(first);
  const { value, error } = useLoad(() => page<PaymentRow>(path), path);
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  return (
    <>
      {value.items.length === 0 && !value.next && path === first && (
        <Empty title={props.status ? `None is ${props.status}` : "No payment yet"}>
          {props.status ? "Choose another status to see others." : "Payments sent to POST /api/v1/payments, or by penstock payments import, appear here."}
        </Empty>
      )}
      <ul class="rows" aria-label="Payments">
        {value.items.map((row) => (
          <li key={row.paymentId}>
            <button type="button" class="link mono" onClick={() => go("payments", row.paymentId)}>
              {row.paymentId}
            </button>
            <Badge kind={kindOf(row.status)}>{row.status}</Badge>
            <span class="spacer" />
            <span class="quiet">{row.reason ?? `due ${instant(row.scheduledTime)}`}</span>
          </li>
        ))}
      </ul>
      <div class="actions">
        {path !== first && (
          <button type="button" onClick={() => setPath(first)}>
            From the start
          </button>
        )}
        {value.next && (
          <button type="button" onClick={() => setPath(value.next ?? first)}>
            Next ids
          </button>
        )}
      </div>
    </>
  );
}

export function PaymentsView() {
  const id = usePlace().of[0] ?? "";
  const [status, setStatus] = useState("");
  return (
    <div class="grid-2">
      <Panel title="Find a payment">
        <FindForm label="Payment id" action="Find" value={id} onFind={(each) => go("payments", each.trim())} />
        {id ? <PaymentCard id={id} key={id} /> : <Empty title="No payment chosen">Write the id it was sent with, or pick one from the list.</Empty>}
      </Panel>
      <Panel
        title="Payments"
        aside={
          <select aria-label="Status" value={status} onChange={(e) => setStatus(e.currentTarget.value)}>
            {STATUSES.map((each) => (
              <option value={each} key={each}>
                {each || "all statuses"}
              </option>
            ))}
          </select>
        }
      >
        <PaymentList status={status} key={status} />
      </Panel>
    </div>
  );
}
