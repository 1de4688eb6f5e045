// A real check of a key: the decision, and the headers a caller would see.
import { useState } from "preact/hooks";
import { raw } from "../api";
import { Badge, Field, NumberInput, Panel, Problem } from "../ui";

const SHOWN_HEADERS = ["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "x-request-id"];

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // something in between answered
  }
}

export function TryIt() {
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
      setAnswer({ status: got.status, headers, text: pretty(got.text) });
      setError(undefined);
    } catch (problem) {
      setError(problem);
      setAnswer(undefined);
    }
  };
  const verdict = answer && (answer.status === 200 ? "allowed" : answer.status === 429 ? "denied" : "refused");
  return (
    <Panel title="Try it" aside={<span class="quiet">a real check: it is charged, cost 0 only looks</span>}>
      <form class="line" onSubmit={submit}>
        <Field label="Key">
          <input name="try-key" required maxLength={512} autocomplete="off" spellcheck={false} value={key} onInput={(e) => setKey(e.currentTarget.value)} placeholder="user:42" />
        </Field>
        <Field label="Cost" hint="tokens; below 0 gives back">
          <NumberInput name="try-cost" value={cost} step={1} onValue={setCost} />
        </Field>
        <button type="submit" class="primary">
          Check
        </button>
      </form>
      <Problem error={error} />
      <p role="status" class="verdict">
        {answer && (
          <>
            <Badge kind={verdict === "allowed" ? "good" : "bad"}>{verdict}</Badge> HTTP {answer.status}
          </>
        )}
      </p>
      {answer && (
        <div class="answer">
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
          <pre tabIndex={0} aria-label="The answer">{answer.text}</pre>
        </div>
      )}
    </Panel>
  );
}
