// The frame of the page: where one is, whether the stream lives, and the sign-in.
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, hasToken, raw, setToken } from "./api";
import { count, instant, seconds, zone } from "./format";
import { hashOf, usePlace } from "./place";
import { connect, RETRY, useLive } from "./stream";
import { type Theme, useTheme } from "./theme";
import { Badge, Empty, Field, Problem } from "./ui";
import { DispatchView } from "./views/dispatch";
import { KeysView } from "./views/keys";
import { MessagesView } from "./views/messages";
import { OverviewView } from "./views/overview";
import { PaymentsView } from "./views/payments";
import { PoliciesView } from "./views/policies";
import { SlotConfigsView } from "./views/slot_configs";
import { TimelineView } from "./views/timeline";

export interface ViewProps {
  theme: Theme;
}

interface View {
  id: string;
  title: string;
  component: ComponentType<ViewProps>;
  /** A route that the daemon must have for it. */
  needs: string;
}

const VIEWS: View[] = [
  { id: "overview", title: "Overview", component: OverviewView, needs: "/admin/events" },
  { id: "timeline", title: "Timeline", component: TimelineView, needs: "/api/v1/windows" },
  { id: "policies", title: "Policies", component: PoliciesView, needs: "/admin/policies" },
  { id: "slot-configs", title: "Slot configs", component: SlotConfigsView, needs: "/admin/rate-limit/configs" },
  { id: "keys", title: "Keys", component: KeysView, needs: "/admin/throttle/top-denied" },
  { id: "dispatch", title: "Dispatch", component: DispatchView, needs: "/admin/dispatch/types" },
  { id: "payments", title: "Payments", component: PaymentsView, needs: "/api/v1/payments" },
  { id: "messages", title: "Messages", component: MessagesView, needs: "/api/analytics/top-limited" },
];

function SignIn() {
  const [value, setValue] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const [error, setError] = useState<unknown>(hasToken() ? new Error("The token was not accepted.") : undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    setToken(value.trim());
    try {
      const answer = await raw("GET", "/admin/status");
      if (answer.status === 401) {
        setToken("");
        setError(new Error("This is not the admin token of this daemon."));
        return;
      }
      connect();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <main class="sign-in" id="content" tabIndex={-1}>
      <form class="panel" onSubmit={submit}>
        <h1>Sign in</h1>
        <p>This daemon is guarded. Its admin token is in the file named by <code>--admin-token-file</code>.</p>
        <Field label="Admin token" hint="Kept in this tab until it is closed.">
          <input
            ref={field}
            type="password"
            name="token"
            autocomplete="off"
            required
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </Field>
        <Problem error={error} />
        <div class="actions">
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}

function StreamState() {
  const live = useLive();
  const down = live.checks.filter((check) => !check.up);
  const state = () => {
    if (live.state === "lost") return <Badge kind="bad">not live</Badge>;
    if (live.state !== "live") return <Badge kind="warn">connecting</Badge>;
    if (down.length === 0) return <Badge kind="good">live</Badge>;
    return <Badge kind="bad">{down.length === 1 ? `${down[0].name} is down` : `${count(down.length, "check")} down: ${down.map((each) => each.name).join(", ")}`}</Badge>;
  };
  return (
    <span class="stream-state" role="status">
      {state()}
    </span>
  );
}

/** Says that what is seen is old, since when, and why. */
function LostBanner() {
  const live = useLive();
  if (live.state !== "lost") return null;
  const last = live.rows[live.rows.length - 1];
  return (
    <p class="banner" role="alert">
      <strong>Not live:</strong> {live.problem}. It is tried again every {seconds(RETRY / 1000)}.{last && ` What is shown is of ${instant(last.t)}.`}
    </p>
  );
}

/** The views that this daemon has something for: a daemon may lack features. All of them until it is known. */
function useViews(ready: boolean): View[] {
  const [paths, setPaths] = useState<Set<string>>();
  useEffect(() => {
    if (!ready) return;
    get<{ path: string }[]>("/admin/routes").then(
      (routes) => setPaths(new Set(routes.map((route) => route.path))),
      () => undefined, // the stream's state tells of it
    );
  }, [ready]);
  return paths ? VIEWS.filter((view) => paths.has(view.needs)) : VIEWS;
}

function Frame(props: { theme: Theme; ready: boolean }) {
  const place = usePlace();
  const views = useViews(props.ready);
  const view = views.find((each) => each.id === place.view);
  const title = view?.title ?? "Not here";
  const content = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · Penstock`;
    document.querySelector(".views [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    // Who follows a link to a view goes on in it, by keyboard and by ear.
    if (!first.current) content.current?.focus();
    first.current = false;
  }, [title]);
  return (
    <>
      <nav class="views" aria-label="Views">
        {views.map((each) => (
          <a key={each.id} href={hashOf(each.id)} aria-current={each === view ? "page" : undefined}>
            {each.title}
          </a>
        ))}
        <a href="/docs">API reference</a>
      </nav>
      <main id="content" tabIndex={-1} ref={content} aria-labelledby="title">
        <h1 id="title">{title}</h1>
        {view ? (
          <view.component theme={props.theme} key={view.id} />
        ) : (
          <Empty title="No such view">
            This daemon has no view “{place.view}”. Go to the <a href={hashOf("overview")}>overview</a>.
          </Empty>
        )}
        <footer class="quiet">Times are of this browser’s zone: {zone()}.</footer>
      </main>
    </>
  );
}

function signOut(): void {
  setToken("");
  location.reload();
}

export function App() {
  const [theme, setTheme] = useTheme();
  const live = useLive();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <div class="frame">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("content")?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={hashOf("overview")}>
          <img src="/favicon.svg" alt="" width="22" height="22" /> Penstock
        </a>
        {live.state !== "locked" && <StreamState />}
        <span class="spacer" />
        <button type="button" class="plain" onClick={() => setTheme(other)} aria-label={`Switch to ${other}`}>
          {theme === "dark" ? "☀ Light" : "☾ Dark"}
        </button>
        {hasToken() && live.state !== "locked" && (
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        )}
      </header>
      <LostBanner />
      {live.state === "locked" ? <SignIn /> : <Frame theme={theme} ready={live.state === "live"} />}
    </div>
  );
}
