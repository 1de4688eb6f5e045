// Messages of the gateway: find one, see what became of it; what a user may send and has sent.
import { useState } from "preact/hooks";
import { del, get, post, segment } from "../api";
import type { ViewProps } from "../app";
import { Chart } from "../chart";
import { Confirm, EditDialog } from "../dialogs";
import { count, instant, number, seconds } from "../format";
import { RANGES, type UsagePoint, usageLines } from "../usage";
import { Badge, Empty, Field, Loading, Panel, Problem, useLoad } from "../ui";
import type { Item } from "./dispatch";
import { Story } from "./story";

interface Message {
  messageId: string;
  userId: number;
  status: string;
  attempts: number;
  provider: string;
  acceptedAt: string;
  sentAt: string | null;
  lastError: string | null;
  delivery?: { state: string; at: string | null; detail: string | null } | null;
}

interface UserConfig {
  userId: number;
  rateLimit: number;
  timeWindow: number;
  currentCount: number;
  lastRefreshTime: string;
}

const kindOf = (status: string) => (/DEAD|FAIL|UNDELIV|REJECT/.test(status) ? "bad" : /SENT|DELIVERED/.test(status) ? "good" : "plain");

function MessageCard(props: { id: string; onUser: (user: number) => void }) {
  const path = `/api/messages/${segment(props.id)}`;
  const message = useLoad(() => get<Message>(path), path);
  const itemPath = `/api/v1/dispatch/SMS/${segment(props.id)}`;
  const item = useLoad(() => get<Item>(itemPath), itemPath);
  const [asking, setAsking] = useState(false);
  const { value } = message;
  if (message.error) return <Problem error={message.error} />;
  if (!value) return <Loading />;
  return (
    <>
      <p>
        <strong class="mono">{value.messageId}</strong> <Badge kind={kindOf(value.status)}>{value.status}</Badge>
      </p>
      <dl class="facts">
        <dt>User</dt>
        <dd>
          <button type="button" class="link mono" onClick={() => props.onUser(value.userId)}>
            {value.userId}
          </button>
        </dd>
        <dt>Accepted</dt>
        <dd>{instant(value.acceptedAt)}</dd>
        <dt>Sent</dt>
        <dd>
          {value.sentAt ? `${instant(value.sentAt)} by ${value.provider}` : `not yet; ${count(value.attempts, "attempt")} by ${value.provider}`}
        </dd>
        {value.delivery && <dt>Delivery</dt>}
        {value.delivery && (
          <dd>
            {value.delivery.state} {value.delivery.at ? instant(value.delivery.at) : ""} {value.delivery.detail ?? ""}
          </dd>
        )}
        {value.lastError && <dt>Last error</dt>}
        {value.lastError && <dd>{value.lastError}</dd>}
      </dl>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            message.reload();
            item.reload();
          }}
        >
          Look again
        </button>
        {item.value?.status === "DEAD" && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            Redrive
          </button>
        )}
      </div>
      {item.value && <Story steps={item.value.audit.map((entry) => ({ ...entry, title: entry.action }))} />}
      {asking && (
        <Confirm
          title="Redrive this message"
          action="Redrive"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await post(`${itemPath}/redrive`);
            message.reload();
            item.reload();
          }}
        >
          It goes to its provider at once, with all its retries. It is not counted again.
        </Confirm>
      )}
    </>
  );
}

