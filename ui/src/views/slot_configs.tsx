// Slot configs: how many events a window takes.
import { useState } from "preact/hooks";
import { get, list, post, segment } from "../api";
import { CatalogPanel, Table, useCatalog } from "../catalog";
import { EditDialog, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, isoMillis, number, perSecond, seconds } from "../format";
import { hashOf } from "../place";
import { Field, NumberInput } from "../ui";

export interface SlotConfig {
  configName: string;
  maxPerWindow: number;
  windowSize: string;
  pool: string;
  version: number;
  active: boolean;
  effectiveFrom: string;
}

const PATH = "/admin/rate-limit/configs";
const nameOf = (config: SlotConfig) => config.configName;
export const loadSlotConfigs = () => list<SlotConfig>(PATH);

function Editor(props: { config: SlotConfig | undefined; onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState(props.config?.configName ?? "default");
  const [most, setMost] = useState(props.config?.maxPerWindow ?? 100);
  const [size, setSize] = useState(props.config ? isoMillis(props.config.windowSize) / 1000 : 4);
  const [pool, setPool] = useState(props.config?.pool ?? "");
  const save = () => post("/admin/rate-limit/config", { configName: name, maxPerWindow: most, windowSize: `PT${size}S`, pool: pool || null });
  return (
    <EditDialog title={props.config ? `Edit ${props.config.configName}` : "New slot config"} save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Name" hint="Events that name no config use the one called default.">
        <input name="configName" required maxLength={128} disabled={!!props.config} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      </Field>
      <Field label="Most per window" hint="events">
        <NumberInput name="maxPerWindow" min={1} max={10_000_000} value={most} onValue={setMost} />
      </Field>
      <Field label="Window size" hint="seconds; cannot change while the pool holds slots in windows to come">
        <NumberInput name="windowSize" min={0.001} max={86_400} step={0.001} value={size} onValue={setSize} />
      </Field>
      <Field label="Pool" hint="Configs of one pool share their windows. Empty: one of its own.">
        <input name="pool" maxLength={128} value={pool} onInput={(e) => setPool(e.currentTarget.value)} />
      </Field>
    </EditDialog>
  );
}

async function loadPast(name: string): Promise<Past[]> {
  const versions = await get<SlotConfig[]>(`/admin/rate-limit/config/history?name=${segment(name)}`);
  return versions.map((version, i, all) => ({
    at: instant(version.effectiveFrom),
    title: `Version ${version.version}`,
    changes: changes(all[i + 1] ?? null, version, ["version", "effectiveFrom", "active"]),
  }));
}

const COLUMNS = [
  { title: "Name", mono: true, cell: nameOf },
  { title: "Most", cell: (config: SlotConfig) => `${count(config.maxPerWindow, "event")} per window` },
  { title: "Window", cell: (config: SlotConfig) => seconds(isoMillis(config.windowSize) / 1000) },
  { title: "At most", cell: (config: SlotConfig) => perSecond((config.maxPerWindow * 1000) / isoMillis(config.windowSize)) },
  { title: "Pool", mono: true, cell: (config: SlotConfig) => config.pool },
  {
    title: "Version",
    cell: (config: SlotConfig) => (
      <>
        {number(config.version)} <span class="quiet">since {instant(config.effectiveFrom)}</span>
      </>
    ),
  },
];

export function SlotConfigsView() {
  const catalog = useCatalog<SlotConfig, "edit" | "history">(PATH, nameOf);
  const { open, show, close } = catalog;
  const config = open?.entry;
  return (
    <>
      <CatalogPanel
        title="Slot configs"
        one="slot config"
        many="slot configs"
        catalog={catalog}
        onNew={() => show("edit")}
        empty="Press New slot config to say how many events a window takes; then events can be assigned."
      >
        {(shown) => (
          <Table
            label="Slot configs"
            rows={shown}
            nameOf={nameOf}
            columns={COLUMNS}
            actions={(each) => (
              <>
                <a class="button" href={hashOf("timeline", each.configName)}>
                  Timeline
                </a>
                <button type="button" onClick={() => show("edit", each)}>
                  Edit
                </button>
                <button type="button" onClick={() => show("history", each)}>
                  History
                </button>
              </>
            )}
          />
        )}
      </CatalogPanel>
      {open?.what === "edit" && <Editor config={config} onClose={close} onSaved={catalog.reload} />}
      {open?.what === "history" && config && <HistoryDialog name={config.configName} load={() => loadPast(config.configName)} onClose={close} />}
    </>
  );
}
