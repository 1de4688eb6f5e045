// The frame of the page: where one is, whether the stream lives, and the sign-in.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hasToken, raw, setToken } from "./api";
import { connect, useLive } from "./stream";
import { type Theme, useTheme } from "./theme";
import { Badge, Field, Problem } from "./ui";
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
  /** Shown only where the daemon has this route. */
  needs?: string;
}

const VIEWS: View[] = [
  { id: "overview", title: "Overview", component: OverviewView },
  { id: "timeline", title: "Timeline", component: TimelineView },
  { id: "policies", title: "Policies", component: PoliciesView },
  { id: "slot-configs", title: "Slot configs", component: SlotConfigsView },
  { id: "keys", title: "Keys", component: KeysView },
  { id: "dispatch", title: "Dispatch", component: DispatchView },
  { id: "payments", title: "Payments", component: PaymentsView, needs: "/api/v1/payments?limit=1" },
  { id: "messages", title: "Messages", component: MessagesView, needs: "/api/analytics/top-limited?limit=1" },
];

function place(): string {
  return location.hash.replace(/^#\/?/, "").split("/")[0] || "overview";
}

function SignIn() {
  const [value, setValue] = useState("");
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
    <main class="sign-in">
      <form class="panel" onSubmit={submit}>
        <h1>Sign in</h1>
        <p>This daemon is guarded. Its admin token is in the file named by <code>--admin-token-file</code>.</p>
        <Field label="Admin token" hint="Kept in this tab until it is closed.">
          <input
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
  if (live.state === "live") {
    const down = live.checks.filter((check) => !check.up);
    return down.length === 0 ? <Badge kind="good">live</Badge> : <Badge kind="bad">{down[0].name} is down</Badge>;
  }
  if (live.state === "lost") return <Badge kind="bad">no stream: {live.problem}</Badge>;
  return <Badge kind="warn">connecting</Badge>;
}

/** Which of the optional views this daemon has. */
function useOffered(): Set<string> {
  const [offered, setOffered] = useState(new Set<string>());
  const { state } = useLive();
  useEffect(() => {
    if (state !== "live") return;
    for (const view of VIEWS) {
      if (!view.needs) continue;
      raw("GET", view.needs).then(
        (answer) => answer.status === 200 && setOffered((before) => new Set([...before, view.id])),
        () => undefined,
      );
    }
  }, [state === "live"]);
  return offered;
}

export function App() {
  const [theme, setTheme] = useTheme();
  const [at, setAt] = useState(place());
  const live = useLive();
  const offered = useOffered();
  useEffect(() => {
    const follow = () => setAt(place());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const views = VIEWS.filter((view) => !view.needs || offered.has(view.id));
  const view = views.find((each) => each.id === at) ?? views[0];
  useEffect(() => {
    document.title = `${view.title} · Penstock`;
    document.querySelector(".views [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [view.title]);
  const other = theme === "dark" ? "light" : "dark";

  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById("content")?.focus();
      }}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="#/overview">
          <img src="/favicon.svg" alt="" width="22" height="22" /> Penstock
        </a>
        <StreamState />
        <span class="spacer" />
        <button type="button" class="plain" onClick={() => setTheme(other)} aria-label={`Switch to ${other}`}>
          {theme === "dark" ? "☀ Light" : "☾ Dark"}
        </button>
        {hasToken() && live.state !== "locked" && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setToken("");
              location.reload();
            }}
          >
            Sign out
          </button>
        )}
      </header>
      {live.state === "locked" ? (
        <SignIn />
      ) : (
        <>
          <nav class="views" aria-label="Views">
            {views.map((each) => (
              <a key={each.id} href={`#/${each.id}`} aria-current={each === view ? "page" : undefined}>
                {each.title}
              </a>
            ))}
            <a href="/docs">API reference</a>
          </nav>
          <main id="content" tabIndex={-1}>
            <h1>{view.title}</h1>
            <view.component theme={theme} key={view.id} />
          </main>
        </>
      )}
    </div>
  );
}
