// One user of the gateway: what it may send, and has sent.
import { useState } from "preact/hooks";
import { ApiError, del, get, post } from "../api";
import type { ViewProps } from "../app";
import { Chart } from "../chart";
import { Confirm, EditDialog } from "../dialogs";
import { count, instant, number, seconds } from "../format";
import { RANGES, type UsagePoint, usageLines } from "../usage";
import { Empty, Field, NumberInput, Problem, useLoad } from "../ui";

const INT_MAX = 2_147_483_647; // what the API takes

interface UserConfig {
  userId: number;
  rateLimit: number;
  timeWindow: number;
  currentCount: number;
  lastRefreshTime: string;
}

function LimitEditor(props: { user: number; config: UserConfig | undefined; onClose: () => void; onSaved: () => void }) {
  const [limit, setLimit] = useState(props.config?.rateLimit ?? 10);
  const [minutes, setMinutes] = useState(props.config?.timeWindow ?? 60);
  const save = () => post("/api/config", { userId: props.user, rateLimit: limit, timeWindow: minutes });
  return (
    <EditDialog title={`Limit of user ${props.user}`} save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Messages" hint="in one window">
        <NumberInput name="rateLimit" min={1} max={INT_MAX} step={1} value={limit} onValue={setLimit} />
      </Field>
      <Field label="Window" hint="minutes. A change begins a new window, with nothing used.">
        <NumberInput name="timeWindow" min={1} max={INT_MAX} step={1} value={minutes} onValue={setMinutes} />
      </Field>
    </EditDialog>
  );
}

function Quota(props: { config: UserConfig }) {
  const { config } = props;
  const ends = Date.parse(config.lastRefreshTime) + config.timeWindow * 60_000;
  const over = ends <= Date.now();
  return (
    <dl class="facts">
      <dt>May send</dt>
      <dd>
        {count(config.rateLimit, "message")} in {seconds(config.timeWindow * 60)}
      </dd>
      <dt>Used</dt>
      <dd>{over ? "nothing: the next message begins a new window" : `${number(config.currentCount)} of ${number(config.rateLimit)}, until ${instant(ends)}`}</dd>
    </dl>
  );
}

export function UserCard(props: ViewProps & { user: number }) {
  const path = `/api/config/${props.user}`;
  const config = useLoad(() => get<UserConfig>(path), path);
  const [range, setRange] = useState(0);
  const { span, bucket } = RANGES[range];
  const to = Math.ceil(Date.now() / bucket) * bucket;
  const from = to - span;
  const asked = `userId=${props.user}&bucket=PT${bucket / 60_000}M&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  const usage = useLoad(() => get<{ points: UsagePoint[] }>(`/api/analytics/usage?${asked}`), asked);
  // Having none is a state, not a failure.
  const noLimit = config.error instanceof ApiError && config.error.status === 404;
  const [open, setOpen] = useState<"edit" | "remove">();
  const close = () => setOpen(undefined);
  const lines = usageLines(usage.value?.points ?? [], from, to, bucket);
  const total = (which: "sent" | "limited" | "failed") => lines[which].reduce((sum, each) => sum + each, 0);
  return (
    <>
      {config.value && !noLimit ? <Quota config={config.value} /> : noLimit ? <Empty title="No limit">User {props.user} may send nothing until it is given a limit.</Empty> : <Problem error={config.error} />}
      <div class="actions">
        <button type="button" onClick={() => setOpen("edit")}>
          {noLimit ? "Give a limit" : "Change limit"}
        </button>
        {config.value && !noLimit && (
          <button type="button" class="danger" onClick={() => setOpen("remove")}>
            Remove
          </button>
        )}
        <span class="spacer" />
        <select aria-label="Time shown" value={range} onChange={(e) => setRange(Number(e.currentTarget.value))}>
          {RANGES.map((each, i) => (
            <option value={i} key={each.label}>
              {each.label}
            </option>
          ))}
        </select>
      </div>
      <Problem error={usage.error} />
      {usage.value && (
        <>
          <p>
            {count(total("sent"), "message")} sent, {number(total("limited"))} limited, {number(total("failed"))} failed; each point is {seconds(bucket / 1000)}.
          </p>
          <Chart
            label={`Usage of user ${props.user}`}
            theme={props.theme}
            times={lines.times}
            range={span}
            format={number}
            unit="messages"
            lines={[
              { label: "sent", color: "--line-1", values: lines.sent },
              { label: "limited", color: "--line-2", values: lines.limited },
              { label: "failed", color: "--line-3", values: lines.failed },
            ]}
          />
        </>
      )}
      {open === "edit" && <LimitEditor user={props.user} config={config.value} onClose={close} onSaved={config.reload} />}
      {open === "remove" && (
        <Confirm
          title={`Remove the limit of user ${props.user}`}
          action="Remove"
          danger
          onClose={close}
          onConfirm={async () => {
            await del(path);
            config.reload();
          }}
        >
          A user without a limit may send nothing. Messages that were accepted are still sent.
        </Confirm>
      )}
    </>
  );
}
