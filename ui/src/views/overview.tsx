// What the daemon does right now, and did in the last hour.
import { useState } from "preact/hooks";
import type { ViewProps } from "../app";
import { get, list } from "../api";
import { Chart, type ChartLine } from "../chart";
import { count, number, perSecond, seconds } from "../format";
import { current, level, mean, rate } from "../series";
import { hashOf } from "../place";
import { column, type TypeSample, typeGrowth, typeRate, useLive } from "../stream";
import { Badge, Empty, Panel, useLoad } from "../ui";
import type { ItemType } from "./item_type";

interface Status {
  version: string;
  uptimeSeconds: number;
  store: string;
  mode: string;
}

const RANGES: [string, number][] = [
  ["5 minutes", 300_000],
  ["15 minutes", 900_000],
  ["1 hour", 3600_000],
];

function Tile(props: { label: string; value: string; note?: string; bad?: boolean }) {
  return (
    <div class={`tile ${props.bad ? "bad" : ""}`}>
      <span class="tile-label">{props.label}</span>
      <span class="tile-value">{props.value}</span>
      {props.note && <span class="tile-note">{props.note}</span>}
    </div>
  );
}

const MINUTE = 60_000;

function stateOf(type: TypeSample, settings: ItemType | undefined): ["good" | "bad" | "warn" | "plain", string] {
  if (settings && !settings.enabled) return ["plain", "stopped"];
  if (type.paused) return ["warn", "paused by sink"];
  return (typeGrowth(type.type, "failed", MINUTE)?.grown ?? 0) > 0 ? ["bad", "failing"] : ["good", "taking"];
}

function SinkRow(props: { type: TypeSample; settings: ItemType | undefined }) {
  const { type, settings } = props;
  const [kind, state] = stateOf(type, settings);
  const rate = typeRate(type.type) ?? 0;
  const lately = typeGrowth(type.type, "failed", MINUTE)?.grown ?? 0;
  return (
    <li>
      <a class="mono" href={hashOf("dispatch", type.type)}>
        {type.type}
      </a>
      <span class="spacer" />
      <span class="quiet">{settings?.maxPerSecond ? `${perSecond(rate)} of ${perSecond(settings.maxPerSecond)}` : `${perSecond(rate)}, unpaced`}</span>
      <Badge kind={kind}>{state}</Badge>
      {type.failed > 0 && (
        <span class="why quiet">
          {count(lately, "failure")} in the last minute, {number(type.failed)} since the daemon started
        </span>
      )}
    </li>
  );
}

/** What the pace of all types together is, said so that nobody takes it for that of those which have none. */
function paceOf(types: ItemType[] | undefined): { pace: number | null; label: string; note: string } {
  const on = (types ?? []).filter((type) => type.enabled);
  const paced = on.filter((type) => type.maxPerSecond);
  const pace = paced.reduce((sum, type) => sum + (type.maxPerSecond ?? 0), 0);
  if (on.length === 0) return { pace: null, label: "pace", note: types ? "no type is on" : "" };
  if (paced.length === 0) return { pace: null, label: "pace", note: "no pace set" };
  if (paced.length === on.length) return { pace, label: "pace", note: `pace ${perSecond(pace)}` };
  const some = `${number(paced.length)} of ${count(on.length, "type")}`;
  return { pace, label: `pace of ${some}`, note: `pace ${perSecond(pace)} (${some})` };
}

