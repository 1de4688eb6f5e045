// The slot calendar: how full each window is, and where a burst would land.
import { useState } from "preact/hooks";
import type { ViewProps } from "../app";
import { count, isoMillis, seconds } from "../format";
import type { Span } from "../heat";
import { go, usePlace } from "../place";
import { Empty, Loading, Panel, Problem, useLoad } from "../ui";
import { BurstForm } from "./burst";
import { loadSlotConfigs } from "./slot_configs";
import { Strip } from "./strip";

export function TimelineView({ theme }: ViewProps) {
  const { value, error } = useLoad(loadSlotConfigs, 0);
  const name = usePlace().of[0] ?? "default";
  const [burst, setBurst] = useState<Span>();
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  const config = value.find((each) => each.configName === name) ?? value[0];
  if (!config) {
    return (
      <Empty title="No slot config yet">
        A timeline needs windows: create a <a href="#/slot-configs">slot config</a> first.
      </Empty>
    );
  }
  return (
    <>
      <Panel
        title="Slot calendar"
        aside={
          <select
            aria-label="Slot config"
            value={config.configName}
            onChange={(e) => {
              go("timeline", e.currentTarget.value);
              setBurst(undefined);
            }}
          >
            {value.map((each) => (
              <option key={each.configName} value={each.configName}>
                {each.configName}: {count(each.maxPerWindow, "event")} per {seconds(isoMillis(each.windowSize) / 1000)}
              </option>
            ))}
          </select>
        }
      >
        <Strip config={config} theme={theme} burst={burst} key={config.configName} />
      </Panel>
      <BurstForm config={config.configName} onPreview={setBurst} />
    </>
  );
}
