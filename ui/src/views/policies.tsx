// Throttle policies: what they are, what they were, and what they decide.
import { useState } from "preact/hooks";
import { del, get, list, post, put, raw, segment } from "../api";
import { Confirm, EditDialog, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, number, perSecond, seconds } from "../format";
import { Badge, Empty, Field, Loading, Panel, Problem, Switch, useLoad } from "../ui";

export interface Policy {
  policyKey: string;
  type: string;
  capacity: number;
  refillRate: number;
  windowSeconds: number;
  shadow: boolean;
  onStoreFailure: string;
  version: number;
  changedAt?: string;
  deleted?: boolean;
}

const TYPES: [string, string][] = [
  ["TOKEN_BUCKET", "Token bucket"],
  ["SLIDING_WINDOW", "Sliding window"],
  ["SLIDING_WINDOW_COUNTER", "Sliding window counter"],
  ["FIXED_WINDOW", "Fixed window"],
  ["GCRA", "GCRA"],
];
const FRESH: Policy = {
  policyKey: "",
  type: "TOKEN_BUCKET",
  capacity: 100,
  refillRate: 10,
  windowSeconds: 60,
  shadow: false,
  onStoreFailure: "deny",
  version: 0,
};
const isWindow = (type: string) => type.includes("WINDOW");

function describe(policy: Policy): string {
  return isWindow(policy.type)
    ? `${number(policy.capacity)} per ${seconds(policy.windowSeconds)}`
    : `${count(policy.capacity, "token")}, refilled at ${perSecond(policy.refillRate)}`;
}

function body(policy: Policy): Record<string, unknown> {
  const { policyKey, type, capacity, shadow, onStoreFailure } = policy;
  const shape = isWindow(type) ? { windowSeconds: policy.windowSeconds } : { refillRate: policy.refillRate };
  return { key: policyKey, type, capacity, shadow, onStoreFailure, ...shape };
}

