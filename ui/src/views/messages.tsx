// Messages of the gateway: find one, see what became of it; what a user may send and has sent.
import { useEffect, useState } from "preact/hooks";
import { get, post, segment } from "../api";
import type { ViewProps } from "../app";
import { Confirm } from "../dialogs";
import { count, instant } from "../format";
import { go, usePlace } from "../place";
import { Badge, Empty, FindForm, Loading, Panel, Problem, useLoad } from "../ui";
import type { Item } from "./item";
import { Story } from "./story";
import { UserCard } from "./user";

interface Message {
  messageId: string;
  userId: number;
  status: string;
  attempts: number;
  provider: string;
  acceptedAt: string;
  sentAt: string | null;
  nextTryAt?: string | null;
  lastError: string | null;
  delivery?: { state: string; at: string | null; detail: string | null } | null;
}

const kindOf = (status: string) => (/DEAD|FAIL|UNDELIV|REJECT/.test(status) ? "bad" : /SENT|DELIVERED/.test(status) ? "good" : "plain");

const showUser = (user: string | number) => go("messages", "user", String(user));
const USER = /^\d{1,10}$/;

function MessageCard(props: { id: string }) {
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
          <button type="button" class="link mono" onClick={() => showUser(value.userId)}>
            {value.userId}
          </button>
        </dd>
        <dt>Accepted</dt>
        <dd>{instant(value.acceptedAt)}</dd>
        <dt>Sent</dt>
        <dd>
          {value.sentAt ? `${instant(value.sentAt)} by ${value.provider}` : `not yet; ${count(value.attempts, "attempt")} by ${value.provider}`}
        </dd>
        {value.nextTryAt && <dt>Next try</dt>}
        {value.nextTryAt && <dd>{instant(value.nextTryAt)}</dd>}
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
            await post(`${path}/redrive`);
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

function TopLimited() {
  const { value, error } = useLoad(() => get<{ userId: number; limited: number }[]>("/api/analytics/top-limited?limit=10"), 0);
  const most = value?.[0]?.limited ?? 1;
  return (
    <Panel title="Limited most" aside={<span class="quiet">last hour</span>}>
      <Problem error={error} />
      {value && value.length === 0 && <Empty title="Nobody">No message was refused for its user's limit in the last hour.</Empty>}
      <ul class="bars">
        {(value ?? []).map((each) => (
          <li key={each.userId}>
            <button type="button" class="link mono" onClick={() => showUser(each.userId)}>
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

/** What is shown is in the URL, `#/messages/message/ID` or `#/messages/user/7`; the other stays as it was. */
export function MessagesView(props: ViewProps) {
  const [what, which] = usePlace().of;
  const [id, setId] = useState("");
  const [user, setUser] = useState("");
  useEffect(() => {
    if (what === "message") setId(which ?? "");
    if (what === "user") setUser(which ?? "");
  }, [what, which]);
  return (
    <div class="grid-2">
      <div>
        <Panel title="Find a message">
          <FindForm label="Message id" action="Find" value={id} onFind={(each) => go("messages", "message", each.trim())} />
          {id ? <MessageCard id={id} key={id} /> : <Empty title="No message chosen">Write the messageId that POST /api/send answered.</Empty>}
        </Panel>
        <TopLimited />
      </div>
      <Panel title="A user">
        <FindForm label="User id" action="Show" value={user} onFind={(each) => showUser(each.trim())} />
        {user === "" && <Empty title="No user chosen">Write a user's number to see what it may send and has sent, or to give it a limit.</Empty>}
        {user !== "" && !USER.test(user) && <Problem error={new Error(`“${user}” is no user: they are numbers from 0 to 2147483647.`)} />}
        {USER.test(user) && <UserCard user={Number(user)} theme={props.theme} key={user} />}
      </Panel>
    </div>
  );
}