function LimitEditor(props: { user: number; config: UserConfig | undefined; onClose: () => void; onSaved: () => void }) {
  const [limit, setLimit] = useState(props.config?.rateLimit ?? 10);
  const [minutes, setMinutes] = useState(props.config?.timeWindow ?? 60);
  const save = () => post("/api/config", { userId: props.user, rateLimit: limit, timeWindow: minutes });
  return (
    <EditDialog title={`Limit of user ${props.user}`} save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Messages" hint="in one window">
        <input name="rateLimit" type="number" min={1} required value={limit} onInput={(e) => setLimit(Number(e.currentTarget.value))} />
      </Field>
      <Field label="Window" hint="minutes. A change begins a new window, with nothing used.">
        <input name="timeWindow" type="number" min={1} required value={minutes} onInput={(e) => setMinutes(Number(e.currentTarget.value))} />
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

function UserCard(props: ViewProps & { user: number }) {
  const path = `/api/config/${props.user}`;
  const config = useLoad(() => get<UserConfig>(path), path);
  const [range, setRange] = useState(0);
  const { span, bucket } = RANGES[range];
  const to = Math.ceil(Date.now() / bucket) * bucket;
  const from = to - span;
  const asked = `userId=${props.user}&bucket=PT${bucket / 60_000}M&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  const usage = useLoad(() => get<{ points: UsagePoint[] }>(`/api/analytics/usage?${asked}`), asked);
  const [open, setOpen] = useState<"edit" | "remove">();
  const close = () => setOpen(undefined);
  const lines = usageLines(usage.value?.points ?? [], from, to, bucket);
  const total = (which: "sent" | "limited" | "failed") => lines[which].reduce((sum, each) => sum + each, 0);
  return (
    <>
      {config.value ? <Quota config={config.value} /> : <Problem error={config.error} />}
      <div class="actions">
        <button type="button" onClick={() => setOpen("edit")}>
          {config.value ? "Change limit" : "Give a limit"}
        </button>
        {config.value && (
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

function TopLimited(props: { onUser: (user: number) => void }) {
  const { value, error } = useLoad(() => get<{ userId: number; limited: number }[]>("/api/analytics/top-limited?limit=10"), 0);
  const most = value?.[0]?.limited ?? 1;
  return (
    <Panel title="Limited most" aside={<span class="quiet">last hour</span>}>
      <Problem error={error} />
      {value && value.length === 0 && <Empty title="Nobody">No message was refused for its user's limit in the last hour.</Empty>}
      <ul class="bars">
        {(value ?? []).map((each) => (
          <li key={each.userId}>
            <button type="button" class="link mono" onClick={() => props.onUser(each.userId)}>
              user {each.userId}
            </button>
            <meter class="bar" min={0} max={most} value={each.limited} aria-hidden="true" />
            <span>{count(each.limited, "refusal")}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function MessagesView(props: ViewProps) {
  const [text, setText] = useState("");
  const [id, setId] = useState("");
  const [userText, setUserText] = useState("");
  const [user, setUser] = useState<number>();
  const show = (each: number) => {
    setUser(each);
    setUserText(String(each));
  };
  return (
    <div class="grid-2">
      <div>
        <Panel title="Find a message">
          <form
            class="line"
            onSubmit={(event) => {
              event.preventDefault();
              setId(text.trim());
            }}
          >
            <Field label="Message id">
              <input name="message" required maxLength={128} value={text} onInput={(e) => setText(e.currentTarget.value)} />
            </Field>
            <button type="submit" class="primary">
              Find
            </button>
          </form>
          {id ? <MessageCard id={id} key={id} onUser={show} /> : <Empty title="No message chosen">Write the messageId that POST /api/send answered.</Empty>}
        </Panel>
        <TopLimited onUser={show} />
      </div>
      <Panel title="A user">
        <form
          class="line"
          onSubmit={(event) => {
            event.preventDefault();
            setUser(Number(userText));
          }}
        >
          <Field label="User id">
            <input name="user" type="number" min={0} required value={userText} onInput={(e) => setUserText(e.currentTarget.value)} />
          </Field>
          <button type="submit" class="primary">
            Show
          </button>
        </form>
        {user === undefined ? (
          <Empty title="No user chosen">Write a user's number to see what it may send and has sent, or to give it a limit.</Empty>
        ) : (
          <UserCard user={user} theme={props.theme} key={user} />
        )}
      </Panel>
    </div>
  );
}
