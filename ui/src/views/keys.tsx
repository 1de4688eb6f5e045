// One key's state, and the keys that are denied most.
import { useState } from "preact/hooks";
import { get, post, segment } from "../api";
import { Confirm } from "../dialogs";
import { count, number, seconds } from "../format";
import { go, usePlace } from "../place";
import { column, useLive } from "../stream";
import { Badge, Empty, FindForm, Loading, Panel, Problem, useLoad } from "../ui";

interface KeyState {
  key: string;
  algorithm: string;
  currentTokens: number;
  capacity: number;
  windowRequestCount: number;
  windowSeconds: number;
  status: string;
}

interface Peek {
  limit: number;
  remaining: number;
  resetAfterMs: number;
  policy: string;
}

interface Denied {
  key: string;
  denied: number;
  error: number;
}

function KeyCard(props: { name: string }) {
  const { value, error, reload } = useLoad(async () => {
    const [state, peek] = await Promise.all([
      get<KeyState>(`/admin/metrics/${segment(props.name)}`),
      // A cost of 0 looks and charges nothing.
      post<Peek>("/api/v1/throttle/check", { key: props.name, cost: 0 }),
    ]);
    return { state, peek };
  }, props.name);
  const [asking, setAsking] = useState(false);
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  const { state, peek } = value;
  const share = state.capacity > 0 ? Math.max(0, Math.min(1, state.currentTokens / state.capacity)) : 0;
  return (
    <div class="key-card">
      <p>
        <strong class="mono">{state.key}</strong> <Badge kind={state.status === "OK" ? "good" : "bad"}>{state.status}</Badge>
      </p>
      <meter class="meter" min={0} max={1} low={0.2} value={share} aria-label="Share of the limit that is left" />
      <dl class="facts">
        <dt>Remaining</dt>
        <dd>
          {number(state.currentTokens)} of {count(state.capacity, "token")}
        </dd>
        <dt>Full again in</dt>
        <dd>{seconds(peek.resetAfterMs / 1000)}</dd>
        <dt>Let through in the last {seconds(state.windowSeconds)}</dt>
        <dd>{count(state.windowRequestCount, "token")}</dd>
        <dt>Policy</dt>
        <dd>
          <span class="mono">{peek.policy}</span> ({state.algorithm})
        </dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={reload}>
          Look again
        </button>
        <button type="button" onClick={() => setAsking(true)}>
          Reset
        </button>
      </div>
      {asking && (
        <Confirm
          title="Reset this key"
          action="Reset"
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await post(`/admin/reset/${segment(state.key)}`);
            reload();
          }}
        >
          What <code>{state.key}</code> has used is forgotten: it starts with its full limit.
        </Confirm>
      )}
    </div>
  );
}

export function KeysView() {
  const live = useLive();
  // Asked again when something was denied, not on a clock.
  const last = live.rows[live.rows.length - 1];
  const denied = last ? last.c[column("denied")] : 0;
  const top = useLoad(() => get<Denied[]>("/admin/throttle/top-denied?limit=50"), denied);
  const name = usePlace().of[0] ?? "";
  const most = top.value?.[0]?.denied ?? 1;
  return (
    <div class="grid-2">
      <Panel title="Look up a key">
        <FindForm label="Key" action="Look up" max={512} placeholder="user:42" value={name} onFind={(key) => go("keys", key)} />
        {name ? <KeyCard name={name} key={name} /> : <Empty title="No key chosen">Write one as your callers do, or pick one of the most denied. A key nobody used yet has its full limit.</Empty>}
      </Panel>
      <Panel title="Most denied keys" aside={<span class="quiet">this node, since it started</span>}>
        <Problem error={top.error} />
        {top.value && top.value.length === 0 && <Empty title="Nothing was denied">Keys appear here as soon as a limit refuses one of their calls.</Empty>}
        <ul class="bars">
          {(top.value ?? []).map((each) => (
            <li key={each.key}>
              <button type="button" class="link mono" onClick={() => go("keys", each.key)}>
                {each.key}
              </button>
              <meter class="bar" min={0} max={most} value={each.denied} aria-hidden="true" />
              <span>
                {count(each.denied, "denial")}
                {each.error > 0 && <span class="quiet"> (at most {count(each.error, "denial")} too many)</span>}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}
