// Throttle policies: what they are, what they were, and what they decide.
import { useState } from "preact/hooks";
import { del, get, post, put, segment } from "../api";
import { CatalogPanel, Table, useCatalog } from "../catalog";
import { Confirm, EditDialog, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, number, perSecond, seconds } from "../format";
import { Field, NumberInput, Switch } from "../ui";
import { TryIt } from "./try_it";

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
const nameOf = (policy: Policy) => policy.policyKey;
const isWindow = (type: string) => type.includes("WINDOW");

function describe(policy: Policy): string {
  return isWindow(policy.type)
    ? `${count(policy.capacity, "token")} per ${seconds(policy.windowSeconds)}`
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
      <Field label="Capacity" hint="tokens; a call takes its cost, which is 1 unless it says otherwise">
        <NumberInput name="capacity" min={1} step={1} value={draft.capacity} onValue={(capacity) => set({ capacity })} />
      </Field>
      {isWindow(draft.type) ? (
        <Field label="Window" hint="seconds">
          <NumberInput name="windowSeconds" min={1} step={1} value={draft.windowSeconds} onValue={(windowSeconds) => set({ windowSeconds })} />
        </Field>
      ) : (
        <Field label="Refill rate" hint="tokens per second">
          <NumberInput name="refillRate" min={0} step="any" value={draft.refillRate} onValue={(refillRate) => set({ refillRate })} />
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
    changes: changes(all[i + 1] ?? null, version, ["version", "changedAt", "id", "deleted"]),
  }));
}

const COLUMNS = [
  { title: "Key", mono: true, cell: nameOf },
  { title: "Limit", cell: describe },
  { title: "Algorithm", cell: (policy: Policy) => TYPES.find(([type]) => type === policy.type)?.[1] ?? policy.type },
  { title: "Version", cell: (policy: Policy) => number(policy.version) },
];

function DeletePolicy(props: { policy: Policy; onClose: () => void; onDone: () => void }) {
  const key = props.policy.policyKey;
  return (
    <Confirm title="Delete policy" action="Delete" danger onClose={props.onClose} onConfirm={() => del(`/admin/policies/${segment(key)}`).then(props.onDone)}>
      Keys under <code>{key}</code> fall back to the next pattern that fits, or to the default limit.
    </Confirm>
  );
}

function ShadowPolicy(props: { policy: Policy; onClose: () => void; onDone: () => void }) {
  const { policy } = props;
  return (
    <Confirm
      title={policy.shadow ? "Enforce this policy" : "Put this policy in shadow"}
      action={policy.shadow ? "Enforce" : "Shadow"}
      danger={policy.shadow}
      onClose={props.onClose}
      onConfirm={() => put(`/admin/policies/${segment(policy.policyKey)}`, body({ ...policy, shadow: !policy.shadow })).then(props.onDone)}
    >
      From now on <code>{policy.policyKey}</code> {policy.shadow ? `denies what is above ${describe(policy)}.` : "denies nothing; what it would have denied is counted."}
    </Confirm>
  );
}

export function PoliciesView() {
  const catalog = useCatalog<Policy, "edit" | "history" | "delete" | "shadow">("/admin/policies", nameOf);
  const { open, show, close, reload } = catalog;
  const policy = open?.entry;
  const shadow = {
    title: "Shadow",
    cell: (each: Policy) => <Switch on={each.shadow} label={`Shadow of ${each.policyKey}`} onToggle={() => show("shadow", each)} />,
  };
  return (
    <>
      <CatalogPanel
        title="Policies"
        one="policy"
        many="policies"
        catalog={catalog}
        onNew={() => show("edit")}
        empty={
          <>
            Every key falls under the default limit of the configuration. Press <em>New policy</em> to give some of them one of their own.
          </>
        }
      >
        {(shown) => (
          <Table
            label="Policies"
            rows={shown}
            nameOf={nameOf}
            columns={[...COLUMNS.slice(0, 3), shadow, ...COLUMNS.slice(3)]}
            actions={(each) => (
              <>
                <button type="button" onClick={() => show("edit", each)}>
                  Edit
                </button>
                <button type="button" onClick={() => show("history", each)}>
                  History
                </button>
                <button type="button" onClick={() => show("delete", each)}>
                  Delete
                </button>
              </>
            )}
          />
        )}
      </CatalogPanel>
      <TryIt />
      {open?.what === "edit" && <Editor policy={policy} onClose={close} onSaved={reload} />}
      {open?.what === "history" && policy && <HistoryDialog name={policy.policyKey} load={() => loadPast(policy.policyKey)} onClose={close} />}
      {open?.what === "delete" && policy && <DeletePolicy policy={policy} onClose={close} onDone={reload} />}
      {open?.what === "shadow" && policy && <ShadowPolicy policy={policy} onClose={close} onDone={reload} />}
    </>
  );
}
