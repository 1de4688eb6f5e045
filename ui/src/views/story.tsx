// What happened to one thing, step by step.
import { instant, seconds } from "../format";

export interface Step {
  at: string;
  title: string;
  from?: string | null;
  to?: string | null;
  detail?: string | null;
}

export function Story(props: { steps: Step[] }) {
  if (props.steps.length === 0) return <p class="quiet">Nothing was recorded.</p>;
  return (
    <ol class="story" aria-label="What happened">
      {props.steps.map((step, i) => {
        const gap = i === 0 ? 0 : (Date.parse(step.at) - Date.parse(props.steps[i - 1].at)) / 1000;
        return (
          <li key={i} class={/DEAD|FAIL|REJECT/.test(step.title) ? "bad" : ""}>
            <p>
              <strong>{step.title}</strong>
              {step.from && (
                <span class="quiet">
                  {" "}
                  {step.from}
                  {step.to ? ` → ${step.to}` : ""}
                </span>
              )}
            </p>
            <p class="quiet">
              {instant(step.at)}
              {i > 0 && ` · ${seconds(gap)} later`}
            </p>
            {step.detail && <p>{step.detail}</p>}
          </li>
        );
      })}
    </ol>
  );
}
