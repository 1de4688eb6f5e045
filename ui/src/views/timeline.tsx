// The slot calendar: how full each window is, and where a burst would land.
import { useState } from "preact/hooks";
import type { ViewProps } from "../app";
import { count, isoMillis, seconds } from "../format";
import type { Span } from "../heat";
import { go, hashOf, usePlace } from "../place";
import { Empty, Loading, Panel, Problem, useLoad } from "../ui";
import { BurstForm } from "./burst";
import { loadSlotConfigs, type SlotConfig } from "./slot_configs";
import { Strip } from "./strip";

function Calendar(props: ViewProps & { config: SlotConfig; configs: SlotConfig[] }) {
  const { config } = props;
  const [burst, setBurst] = useState<Span>();
  return (
    <>
      <Panel
        title="Slot calendar"
        aside={
          <select aria-label="Slot config" value={config.configName} onChange={(e) => go("timeline", e.currentTarget.value)}>
            {props.configs.map((each) => (
              <option key={each.configName} value={each.configName}>
                {each.configName}: {count(each.maxPerWindow, "event")} per {seconds(isoMillis(each.windowSize) / 1000)}
              </option>
            ))}
          </select>
        }
      >
        <Strip config={config} theme={props.theme} burst={burst} />
      </Panel>
      <BurstForm config={config.configName} onPreview={setBurst} />
    </>
  );
}

export function TimelineView({ theme }: ViewProps) {
  const { value, error } = useLoad(loadSlotConfigs, 0);
  const name = usePlace().of[0] ?? "default";
  if (error) return <Problem error={error} />;
  if (!value) return <Loading />;
  const config = value.find((each) => each.configName === name) ?? value[0];
  if (!config) {
    return (
      <Empty title="No slot config yet">
        A timeline needs windows: create a <a href={hashOf("slot-configs")}>slot config</a> first.
      </Empty>
    );
  }
  return <Calendar config={config} configs={value} theme={theme} key={config.configName} />;
}
