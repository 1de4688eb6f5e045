// Where a burst of events would land: a preview that assigns nothing.
import { useState } from "preact/hooks";
import { post } from "../api";
import { count, instant, localInput, seconds } from "../format";
import type { Span } from "../heat";
import { daemonNow } from "../stream";
import { Badge, Field, NumberInput, Panel, Problem } from "../ui";

interface Preview {
  firstScheduledTime: string | null;
  lastScheduledTime: string | null;
  windowsUsed: number;
  placed: number;
}

export function BurstForm(props: { config: string; onPreview: (burst: Span | undefined) => void }) {
  const [events, setEvents] = useState(1000);
  const [at, setAt] = useState("");
  const [answer, setAnswer] = useState<Preview & { asked: number; count: number }>();
  const [error, setError] = useState<unknown>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const asked = at === "" ? daemonNow() : new Date(at).getTime();
    try {
      const got = await post<Preview>("/api/v1/slots/preview", { configName: props.config, requestedTime: new Date(asked).toISOString(), count: events });
      setAnswer({ ...got, asked, count: events });
      setError(undefined);
      props.onPreview(got.firstScheduledTime && got.lastScheduledTime ? { from: Date.parse(got.firstScheduledTime), to: Date.parse(got.lastScheduledTime) } : undefined);
    } catch (problem) {
      setError(problem);
      setAnswer(undefined);
      props.onPreview(undefined);
    }
  };
  return (
    <Panel title="Where would a burst land?" aside={<span class="quiet">a preview: nothing is assigned</span>}>
      <form class="line" onSubmit={submit}>
        <Field label="Events">
          <NumberInput name="burst-count" min={1} max={1_000_000_000} step={1} value={events} onValue={setEvents} />
        </Field>
        <Field label="Asking for" hint="empty: now">
          <input name="burst-at" type="datetime-local" step={1} min={localInput(0)} value={at} onInput={(e) => setAt(e.currentTarget.value)} />
        </Field>
        <button type="submit" class="primary">
          Preview
        </button>
      </form>
      <Problem error={error} />
      {answer && (
        <div role="status" class="answer">
          {answer.placed === 0 ? (
            <p>
              <Badge kind="bad">no room</Badge> Every window within the longest delay is full.
            </p>
          ) : (
            <p>
              {count(answer.placed, "event")} would fill <strong>{count(answer.windowsUsed, "window")}</strong>, from <strong>{instant(answer.firstScheduledTime)}</strong> to{" "}
              <strong>{instant(answer.lastScheduledTime)}</strong>: the last waits up to {seconds((Date.parse(answer.lastScheduledTime!) - answer.asked) / 1000)}.
            </p>
          )}
          {answer.placed > 0 && answer.placed < answer.count && (
            <p>
              <Badge kind="bad">{count(answer.count - answer.placed, "event")}</Badge> would find no room within the longest delay.
            </p>
          )}
        </div>
      )}
    </Panel>
  );
}