function Editor(props: { policy: Policy | undefined; onClose: () => void; onSaved: () => void }) {
  const [draft, setDraft] = useState<Policy>(props.policy ?? FRESH);
  const set = (part: Partial<Policy>) => setDraft({ ...draft, ...part });
  const save = () => (props.policy ? put(`/admin/policies/${segment(draft.policyKey)}`, body(draft)) : post("/admin/policies", body(draft)));
  return (
    <EditDialog title={props.policy ? `Edit ${props.policy.policyKey}` : "New policy"} save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Key" hint="* stands for any run of characters; an exact key wins over a pattern.">
        <input name="key" required maxLength={512} disabled={!!props.policy} value={draft.policyKey} onInput={(e) => set({ policyKey: e.currentTarget.value })} />
      </Field>
      <Field label="Algorithm">
        <select name="type" value={draft.type} onChange={(e) => set({ type: e.currentTarget.value })}>
          {TYPES.map(([value, label]) => (
            <option value={value} key={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Capacity" hint="tokens, or calls in a window">
        <input name="capacity" type="number" min={1} required value={draft.capacity} onInput={(e) => set({ capacity: Number(e.currentTarget.value) })} />
      </Field>
      {isWindow(draft.type) ? (
        <Field label="Window" hint="seconds">
          <input name="windowSeconds" type="number" min={1} required value={draft.windowSeconds} onInput={(e) => set({ windowSeconds: Number(e.currentTarget.value) })} />
        </Field>
      ) : (
        <Field label="Refill rate" hint="tokens per second">
          <input name="refillRate" type="number" min={0} step="any" required value={draft.refillRate} onInput={(e) => set({ refillRate: Number(e.currentTarget.value) })} />
        </Field>
      )}
      <Field label="When the store fails">
        <select name="onStoreFailure" value={draft.onStoreFailure} onChange={(e) => set({ onStoreFailure: e.currentTarget.value })}>
          <option value="deny">deny</option>
          <option value="allow">allow</option>
          <option value="local">decide by this node's share</option>
        </select>
      </Field>
      <label class="check">
        <input type="checkbox" name="shadow" checked={draft.shadow} onChange={(e) => set({ shadow: e.currentTarget.checked })} /> Shadow: count what it
        would deny, deny nothing
      </label>
    </EditDialog>
  );
}

async function loadPast(key: string): Promise<Past[]> {
  const versions = await get<Policy[]>(`/admin/policies/${segment(key)}/history`);
  return versions.map((version, i, all) => ({
    at: instant(version.changedAt),
    title: version.deleted ? `Version ${version.version}: deleted` : `Version ${version.version}`,
    changes: changes(all[i + 1] ?? null, version, ["version", "changedAt", "id"]),
  }));
}

const SHOWN_HEADERS = ["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "x-request-id"];

function TryIt() {
  const [key, setKey] = useState("");
  const [cost, setCost] = useState(1);
  const [error, setError] = useState<unknown>();
  const [answer, setAnswer] = useState<{ status: number; headers: [string, string][]; text: string }>();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const got = await raw("POST", "/api/v1/throttle/check", { key, cost });
      const headers = SHOWN_HEADERS.flatMap((name): [string, string][] => {
        const value = got.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      setAnswer({ status: got.status, headers, text: JSON.stringify(JSON.parse(got.text), null, 2) });
      setError(undefined);
    } catch (problem) {
      setError(problem);
    }
  };
  const verdict = answer && (answer.status === 200 ? "allowed" : answer.status === 429 ? "denied" : "refused");
  return (
    <Panel title="Try it" aside={<span class="quiet">a real check: it is charged, cost 0 only looks</span>}>
      <form class="line" onSubmit={submit}>
        <Field label="Key">
          <input name="try-key" required value={key} onInput={(e) => setKey(e.currentTarget.value)} placeholder="user:42" />
        </Field>
        <Field label="Cost">
          <input name="try-cost" type="number" value={cost} onInput={(e) => setCost(Number(e.currentTarget.value))} />
        </Field>
        <button type="submit" class="primary">
          Check
        </button>
      </form>
      <Problem error={error} />
      {answer && (
        <div class="answer" aria-live="polite">
          <p>
            <Badge kind={verdict === "allowed" ? "good" : "bad"}>{verdict}</Badge> HTTP {answer.status}
          </p>
          <table class="diff">
            <tbody>
              {answer.headers.map(([name, value]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <pre tabIndex={0}>{answer.text}</pre>
        </div>
      )}
    </Panel>
  );
}

type Open = { what: "edit" | "history" | "delete" | "shadow"; policy?: Policy };

export function PoliciesView() {
  const { value, error, reload } = useLoad(() => list<Policy>("/admin/policies", (policy) => policy.policyKey), 0);
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const shown = (value ?? []).filter((policy) => policy.policyKey.toLowerCase().includes(search.toLowerCase()));
  const policy = open?.policy;
  return (
    <>
      <Panel
        title="Policies"
        aside={
          <>
            <input type="search" aria-label="Search policies" placeholder="Search keys" value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
            <button type="button" class="primary" onClick={() => setOpen({ what: "edit" })}>
              New policy
            </button>
          </>
        }
      >
        <Problem error={error} />
        {!value && !error && <Loading />}
        {value && value.length === 0 && (
          <Empty title="No policy yet">
            Every key falls under the default limit of the configuration. Press <em>New policy</em> to give some of them one of their own.
          </Empty>
        )}
        {value && value.length > 0 && shown.length === 0 && <Empty title="Nothing found">No policy key holds “{search}”. Search for a part of the key as it was written, * included.</Empty>}
        {shown.length > 0 && (
          <div class="scroll">
            <table class="list">
              <thead>
                <tr>
                  <th>Key</th>
                  <th>Limit</th>
                  <th>Algorithm</th>
                  <th>Shadow</th>
                  <th>Version</th>
                  <th>
                    <span class="hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.slice(0, 500).map((each) => (
                  <tr key={each.policyKey}>
                    <td class="mono">{each.policyKey}</td>
                    <td data-label="Limit">{describe(each)}</td>
                    <td data-label="Algorithm">{TYPES.find(([type]) => type === each.type)?.[1] ?? each.type}</td>
                    <td data-label="Shadow">
                      <Switch on={each.shadow} label={`Shadow of ${each.policyKey}`} onToggle={() => setOpen({ what: "shadow", policy: each })} />
                    </td>
                    <td data-label="Version">{each.version}</td>
                    <td class="row-actions">
                      <button type="button" onClick={() => setOpen({ what: "edit", policy: each })}>
                        Edit
                      </button>
                      <button type="button" onClick={() => setOpen({ what: "history", policy: each })}>
                        History
                      </button>
                      <button type="button" onClick={() => setOpen({ what: "delete", policy: each })}>
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {shown.length > 500 && <p class="quiet">The first 500 of {count(shown.length, "policy", "policies")}; search to see others.</p>}
      </Panel>
      <TryIt />
      {open?.what === "edit" && <Editor policy={policy} onClose={close} onSaved={reload} />}
      {open?.what === "history" && policy && <HistoryDialog name={policy.policyKey} load={() => loadPast(policy.policyKey)} onClose={close} />}
      {open?.what === "delete" && policy && (
        <Confirm
          title="Delete policy"
          action="Delete"
          danger
          onClose={close}
          onConfirm={async () => {
            await del(`/admin/policies/${segment(policy.policyKey)}`);
            reload();
          }}
        >
          Keys under <code>{policy.policyKey}</code> fall back to the next pattern that fits, or to the default limit.
        </Confirm>
      )}
      {open?.what === "shadow" && policy && (
        <Confirm
          title={policy.shadow ? "Enforce this policy" : "Put this policy in shadow"}
          action={policy.shadow ? "Enforce" : "Shadow"}
          danger={policy.shadow}
          onClose={close}
          onConfirm={async () => {
            await put(`/admin/policies/${segment(policy.policyKey)}`, body({ ...policy, shadow: !policy.shadow }));
            reload();
          }}
        >
          {policy.shadow ? (
            <>
              From now on <code>{policy.policyKey}</code> denies what is above {describe(policy)}.
            </>
          ) : (
            <>
              From now on <code>{policy.policyKey}</code> denies nothing; what it would have denied is counted.
            </>
          )}
        </Confirm>
      )}
    </>
  );
}