export function OverviewView({ theme }: ViewProps) {
  const live = useLive();
  const [range, setRange] = useState(300_000);
  const last = live.rows[live.rows.length - 1];
  const status = useLoad(() => get<Status>("/admin/status"), Math.floor((last?.t ?? 0) / MINUTE));
  const typeNames = live.types.map((type) => type.type).join(" ");
  const types = useLoad(() => list<ItemType>("/admin/dispatch/types"), typeNames);
  if (!last || live.rows.length < 2) {
    return <Empty title="Waiting for the first samples">The stream sends one every second. If none comes, the line at the top says why.</Empty>;
  }
  const start = live.rows.findIndex((row) => row.t >= last.t - range);
  const rows = live.rows.slice(Math.max(start, 0));
  const times = rows.map((row) => row.t / 1000);
  const rates = (name: string) => rate(rows, column(name));
  const now = (values: (number | null)[]) => current(values, times) ?? 0;

  const allowed = rates("allowed");
  const denied = rates("denied");
  const assigned = rates("slotsGiven");
  const delay = mean(rows, column("slotDelaySeconds"), column("slotsGiven"));
  const dispatched = rates("dispatched");
  const pace = paceOf(types.value);
  const depth = (name: string) => level(rows, column(name));
  const errors: [string, string][] = [
    ["throttle store", "throttleErrors"],
    ["no slot found", "slotFailures"],
    ["hand-overs failed", "failed"],
    ["HTTP 5xx", "serverErrors"],
  ];
  const errorRate = errors.reduce((sum, [, name]) => sum + now(rates(name)), 0);
  const chart = (title: string, unit: string, lines: ChartLine[], format: (value: number) => string, named?: string) => (
    <Panel title={title} aside={<span class="quiet">{unit}</span>}>
      <Chart label={title} times={times} range={range} lines={lines} format={format} unit={named} theme={theme} />
    </Panel>
  );
  const pausedTypes = live.types.filter((type) => type.paused);

  return (
    <>
      <div class="tiles">
        <Tile label="Decisions" value={perSecond(now(allowed) + now(denied))} note={`${perSecond(now(denied))} denied`} />
        <Tile label="Slots assigned" value={perSecond(now(assigned))} note={current(delay, times) === null ? "none lately" : `mean delay ${seconds(now(delay))}`} />
        <Tile label="Dispatched" value={perSecond(now(dispatched))} note={pace.note} />
        <Tile label="Waiting" value={count(now(depth("READY")), "item")} note={`${number(now(depth("CLAIMED")))} more being handed over`} />
        <Tile label="Dead letters" value={count(now(depth("DEAD")), "item")} note={now(depth("DEAD")) > 0 ? "redrive them in Dispatch" : "none"} bad={now(depth("DEAD")) > 0} />
        <Tile label="Errors" value={perSecond(errorRate)} note="all kinds" bad={errorRate > 0} />
      </div>
      <div class="toolbar" role="group" aria-label="Time range">
        {RANGES.map(([label, millis]) => (
          <button type="button" class="choice" aria-pressed={range === millis} onClick={() => setRange(millis)} key={label}>
            {label}
          </button>
        ))}
      </div>
      <div class="grid-2 even">
        {chart("Throttle decisions", "decisions per second", [
          { label: "allowed", color: "--line-1", values: allowed },
          { label: "denied", color: "--line-2", values: denied },
          { label: "shadow denied", color: "--line-4", values: rates("shadowDenied"), dashed: true },
        ], perSecond)}
        {chart("Slot assignments", "events per second", [{ label: "assigned", color: "--line-1", values: assigned }], perSecond)}
        {chart("Slot delay", "mean of the events assigned", [{ label: "delay", color: "--line-3", values: delay }], seconds)}
        {chart("Dispatch", "hand-overs per second", [
          { label: "dispatched", color: "--line-1", values: dispatched },
          { label: pace.label, color: "--line-5", values: times.map(() => pace.pace), dashed: true },
        ], perSecond)}
        {chart("Queue depth", "items by state", [
          { label: "READY", color: "--line-1", values: depth("READY") },
          { label: "CLAIMED", color: "--line-3", values: depth("CLAIMED") },
          { label: "DEAD", color: "--line-2", values: depth("DEAD") },
          { label: "DISPATCHED", color: "--line-5", values: depth("DISPATCHED"), dashed: true, off: true },
          { label: "CANCELLED", color: "--line-4", values: depth("CANCELLED"), dashed: true, off: true },
        ], number, "items")}
        {chart("Errors", "per second", errors.map(([label, name], i) => ({ label, color: `--line-${i + 2}`, values: rates(name) })), perSecond)}
      </div>
      <div class="grid-2">
        <Panel
          title="Daemon and stores"
          aside={status.value && <span class="quiet">v{status.value.version}, {status.value.store} store for limits, up {seconds(status.value.uptimeSeconds)}</span>}
        >
          {live.checks.length === 0 && <p class="quiet">No check has reported yet.</p>}
          <ul class="rows">
            {live.checks.map((check) => (
              <li key={check.name}>
                <span>{check.name}</span>
                <span class="spacer" />
                {check.message && <span class="quiet">{check.message}</span>}
                <Badge kind={check.up ? "good" : "bad"}>{check.up ? "up" : "down"}</Badge>
              </li>
            ))}
          </ul>
        </Panel>
        <Panel title="Sink health" aside={pausedTypes.length > 0 && <Badge kind="warn">{count(pausedTypes.length, "type")} paused</Badge>}>
          {live.checks.length === 0 ? (
            <p class="quiet">No sink has reported yet.</p>
          ) : live.types.length === 0 ? (
            <Empty title="No item type yet">
              Create one in <a href="#/dispatch">Dispatch</a>; its sink shows up here.
            </Empty>
          ) : (
            <ul class="rows">
              {live.types.map((type) => (
                <SinkRow type={type} settings={types.value?.find((each) => each.itemType === type.type)} key={type.type} />
              ))}
            </ul>
          )}
        </Panel>
      </div>
    </>
  );
}
